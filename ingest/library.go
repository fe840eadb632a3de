package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"example.com/ragflow/ingest/chunk"
	"example.com/ragflow/internal/load"
	"example.com/ragflow/search"
)

// Facts about documents; match them with errors.Is.
var (
	ErrNoDocuments = errors.New("no documents to answer from") // none configured and none indexed
	ErrNoPath      = load.ErrNoPath                            // a path of documents is empty
	ErrUnread      = errors.New("it cannot be read")           // of all files that were named
	ErrReadOnly    = errors.New("the index cannot be written") // and the documents are not in it yet
)

// Library is a set of documents in an index. It is safe for concurrent use.
type Library struct {
	index search.Backend
	o     Options

	reading chan struct{} // full while documents are read into the index
	stale   atomic.Bool   // files in Options.Folders changed since they were read

	mu      sync.Mutex // guards what follows
	view    View       // Roots are empty while there is nothing to answer from
	held    []search.Collection
	changed chan struct{} // closed when view changes
}

// View names the roots that questions are answered from.
type View struct {
	Roots   []string // at least one; must not be changed
	Version int      // rises when the roots or the documents, passages or vectors of one change
}

// Options say what belongs to a library and how it is read.
type Options struct {
	Docs    []string        // folders and files; empty: all that is indexed
	Folders func() []string // further folders, read where they exist; may be nil

	Chunking     chunk.Options // a folder that was indexed with KeepChunking keeps its own
	KeepChunking bool          // store Chunking for the folders that are indexed

	Embedder Embedder // nil: no vectors are made
	Dense    search.Dense

	Notice   string         // why the index was replaced when it was opened; see Library.Notice
	Progress func(Progress) // may be nil; called from one goroutine at a time
	Clock    func() time.Time
}

// Embedder makes the vectors of passages. Implementations are safe for concurrent use.
type Embedder interface {
	Model() string
	EmbedPassages(ctx context.Context, texts []string) (Embeddings, error)
}

// Embeddings are vectors, one for each text, and what they cost.
type Embeddings struct {
	Vectors     [][]float32
	Calls       int
	InputTokens int64
}

// New returns the library of an index.
func New(index search.Backend, o Options) *Library {
	return &Library{index: index, o: o, reading: make(chan struct{}, 1), changed: make(chan struct{})}
}

// Notice says that the index had to be replaced when it was opened, and why; "" where it was not.
func (l *Library) Notice() string { return l.o.Notice }

// Sync makes the index equal to the documents: new and changed files are read, files
// that are gone leave the index, all others cost a look at their size and time. A file
// that cannot be read is reported and stops nothing; a missing folder is an error that
// matches fs.ErrNotExist. What was done before an error or the end of ctx is kept.
// An index that can only be read stays as it is, and the report warns; the error matches
// ErrReadOnly if it holds none of the documents.
func (l *Library) Sync(ctx context.Context) (*Report, error) {
	if err := l.lock(ctx); err != nil {
		return nil, err
	}
	defer l.unlock()
	return l.sync(ctx, false)
}

// Ready returns what to answer from. The first call is a [Library.Sync], one after
// [Library.Outdate] reads Options.Folders only, and all others return at once. A call
// made while another one works waits for it, and does the work itself if that failed.
func (l *Library) Ready(ctx context.Context) (View, error) {
	if v := l.View(); len(v.Roots) > 0 && !l.stale.Load() {
		return v, nil
	}
	if err := l.lock(ctx); err != nil {
		return View{}, err
	}
	defer l.unlock()
	v := l.View()
	if len(v.Roots) > 0 && !l.stale.Load() {
		return v, nil
	}
	_, err := l.sync(ctx, len(v.Roots) > 0)
	return l.View(), err
}

// View returns what to answer from now, without reading documents. It has no roots before the
// first [Library.Sync] or [Library.Ready].
func (l *Library) View() View {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.view
}

// Changed returns a channel that is closed when the version of the [View] rises next.
func (l *Library) Changed() <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changed
}

// Outdate makes the next call of Ready read Options.Folders again.
func (l *Library) Outdate() { l.stale.Store(true) }

func (l *Library) lock(ctx context.Context) error {
	select {
	case l.reading <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (l *Library) unlock() { <-l.reading }

// sync is Sync under the lock; with onlyFolders the documents count as unchanged.
func (l *Library) sync(ctx context.Context, onlyFolders bool) (report *Report, err error) {
	outdated := l.stale.Swap(false) // what changes from here on is seen by the next sync
	defer func() {
		if err != nil && outdated {
			l.stale.Store(true)
		}
	}()
	begun := l.o.Clock()
	report = newReport()
	if l.index.ReadOnly() {
		return report, l.publishAsItIs(ctx, report)
	}
	for i, docs := range slices.Concat(l.o.Docs, l.folders()) {
		root, err := load.Resolve(docs)
		if err != nil {
			return nil, err
		}
		report.Roots = append(report.Roots, root)
		if onlyFolders && i < len(l.o.Docs) {
			continue
		}
		if err := l.newSyncer(root, report).run(ctx); err != nil {
			return nil, fmt.Errorf("index %s: %w", docs, err)
		}
	}
	if err := l.unread(ctx, report); err != nil {
		return nil, err
	}
	return l.finish(ctx, report, begun)
}

// Forget takes all files below a root out of the index and counts them. The root need not exist any
// more.
func (l *Library) Forget(ctx context.Context, path string) (int, error) {
	if err := l.lock(ctx); err != nil {
		return 0, err
	}
	defer l.unlock()
	root, err := load.Resolve(path)
	if errors.Is(err, fs.ErrNotExist) {
		root, err = filepath.Abs(path)
	}
	if err != nil {
		return 0, err
	}
	files, err := l.index.Files(ctx, root)
	if err != nil || len(files) == 0 {
		return 0, err
	}
	return len(files), l.index.Delete(ctx, root, slices.Collect(maps.Keys(files))...)
}

// unread is an error where all documents are files that a person named and that hold no text
// that can be read. A question about them ends with the reason, and they leave the index.
func (l *Library) unread(ctx context.Context, report *Report) error {
	var why error
	named := report.Roots[:len(l.o.Docs)]
	for _, root := range named {
		name := filepath.Base(root)
		if load.Locate(root, name) != root {
			return nil // a folder
		}
		files, err := l.index.Files(ctx, root)
		if f := files[name]; err != nil || f.Source == "" || f.Chunks > 0 || bare(f) {
			return err
		} else if why == nil {
			why = fmt.Errorf("%s: %w: %s", name, ErrUnread, reasonOf(f))
		}
	}
	for _, root := range named {
		if err := l.index.Delete(ctx, root, filepath.Base(root)); err != nil {
			return err
		}
	}
	return why
}

// finish embeds the indexed documents and makes them the ones to answer from.
func (l *Library) finish(ctx context.Context, report *Report, begun time.Time) (*Report, error) {
	if err := l.embedIndexed(ctx, report); err != nil {
		return nil, err
	}
	vectors := report.Dense != nil && (report.Dense.Embedded > 0 || l.o.Dense.Rebuild)
	if err := l.publish(ctx, report, vectors); err != nil {
		return nil, err
	}
	report.ElapsedMS = float64(l.o.Clock().Sub(begun).Microseconds()) / 1000
	return report, nil
}

// publish makes the roots of the report the ones to answer from, or all indexed roots if no
// documents are configured, and counts what they hold. A root without passages is left out,
// unless it is configured. vectors says that there may be new ones.
func (l *Library) publish(ctx context.Context, report *Report, vectors bool) error {
	collections, err := l.index.Collections(ctx)
	if err != nil {
		return err
	}
	report.Files, report.Chunks = 0, 0
	named := report.Roots[:min(len(l.o.Docs), len(report.Roots))]
	var held []search.Collection
	var roots []string
	for _, c := range collections {
		wanted := len(l.o.Docs) == 0 || slices.Contains(report.Roots, c.Root)
		if wanted && c.Chunks > 0 || slices.Contains(named, c.Root) {
			held, roots = append(held, c), append(roots, c.Root)
			report.Files += c.Files
			report.Chunks += c.Chunks
		}
	}
	l.show(roots, held, vectors)
	switch {
	case len(roots) == 0 && l.o.Notice != "":
		return fmt.Errorf("%w: index.db: %s", ErrNoDocuments, l.o.Notice)
	case len(roots) == 0:
		return ErrNoDocuments
	}
	report.Roots = roots
	return nil
}

// show sets the view. Its version stays if the collections are as before, with no new vectors.
func (l *Library) show(roots []string, held []search.Collection, vectors bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	same := func(a, b search.Collection) bool { return a.Root == b.Root && a.Generation == b.Generation }
	if !vectors && slices.EqualFunc(l.held, held, same) {
		return
	}
	l.view, l.held = View{Roots: roots, Version: l.view.Version + 1}, held
	close(l.changed)
	l.changed = make(chan struct{})
}

// publishAsItIs is publish for an index that cannot be written.
func (l *Library) publishAsItIs(ctx context.Context, report *Report) error {
	for _, docs := range slices.Concat(l.o.Docs, l.folders()) {
		root, err := load.Resolve(docs)
		if err != nil {
			return err
		}
		report.Roots = append(report.Roots, root)
	}
	err := l.publish(ctx, report, false)
	if errors.Is(err, ErrNoDocuments) && len(l.o.Docs) > 0 {
		return fmt.Errorf("documents that are not indexed yet cannot be: %w", ErrReadOnly)
	}
	report.Unchanged = report.Files
	report.Warned = append(report.Warned, FileProblem{"index.db", "it cannot be written, so it was not brought up to date"})
	return err
}

// Root returns the root that documents at a path are indexed under: absolute and free of
// symbolic links.
func Root(path string) (string, error) { return load.Resolve(path) }

// CheckPath reports whether there is something at a path of documents: a file or a
// folder. The error matches fs.ErrNotExist or
// is that of the file system.
func CheckPath(path string) error {
	_, err := load.Resolve(path)
	return err
}

// folders returns those of Options.Folders that exist.
func (l *Library) folders() []string {
	if l.o.Folders == nil {
		return nil
	}
	return slices.DeleteFunc(l.o.Folders(), func(f string) bool { return CheckPath(f) != nil })
}

// SetProgress sets what receives how far indexing is, from one goroutine at a time. It must
// not be called while documents are read.
func (l *Library) SetProgress(report func(Progress)) { l.o.Progress = report }

func (l *Library) progress(p Progress) {
	if l.o.Progress != nil {
		l.o.Progress(p)
	}
}
