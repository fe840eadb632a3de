package ragflow

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"time"

	"example.com/ragflow/corpus"
	"example.com/ragflow/index"
)

// Files go into the index in batches, so that an interrupted run keeps what it
// did and memory stays bounded.
const (
	batchFiles = 64
	batchBytes = 8 << 20
)

// settled is how old a file must be for its size and time to prove that it has
// not changed. A younger one may be written again within the clock's
// resolution, so it is hashed once more the next time.
const settled = 2 * time.Second

// Index brings the index up to date with Config.Docs: new and changed files are
// read, files that are gone leave the index, all others cost a look at their
// size and time. A file that cannot be read is reported and stops nothing; a
// missing folder is an error that matches fs.ErrNotExist. What was done before
// an error or the end of ctx is kept.
func (a *Assistant) Index(ctx context.Context) (*IndexReport, error) {
	a.indexing.Lock()
	defer a.indexing.Unlock()
	begun := a.config.Clock()
	report := &IndexReport{Roots: []string{}, Skipped: []FileProblem{}, Failed: []FileProblem{}, Warned: []FileProblem{}}
	for _, docs := range a.config.Docs {
		root, err := resolveRoot(docs)
		if err != nil {
			return nil, err
		}
		s := &syncer{assistant: a, root: root, report: report, seen: map[string]bool{}}
		if err := s.run(ctx); err != nil {
			return nil, fmt.Errorf("index %s: %w", docs, err)
		}
		report.Roots = append(report.Roots, root)
	}
	if err := a.embedIndexed(ctx, report); err != nil {
		return nil, err
	}
	if err := a.open(ctx, report); err != nil {
		return nil, err
	}
	report.ElapsedMS = milliseconds(a.config.Clock().Sub(begun))
	return report, nil
}

// resolveRoot names a root as the index knows it: absolute and free of links.
func resolveRoot(docs string) (string, error) {
	abs, err := filepath.Abs(docs)
	if err == nil {
		abs, err = filepath.EvalSymlinks(abs)
	}
	if err != nil {
		return "", fmt.Errorf("documents %s: %w", docs, err)
	}
	return abs, nil
}

// syncer makes one collection of the index equal to one root.
type syncer struct {
	assistant *Assistant
	root      string
	report    *IndexReport
	chunking  corpus.ChunkOptions

	seen    map[string]bool // sources that are there
	blocked []string        // folders that could not be read; what they hold is kept
	work    []job
	bytes   int64
}

// job is a file that may have changed.
type job struct {
	file  corpus.File
	known index.File // what the index holds; zero for a new file
}

func (s *syncer) run(ctx context.Context) error {
	db := s.assistant.index
	known, err := db.Files(ctx, s.root)
	if err != nil {
		return err
	}
	if err := s.scan(ctx, known); err != nil {
		return err
	}
	if err := s.remove(ctx, known); err != nil {
		return err
	}
	if err := s.readAll(ctx); err != nil {
		return err
	}
	s.progress(Progress{Stage: "publishing", Done: len(s.work), Total: len(s.work), Bytes: s.bytes})
	return db.Publish(ctx, s.root, nil)
}

// scan walks the root and lists what has to be read.
func (s *syncer) scan(ctx context.Context, known map[string]index.File) error {
	fingerprint := s.chunking.Fingerprint()
	for file, err := range corpus.Files(ctx, s.root) {
		if err != nil {
			if err := s.leftOut(err); err != nil {
				return err
			}
			continue
		}
		s.seen[file.Source] = true
		k, ok := known[file.Source]
		if ok && k.Chunker == fingerprint && k.Size == file.Size && k.ModTime.Equal(file.ModTime) && !retry(k) {
			s.report.Unchanged++
			if k.Error != "" {
				s.report.Skipped = append(s.report.Skipped, FileProblem{file.Source, k.Error})
			}
			continue
		}
		s.work = append(s.work, job{file, k})
		s.progress(Progress{Stage: "scanning", Done: len(s.seen)})
	}
	return nil
}

// retry says whether a file that failed is read again although it looks the
// same: rights may have changed, its content has not.
func retry(k index.File) bool {
	return k.Error != "" && !strings.HasPrefix(k.Error, corpus.ErrBinary.Error()) &&
		!strings.HasPrefix(k.Error, corpus.ErrTooLarge.Error())
}

// leftOut reports a file or folder that the walk could not give.
func (s *syncer) leftOut(err error) error {
	left, ok := errors.AsType[*corpus.FileError](err)
	if !ok {
		return err
	}
	source, relErr := filepath.Rel(s.root, left.Path)
	if relErr != nil {
		source = left.Path
	}
	problem := FileProblem{filepath.ToSlash(source), left.Err.Error()}
	if skippable(left.Err) {
		s.report.Skipped = append(s.report.Skipped, problem)
		return nil
	}
	s.report.Failed = append(s.report.Failed, problem)
	s.blocked = append(s.blocked, problem.Source)
	return nil
}

// skippable tells files that are no documents from files in trouble.
func skippable(err error) bool {
	return errors.Is(err, corpus.ErrNoLoader) || errors.Is(err, corpus.ErrBinary) ||
		errors.Is(err, corpus.ErrTooLarge) || errors.Is(err, corpus.ErrNotRegular)
}

// remove drops what the index holds and the root does not. What lies in a
// folder that could not be read may still be there, so it stays.
func (s *syncer) remove(ctx context.Context, known map[string]index.File) error {
	var gone []string
	for source := range known {
		if !s.seen[source] && !s.isBlocked(source) {
			gone = append(gone, source)
		}
	}
	s.report.Removed += len(gone)
	if len(gone) == 0 {
		return nil
	}
	return s.assistant.index.Delete(ctx, s.root, gone...)
}

func (s *syncer) isBlocked(source string) bool {
	for _, b := range s.blocked {
		if b == "." || source == b || strings.HasPrefix(source, b+"/") {
			return true
		}
	}
	return false
}

// readAll reads the changed files on all cores and hands them to the index in
// order, batch by batch.
func (s *syncer) readAll(ctx context.Context) error {
	results := make([]chan read, len(s.work))
	for i := range results {
		results[i] = make(chan read, 1)
	}
	ctx, cancel := context.WithCancel(ctx)
	var readers sync.WaitGroup
	defer readers.Wait()
	defer cancel()
	ahead := make(chan struct{}, 4*runtime.GOMAXPROCS(0)) // bounds what is read and not yet stored
	readers.Go(func() {
		for i, j := range s.work {
			select {
			case ahead <- struct{}{}:
			case <-ctx.Done():
				return
			}
			readers.Go(func() { results[i] <- s.read(j) })
		}
	})
	b := &batch{syncer: s}
	for i := range s.work {
		select {
		case r := <-results[i]:
			<-ahead
			if err := b.add(ctx, r, i+1); err != nil {
				return err
			}
		case <-ctx.Done():
			return errors.Join(b.flush(context.WithoutCancel(ctx)), context.Cause(ctx))
		}
	}
	return b.flush(ctx)
}

// read is what became of one job.
type read struct {
	job
	entry   index.Entry
	same    bool // the file's bytes are those the index knows
	warned  []string
	problem error
}

func (s *syncer) read(j job) read {
	r := read{job: j}
	modified := j.file.ModTime
	if time.Since(modified) < settled {
		modified = time.Unix(0, 0)
	}
	r.entry.File = index.File{
		Source: j.file.Source, Size: j.file.Size, ModTime: modified, Chunker: s.chunking.Fingerprint(),
	}
	doc, err := corpus.Load(j.file, corpus.Limits{})
	if err != nil {
		if left, ok := errors.AsType[*corpus.FileError](err); ok {
			err = left.Err // the report names the file itself
		}
		r.problem, r.entry.File.Error = err, err.Error()
		return r
	}
	r.entry.File.Hash, r.entry.File.Title, r.entry.File.Meta = doc.Hash, doc.Title, doc.Meta
	if r.same = j.known.Hash == doc.Hash && j.known.Chunker == r.entry.File.Chunker && j.known.Error == ""; r.same {
		return r
	}
	r.entry.Chunks, r.warned = corpus.Chunk(doc, s.chunking), doc.Warnings
	return r
}

// batch collects what goes into the index in one transaction.
type batch struct {
	*syncer
	put   []index.Entry
	touch []index.File
	size  int64
}

func (b *batch) add(ctx context.Context, r read, done int) error {
	switch {
	case r.same:
		b.report.Unchanged++
		b.touch = append(b.touch, r.entry.File)
	case r.problem != nil && skippable(r.problem):
		b.report.Skipped = append(b.report.Skipped, FileProblem{r.file.Source, r.problem.Error()})
		b.put = append(b.put, r.entry)
	case r.problem != nil:
		b.report.Failed = append(b.report.Failed, FileProblem{r.file.Source, r.problem.Error()})
		b.put = append(b.put, r.entry)
	default:
		if r.known.Source == "" {
			b.report.Added++
		} else {
			b.report.Changed++
		}
		b.put = append(b.put, r.entry)
	}
	for _, w := range r.warned {
		b.report.Warned = append(b.report.Warned, FileProblem{r.file.Source, w})
	}
	b.size += r.file.Size
	b.bytes += r.file.Size
	b.progress(Progress{Stage: "indexing", Done: done, Total: len(b.work), Bytes: b.bytes})
	if len(b.put)+len(b.touch) < batchFiles && b.size < batchBytes {
		return nil
	}
	return b.flush(ctx)
}

func (b *batch) flush(ctx context.Context) error {
	db := b.assistant.index
	if len(b.put) > 0 {
		if err := db.Put(ctx, b.root, b.put); err != nil {
			return err
		}
	}
	if len(b.touch) > 0 {
		if err := db.Touch(ctx, b.root, b.touch...); err != nil {
			return err
		}
	}
	b.put, b.touch, b.size = b.put[:0], b.touch[:0], 0
	return nil
}

func (s *syncer) progress(p Progress) {
	if s.assistant.config.Progress != nil {
		s.assistant.config.Progress(p)
	}
}

// citedPath is where a source lies: under its root, or the root itself where
// that is a single file.
func citedPath(root, source string) string {
	if root == "" {
		return source
	}
	if filepath.Base(root) == source {
		if info, err := os.Stat(root); err == nil && !info.IsDir() {
			return root
		}
	}
	return filepath.Join(root, filepath.FromSlash(source))
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
