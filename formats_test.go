package ragflow_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/search"
)

// TestPages asks a PDF, and follows the page from the answer to answer.md.
func TestPages(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "formats", "handbook.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "handbook.pdf"), string(data))
	write(t, filepath.Join(dir, "bad.pdf"), "no PDF at all")
	for _, name := range []string{"handbook.pdf", "bad.pdf"} { // young files are looked into again
		old := time.Now().Add(-time.Hour)
		if err := os.Chtimes(filepath.Join(dir, name), old, old); err != nil {
			t.Fatal(err)
		}
	}
	a := open(t, ragflow.Config{DataDir: t.TempDir(), Docs: []string{dir}})
	if r := indexed(t, a); r.Added != 1 || len(r.Failed) != 1 || r.Failed[0].Reason != "the file is damaged: it is no PDF that can be read" {
		t.Errorf("report %+v", r)
	}
	r, err := a.Ask(t.Context(), ragflow.Question{Text: "How many days of paid leave does each employee have a year?", Trace: true})
	if err != nil {
		t.Fatal(err)
	}
	if len(r.Citations) == 0 {
		t.Fatalf("no citations: %s", r.Answer)
	}
	if c := r.Citations[0]; c.Page != 2 || c.EndPage != 2 || c.Pages != "page 2" || c.StartLine != 0 || c.Changed || !strings.Contains(c.Quote, "twenty-six days") {
		t.Errorf("citation %+v, want page 2", c)
	}
	for _, want := range []string{"[handbook.pdf, page 2](", "/handbook.pdf#page=2)"} {
		if !strings.Contains(r.AnswerMD, want) {
			t.Errorf("answer.md has no %q:\n%s", want, r.AnswerMD)
		}
	}
	found, err := a.Search(t.Context(), "trains journeys", ragflow.SearchOptions{Request: search.Request{K: 3}})
	if err != nil || len(found.Hits) == 0 || found.Hits[0].EndPage != 3 {
		t.Errorf("search: %+v, %v", found, err)
	}

	// A second reading of a file gives the same.
	if r := indexed(t, a); r.Unchanged != 2 || len(r.Failed) != 1 || len(r.Skipped) != 0 {
		t.Errorf("second report %+v", r)
	}
	write(t, filepath.Join(dir, "handbook.pdf"), "no PDF any more")
	if again, err := a.Reply(t.Context(), r.RunID); err != nil || !again.Citations[0].Changed {
		t.Error("a PDF that was overwritten counts as unchanged")
	}
}
