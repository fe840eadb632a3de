package cite_test

import (
	"testing"

	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/state"
)

// TestTitleOfMails checks that a citation of a mail names the attachment, or the mail of a mailbox.
func TestTitleOfMails(t *testing.T) {
	for source, want := range map[string]string{
		"a.eml": "Pump, Attachment offer.pdf, Prices",
		"a.md":  "Pump",
	} {
		got, err := cite.Build([]state.Source{{Chunk: state.Chunk{Source: source, Title: "Pump", Headings: []string{"Attachment offer.pdf", "Prices", "Seals"}, Text: "x"}}}, cite.Pick{N: 1})
		if err != nil || got[0].Title != want {
			t.Errorf("%s: %+v, %v, want the title %q", source, got, err, want)
		}
	}
}
