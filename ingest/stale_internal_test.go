package ingest

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/ragflow/state"
)

// TestRenewWaitsAsLongAsItMay: while another job holds the folder, a changed file is waited for
// until the context ends.
func TestRenewWaitsAsLongAsItMay(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "a.md")
	if err := os.WriteFile(path, []byte("The boat is red.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	l := New(openIndex(t), Options{Docs: []string{dir}, Clock: time.Now})
	if _, err := l.Sync(t.Context()); err != nil {
		t.Fatal(err)
	}
	root := l.View().Roots[0]
	unlock, err := l.lock(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	limited, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	changed := []state.Chunk{{Root: root, Source: "a.md", FileHash: "of another file"}}
	if sources, err := l.Renew(limited, changed); !errors.Is(err, context.DeadlineExceeded) || len(sources) > 0 {
		t.Errorf("%v, %v while the folder is held", sources, err)
	}
	unlock()
	if sources, err := l.Renew(t.Context(), changed); err != nil || len(sources) != 1 {
		t.Errorf("%v, %v", sources, err)
	}
	for _, c := range []state.Chunk{{Root: "/other", Source: "a.md"}, {Root: root, Source: "a.md", FileHash: l.hashOf(t, "a.md")}} {
		if sources, err := l.Renew(t.Context(), []state.Chunk{c}); err != nil || len(sources) > 0 {
			t.Errorf("%+v: %v, %v", c, sources, err)
		}
	}
}

// hashOf returns the hash of a file in the index.
func (l *Library) hashOf(t *testing.T, source string) string {
	t.Helper()
	files, err := l.index.Files(t.Context(), l.View().Roots[0])
	if err != nil {
		t.Fatal(err)
	}
	return files[source].Hash
}
