package ragflow_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow"
)

// TestChangedSources edits and removes a file after it was quoted.
func TestChangedSources(t *testing.T) {
	for _, tt := range []struct{ name, file, page string }{
		{"Markdown", "volumes.md", "# Volumes\n\nA volume keeps the data of a container after the container is removed.\n"},
		{"HTML", "volumes.html", "<html><title>Volumes</title><body><h1>Volumes</h1><p>A volume keeps the data of a container after the container is removed.</p></body></html>"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			docs := t.TempDir()
			path := filepath.Join(docs, tt.file)
			write := func(s string) {
				t.Helper()
				if err := os.WriteFile(path, []byte(s), 0o600); err != nil {
					t.Fatal(err)
				}
			}
			write(tt.page)
			a, err := ragflow.Open(t.Context(), ragflow.Config{Docs: []string{docs}})
			if err != nil {
				t.Fatal(err)
			}
			defer a.Close()
			r, err := a.Ask(t.Context(), ragflow.Question{Text: "What keeps the data of a container?", Thread: "t", Trace: true})
			if err != nil || len(r.Citations) == 0 {
				t.Fatalf("%+v, %v", r, err)
			}
			if r.Citations[0].Changed || strings.Contains(r.AnswerMD, r.ChangedNotice) {
				t.Error("changed before it was")
			}
			if len(r.Citations[0].Hash) != 64 {
				t.Errorf("hash %q is no SHA-256", r.Citations[0].Hash)
			}
			for _, then := range []func(){
				func() { write(strings.Replace(tt.page, "A volume", "Some volume", 1)) },
				func() {
					if err := os.Remove(path); err != nil {
						t.Fatal(err)
					}
				},
			} {
				then()
				again, err := a.Reply(t.Context(), r.RunID)
				if err != nil || !again.Citations[0].Changed {
					t.Errorf("the change is not seen: %+v, %v", again, err)
				}
				if !strings.Contains(again.AnswerMD, "The document has changed since.") {
					t.Errorf("answer.md does not tell of the change:\n%s", again.AnswerMD)
				}
			}
		})
	}
}
