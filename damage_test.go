package ragflow_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/ingest"
)

// TestDamagedIndexIsBuiltAnew damages index.db between two uses: the answer is
// the same, the report tells, and the damaged file is kept.
func TestDamagedIndexIsBuiltAnew(t *testing.T) {
	dir, data := library(t), t.TempDir()
	first, err := ragflow.Open(t.Context(), ragflow.Config{Docs: []string{dir}, DataDir: data})
	if err != nil {
		t.Fatal(err)
	}
	want := ask(t, first, "", "When do I harvest thyme?").Answer
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(data, "index.db")
	if err := os.WriteFile(path, []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	again := open(t, ragflow.Config{Docs: []string{dir}, DataDir: data})
	if _, err := again.Library().Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	if notice := again.Library().Notice(); !strings.Contains(notice, "it was damaged") {
		t.Errorf("notice %q", notice)
	}
	if got := ask(t, again, "", "When do I harvest thyme?").Answer; got != want {
		t.Errorf("answer = %q, want %q", got, want)
	}
	if _, err := os.Stat(path + ".damaged-1"); err != nil {
		t.Errorf("the damaged file is gone: %v", err)
	}
}

// TestDamagedIndexIsTold asks without the documents that it could be built of.
func TestDamagedIndexIsTold(t *testing.T) {
	data := t.TempDir()
	if err := os.WriteFile(filepath.Join(data, "index.db"), []byte(strings.Repeat("no database ", 1000)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := open(t, ragflow.Config{DataDir: data}).Search(t.Context(), "thyme", ragflow.SearchOptions{})
	if !errors.Is(err, ingest.ErrNoDocuments) || !strings.Contains(err.Error(), "index.db.damaged-1") {
		t.Errorf("%v, want that there are no documents, and why", err)
	}
}

// TestDamagedThreadsAreLeftAlone makes sure that what cannot be made again is
// neither replaced nor opened.
func TestDamagedThreadsAreLeftAlone(t *testing.T) {
	data := t.TempDir()
	path := filepath.Join(data, "threads.db")
	content := strings.Repeat("no database ", 1000)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: data}); !errors.Is(err, ragflow.ErrDamaged) {
		t.Errorf("open: %v, want ErrDamaged", err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != content {
		t.Errorf("the damaged file was changed (%v)", err)
	}
}
