package ingest

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/ragflow/internal/folder"
	"example.com/ragflow/internal/load"
	"example.com/ragflow/search"
)

// Files are put into the index in batches, so that an interrupted sync keeps the batches
// before and memory stays bounded.
const (
	batchFiles = 64
	batchBytes = 8 << 20
	chunkBytes = 1 << 10 // of a chunk, beside its text
)

// settled is how old a file must be for its size and time to prove that it has not
// changed. A younger one may be written again within the resolution of the clock, so the
// next sync hashes it.
const settled = 2 * time.Second

// run does the work of a job.
func (l *Library) run(ctx context.Context, j *Job, report *Report) error {
	begun := l.o.Clock()
	defer func() { report.ElapsedMS = float64(l.o.Clock().Sub(begun).Microseconds()) / 1000 }()
	if j.status.Reembed {
		j.begin()
		if j.status.lacking {
			return l.embedLacking(ctx, report, j.report)
		}
		return l.reembed(ctx, report, j.report)
	}
	partial := len(j.status.Paths) > 0
	roots, err := l.read(ctx, j, report)
	switch {
	case err != nil:
		return err
	case l.index.ReadOnly():
		return l.leave(ctx, report)
	}
	if err := l.embedIndexed(ctx, roots, report, j.report); err != nil {
		return err
	}
	vectors := report.Dense != nil && (report.Dense.Embedded > 0 || l.o.Dense.Rebuild)
	return l.publish(ctx, report, vectors, partial)
}

// read syncs the documents of a job and returns their roots. Jobs for all documents take
// turns; others wait for their own roots only.
func (l *Library) read(ctx context.Context, j *Job, report *Report) (roots []string, err error) {
	paths := j.status.Paths
	all := len(paths) == 0
	if all {
		unlock, err := l.lock(ctx, "")
		if err != nil {
			return nil, err
		}
		defer unlock()
		j.begin()
		paths = slices.Concat(l.o.Docs, l.folders())
	}
	targets, err := l.targets(ctx, paths)
	switch {
	case err != nil || l.index.ReadOnly() && all:
		return nil, err
	case l.index.ReadOnly():
		return nil, ErrReadOnly
	}
	for _, t := range targets {
		if err := l.readTarget(ctx, j, t, report); err != nil {
			return nil, fmt.Errorf("index %s: %w", t.path, err)
		}
		roots = append(roots, t.root)
	}
	if all {
		err = l.unread(ctx)
	}
	return roots, err
}

func (l *Library) readTarget(ctx context.Context, j *Job, t target, report *Report) error {
	unlock, err := l.lock(ctx, t.root)
	if err != nil {
		return err
	}
	defer unlock()
	j.begin()
	s := &syncer{Library: l, target: t, report: report, progress: j.report, seen: map[string]bool{}}
	return s.run(ctx)
}

// leave is the end of a sync of an index that cannot be written.
func (l *Library) leave(ctx context.Context, report *Report) error {
	err := l.publish(ctx, report, false, false)
	if errors.Is(err, ErrNoDocuments) && len(l.o.Docs) > 0 {
		return fmt.Errorf("documents that are not indexed yet cannot be: %w", ErrReadOnly)
	}
	report.Unchanged = report.Files
	report.Warned = append(report.Warned, FileProblem{"index.db", "it cannot be written, so it was not brought up to date"})
	return err
}

// syncer makes one collection of the index equal to its root, or to what lies at a path
// below.
type syncer struct {
	*Library
	target
	report      *Report
	progress    func(Progress)
	chunking    Chunking
	fingerprint string // of chunking

	seen    map[string]bool // sources that are there
	blocked []string        // folders that could not be read; their files stay in the index
	work    []job
	bytes   int64 // of the files that were read
}

// job is a file that may have changed.
type job struct {
	file  folder.File
	known search.File // what the index holds; zero for a new file
}

func (s *syncer) run(ctx context.Context) error {
	db := s.index
	chunking, err := s.chunkingOf(ctx, s.root)
	if err != nil {
		return err
	}
	s.chunking, s.fingerprint = chunking, chunking.Fingerprint()
	if err := s.keepChunking(ctx, s.root); err != nil {
		return err
	}
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
	return db.Publish(ctx, s.root)
}

// scan walks the root and lists the files to read.
func (s *syncer) scan(ctx context.Context, known map[string]search.File) error {
	for file, err := range folder.FilesBelow(ctx, s.root, s.below) {
		if err != nil {
			if err := s.leftOut(err); err != nil {
				return err
			}
			continue
		}
		s.seen[file.Source] = true
		k, ok := known[file.Source]
		if ok && k.Chunker == s.fingerprint && k.Size == file.Size && k.ModTime.Equal(file.ModTime) && (k.Error == "" || s.isPermanent(k.Error)) {
			s.report.Unchanged++
			switch problem := (FileProblem{file.Source, k.Error}); {
			case isSkipReason(k.Error):
				s.report.Skipped = append(s.report.Skipped, problem)
			case k.Error != "" && !isPartly(k.Error):
				s.report.Failed = append(s.report.Failed, problem)
			}
			continue
		}
		s.work = append(s.work, job{file, k})
		s.progress(Progress{Stage: "scanning", Done: len(s.seen)})
	}
	return nil
}

// isPermanent reports whether a stored error is about the content of the file, so that
// reading it again before it changes is useless. After another one, such as about
// permissions, it is tried again.
func (s *syncer) isPermanent(reason string) bool {
	if s.o.OCR != nil && load.NeedsOCR(reason) {
		return false
	}
	return isSkipReason(reason) || isPartly(reason) || slices.ContainsFunc([]error{load.ErrBroken, load.ErrEncrypted, load.ErrNoText}, func(err error) bool {
		return strings.HasPrefix(reason, err.Error())
	})
}

// isSkipReason reports whether a stored error says that the file is no document.
func isSkipReason(reason string) bool {
	return strings.HasPrefix(reason, load.ErrBinary.Error()) || strings.HasPrefix(reason, load.ErrTooLarge.Error())
}

// leftOut reports a file or folder that the walk could not read.
func (s *syncer) leftOut(err error) error {
	left, ok := errors.AsType[*folder.FileError](err)
	if !ok {
		return err
	}
	source, relErr := filepath.Rel(s.root, left.Path)
	switch {
	case relErr != nil:
		source = left.Path
	case source == ".": // the root is a file that cannot be read
		source = filepath.Base(left.Path)
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

// skippable reports whether an error says that the file is no document, which is no
// failure.
func skippable(err error) bool {
	return errors.Is(err, load.ErrNoLoader) || errors.Is(err, load.ErrBinary) ||
		errors.Is(err, load.ErrTooLarge) || errors.Is(err, folder.ErrNotRegular)
}

// remove deletes files from the index that are no longer in the root. Files of a folder
// that could not be read may still exist, so they stay.
func (s *syncer) remove(ctx context.Context, known map[string]search.File) error {
	var gone []string
	for source := range known {
		if !s.seen[source] && s.covers(source) && !s.isBlocked(source) {
			gone = append(gone, source)
		}
	}
	if len(gone) == 0 {
		return nil
	}
	slices.Sort(gone)
	if err := s.index.Delete(ctx, s.root, gone...); err != nil {
		return err
	}
	for _, source := range gone {
		s.report.note("removed", source, 0)
	}
	return nil
}

func (s *syncer) isBlocked(source string) bool {
	for _, b := range s.blocked {
		if b == "." || source == b || strings.HasPrefix(source, b+"/") {
			return true
		}
	}
	return false
}
