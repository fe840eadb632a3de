package ingest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"sync/atomic"
	"testing"

	"example.com/ragflow/ingest"
	"example.com/ragflow/search"
)

// A file that is moved or renamed, or its folder, costs no texts to embed. An edit costs the
// chunks that it changes. A file that is deleted and comes back costs none.
func TestOnlyChangesAreEmbedded(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	page := func(last string) string {
		return "# Herbs\n\nHerbs grow in pots.\n\n## Basil\n\nBasil wants water every day, and a warm place out of the wind.\n\n## Mint\n\n" + last + "\n"
	}
	write(t, filepath.Join(dir, "a", "herbs.md"), page("Mint needs a pot of its own, or it takes the whole bed."))
	write(t, filepath.Join(dir, "a", "trees.md"), "# Trees\n\nAn oak grows slowly.\n")
	m := &meaning{model: "m"}
	l := open(t, "", ingest.Options{Docs: []string{dir}, Embedder: m})
	all := syncAll(t, l).Chunks
	m.embedded()
	rename := func(from, to string) func() {
		return func() {
			to = filepath.Join(dir, to)
			if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
				t.Fatal(err)
			}
			if err := os.Rename(filepath.Join(dir, from), to); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, step := range []struct {
		name     string
		do       func()
		embedded int
		found    string // where the oak is
	}{
		{"nothing", func() {}, 0, "a/trees.md"},
		{"a file moved", rename("a/trees.md", "b/trees.md"), 0, "b/trees.md"},
		{"a file renamed", rename("b/trees.md", "b/oaks.md"), 0, "b/oaks.md"},
		{"a folder renamed", rename("b", "c"), 0, "c/oaks.md"},
		{"the end of a file edited", func() {
			write(t, filepath.Join(dir, "a", "herbs.md"), page("Mint spreads by runners under the soil."))
		}, 1, "c/oaks.md"},
		{"a file deleted", func() {
			if err := os.Remove(filepath.Join(dir, "a", "herbs.md")); err != nil {
				t.Fatal(err)
			}
		}, 0, "c/oaks.md"},
		{"and back again", func() {
			write(t, filepath.Join(dir, "a", "herbs.md"), page("Mint spreads by runners under the soil."))
		}, 0, "c/oaks.md"},
	} {
		step.do()
		report := syncAll(t, l)
		if got := m.embedded(); got != step.embedded || report.Dense.Embedded != step.embedded || report.Dense.Missing != 0 {
			t.Errorf("%s: %d texts embedded, want %d; %+v", step.name, got, step.embedded, report.Dense)
		}
		if c := found(t, l, "oak"); len(c) != 1 || c[0].Source != step.found {
			t.Errorf("%s: found %+v", step.name, c)
		}
	}
	if all < 2 {
		t.Errorf("%d chunks: the test shows nothing", all)
	}
}

// A document that is put while the vectors of a large folder are made does not wait for them.
// The job that makes them makes those of the document, too.
func TestPutWhileEmbedding(t *testing.T) {
	t.Parallel()
	m := &meaning{model: "m"}
	begun, free := make(chan struct{}), make(chan struct{})
	var held atomic.Bool
	m.fail = func(ctx context.Context, _ int) error {
		if !held.Swap(true) {
			close(begun)
			select {
			case <-free:
			case <-ctx.Done():
				return context.Cause(ctx)
			}
		}
		return nil
	}
	l, _, _ := gatedLibrary(t, ingest.Options{Embedder: m, Dir: filepath.Join(t.TempDir(), "documents")})
	j := l.Start(t.Context())
	<-begun
	if d, err := l.PutText(t.Context(), "memo", "Memo", "a memorandum", nil); err != nil || d.Status != ingest.StatusIndexed {
		t.Fatalf("put: %+v, %v", d, err)
	}
	close(free)
	r, err := j.Wait(t.Context())
	if err != nil || r.Dense.Embedded != 2 || r.Dense.Missing != 0 || m.embedded() != 2 {
		t.Errorf("%+v, %v", r.Dense, err)
	}
	if d := syncAll(t, l).Dense; d.Embedded != 0 || d.Missing != 0 || d.Chunks != 2 {
		t.Errorf("the next sync: %+v", d)
	}
}

// A job for vectors can be watched, too.
func TestReembed(t *testing.T) {
	t.Parallel()
	data := t.TempDir()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "a.md"), "aardvark")
	o := ingest.Options{Docs: []string{dir}, Embedder: &meaning{model: "old"}}
	syncAll(t, open(t, data, o))
	o.Embedder = &meaning{model: "new"}
	l := open(t, data, o)
	if d := syncAll(t, l).Dense; d.Error == "" || d.Missing != 1 {
		t.Errorf("another model: %+v", d)
	}
	before := l.View().Version
	j := l.StartReembed(t.Context())
	r, err := j.Wait(t.Context())
	if err != nil || r.Dense.Embedded != 1 || r.Dense.Pruned != 1 || l.View().Version != before+1 || !j.Status().Reembed {
		t.Errorf("%+v, %v, version %d after %d", r.Dense, err, l.View().Version, before)
	}
	if _, err := open(t, "", ingest.Options{}).Reembed(t.Context()); !errors.Is(err, search.ErrNoDense) {
		t.Errorf("without a model: %v", err)
	}
	if _, err := open(t, "", o).Reembed(t.Context()); !errors.Is(err, ingest.ErrNoDocuments) {
		t.Errorf("without documents: %v", err)
	}
}
