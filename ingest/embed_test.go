package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

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

// A model that fails costs nothing but vectors, and the next run makes those that are missing, and only those.
func TestEmbedderFails(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for i := range 9 {
		write(t, filepath.Join(dir, fmt.Sprintf("%d.md", i)), fmt.Sprintf("animal%d", i))
	}
	m := &meaning{model: "m", fail: func(_ context.Context, texts int) error {
		if texts > 4 {
			return errors.New("connection reset")
		}
		return nil
	}}
	data := t.TempDir()
	o := ingest.Options{Docs: []string{dir}, Embedder: m, Dense: search.Dense{Batch: 2, Workers: 1}}
	r := syncAll(t, open(t, data, o))
	if d := r.Dense; r.Added != 9 || d.Embedded != 4 || d.Missing != 5 || !strings.Contains(d.Error, "connection reset") {
		t.Fatalf("report %+v, %+v", r, d)
	}
	m.embedded()
	m.fail = nil
	want := &ingest.DenseReport{Model: "m", Dimension: 32, Vectors: "passage", Chunks: 9, Embedded: 5, Calls: 3, InputTokens: 10}
	if diff := cmp.Diff(want, syncAll(t, open(t, data, o)).Dense); diff != "" || m.embedded() != 5 {
		t.Errorf("the next run (-want +got):\n%s", diff)
	}
}

// Another model is reported with both names and the command, and is not asked; Rebuild makes its vectors.
func TestEmbedderSwitched(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, "a.md"), "aardvark")
	o := ingest.Options{Docs: []string{dir}, Embedder: &meaning{model: "old-model"}}
	syncAll(t, open(t, data, o))
	o.Dense.Dimension = 99
	d := syncAll(t, open(t, data, o)).Dense
	for _, part := range []string{"32 dimensions", "99 dimensions"} {
		if !strings.Contains(d.Error, part) {
			t.Errorf("another dimension: %q does not name %q", d.Error, part)
		}
	}
	m := &meaning{model: "vendor/New-Model"}
	o.Embedder, o.Dense.Dimension = m, 0
	d = syncAll(t, open(t, data, o)).Dense
	for _, part := range []string{"old-model", "new-model", "ragflow index --rebuild"} {
		if !strings.Contains(d.Error, part) {
			t.Errorf("%q does not name %q", d.Error, part)
		}
	}
	if n := m.embedded(); n != 0 {
		t.Errorf("the new model was given %d texts", n)
	}
	o.Dense.Rebuild = true
	if d := syncAll(t, open(t, data, o)).Dense; d.Error != "" || d.Embedded != 1 || d.Missing != 0 {
		t.Errorf("rebuilt: %+v", d)
	}
}

// A spare model makes vectors when it is told to, and not before. It makes those that passages lack, leaves the vectors
// of another model alone, and gives way to any other.
func TestSpareEmbedder(t *testing.T) {
	t.Parallel()
	data, dir := t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, "a.md"), "aardvark")
	spare, other := &meaning{model: "built-in/1"}, &meaning{model: "other"}
	with := func(embedder, spare *meaning) library {
		o := ingest.Options{Docs: []string{dir}, Spare: spare}
		if embedder != nil {
			o.Embedder = embedder
		}
		return open(t, data, o)
	}
	vectors := func(l library, embedder string, want int) {
		t.Helper()
		stats, err := l.Stats(t.Context(), false)
		if err != nil {
			t.Fatal(err)
		}
		if c := stats.Collections[0]; !strings.HasPrefix(c.Embedder, embedder) || c.Vectors != want {
			t.Errorf("%d vectors by %q, want %d by %s", c.Vectors, c.Embedder, want, embedder)
		}
	}
	embed := func(l library, want int) {
		t.Helper()
		r, err := l.StartEmbed(t.Context()).Wait(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if got := r.Dense; (got == nil) != (want < 0) || got != nil && (got.Embedded != want || got.Missing != 0) {
			t.Errorf("embedded %+v, want %d texts", got, want)
		}
	}
	l := with(nil, spare)
	if r := syncAll(t, l); r.Dense != nil || spare.embedded() != 0 {
		t.Errorf("indexing made vectors: %+v", r.Dense)
	}
	before := l.View().Version
	embed(l, 1)
	vectors(l, "built-in/1", 1)
	if v := l.View().Version; v != before+1 {
		t.Errorf("version %d after %d", v, before)
	}
	write(t, filepath.Join(dir, "b.md"), "badger")
	syncAll(t, l)
	vectors(l, "built-in/1", 1)
	embed(l, 1)
	embed(l, 0)
	if v := l.View().Version; v != before+3 {
		t.Errorf("version %d after %d: a change of documents and one of vectors", v, before)
	}

	l = with(nil, &meaning{model: "built-in/2"}) // another version takes its place
	syncAll(t, l)
	embed(l, 2)
	vectors(l, "built-in/2", 2)
	if r := syncAll(t, with(other, spare)); r.Dense == nil || r.Dense.Embedded != 2 || r.Dense.Error != "" {
		t.Errorf("a configured model: %+v", r.Dense)
	}
	l = with(nil, spare)
	syncAll(t, l)
	embed(l, -1)
	vectors(l, "other", 2)
}
