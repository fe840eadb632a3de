package ragflow_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/search"
)

func TestReadOnly(t *testing.T) {
	docs, data := library(t), filepath.Join(t.TempDir(), "data")
	writer := open(t, ragflow.Config{Docs: []string{docs}, DataDir: data})
	asked := ask(t, writer, "t", "How often should I water a basil plant?")
	a := open(t, ragflow.Config{Docs: []string{docs}, DataDir: data, ReadOnly: true})
	if !a.ReadOnly() || writer.ReadOnly() {
		t.Fatalf("read only %v, beside it %v", a.ReadOnly(), writer.ReadOnly())
	}
	write(t, filepath.Join(docs, "new.md"), "# Quince\n\nQuince is a fruit.")
	report, err := a.Library().Sync(t.Context())
	if err != nil || report.Added != 0 || report.Unchanged != report.Files || len(report.Warned) != 1 {
		t.Errorf("indexing: %+v, %v", report, err)
	}
	if got, err := a.Search(t.Context(), "basil", ragflow.SearchOptions{Request: search.Request{K: 3}}); err != nil || len(got.Hits) == 0 {
		t.Errorf("search: %+v, %v", got, err)
	}
	if got, err := a.Reply(t.Context(), asked.RunID); err != nil || got.Answer != asked.Answer {
		t.Errorf("reply: %+v, %v", got, err)
	}
	var archive bytes.Buffer
	if err := a.Threads().Export(t.Context(), "t", &archive); err != nil || archive.Len() == 0 {
		t.Errorf("export: %d bytes, %v", archive.Len(), err)
	}
	_, askErr := a.Ask(t.Context(), ragflow.Question{Text: "And mint?", Thread: "t"})
	_, importErr := a.Threads().Import(t.Context(), &archive, "copy")
	for what, err := range map[string]error{
		"ask": askErr, "import": importErr, "delete": a.Threads().Delete(t.Context(), "t"), "undo": a.Threads().Undo(t.Context(), "t"),
	} {
		if !errors.Is(err, ragflow.ErrReadOnly) {
			t.Errorf("%s: %v, want ErrReadOnly", what, err)
		}
	}
	if thread := read(t, a, "t"); thread.Turns != 1 {
		t.Errorf("the thread has %d turns, want 1", thread.Turns)
	}
}

func TestReadOnlyWithoutIndex(t *testing.T) {
	a := open(t, ragflow.Config{Docs: []string{library(t)}, DataDir: t.TempDir(), ReadOnly: true})
	if _, err := a.Search(t.Context(), "basil", ragflow.SearchOptions{Request: search.Request{K: 3}}); !errors.Is(err, ragflow.ErrReadOnly) {
		t.Errorf("search: %v, want ErrReadOnly", err)
	}
	if list, err := a.Threads().All(t.Context()); err != nil || len(list) != 0 {
		t.Errorf("threads: %v, %v", list, err)
	}
	_, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: filepath.Join(t.TempDir(), "none"), ReadOnly: true})
	if !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a folder that is not there: %v", err)
	}
}
