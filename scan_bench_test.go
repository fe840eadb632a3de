package ragflow_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"testing"
	"time"

	"example.com/ragflow"
)

// BenchmarkIndexUnchanged looks at 10,000 files of which none changed.
func BenchmarkIndexUnchanged(b *testing.B) {
	dir := b.TempDir()
	for i := range 10_000 {
		path := filepath.Join(dir, strconv.Itoa(i%100), fmt.Sprintf("%d.md", i))
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			b.Fatal(err)
		}
		if err := os.WriteFile(path, fmt.Appendf(nil, "# %d\n\nsome words", i), 0o600); err != nil {
			b.Fatal(err)
		}
		old := time.Unix(1_700_000_000, 0) // settled
		if err := os.Chtimes(path, old, old); err != nil {
			b.Fatal(err)
		}
	}
	a, err := ragflow.Open(b.Context(), ragflow.Config{DataDir: b.TempDir(), Docs: []string{dir}})
	if err != nil {
		b.Fatal(err)
	}
	defer func() {
		if err := a.Close(); err != nil {
			b.Error(err)
		}
	}()
	if _, err := a.Index(b.Context()); err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		r, err := a.Index(b.Context())
		if err != nil || r.Unchanged != 10_000 {
			b.Fatal(r, err)
		}
	}
}
