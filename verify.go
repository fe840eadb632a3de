package ragflow

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"example.com/ragflow/ingest/load"
	"example.com/ragflow/search/index"
	"example.com/ragflow/state"
)

// Verification is what checking an index found. Its JSON is the schema of `ragflow index verify --json`.
type Verification struct {
	Files     int       `json:"files"`     // that the index holds
	Compared  int       `json:"compared"`  // with the file on disk, which is as it was when it was read
	Differing int       `json:"differing"` // changed, gone, unreadable or read otherwise since; the next indexing sees to it
	Chunks    int       `json:"chunks"`    // compared
	Findings  []Finding `json:"findings"`
}

// Finding is something in the index that is not as it should be.
type Finding struct {
	Root   string `json:"root"`
	Source string `json:"source"`
	What   string `json:"what"`
}

// Verify checks the whole index: the database and its segments, and every chunk
// against the file it was cut from, where that has not changed since. Files are
// read side by side on all cores. Nothing is changed. Config.Progress is told.
func (a *Assistant) Verify(ctx context.Context) (*Verification, error) {
	v := &Verification{Findings: []Finding{}}
	if a.repaired != "" {
		v.Findings = append(v.Findings, Finding{Source: "index.db", What: a.repaired})
	}
	chunkings, err := a.chunkings(ctx)
	if err != nil {
		return nil, err
	}
	var counting sync.Mutex
	o := index.VerifyOptions{Check: func(root string, f index.File, chunks []state.Chunk) []string {
		if ctx.Err() != nil {
			return nil // the index tells of it
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
	if a.config.Progress != nil {
		o.Progress = func(done, total int) {
			a.config.Progress(Progress{Stage: "verifying", Done: done, Total: total})
		}
	}
	found, err := a.index.Verify(ctx, o)
	if err != nil {
		return nil, err
	}
	for _, f := range found {
		v.Findings = append(v.Findings, Finding(f))
	}
	return v, nil
}

// compare says how the chunks of a file differ from what cutting it gives. It
// is not compared where it never could be read, and where it is gone or not as
// it was: that is no fault of the index.
func compare(ctx context.Context, root string, f index.File, chunks []state.Chunk, options load.ChunkOptions) (what []string, compared bool) {
	if f.Error != "" && f.Chunks == 0 {
		return nil, false
	}
	doc, err := load.Load(ctx, load.File{Root: root, Source: f.Source, Path: citedPath(root, f.Source)}, load.Limits{})
	if err != nil || doc.Hash != f.Hash {
		return nil, false
	}
	asItIs := !doc.Converted && (doc.Kind == load.Markdown || doc.Kind == load.Plain)
	if f.Chunker != options.Fingerprint() && !asItIs {
		return nil, false // an earlier version may have read it otherwise
	}
	for _, c := range chunks {
		if c.Start < 0 || c.End > len(doc.Text) || c.Start >= c.End || doc.Text[c.Start:c.End] != c.Text {
			what = append(what, fmt.Sprintf("chunk %d is not what stands at %d to %d", c.Ordinal, c.Start, c.End))
		}
	}
	if f.Chunker != options.Fingerprint() {
		return what, true
	}
	fresh, err := load.ChunkWith(ctx, doc, options, nil)
	if err != nil {
		return what, true // a model cut it, which is not asked again
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
