package ragflow

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/ragflow/ingest/load"
	"example.com/ragflow/search/index"
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
// an error or the end of ctx is kept. Where the data folder can only be read, the
// index stays as it is, and the report warns.
func (a *Assistant) Index(ctx context.Context) (*IndexReport, error) {
	return a.indexWith(ctx, indexing{})
}

// Retry is Index that also reads the files again that failed or were skipped
// before, whatever the reason. Those that can be read now count as changed.
func (a *Assistant) Retry(ctx context.Context) (*IndexReport, error) {
	return a.indexWith(ctx, indexing{again: true})
}

// indexing says how to index.
type indexing struct {
	again   bool             // read again what could not be read
	changed func(FileChange) // told of each file that was added, changed or removed; may be nil
}

func (a *Assistant) indexWith(ctx context.Context, o indexing) (*IndexReport, error) {
	a.indexing.Lock()
	defer a.indexing.Unlock()
	begun := a.config.Clock()
	if a.index.ReadOnly() {
		return a.indexAsItIs(ctx)
	}
	report := newIndexReport()
	for _, docs := range a.config.Docs {
		root, err := resolveRoot(docs)
		if err != nil {
			return nil, err
		}
		s := &syncer{assistant: a, root: root, report: report, again: o.again, changed: o.changed, seen: map[string]bool{}}
		if err := s.run(ctx); err != nil {
			return nil, fmt.Errorf("index %s: %w", docs, err)
		}
		report.Roots = append(report.Roots, root)
	}
	if err := a.indexPromoted(ctx, report, o); err != nil {
		return nil, err
	}
	if err := a.takeGiven(ctx, report); err != nil {
		return nil, err
	}
	return a.indexed(ctx, report, begun)
}

// indexPromoted brings the promoted answers up to date: see [Assistant.Rate].
func (a *Assistant) indexPromoted(ctx context.Context, report *IndexReport, o indexing) error {
	if !a.config.hasPromoted() {
		return nil
	}
	root, err := resolveRoot(a.config.promotedFolder())
	if err != nil {
		return err
	}
	s := &syncer{assistant: a, root: root, report: report, again: o.again, changed: o.changed, seen: map[string]bool{}}
	if err := s.run(ctx); err != nil {
		return fmt.Errorf("index promoted answers: %w", err)
	}
	report.Roots = append(report.Roots, root)
	return nil
}

// newIndexReport is a report of nothing yet; its lists are not nil, for JSON.
func newIndexReport() *IndexReport {
	return &IndexReport{Roots: []string{}, Skipped: []FileProblem{}, Failed: []FileProblem{}, Warned: []FileProblem{}}
}

// indexed ends the making of an index: what it holds has its vectors and is what
// questions are answered from.
func (a *Assistant) indexed(ctx context.Context, report *IndexReport, begun time.Time) (*IndexReport, error) {
	if err := a.embedIndexed(ctx, report); err != nil {
		return nil, err
	}
	if err := a.open(ctx, report); err != nil {
		return nil, err
	}
	report.ElapsedMS = milliseconds(a.config.Clock().Sub(begun))
	return report, nil
}

// indexAsItIs opens the index of a data folder that cannot be written. It
// matches ErrReadOnly where the index holds nothing of the documents.
func (a *Assistant) indexAsItIs(ctx context.Context) (*IndexReport, error) {
	report := newIndexReport()
	for _, docs := range a.config.Docs {
		root, err := resolveRoot(docs)
		if err != nil {
			return nil, err
		}
		report.Roots = append(report.Roots, root)
	}
	err := a.open(ctx, report)
	if errors.Is(err, ErrNoDocuments) && len(a.config.Docs) > 0 {
		return nil, a.readOnly("documents that are not indexed yet cannot be")
	}
	report.Unchanged = report.Files
	report.Warned = append(report.Warned, FileProblem{"index.db", "it cannot be written, so it was not brought up to date"})
	return report, err
}

// CheckDocs reports whether there is something at a path of documents: a file,
// a folder, or the folder that a glob begins with. The error matches
// fs.ErrNotExist or is what else the file system said.
func CheckDocs(path string) error {
	_, err := load.Resolve(path)
	return err
}

// resolveRoot names a root as the index knows it.
func resolveRoot(docs string) (string, error) {
	root, err := load.Resolve(docs)
	return root.Name, err
}

// syncer makes one collection of the index equal to one root.
type syncer struct {
	assistant *Assistant
	root      string
	report    *IndexReport
	chunking  load.ChunkOptions
	// fingerprint is that of chunking: see cutAs.
	fingerprint string
	again       bool
	changed     func(FileChange)

	seen    map[string]bool // sources that are there
	blocked []string        // folders that could not be read; what they hold is kept
	work    []job
	bytes   int64
	memory  []byte // for what is hashed of records
}

// job is a file that may have changed.
type job struct {
	file  load.File
	known index.File // what the index holds; zero for a new file
}

// cutAs says how documents are cut.
func (s *syncer) cutAs(o load.ChunkOptions) { s.chunking, s.fingerprint = o, o.Fingerprint() }

func (s *syncer) run(ctx context.Context) error {
	db := s.assistant.index
	chunking, err := s.assistant.chunkingOf(ctx, s.root)
	if err != nil {
		return err
	}
	s.cutAs(chunking)
	if err := s.assistant.keepChunking(ctx, s.root); err != nil {
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
	return db.Publish(ctx, s.root, nil)
}

// scan walks the root and lists what has to be read.
func (s *syncer) scan(ctx context.Context, known map[string]index.File) error {
	for file, err := range load.Files(ctx, s.root) {
		if err != nil {
			if err := s.leftOut(err); err != nil {
				return err
			}
			continue
		}
		s.seen[file.Source] = true
		k, ok := known[file.Source]
		if ok && k.Chunker == s.fingerprint && k.Size == file.Size && k.ModTime.Equal(file.ModTime) && !s.retry(k) {
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
func (s *syncer) retry(k index.File) bool {
	if s.again {
		return k.Error != ""
	}
	return k.Error != "" && !isSettled(k.Error)
}

// isSettled reports whether an error the index keeps comes of what is in the
// file, so that reading it again before it changes is of no use.
func isSettled(reason string) bool {
	return isSkipReason(reason) || slices.ContainsFunc([]error{load.ErrBroken, load.ErrEncrypted, load.ErrNoText}, func(err error) bool {
		return strings.HasPrefix(reason, err.Error())
	})
}

// isSkipReason reports whether an error the index keeps is one of a file that
// is no document, which it stays as long as it does not change.
func isSkipReason(reason string) bool {
	return strings.HasPrefix(reason, load.ErrBinary.Error()) || strings.HasPrefix(reason, load.ErrTooLarge.Error()) ||
		strings.HasPrefix(reason, load.ErrGenerated.Error())
}

// leftOut reports a file or folder that the walk could not give.
func (s *syncer) leftOut(err error) error {
	left, ok := errors.AsType[*load.FileError](err)
	if !ok {
		return err
	}
	source, relErr := filepath.Rel(s.root, left.Path)
	switch {
	case relErr != nil:
		source = left.Path
	case source == ".": // named itself, and nothing to read
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

// skippable tells files that are no documents from files in trouble.
func skippable(err error) bool {
	return errors.Is(err, load.ErrNoLoader) || errors.Is(err, load.ErrBinary) ||
		errors.Is(err, load.ErrTooLarge) || errors.Is(err, load.ErrNotRegular) || errors.Is(err, load.ErrGenerated)
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
	slices.Sort(gone)
	for _, source := range gone {
		s.tell(source, FileRemoved)
	}
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

// tell counts a change and passes it on.
func (s *syncer) tell(source, what string) {
	switch what {
	case FileAdded:
		s.report.Added++
	case FileChanged:
		s.report.Changed++
	case FileRemoved:
		s.report.Removed++
	}
	if s.changed != nil {
		s.changed(FileChange{Root: s.root, Source: source, What: what})
	}
}

func (s *syncer) progress(p Progress) {
	if s.assistant.config.Progress != nil {
		s.assistant.config.Progress(p)
	}
}

// citedPath is where a source lies: under its root, or the root itself where
// that is a single file. What was given as bytes lies nowhere and has its name.
func citedPath(root, source string) string { return new(citedPaths).of(root, source) }

// citedPaths tells the paths of several sources, of one answer.
type citedPaths struct{ locator load.Locator }

func (p *citedPaths) of(root, source string) string {
	if root == "" || root == rootGiven {
		return source
	}
	return p.locator.Locate(root, source)
}

func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }
