package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path/filepath"
	"slices"
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
)

// Library is a set of documents in an index. It is safe for concurrent use.
type Library struct {
	index search.Backend
	o     Options

	reading chan struct{} // full while documents are read into the index
	served  atomic.Bool   // there is something to answer from
	stale   atomic.Bool   // files in Options.Folders changed since they were read
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
	// Serve is called after each change with the roots to answer from.
	Serve func(ctx context.Context, roots []string) error
	// ReadOnly makes the error of a change to an index that can only be read.
	ReadOnly func(consequence string) error
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
	return &Library{index: index, o: o, reading: make(chan struct{}, 1)}
}

// Notice says that the index had to be replaced when it was opened, and why; "" where it was not.
func (l *Library) Notice() string { return l.o.Notice }

// Sync makes the index equal to the documents: new and changed files are read, files
// that are gone leave the index, all others cost a look at their size and time. A file
// that cannot be read is reported and stops nothing; a missing folder is an error that
// matches fs.ErrNotExist. What was done before an error or the end of ctx is kept.
// Where the index can only be read it stays as it is, and the report warns.
func (l *Library) Sync(ctx context.Context) (*Report, error) {
	if err := l.lock(ctx); err != nil {
		return nil, err
	}
	defer l.unlock()
	return l.sync(ctx, false)
}

// Ready returns once there is something to answer from. The first call is a [Library.Sync], one
// after [Library.Outdate] reads Options.Folders only, and all others return at once. A call
// that finds another one at work waits for it, and goes on with its work if it failed.
func (l *Library) Ready(ctx context.Context) error {
	ready := func() bool { return l.served.Load() && !l.stale.Load() }
	if ready() {
		return nil
	}
	if err := l.lock(ctx); err != nil {
		return err
	}
	defer l.unlock()
	if ready() {
		return nil
	}
	_, err := l.sync(ctx, l.served.Load())
	return err
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
		return report, l.serveAsItIs(ctx, report)
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

// finish embeds what is indexed and answers from it.
func (l *Library) finish(ctx context.Context, report *Report, begun time.Time) (*Report, error) {
	if err := l.embedIndexed(ctx, report); err != nil {
		return nil, err
	}
	if err := l.serve(ctx, report); err != nil {
		return nil, err
	}
	report.ElapsedMS = float64(l.o.Clock().Sub(begun).Microseconds()) / 1000
	return report, nil
}

// serve answers from the roots of the report, or from all that is indexed where no
// documents are configured, and counts what they hold. A root without passages is left
// out, unless it is configured.
func (l *Library) serve(ctx context.Context, report *Report) error {
	collections, err := l.index.Collections(ctx)
	if err != nil {
		return err
	}
	var roots []string
	report.Files, report.Chunks = 0, 0
	named := report.Roots[:min(len(l.o.Docs), len(report.Roots))]
	for _, c := range collections {
		wanted := len(l.o.Docs) == 0 || slices.Contains(report.Roots, c.Root)
		if wanted && c.Chunks > 0 || slices.Contains(named, c.Root) {
			roots = append(roots, c.Root)
			report.Files += c.Files
			report.Chunks += c.Chunks
		}
	}
	switch {
	case len(roots) == 0 && l.o.Notice != "":
		return fmt.Errorf("%w: index.db: %s", ErrNoDocuments, l.o.Notice)
	case len(roots) == 0:
		return ErrNoDocuments
	}
	report.Roots = roots
	if err := l.o.Serve(ctx, roots); err != nil {
		return err
	}
	l.served.Store(true)
	return nil
}

// serveAsItIs answers from an index that cannot be written.
func (l *Library) serveAsItIs(ctx context.Context, report *Report) error {
	for _, docs := range slices.Concat(l.o.Docs, l.folders()) {
		root, err := load.Resolve(docs)
		if err != nil {
			return err
		}
		report.Roots = append(report.Roots, root)
	}
	err := l.serve(ctx, report)
	if errors.Is(err, ErrNoDocuments) && len(l.o.Docs) > 0 {
		return l.o.ReadOnly("documents that are not indexed yet cannot be")
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
