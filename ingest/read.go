package ingest

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"sync"
	"time"

	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/folder"
	"example.com/ragflow/internal/load"
	"example.com/ragflow/search"
)

// readAll reads the changed files on all cores and puts them into the index in order,
// batch by batch.
func (s *syncer) readAll(ctx context.Context) error {
	results := make([]chan read, len(s.work))
	for i := range results {
		results[i] = make(chan read, 1)
	}
	ctx, cancel := context.WithCancel(ctx)
	var readers sync.WaitGroup
	acquired, released := 0, 0
	defer func() {
		cancel()
		readers.Wait()
		for _, j := range s.work[released:acquired] {
			s.memory.Release(memoryOf(j))
		}
	}()
	readers.Go(func() {
		for i, j := range s.work {
			if s.memory.Acquire(ctx, memoryOf(j)) != nil {
				return
			}
			acquired++
			readers.Go(func() { results[i] <- s.read(ctx, j) })
		}
	})
	b := &batch{syncer: s}
	for i := range s.work {
		select {
		case r := <-results[i]:
			s.memory.Release(memoryOf(r.job))
			released++
			if err := b.add(ctx, r, i+1); err != nil {
				return err
			}
		case <-ctx.Done():
			return errors.Join(b.flush(context.WithoutCancel(ctx)), context.Cause(ctx))
		}
	}
	return b.flush(ctx)
}

// maxMemory is how many bytes the files may take that are being read at one time or wait to
// be stored; fileMemory is the least that one counts for.
const maxMemory, fileMemory = 128 << 20, 4 << 20

func memoryOf(j job) int64 { return min(fileMemory+load.Memory(j.file), maxMemory) }

// read is the result of one job.
type read struct {
	job
	entry   search.Entry
	same    bool // the bytes of the file have not changed
	warned  []string
	problem error
}

// read reads and cuts one file. A panic of a loader is a failure of that file.
func (s *syncer) read(ctx context.Context, j job) read {
	return guarded(j, func() read { return s.load(ctx, j) })
}

// guarded returns what f returns, or a failure of the file where f panics.
func guarded(j job, f func() read) (r read) {
	defer func() {
		if p := recover(); p != nil {
			err := fmt.Errorf("the reader of this kind of file failed: %v", p)
			r = read{job: j, problem: err}
			r.entry.File = search.File{Source: j.file.Source, Size: j.file.Size, Error: err.Error()}
		}
	}()
	return f()
}

func (s *syncer) load(ctx context.Context, j job) read {
	r := read{job: j}
	modified := j.file.ModTime
	if time.Since(modified) < settled {
		modified = time.Unix(0, 0)
	}
	r.entry.File = search.File{
		Source: j.file.Source, Size: j.file.Size, ModTime: modified, Chunker: s.fingerprint,
	}
	doc, err := load.Load(ctx, j.file, load.Limits{OCR: s.o.OCR})
	if err != nil {
		if left, ok := errors.AsType[*folder.FileError](err); ok {
			err = left.Err // the report names the file
		}
		r.problem, r.entry.File.Error = err, err.Error()
		return r
	}
	r.entry.File = describe(doc, r.entry.File)
	r.entry.File.Error = partly(doc.Warnings)
	kept := s.o.OCR == nil && load.NeedsOCR(r.entry.File.Error) // what was recognised of the file stays
	if r.same = j.known.Hash == doc.Hash && j.known.Chunker == r.entry.File.Chunker && (j.known.Error == r.entry.File.Error || kept); r.same {
		return r
	}
	r.warned = slices.Concat(doc.Notes, doc.Warnings)
	if r.entry, err = s.cut(ctx, doc, r.entry.File, s.chunking); err != nil {
		r.problem, r.entry.File.Error = err, err.Error()
	}
	return r
}

// describe notes in a file what was found in its document.
func describe(doc document.Document, f search.File) search.File {
	f.Source, f.Hash, f.Title, f.Meta, f.Metadata, f.URL = doc.Source, doc.Hash, doc.Title, doc.Meta, doc.Metadata, doc.URL
	return f
}

// batch collects what is stored in one transaction.
type batch struct {
	*syncer
	put   []search.Entry
	touch []search.File
	fail  []search.File
	gone  []string
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
	case errors.Is(r.problem, fs.ErrNotExist):
		b.report.Warned = append(b.report.Warned, FileProblem{r.file.Source, "it was gone before it could be read"})
		if r.known.Source != "" {
			b.report.note("removed", r.file.Source, 0)
			b.gone = append(b.gone, r.file.Source)
		}
	case r.problem != nil: // its earlier chunks stay, because it may be readable again tomorrow
		b.report.Failed = append(b.report.Failed, FileProblem{r.file.Source, r.problem.Error()})
		b.fail = append(b.fail, r.entry.File)
	default:
		kind := "changed"
		if r.known.Source == "" {
			kind = "added"
		}
		b.report.note(kind, r.file.Source, len(r.entry.Chunks))
		b.put = append(b.put, r.entry)
	}
	for _, w := range r.warned {
		b.report.Warned = append(b.report.Warned, FileProblem{r.file.Source, w})
	}
	b.size += r.file.Size + chunkBytes*int64(len(r.entry.Chunks))
	b.bytes += r.file.Size
	b.progress(Progress{Stage: "indexing", Done: done, Total: len(b.work), Bytes: b.bytes})
	if len(b.put)+len(b.touch)+len(b.fail)+len(b.gone) < batchFiles && b.size < batchBytes {
		return nil
	}
	return b.flush(ctx)
}

func (b *batch) flush(ctx context.Context) error {
	for _, change := range []struct {
		files int
		store func() error
	}{
		{len(b.put), func() error { return b.index.Put(ctx, b.root, b.put) }},
		{len(b.touch), func() error { return b.index.Touch(ctx, b.root, b.touch...) }},
		{len(b.fail), func() error { return b.index.Fail(ctx, b.root, b.fail...) }},
		{len(b.gone), func() error { return b.index.Delete(ctx, b.root, b.gone...) }},
	} {
		if change.files == 0 {
			continue
		}
		if err := change.store(); err != nil {
			return err
		}
	}
	clear(b.put) // their texts
	b.put, b.touch, b.fail, b.gone, b.size = b.put[:0], b.touch[:0], b.fail[:0], b.gone[:0], 0
	return nil
}
