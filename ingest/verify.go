package ingest

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"example.com/ragflow/ingest/chunk"
	"example.com/ragflow/ingest/document"
	"example.com/ragflow/ingest/load"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// Verification is what checking an index found. Its JSON is the schema of `ragflow index verify --json`.
type Verification struct {
	Files     int       `json:"files"`     // that the index holds
	Compared  int       `json:"compared"`  // with the file on disk, which is as it was when it was read
	Differing int       `json:"differing"` // changed, deleted or unreadable since; the next sync handles it
	Chunks    int       `json:"chunks"`    // compared
	Findings  []Finding `json:"findings"`
}

// Finding is something in the index that is wrong.
type Finding struct {
	Root   string `json:"root"`
	Source string `json:"source"`
	What   string `json:"what"`
}

// Verify checks the whole index: the database and its segments, and every chunk
// against the file it was cut from, where that has not changed since. Files are
// read on all cores. Nothing is changed.
func (l *Library) Verify(ctx context.Context) (*Verification, error) {
	v := &Verification{Findings: []Finding{}}
	if l.o.Notice != "" {
		v.Findings = append(v.Findings, Finding{Source: "index.db", What: l.o.Notice})
	}
	chunkings, err := l.chunkings(ctx)
	if err != nil {
		return nil, err
	}
	var counting sync.Mutex
	o := search.VerifyOptions{Check: func(root string, f search.File, chunks []state.Chunk) []string {
		if ctx.Err() != nil {
			return nil // the index reports it
		}
		what, compared := compare(ctx, root, f, chunks, chunkings[root])
		counting.Lock()
		defer counting.Unlock()
		v.Files++
		switch {
		case compared:
			v.Compared++
			v.Chunks += len(chunks)
		case f.Error == "" || f.Chunks > 0:
			v.Differing++
		}
		return what
	}}
	o.Progress = func(done, total int) { l.progress(Progress{Stage: "verifying", Done: done, Total: total}) }
	found, err := l.index.Verify(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		v.Findings = append(v.Findings, Finding(f))
	}
	return v, nil
}

// compare says how the chunks of a file differ from those that cutting it gives. A
// file that could not be read, was deleted or has changed is not compared: that is no
// fault of the index.
func compare(ctx context.Context, root string, f search.File, chunks []state.Chunk, options chunk.Options) (what []string, compared bool) {
	if f.Error != "" && f.Chunks == 0 {
		return nil, false
	}
	doc, err := load.Load(ctx, load.File{Root: root, Source: f.Source, Path: Path(root, f.Source)}, load.Limits{})
	if err != nil || doc.Hash != f.Hash {
		return nil, false
	}
	asItIs := !doc.Converted && (doc.Kind == document.Markdown || doc.Kind == document.Plain)
	if f.Chunker != options.Fingerprint() && !asItIs {
		return nil, false // an earlier version may have made another text of it
	}
	for _, c := range chunks {
		if c.Start < 0 || c.End > len(doc.Text) || c.Start >= c.End || doc.Text[c.Start:c.End] != c.Text {
			what = append(what, fmt.Sprintf("chunk %d is not the text at %d to %d", c.Ordinal, c.Start, c.End))
		}
	}
	if f.Chunker != options.Fingerprint() {
		return what, true
	}
	fresh, err := chunk.CutWith(ctx, doc, options, nil)
	if err != nil {
		return what, true // a model cut it, and is not asked again
	}
	if len(fresh) != len(chunks) {
		return append(what, fmt.Sprintf("%d chunks, where cutting the file gives %d", len(chunks), len(fresh))), true
	}
	for i, c := range chunks {
		if w := fresh[i]; c.ID != w.ID || c.StartLine != w.StartLine || c.EndLine != w.EndLine || c.Page != w.Page || !slices.Equal(c.Breaks, w.Breaks) || !slices.Equal(c.Lines, w.Lines) || !slices.Equal(c.Headings, w.Headings) || c.Cut != w.Cut && f.CutBy != "" {
			what = append(what, fmt.Sprintf("chunk %d is not what cutting the file gives", i))
		}
	}
	return what, true
}
