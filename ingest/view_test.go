package ingest_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/index"
	"example.com/ragflow/internal/sqlite"
)

// Four first questions share one sync, also if the one that began it gives up.
func TestReadySharesOneSync(t *testing.T) {
	t.Parallel()
	for _, cancelled := range []bool{false, true} {
		l, g, dir := gatedLibrary(t, ingest.Options{})
		begun, release := g.hold(dir)
		first, cancel := context.WithCancel(t.Context())
		defer cancel()
		var wg sync.WaitGroup
		ask := func(ctx context.Context, want error) {
			wg.Go(func() {
				if v, err := l.Ready(ctx); !errors.Is(err, want) || err == nil && len(v.Roots) != 1 {
					t.Errorf("ready: %+v, %v, want %v", v, err, want)
				}
			})
		}
		if cancelled {
			ask(first, context.Canceled)
		} else {
			ask(first, nil)
		}
		<-begun
		for range 3 {
			ask(t.Context(), nil)
		}
		time.Sleep(20 * time.Millisecond) // they wait, too
		if cancelled {
			cancel()
			time.Sleep(20 * time.Millisecond)
		}
		release()
		wg.Wait()
		if n := g.count(dir); n != 1 {
			t.Errorf("cancelled %v: the folder was compared %d times, want once", cancelled, n)
		}
	}
}

// The version of the view rises with changes only, and Outdate makes Ready read the further
// folders and nothing else.
func TestViewAndFolders(t *testing.T) {
	t.Parallel()
	extra := t.TempDir()
	root, err := ingest.Root(extra)
	if err != nil {
		t.Fatal(err)
	}
	l, g, dir := gatedLibrary(t, ingest.Options{Folders: func() []string { return []string{extra, filepath.Join(extra, "none")} }})
	if v := l.View(); len(v.Roots) != 0 {
		t.Errorf("before the first sync: %+v", v)
	}
	changed := l.Changed()
	v, err := l.Ready(t.Context())
	if err != nil || !slices.Equal(v.Roots, []string{dir}) || v.Files != 1 || v.Chunks != 1 {
		t.Fatalf("%+v, %v", v, err)
	}
	select {
	case <-changed:
	default:
		t.Error("the first view is no change")
	}
	changed = l.Changed()
	syncAll(t, l)
	if l.View().Version != v.Version {
		t.Error("a sync without changes made a new version")
	}
	select {
	case <-changed:
		t.Error("a sync without changes is a change")
	default:
	}
	write(t, filepath.Join(extra, "p.md"), "promoted")
	docs, extras := g.count(dir), g.count(root)
	for range 2 {
		if got, err := l.Ready(t.Context()); err != nil || got.Version != v.Version {
			t.Errorf("%+v, %v", got, err)
		}
	}
	l.Outdate()
	var got ingest.View
	for range 2 {
		if got, err = l.Ready(t.Context()); err != nil || got.Version != v.Version+1 || len(got.Roots) != 2 {
			t.Errorf("after Outdate: %+v, %v", got, err)
		}
	}
	if g.count(dir) != docs || g.count(root) != extras+1 || !finds(t, l, "promoted", "p.md") {
		t.Errorf("documents were compared %d times more, folders %d", g.count(dir)-docs, g.count(root)-extras)
	}
	if held, err := l.Holds(t.Context()); err != nil || held.Files != 2 || held.Indexed != 2 || held.Chunks != got.Chunks {
		t.Errorf("the index holds %+v, %v", held, err)
	}
}

// Folders that could not be read after Outdate are read by the next call.
func TestReadyAfterAFailure(t *testing.T) {
	t.Parallel()
	extra := t.TempDir()
	l, g, _ := gatedLibrary(t, ingest.Options{Folders: func() []string { return []string{extra} }})
	if _, err := l.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(extra, "p.md"), "promoted")
	l.Outdate()
	away := errors.New("the server is away")
	g.gate = func(context.Context, string) error { return away }
	if _, err := l.Ready(t.Context()); !errors.Is(err, away) {
		t.Errorf("%v, want that the server is away", err)
	}
	g.gate = nil
	if _, err := l.Ready(t.Context()); err != nil || !finds(t, l, "promoted", "p.md") {
		t.Errorf("the next call: %v", err)
	}
}

// Documents that are deleted are not answered from any more, even if they were the last.
func TestForget(t *testing.T) {
	t.Parallel()
	l, g, dir := gatedLibrary(t, ingest.Options{})
	syncAll(t, l)
	all := open(t, "", ingest.Options{})
	all.index, all.Library = g, ingest.New(g, ingest.Options{Clock: time.Now}) // l closes the index
	if v, err := all.Ready(t.Context()); err != nil || len(v.Roots) != 1 {
		t.Fatalf("%+v, %v", v, err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for _, want := range []int{1, 0} {
		if n, err := all.Forget(t.Context(), dir); n != want || err != nil {
			t.Errorf("forgot %d files, %v, want %d", n, err, want)
		}
	}
	if v := all.View(); len(v.Roots) != 0 {
		t.Errorf("answers come from %+v", v)
	}
	if _, err := all.Ready(t.Context()); !errors.Is(err, ingest.ErrNoDocuments) {
		t.Errorf("%v, want ErrNoDocuments", err)
	}
}

// An index that cannot be written is answered from and never changed.
func TestReadOnlyIndex(t *testing.T) {
	t.Parallel()
	dir, data := t.TempDir(), t.TempDir()
	write(t, filepath.Join(dir, "a.md"), "aardvark")
	o := ingest.Options{Docs: []string{dir}, Dir: t.TempDir(), Clock: time.Now}
	syncAll(t, open(t, data, o))
	write(t, filepath.Join(dir, "b.md"), "bumblebee")
	readOnly := func(o ingest.Options) library {
		db, err := index.Open(t.Context(), filepath.Join(data, "index.db"), index.Options{Access: sqlite.ReadOnly})
		if err != nil {
			t.Fatal(err)
		}
		return over(t, db, o)
	}
	l := readOnly(o)
	if r := syncAll(t, l); r.Added != 0 || r.Unchanged != 1 || len(r.Warned) != 1 || !finds(t, l, "aardvark", "a.md") {
		t.Errorf("report %+v", r)
	}
	_, pathErr := l.Sync(t.Context(), dir)
	_, putErr := l.PutText(t.Context(), "x", "", "text", nil)
	_, otherErr := readOnly(ingest.Options{Docs: []string{t.TempDir()}}).Ready(t.Context())
	for what, err := range map[string]error{"path": pathErr, "put": putErr, "delete": l.Delete(t.Context(), "x.md"), "another folder": otherErr} {
		if !errors.Is(err, ingest.ErrReadOnly) {
			t.Errorf("%s: %v, want ErrReadOnly", what, err)
		}
	}
}
