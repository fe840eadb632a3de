package ragflow_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/search"
)

// thyme is a page that says where it is published and what it is.
const thyme = `---
title: Thyme
url: https://herbs.test/thyme
document_type: guide
document_id: H-7
---

Thyme is harvested in June, just before it flowers.

It grows on dry and sunny ground.
`

func TestDocumentsSayWhereTheyArePublished(t *testing.T) {
	a := open(t, ragflow.Config{Docs: pages(t, map[string]string{
		"thyme.md":  thyme,
		"mint.html": `<html><head><title>Mint</title><link rel="canonical" href="https://herbs.test/mint"></head><body><p>Mint is cut in July, before it blooms.</p></body></html>`,
		"sage.md":   "---\nurl: /sage/\n---\n# Sage\n\nSage is pruned in April, after the last frost.\n",
	})})
	for question, want := range map[string]string{
		"When is thyme harvested?": "https://herbs.test/thyme",
		"When is mint cut?":        "https://herbs.test/mint",
		"When is sage pruned?":     "",
	} {
		r, err := a.Ask(t.Context(), ragflow.Question{Text: question, Trace: true})
		if err != nil {
			t.Fatal(err)
		}
		if len(r.Citations) == 0 || r.Citations[0].URL != want {
			t.Fatalf("%s: citations %+v, want %q", question, r.Citations, want)
		}
		if got := strings.Contains(r.AnswerMD, "`https://herbs.test/"); got != (want != "") || !strings.Contains(r.AnswerMD, "`"+want) && got {
			t.Errorf("%s: answer.md has not %q:\n%s", question, want, r.AnswerMD)
		}
		if got := r.Citations[0].Metadata.Text("document_id"); (got == "H-7") != strings.Contains(question, "thyme") {
			t.Errorf("%s: metadata %v", question, r.Citations[0].Metadata)
		}
		data, err := json.Marshal(r.Citations[0])
		if err != nil {
			t.Fatal(err)
		}
		own, _, _ := strings.Cut(string(data), `,"path":`) // metadata may have a url, too
		if got := strings.Contains(own, `"url":`); got != (want != "") {
			t.Errorf("%s: %s", question, data)
		}
	}
}

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

// TestPageLabels follows the numbers that pages bear from a PDF to its citation: its fourth sheet is page 2.
func TestPageLabels(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("internal", "pdf", "testdata", "turned.pdf"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	write(t, filepath.Join(dir, "lights.pdf"), string(data))
	a := open(t, ragflow.Config{DataDir: t.TempDir(), Docs: []string{dir}})
	indexed(t, a)
	r, err := a.Ask(t.Context(), ragflow.Question{Text: "Where does the blue key hang?", Trace: true})
	if err != nil || len(r.Citations) == 0 {
		t.Fatalf("no citation: %s, %v", r.Answer, err)
	}
	if c := r.Citations[0]; c.Page != 4 || c.PageLabel != "2" || c.Pages != "page 2 (sheet 4)" {
		t.Errorf("citation of page %d, label %q, %q", c.Page, c.PageLabel, c.Pages)
	}
	if want := "[lights.pdf, page 2 (sheet 4)]("; !strings.Contains(r.AnswerMD, want) || !strings.Contains(r.AnswerMD, "#page=4)") {
		t.Errorf("answer.md has no %q:\n%s", want, r.AnswerMD)
	}
}
