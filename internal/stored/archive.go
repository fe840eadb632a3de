package stored

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"hash"
	"io"
	"time"

	"example.com/ragflow/graph"
)

// The first line of an archive names its format and version.
const (
	archiveFormat  = "ragflow thread"
	archiveVersion = 1
)

// Archive is a complete thread outside of a store. [Archive.Write] writes it as text
// with one JSON object per line: a header; each commit with its deltas, oldest first;
// each pending result; and last the number of lines before it and the SHA-256 of
// their bytes.
//
//	{"format":"ragflow thread","version":1,"thread":"work","created":"…","commits":8,"pending":0}
//	{"id":1,"parent":0,"run":"…","step":0,"source":"input","status":"running","time":"…","deltas":[{"rank":0,"body":{…}}]}
//	…
//	{"lines":9,"sha256":"…"}
type Archive struct {
	Thread string
	Owner  string // is not written
	graph.ThreadFacts
	Created time.Time          // creation time of the thread
	Commits []graph.Commit     // oldest first, each with its deltas; Parent is the previous commit
	Pending []graph.TaskResult // finished tasks of an uncommitted superstep
}

// ArchiveError reports why a file is not a complete archive.
type ArchiveError struct {
	Line   int // from 1; 0 if no line is to blame
	Reason string
}

func (e *ArchiveError) Error() string {
	if e.Line == 0 {
		return "thread archive: " + e.Reason
	}
	return fmt.Sprintf("thread archive, line %d: %s", e.Line, e.Reason)
}

type headerLine struct {
	Format  string    `json:"format"`
	Version int       `json:"version"`
	Thread  string    `json:"thread"`
	Created time.Time `json:"created"`
	Commits int       `json:"commits"`
	Pending int       `json:"pending"`

	graph.ThreadFacts
}

// commitLine is a commit whose deltas can be read. Its other fields hide those of Commit with the same names.
type commitLine struct {
	graph.Commit
	Thread string      `json:"thread,omitempty"` // is not written: the header has it
	Lines  []deltaLine `json:"deltas,omitempty"`
}

// deltaLine has the body as nested JSON, which is readable, or as text if nesting would
// change its bytes.
type deltaLine struct {
	Rank     int             `json:"rank"`
	Path     string          `json:"path,omitempty"`
	Node     string          `json:"node,omitempty"`
	Body     json.RawMessage `json:"body,omitempty"`
	BodyText string          `json:"body_text,omitempty"`
	Error    string          `json:"error,omitempty"`
	Notes    graph.Notes     `json:"notes,omitzero"`
}

type pendingLine struct {
	Run     string    `json:"run"`
	Step    int       `json:"step"`
	Attempt int       `json:"attempt"`
	Delta   deltaLine `json:"delta"`
}

type trailerLine struct {
	Lines  int    `json:"lines"`
	SHA256 string `json:"sha256"`
}

// Write writes the archive to w. The same archive gives the same bytes.
func (a *Archive) Write(w io.Writer) error {
	out := &archiveWriter{w: w, sum: sha256.New()}
	out.line(headerLine{archiveFormat, archiveVersion, a.Thread, a.Created.UTC(), len(a.Commits), len(a.Pending), a.ThreadFacts})
	for _, c := range a.Commits {
		out.line(newCommitLine(c))
	}
	for _, p := range a.Pending {
		out.line(pendingLine{p.Run, p.Step, p.Attempt, newDeltaLine(p.Delta)})
	}
	out.line(trailerLine{out.lines, hex.EncodeToString(out.sum.Sum(nil))})
	if out.err != nil {
		return fmt.Errorf("write archive of thread %q: %w", a.Thread, out.err)
	}
	return nil
}

// archiveWriter keeps the first error.
type archiveWriter struct {
	w     io.Writer
	sum   hash.Hash
	lines int
	err   error
}

func (w *archiveWriter) line(v any) {
	if w.err != nil {
		return
	}
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if w.err = e.Encode(v); w.err != nil {
		return
	}
	w.sum.Write(b.Bytes())
	w.lines++
	_, w.err = w.w.Write(b.Bytes())
}

func newCommitLine(c graph.Commit) commitLine {
	line := commitLine{Commit: c}
	line.Time = c.Time.UTC()
	for _, d := range c.Deltas {
		line.Lines = append(line.Lines, newDeltaLine(d))
	}
	return line
}

func (l commitLine) commit() graph.Commit {
	c := l.Commit
	for _, d := range l.Lines {
		c.Deltas = append(c.Deltas, d.delta())
	}
	return c
}

func newDeltaLine(d graph.Delta) deltaLine {
	line := deltaLine{Rank: d.Rank, Path: d.Path, Node: d.Node, Error: d.Error, Notes: d.Notes}
	line.Body, line.BodyText = Nest(d.Body)
	return line
}

// Nest returns a body as JSON to nest in other JSON, or as text if nesting would change its
// bytes.
func Nest(body []byte) (nested json.RawMessage, text string) {
	var compact bytes.Buffer
	if err := json.Compact(&compact, body); err == nil && bytes.Equal(compact.Bytes(), body) {
		return body, ""
	}
	return nil, string(body)
}

func (l deltaLine) delta() graph.Delta {
	d := graph.Delta{Rank: l.Rank, Path: l.Path, Node: l.Node, Body: l.Body, Error: l.Error, Notes: l.Notes}
	if l.BodyText != "" {
		d.Body = []byte(l.BodyText)
	}
	return d
}
