package ingest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/index"
)

// TestDamagedIndex damages index.db between two uses. It is kept under another name and built again from the
// documents; without them, the error says why there are none.
func TestDamagedIndex(t *testing.T) {
	t.Parallel()
	docs, data := t.TempDir(), t.TempDir()
	write(t, filepath.Join(docs, "thyme.md"), "# Thyme\n\nThyme is harvested in June.\n")
	first := open(t, data, ingest.Options{Docs: []string{docs}})
	syncAll(t, first)
	if err := first.Close(); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(data, "index.db")
	damaged := strings.Repeat("no database ", 1000)
	again := func(o ingest.Options) library {
		t.Helper()
		write(t, path, damaged)
		db, notice, err := index.OpenOrReplace(t.Context(), path, index.Options{})
		if err != nil {
			t.Fatal(err)
		}
		o.Notice = notice
		return over(t, db, o)
	}
	l := again(ingest.Options{Docs: []string{docs}})
	if r := syncAll(t, l); r.Added != 1 || !finds(t, l, "harvested", "thyme.md") {
		t.Errorf("built again: %+v", r)
	}
	if n := l.Notice(); !strings.Contains(n, "it was damaged") || !strings.Contains(n, "index.db.damaged-1") {
		t.Errorf("notice %q", n)
	}
	if got, err := os.ReadFile(path + ".damaged-1"); err != nil || string(got) != damaged {
		t.Errorf("the damaged file is not kept: %v", err)
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := again(ingest.Options{}).Ready(t.Context()); !errors.Is(err, ingest.ErrNoDocuments) || !strings.Contains(err.Error(), "index.db.damaged-2") {
		t.Errorf("%v, want that there are no documents, and why", err)
	}
}
