package ingest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/semaphore"

	"example.com/ragflow/internal/folder"
	"example.com/ragflow/internal/ocr"
	"example.com/ragflow/llm"
	"example.com/ragflow/search"
)

// Errors of a library; match them with errors.Is.
var (
	ErrNoDocuments = errors.New("no documents to answer from")     // none configured and none indexed
	ErrNoPath      = folder.ErrNoPath                              // a path of documents is empty
	ErrOutside     = errors.New("not in a folder of the library")  // a path to sync
	ErrUnread      = errors.New("it cannot be read")               // all files that were named
	ErrReadOnly    = errors.New("the index cannot be written")     // and what was asked for needs a change
	ErrClosed      = errors.New("the library of documents closed") // before the work began
)

// Library is one collection: documents and their index. It is safe for concurrent use.
type Library struct {
	index search.Backend
	o     Options

	memory    *semaphore.Weighted // bytes for files that are being read, of maxMemory
	embedding *semaphore.Weighted // one job at a time makes vectors
	running   sync.WaitGroup      // jobs

	storing    sync.Mutex // a document and its metadata are replaced together
	publishing sync.Mutex // the newest view is shown last

	mu       sync.Mutex // guards what follows, and the jobs
	locks    map[string]*semaphore.Weighted
	jobs     []*Job // oldest first
	closed   bool
	outdated int      // how often Outdate was called
	fresh    int      // outdated when the newest sync of Options.Folders began
	late     []string // roots without vectors, left to the job that makes some
	view     View
	held     []search.Collection // of view
	changed  chan struct{}       // closed when view changes
}

// View names the roots that questions are answered from.
type View struct {
	Roots   []string // at least one; must not be changed
	Version int      // rises when the roots or the documents, passages or vectors of one change
	Files   int      // in all roots
	Indexed int      // files that hold chunks
	Chunks  int
	// Content changes with the documents and passages of the roots, and is the same in all processes.
	Content string
}

// Options say which documents belong to a library and how they are indexed.
type Options struct {
	Docs    []string        // folders and files; empty: all indexed roots
	Folders func() []string // more folders, read if they exist; may be nil
	Dir     string          // the folder for the documents of Put, made when needed; empty: none can be put

	Chunking     Chunking // a folder that was indexed with KeepChunking keeps its own
	KeepChunking bool     // store Chunking for the folders that are indexed

	OCR      *OCR         // reads the pages of PDFs that are pictures; nil: they are left out
	Embedder llm.Embedder // makes vectors while documents are indexed; nil: see Spare
	// Spare makes the vectors of a library without an Embedder, when StartEmbed is called; nil: none are made. The
	// part of its name before a slash is the same in all its versions. Any other embedder replaces its vectors.
	Spare llm.Embedder
	Dense search.Dense

	Notice string // why the index was replaced when it was opened; see Library.Notice
	Clock  func() time.Time
}

// OCR reads pages that are pictures with a program of the machine.
type OCR = ocr.Reader

// New returns the library of an index, which [Library.Close] closes.
func New(index search.Backend, o Options) *Library {
	return &Library{
		index: index, o: o, memory: semaphore.NewWeighted(maxMemory), embedding: semaphore.NewWeighted(1),
		locks: map[string]*semaphore.Weighted{}, changed: make(chan struct{}),
	}
}

// Notice says why the index was replaced when it was opened; empty if it was not.
func (l *Library) Notice() string { return l.o.Notice }

// Close cancels all jobs, waits until they have saved their work, and closes the index.
func (l *Library) Close() error {
	l.mu.Lock()
	l.closed = true
	jobs := slices.Clone(l.jobs)
	l.mu.Unlock()
	for _, j := range jobs {
		j.Cancel()
	}
	l.running.Wait()
	return l.index.Close()
}

// Ready returns the roots to answer from. The first call is a [Library.Sync], one after
// [Library.Outdate] reads Options.Folders only, and all others return at once. A call made
// while another job reads all documents waits for that one.
func (l *Library) Ready(ctx context.Context) (View, error) {
	for {
		l.mu.Lock()
		v, outdated, fresh := l.view, l.outdated, l.fresh
		l.mu.Unlock()
		var err error
		switch {
		case len(v.Roots) == 0:
			_, err = l.wait(ctx, l.firstSync(ctx))
		case fresh == outdated:
			return v, nil
		default:
			err = l.syncFolders(ctx)
		}
		if errors.Is(err, context.Canceled) && ctx.Err() == nil {
			continue // somebody else cancelled the job
		}
		l.mu.Lock()
		defer l.mu.Unlock()
		if err == nil {
			l.fresh = max(l.fresh, outdated)
		}
		return l.view, err
	}
}

// firstSync returns a job that reads all documents, for a caller who waits for it.
func (l *Library) firstSync(ctx context.Context) *Job {
	l.mu.Lock()
	for _, j := range l.jobs {
		if s := j.status; s.State == JobRunning && len(s.Paths) == 0 && !s.Reembed {
			j.waiters++
			l.mu.Unlock()
			return j
		}
	}
	l.mu.Unlock()
	return l.join(ctx, JobStatus{}, false)
}

// syncFolders syncs Options.Folders. If none exists, one may have been deleted.
func (l *Library) syncFolders(ctx context.Context) error {
	folders := l.folders()
	if len(folders) == 0 {
		return l.publish(ctx, newReport(), false, true)
	}
	_, err := l.Sync(ctx, folders...)
	return err
}

// View returns the roots to answer from, without reading documents. There are none before
// the first [Library.Sync] or [Library.Ready].
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
func (l *Library) Outdate() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.outdated++
}

// lock waits for the right to change a root in the index and returns the function that
// gives it back.
func (l *Library) lock(ctx context.Context, root string) (unlock func(), err error) {
	l.mu.Lock()
	s := l.locks[root]
	if s == nil {
		s = semaphore.NewWeighted(1)
		l.locks[root] = s
	}
	l.mu.Unlock()
	if err := s.Acquire(ctx, 1); err != nil {
		return nil, context.Cause(ctx)
	}
	return func() { s.Release(1) }, nil
}

// Holds counts what the index holds now of the library's roots, without reading documents.
func (l *Library) Holds(ctx context.Context) (View, error) {
	v, _, err := l.holds(ctx)
	return v, err
}

// holds returns the configured roots, or all indexed roots if none are configured. A root
// without passages is left out unless it is configured.
func (l *Library) holds(ctx context.Context) (v View, held []search.Collection, err error) {
	collections, err := l.index.Collections(ctx)
	named, further := l.roots()
	for _, c := range collections {
		wanted := len(named) == 0 || slices.Contains(further, c.Root)
		if wanted && c.Chunks > 0 || slices.Contains(named, c.Root) {
			held, v.Roots = append(held, c), append(v.Roots, c.Root)
			v.Files += c.Files
			v.Indexed += c.Indexed
			v.Chunks += c.Chunks
		}
	}
	return v, held, err
}

// publish makes what the index holds the view. vectors says that there may be new ones. A
// partial sync changes a view but begins none, because other documents were not read yet.
func (l *Library) publish(ctx context.Context, report *Report, vectors, partial bool) error {
	l.publishing.Lock()
	defer l.publishing.Unlock()
	v, held, err := l.holds(ctx)
	if err != nil {
		return err
	}
	l.show(v, held, vectors, partial)
	report.Roots, report.Files, report.Indexed, report.Chunks = append([]string{}, v.Roots...), v.Files, v.Indexed, v.Chunks
	switch {
	case len(v.Roots) > 0 || partial:
		return nil
	case l.o.Notice != "":
		return fmt.Errorf("%w: index.db: %s", ErrNoDocuments, l.o.Notice)
	}
	return ErrNoDocuments
}

// show sets the view. Its version stays if the collections are as before, with no new vectors.
func (l *Library) show(v View, held []search.Collection, vectors, partial bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	same := func(a, b search.Collection) bool { return a.Root == b.Root && a.Generation == b.Generation }
	if partial && len(l.view.Roots) == 0 || !vectors && slices.EqualFunc(l.held, held, same) {
		return
	}
	v.Version = l.view.Version + 1
	for _, c := range held {
		v.Content += fmt.Sprintf("%q %d %d %d\n", c.Root, c.Generation, c.Changed.UnixNano(), c.Chunks)
	}
	l.view, l.held = v, held
	close(l.changed)
	l.changed = make(chan struct{})
}
