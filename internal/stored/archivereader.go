package stored

import (
	"bufio"
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"slices"
	"time"
	"unicode/utf8"

	"example.com/ragflow/graph"
)

// MaxArchive is the default limit of ReadArchive, in bytes.
const MaxArchive = 1 << 30

// ReadArchive reads what [Archive.Write] wrote and checks all of it: the sum,
// every line, the order of commits, and that a store accepts each commit. The caller must
// check the content of bodies. An input that fails a check or has more than limit bytes
// (0: [MaxArchive]) gives an [*ArchiveError]. The archive is in memory.
func ReadArchive(r io.Reader, limit int64) (*Archive, error) {
	if limit <= 0 {
		limit = MaxArchive
	}
	in := &archiveReader{sum: sha256.New(), limit: limit}
	in.r = bufio.NewReaderSize(io.LimitReader(r, limit+1), 1<<16)
	var h headerLine
	if err := in.header(&h); err != nil {
		return nil, err
	}
	a := &Archive{Thread: h.Thread, ThreadFacts: h.ThreadFacts, Created: inMicroseconds(h.Created)}
	for range h.Commits {
		var l commitLine
		if err := in.next(&l); err != nil {
			return nil, err
		}
		if err := a.add(l.commit()); err != nil {
			return nil, &ArchiveError{in.lines, err.Error()}
		}
	}
	for range h.Pending {
		var l pendingLine
		if err := in.next(&l); err != nil {
			return nil, err
		}
		if err := a.addPending(graph.TaskResult{Run: l.Run, Step: l.Step, Attempt: l.Attempt, Delta: l.Delta.delta()}); err != nil {
			return nil, &ArchiveError{in.lines, err.Error()}
		}
	}
	return a, in.end()
}

// NormalizeArchive returns a checked copy of an archive with the given thread name, or with
// its own name if that is empty. A store imports only such copies. The error is an
// [*ArchiveError] or an [*EntryError].
func NormalizeArchive(a *Archive, thread string) (*Archive, error) {
	if len(a.Commits) == 0 {
		return nil, &ArchiveError{0, "no commits"}
	}
	out := &Archive{Thread: cmp.Or(thread, a.Thread), Owner: a.Owner, ThreadFacts: a.ThreadFacts, Created: inMicroseconds(a.Created)}
	if err := graph.CheckThread(out.Thread); err != nil {
		return nil, err
	}
	for _, c := range a.Commits {
		if err := out.add(c); err != nil {
			return nil, &ArchiveError{0, fmt.Sprintf("commit %d: %v", c.ID, err)}
		}
	}
	for _, p := range a.Pending {
		if err := out.addPending(p); err != nil {
			return nil, &ArchiveError{0, err.Error()}
		}
	}
	return out, nil
}

// add appends a commit after the checks of a store.
func (a *Archive) add(c graph.Commit) error {
	var last graph.CommitID
	if n := len(a.Commits); n > 0 {
		last = a.Commits[n-1].ID
	}
	switch {
	case c.Parent != last:
		return fmt.Errorf("parent %d is not the previous commit %d", c.Parent, last)
	case c.ID <= last:
		return fmt.Errorf("id %d does not follow %d", c.ID, last)
	case c.Run == "":
		return errors.New("no run")
	case c.Time.Year() < 1970 || c.Time.Year() > 9999:
		return fmt.Errorf("time in year %d", c.Time.Year())
	case !slices.Contains([]graph.Source{
		graph.SourceInput, graph.SourceLoop, graph.SourceClose, graph.SourceUpdate, graph.SourceUndo, graph.SourceFork, graph.SourceBase,
	}, c.Source):
		return fmt.Errorf("unknown source %q", c.Source)
	case !slices.Contains([]graph.Status{
		graph.Running, graph.Interrupted, graph.Completed, graph.Failed, graph.Cancelled, graph.Limited, graph.Superseded,
	}, c.Status):
		return fmt.Errorf("unknown status %q", c.Status)
	}
	b, err := NormalizeBatch(a.Thread, graph.Batch{Commit: c}, time.Time{})
	if err != nil {
		return err
	}
	b.ID = c.ID
	a.Commits = append(a.Commits, b.Commit)
	return nil
}

func (a *Archive) addPending(r graph.TaskResult) error {
	r, err := NormalizeResult(r)
	if err == nil {
		a.Pending = append(a.Pending, r)
	}
	return err
}

type archiveReader struct {
	r     *bufio.Reader
	sum   hash.Hash
	lines int
	bytes int64
	limit int64
}

func (in *archiveReader) fail(format string, args ...any) error {
	return &ArchiveError{in.lines, fmt.Sprintf(format, args...)}
}

// read returns the next line, without adding it to the sum.
func (in *archiveReader) read() ([]byte, error) {
	line, err := in.r.ReadBytes('\n')
	in.lines++
	in.bytes += int64(len(line))
	switch {
	case in.bytes > in.limit:
		return nil, in.fail("more than %d bytes", in.limit)
	case errors.Is(err, io.EOF):
		return nil, in.fail("the file ends too early")
	case err != nil:
		return nil, fmt.Errorf("read thread archive: %w", err)
	case !utf8.Valid(line):
		return nil, in.fail("not valid UTF-8")
	}
	return line, nil
}

func (in *archiveReader) decode(line []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return in.fail("%v", err)
	}
	if rest := bytes.TrimSpace(line[d.InputOffset():]); len(rest) > 0 {
		return in.fail("more than one value")
	}
	return nil
}

func (in *archiveReader) next(v any) error {
	line, err := in.read()
	if err != nil {
		return err
	}
	in.sum.Write(line)
	return in.decode(line, v)
}

// header reads the first line, which identifies an archive.
func (in *archiveReader) header(h *headerLine) error {
	line, err := in.read()
	if err != nil {
		if _, ok := errors.AsType[*ArchiveError](err); ok && in.bytes <= in.limit {
			return in.fail("not the archive of a thread")
		}
		return err
	}
	in.sum.Write(line)
	var kind struct {
		Format  string `json:"format"`
		Version int    `json:"version"`
	}
	if err := json.Unmarshal(line, &kind); err != nil || kind.Format != archiveFormat {
		return in.fail("not the archive of a thread")
	}
	if kind.Version != archiveVersion {
		return in.fail("written by a newer version of this program (format %d, this one knows %d): update the program", kind.Version, archiveVersion)
	}
	if err := in.decode(line, h); err != nil {
		return err
	}
	if err := graph.CheckThread(h.Thread); err != nil {
		return in.fail("%v", err)
	}
	switch {
	case h.Commits < 1 || h.Pending < 0:
		return in.fail("%d commits and %d pending results", h.Commits, h.Pending)
	case h.Created.Year() < 1970 || h.Created.Year() > 9999:
		return in.fail("made in year %d", h.Created.Year())
	}
	return nil
}

func (in *archiveReader) end() error {
	want := trailerLine{in.lines, hex.EncodeToString(in.sum.Sum(nil))}
	line, err := in.read()
	if err != nil {
		return err
	}
	var got trailerLine
	if err := in.decode(line, &got); err != nil {
		return err
	}
	if got != want {
		return in.fail("the checksum does not match: the file was damaged or changed")
	}
	if _, err := in.r.ReadByte(); !errors.Is(err, io.EOF) {
		return in.fail("something follows the end")
	}
	return nil
}

// inMicroseconds returns a time with the precision of a store, in UTC.
func inMicroseconds(t time.Time) time.Time { return time.UnixMicro(t.UnixMicro()).UTC() }
