package ingest

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/state"
)

// syncWith syncs a folder and calls f at each progress, from the goroutine that reports it.
func syncWith(t *testing.T, db *index.DB, dir string, f func(Progress)) *Report {
	t.Helper()
	root, err := Root(dir)
	if err != nil {
		t.Fatal(err)
	}
	s := &syncer{
		Library: New(db, Options{Docs: []string{dir}, Clock: time.Now}), target: target{path: dir, root: root},
		report: newReport(), progress: f, seen: map[string]bool{},
	}
	if err := s.run(t.Context()); err != nil {
		t.Fatal(err)
	}
	return s.report
}

func holdsWord(t *testing.T, db *index.DB, dir, word string) bool {
	t.Helper()
	root, err := Root(dir)
	if err != nil {
		t.Fatal(err)
	}
	snapshot, err := db.Snapshot(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	hits, err := snapshot.SearchWords(t.Context(), state.Query{Text: word, Weight: 1}, 1)
	if err != nil {
		t.Fatal(err)
	}
	return len(hits) > 0
}

func openIndex(t *testing.T) *index.DB {
	t.Helper()
	db, err := index.Open(t.Context(), "", index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

func writeFile(t *testing.T, path, content string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// A file may be deleted after the walk began, and after the walk saw it.
func TestFileVanishes(t *testing.T) {
	for _, stage := range []string{"scanning", "indexing"} {
		t.Run(stage, func(t *testing.T) {
			t.Parallel()
			dir, db := t.TempDir(), openIndex(t)
			for i := range 300 { // more than are read ahead
				writeFile(t, filepath.Join(dir, fmt.Sprintf("m%03d.md", i)), "middle")
			}
			writeFile(t, filepath.Join(dir, "z.md"), "zebra")
			syncWith(t, db, dir, func(Progress) {})
			writeFile(t, filepath.Join(dir, "m000.md"), "another")
			r := syncWith(t, db, dir, func(p Progress) {
				if p.Stage == stage {
					_ = os.Remove(filepath.Join(dir, "z.md")) // it is gone the second time
				}
			})
			if holdsWord(t, db, dir, "zebra") || !holdsWord(t, db, dir, "another") || r.Removed != 1 || len(r.Failed) != 0 {
				t.Errorf("report %+v", r)
			}
			if warned := len(r.Warned) == 1; warned != (stage == "indexing") {
				t.Errorf("warned %v", r.Warned)
			}
		})
	}
}

// A file may grow while it is read. The next sync reads the rest.
func TestFileGrows(t *testing.T) {
	t.Parallel()
	dir, db := t.TempDir(), openIndex(t)
	path := filepath.Join(dir, "log.md")
	writeFile(t, path, "first\n")
	f, err := os.OpenFile(path, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	syncWith(t, db, dir, func(Progress) {
		_, _ = f.WriteString("more words\n") // at any moment
	})
	if _, err := f.WriteString("lastword\n"); err != nil || f.Close() != nil {
		t.Fatal(err)
	}
	syncWith(t, db, dir, func(Progress) {})
	if !holdsWord(t, db, dir, "lastword") {
		t.Error("the last words are lost")
	}
}
