package chunk_test

import (
	"testing"

	"example.com/ragflow/internal/chunk"
	"example.com/ragflow/internal/load"
)

// TestMailsStayApart checks that small mails of a mailbox, and small attachments, are not joined: each is cited by
// its name.
func TestMailsStayApart(t *testing.T) {
	box := "From a 10:00\nSubject: Pump\n\nThe pump is red.\n\nFrom b 10:00\nSubject: Lamp\n\nThe lamp is blue.\n"
	mail := "Subject: Pump\nContent-Type: multipart/mixed; boundary=b\n\n--b\n\nSee below.\n--b\nContent-Type: text/plain\nContent-Disposition: attachment; filename=Lamp.txt\n\nThe lamp is blue.\n--b--\n"
	for source, data := range map[string]string{"a.mbox": box, "a.eml": mail} {
		doc, err := load.Parse(t.Context(), source, []byte(data))
		if err != nil {
			t.Fatal(err)
		}
		chunks := chunk.Cut(doc, chunk.Options{})
		if len(chunks) != 2 || len(chunks[1].Headings) != 1 {
			t.Errorf("%s: %+v", source, chunks)
		}
	}
}
