package ingest_test

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"testing"
	"time"

	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/index"
	"example.com/ragflow/search"
)

// gated is an embedded index that counts how often files are compared, and lets tests hold
// that up, by root.
type gated struct {
	search.Backend
	mu    sync.Mutex
	reads map[string]int
	gate  func(ctx context.Context, root string) error
}

func (g *gated) Files(ctx context.Context, root string) (map[string]search.File, error) {
	g.mu.Lock()
	g.reads[root]++
	gate := g.gate
	g.mu.Unlock()
	if gate != nil {
		if err := gate(ctx, root); err != nil {
			return nil, err
		}
	}
	return g.Backend.Files(ctx, root)
}

func (g *gated) count(root string) int {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.reads[root]
}

// hold makes the next comparison of a root wait. begun is closed when it waits.
func (g *gated) hold(root string) (begun <-chan struct{}, release func()) {
	entered, free := make(chan struct{}), make(chan struct{})
	var once sync.Once
	g.mu.Lock()
	defer g.mu.Unlock()
	g.gate = func(ctx context.Context, r string) (err error) {
		if r == root {
			once.Do(func() {
				close(entered)
				select {
				case <-free:
				case <-ctx.Done():
					err = context.Cause(ctx)
				}
			})
		}
		return err
	}
	return entered, func() { close(free) }
}

// gatedLibrary is a library over one folder with one file, and the root of the folder.
func gatedLibrary(t *testing.T, o ingest.Options) (l library, g *gated, dir string) {
	t.Helper()
	dir, err := ingest.Root(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(dir, "a.md"), "aardvark")
	db, err := index.Open(t.Context(), "", index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	g = &gated{Backend: db, reads: map[string]int{}}
	o.Docs = append(o.Docs, dir)
	return over(t, g, o), g, dir
}

// A sync finds all that changed before it was called, so it does not join one that has begun
// to read. Those that wait for the same documents are one job.
func TestSyncsOfTheSameDocumentsJoin(t *testing.T) {
	t.Parallel()
	l, g, dir := gatedLibrary(t, ingest.Options{})
	begun, release := g.hold(dir)
	running := l.Start(t.Context())
	<-begun
	write(t, filepath.Join(dir, "b.md"), "bumblebee")
	second, third := l.Start(t.Context()), l.Start(t.Context())
	if second == running || second != third || second.Status().State != ingest.JobWaiting || running.Status().State != ingest.JobRunning {
		t.Errorf("jobs %+v, %+v, %+v", running.Status(), second.Status(), third.Status())
	}
	var ids []string
	for _, j := range l.Jobs() {
		ids = append(ids, j.Status().ID)
	}
	if !slices.Equal(ids, []string{second.Status().ID, running.Status().ID}) {
		t.Errorf("jobs %q", ids)
	}
	release()
	if _, err := second.Wait(t.Context()); err != nil {
		t.Fatal(err)
	}
	if !finds(t, l, "bumblebee", "b.md") {
		t.Error("a file that was there before the sync is not found")
	}
	if s := running.Status(); s.State != ingest.JobDone || s.Report.Added == 0 || s.Started == nil || s.Ended == nil || s.Error != "" {
		t.Errorf("the first job ended as %+v", s)
	}
}

// A job ends when the last caller who waits gives up, unless it was started to go on.
func TestSyncEndsWithItsLastCaller(t *testing.T) {
	t.Parallel()
	l, g, dir := gatedLibrary(t, ingest.Options{})
	begun, release := g.hold(dir)
	ctx, cancel := context.WithCancelCause(t.Context())
	result := make(chan error)
	go func() {
		_, err := l.Sync(ctx)
		result <- err
	}()
	<-begun
	why := errors.New("the caller went home")
	cancel(why)
	if err := <-result; !errors.Is(err, why) {
		t.Errorf("sync: %v", err)
	}
	if jobs := l.Jobs(); len(jobs) != 0 {
		t.Errorf("%d jobs are left", len(jobs))
	}
	release()

	begun, release = g.hold(dir)
	ctx, cancel = context.WithCancelCause(t.Context())
	started := l.Start(ctx)
	<-begun
	cancel(why)
	if _, err := started.Wait(ctx); !errors.Is(err, why) {
		t.Errorf("wait: %v", err)
	}
	release()
	if r, err := started.Wait(t.Context()); err != nil || r.Added != 1 {
		t.Errorf("the started job: %+v, %v", r, err)
	}
}

// The files that a job stored before it was cancelled stay, and the next sync does the rest.
func TestCancelledJobKeepsItsWork(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const files = 1000
	for i := range files {
		write(t, filepath.Join(dir, fmt.Sprintf("%04d.md", i)), fmt.Sprintf("# Page %d\n\nword%d and some more words.\n", i, i))
	}
	l := open(t, t.TempDir(), ingest.Options{Docs: []string{dir}})
	j := l.Start(t.Context())
	for p := range j.Watch(t.Context()) {
		if p.Stage == "indexing" && p.Done >= 200 {
			j.Cancel()
		}
	}
	r, err := j.Wait(t.Context())
	if s := j.Status(); !errors.Is(err, context.Canceled) || s.State != ingest.JobCancelled || r.Added < 200 || r.Added == files {
		t.Fatalf("cancelled: %+v, %v", s, err)
	}
	root, err := ingest.Root(dir)
	if err != nil {
		t.Fatal(err)
	}
	kept, err := l.index.Files(t.Context(), root)
	if err != nil || len(kept) != r.Added {
		t.Errorf("%d files are in the index, %v; the report has %d", len(kept), err, r.Added)
	}
	if got := syncAll(t, l); got.Added != files-r.Added || got.Files != files || !finds(t, l, "word999", "0999.md") {
		t.Errorf("the next sync added %d after %d", got.Added, r.Added)
	}
}

// The progress of many small files rises, reaches the end, and is the same for all watchers.
func TestProgressOfManyFiles(t *testing.T) {
	t.Parallel()
	dir, files := t.TempDir(), 2000
	if testing.Short() {
		files = 1000
	}
	for i := range files {
		write(t, filepath.Join(dir, strconv.Itoa(i%100), fmt.Sprintf("%d.md", i)), "word\n")
	}
	l := open(t, "", ingest.Options{Docs: []string{dir}})
	j := l.Start(t.Context())
	var wg sync.WaitGroup
	for range 3 {
		wg.Go(func() {
			last := map[string]int{}
			var end ingest.Progress
			for p := range j.Watch(t.Context()) {
				if p.Done < last[p.Stage] || p.Total != 0 && p.Done > p.Total {
					t.Errorf("after %d comes %+v", last[p.Stage], p)
				}
				last[p.Stage], end = p.Done, p
			}
			if want := (ingest.Progress{Stage: "publishing", Done: files, Total: files, Bytes: int64(5 * files)}); end != want {
				t.Errorf("the last progress is %+v, want %+v", end, want)
			}
		})
	}
	wg.Wait()
	r, err := j.Wait(t.Context())
	if err != nil || r.Added != files || len(r.Changes) != min(files, 1000) || r.Changes[0] != (ingest.Change{Source: "0/0.md", Kind: "added", Chunks: 1}) {
		t.Errorf("added %d, %d named, %v", r.Added, len(r.Changes), err)
	}
	for range j.Watch(t.Context()) {
		break
	}
}

// A sync of one file or folder reads nothing else, and follows the rules of the whole.
func TestSyncOnePath(t *testing.T) {
	t.Parallel()
	l, _, dir := gatedLibrary(t, ingest.Options{})
	at := func(name string) string { return filepath.Join(dir, filepath.FromSlash(name)) }
	write(t, at(".gitignore"), "drafts/\n")
	syncAll(t, l)
	write(t, at("a.md"), "another aardvark")
	write(t, at("sub/b.md"), "bumblebee")
	write(t, at("sub/c.md"), "centipede")
	write(t, at("drafts/d.md"), "dragonfly")
	for _, step := range []struct {
		path                    string
		do                      func()
		added, changed, removed int
	}{
		{"sub/b.md", func() {}, 1, 0, 0},
		{"drafts/d.md", func() {}, 0, 0, 0},
		{"sub/none.md", func() {}, 0, 0, 0},
		{"sub", func() {}, 1, 0, 0},
		{"a.md.meta.yaml", func() { write(t, at("a.md.meta.yaml"), "title: Anteater\n") }, 0, 1, 0},
		{"sub/b.md", func() { _ = os.Remove(at("sub/b.md")) }, 0, 0, 1},
		{"sub", func() { _ = os.RemoveAll(at("sub")) }, 0, 0, 1},
		{"", func() {}, 0, 0, 0},
	} {
		step.do()
		if r := syncAll(t, l, at(step.path)); r.Added != step.added || r.Changed != step.changed || r.Removed != step.removed {
			t.Errorf("%s: %d added, %d changed, %d removed", step.path, r.Added, r.Changed, r.Removed)
		}
	}
	if c := found(t, l, "another"); len(c) != 1 || c[0].Title != "Anteater" {
		t.Errorf("found %+v", c)
	}
	for _, path := range []string{t.TempDir(), filepath.Join(dir, "..", "x.md"), filepath.Dir(dir)} {
		if _, err := l.Sync(t.Context(), path); !errors.Is(err, ingest.ErrOutside) {
			t.Errorf("%s: %v, want ErrOutside", path, err)
		}
	}
	if _, err := l.Sync(t.Context(), ""); !errors.Is(err, ingest.ErrNoPath) {
		t.Errorf("no path: %v", err)
	}
	all := open(t, "", ingest.Options{}) // without documents of its own
	if _, err := all.Sync(t.Context()); !errors.Is(err, ingest.ErrNoDocuments) {
		t.Errorf("nothing: %v", err)
	}
}

// A folder that vanishes is an error that leaves the index as it was. Other folders can be
// synced meanwhile.
func TestFolderVanishes(t *testing.T) {
	t.Parallel()
	other := t.TempDir()
	write(t, filepath.Join(other, "o.md"), "octopus")
	l, _, dir := gatedLibrary(t, ingest.Options{Docs: []string{other}})
	syncAll(t, l)
	before := l.View()
	if err := os.Rename(dir, dir+"-moved"); err != nil {
		t.Fatal(err)
	}
	for _, paths := range [][]string{nil, {dir}, {filepath.Join(dir, "a.md")}} {
		if _, err := l.Sync(t.Context(), paths...); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("sync of %q: %v, want ErrNotExist", paths, err)
		}
	}
	if v := l.View(); v.Version != before.Version || !finds(t, l, "aardvark", "a.md") {
		t.Errorf("the view is %+v, was %+v", v, before)
	}
	write(t, filepath.Join(other, "p.md"), "pelican")
	if r := syncAll(t, l, other); r.Added != 1 || !finds(t, l, "pelican", "p.md") || !finds(t, l, "aardvark", "a.md") {
		t.Errorf("the other folder: %+v", r)
	}
	if err := os.Rename(dir+"-moved", dir); err != nil {
		t.Fatal(err)
	}
	if r := syncAll(t, l); r.Removed != 0 || r.Files != 3 {
		t.Errorf("the folder is back: %+v", r)
	}
}

// Close ends the jobs under way, whose work is kept, and leaves no goroutine.
func TestCloseEndsJobs(t *testing.T) {
	dir := t.TempDir()
	for i := range 500 {
		write(t, filepath.Join(dir, fmt.Sprintf("%d.md", i)), "words of a page\n")
	}
	before := runtime.NumGoroutine()
	db, err := index.Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	l := ingest.New(db, ingest.Options{Docs: []string{dir}, Clock: time.Now})
	j := l.Start(t.Context())
	waiting := l.Start(t.Context())
	for range j.Watch(t.Context()) {
		break
	}
	if err := l.Close(); err != nil {
		t.Fatal(err)
	}
	if s := waiting.Status(); s.State != ingest.JobCancelled {
		t.Errorf("the job that waited ended as %+v", s)
	}
	if _, err := l.Sync(t.Context()); !errors.Is(err, ingest.ErrClosed) {
		t.Errorf("a sync after the end: %v", err)
	}
	if _, err := l.Ready(t.Context()); !errors.Is(err, ingest.ErrClosed) {
		t.Errorf("ready after the end: %v", err)
	}
	for range 100 {
		if runtime.NumGoroutine() <= before {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Errorf("%d goroutines, %d before", runtime.NumGoroutine(), before)
}
