package ragflow

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"time"

	"example.com/ragflow/corpus"
	"example.com/ragflow/index"
)

// IndexStats tell what the index holds. Its JSON is the schema of `ragflow index stats --json`.
type IndexStats struct {
	Analyzer    string            `json:"analyzer"` // analyzer and format of the terms
	Bytes       int64             `json:"bytes"`    // of the database
	Collections []CollectionStats `json:"collections"`
}

// CollectionStats tell of all that was indexed of one root.
type CollectionStats struct {
	Root         string       `json:"root"`
	Files        int          `json:"files"`   // Indexed + Empty + Skipped + Failed
	Indexed      int          `json:"indexed"` // with chunks, as they were read last
	Empty        int          `json:"empty"`   // read, but without text
	Skipped      int          `json:"skipped"` // binary or too large
	Failed       int          `json:"failed"`  // could not be read the last time; what was read before is still found
	Chunks       int          `json:"chunks"`
	FileBytes    int64        `json:"file_bytes"`    // of the files
	SegmentBytes int64        `json:"segment_bytes"` // of the search structure
	Generation   int64        `json:"generation"`    // moves with every change
	LastChange   *time.Time   `json:"last_change"`   // when the newest generation was published; null where it was not
	FileList     []FileStatus `json:"file_list,omitempty"`
}

// Status of a file in the index.
const (
	StatusIndexed = "indexed"
	StatusEmpty   = "empty"
	StatusSkipped = "skipped"
	StatusFailed  = "failed"
)

// FileStatus is one file as the index knows it.
type FileStatus struct {
	Source string `json:"source"`
	Status string `json:"status"` // indexed, empty, skipped or failed
	Reason string `json:"reason"` // why it was skipped or failed
	Title  string `json:"title"`
	Bytes  int64  `json:"bytes"`
	Chunks int    `json:"chunks"`
}

// Stats tell of the collections of Config.Docs, or of all where that is empty;
// files adds each file. Nothing is read but the index.
func (a *Assistant) Stats(ctx context.Context, files bool) (*IndexStats, error) {
	stats, err := a.index.Stats(ctx)
	if err != nil {
		return nil, err
	}
	out := &IndexStats{Analyzer: stats.Analyzer, Bytes: stats.Bytes, Collections: []CollectionStats{}}
	wanted := a.wanted()
	for _, c := range stats.Collections {
		if wanted != nil && !wanted[c.Root] {
			continue
		}
		known, err := a.index.Files(ctx, c.Root)
		if err != nil {
			return nil, err
		}
		s := CollectionStats{Root: c.Root, Files: len(known), SegmentBytes: c.SegmentBytes, Generation: c.Generation}
		if c.Current {
			s.LastChange = &c.Published
		}
		for _, f := range known {
			s.count(f)
			if files {
				s.FileList = append(s.FileList, FileStatus{f.Source, statusOf(f), f.Error, f.Title, f.Size, f.Chunks})
			}
		}
		slices.SortFunc(s.FileList, func(a, b FileStatus) int { return cmp.Compare(a.Source, b.Source) })
		out.Collections = append(out.Collections, s)
	}
	return out, nil
}

// wanted returns the names of the configured roots; nil stands for all. A root
// that is gone from the disk keeps the name it was given.
func (a *Assistant) wanted() map[string]bool {
	if len(a.config.Docs) == 0 {
		return nil
	}
	out := map[string]bool{}
	for _, docs := range a.config.Docs {
		root, err := resolveRoot(docs)
		if err != nil {
			root = docs
		}
		out[root] = true
	}
	return out
}

func (s *CollectionStats) count(f index.File) {
	s.Chunks += f.Chunks
	s.FileBytes += f.Size
	switch statusOf(f) {
	case StatusIndexed:
		s.Indexed++
	case StatusEmpty:
		s.Empty++
	case StatusSkipped:
		s.Skipped++
	case StatusFailed:
		s.Failed++
	}
}

func statusOf(f index.File) string {
	switch {
	case f.Error == "" && f.Chunks > 0:
		return StatusIndexed
	case f.Error == "":
		return StatusEmpty
	case isSkipReason(f.Error):
		return StatusSkipped
	}
	return StatusFailed
}

// Verification is what checking an index found. Its JSON is the schema of `ragflow index verify --json`.
type Verification struct {
	Files     int       `json:"files"`     // that the index holds
	Compared  int       `json:"compared"`  // with the file on disk, which is as it was when it was read
	Differing int       `json:"differing"` // changed, gone or unreadable since; the next indexing sees to it
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
// against the file it was cut from, where that has not changed since. Nothing is
// changed.
func (a *Assistant) Verify(ctx context.Context) (*Verification, error) {
	found, err := a.index.Verify(ctx)
	if err != nil {
		return nil, err
	}
	v := &Verification{Findings: []Finding{}}
	for _, f := range found {
		v.Findings = append(v.Findings, Finding(f))
	}
	collections, err := a.index.Collections(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range collections {
		files, err := a.index.Files(ctx, c.Root)
		if err != nil {
			return nil, err
		}
		for i, source := range slices.Sorted(maps.Keys(files)) {
			if err := ctx.Err(); err != nil {
				return nil, err
			}
			if a.config.Progress != nil {
				a.config.Progress(Progress{Stage: "verifying", Done: i + 1, Total: len(files)})
			}
			v.Files++
			if err := a.verifyFile(ctx, v, c.Root, files[source]); err != nil {
				return nil, err
			}
		}
	}
	return v, nil
}

// verifyFile compares what the index holds of a file with the file.
func (a *Assistant) verifyFile(ctx context.Context, v *Verification, root string, f index.File) error {
	if f.Error != "" && f.Chunks == 0 {
		return nil
	}
	doc, err := corpus.Load(corpus.File{Root: root, Source: f.Source, Path: citedPath(root, f.Source)}, corpus.Limits{})
	if err != nil || doc.Hash != f.Hash {
		v.Differing++
		return nil //nolint:nilerr // a file that is gone is no fault of the index
	}
	chunks, err := a.index.FileChunks(ctx, root, f.Source)
	if err != nil {
		return err
	}
	v.Compared++
	v.Chunks += len(chunks)
	bad := func(format string, args ...any) {
		v.Findings = append(v.Findings, Finding{root, f.Source, fmt.Sprintf(format, args...)})
	}
	for _, c := range chunks {
		if c.Start < 0 || c.End > len(doc.Text) || c.Start >= c.End || doc.Text[c.Start:c.End] != c.Text {
			bad("chunk %d is not what stands at %d to %d", c.Ordinal, c.Start, c.End)
		}
	}
	options := corpus.ChunkOptions{}
	if f.Chunker != options.Fingerprint() {
		return nil
	}
	fresh := corpus.Chunk(doc, options)
	if len(fresh) != len(chunks) {
		bad("%d chunks, where cutting the file gives %d", len(chunks), len(fresh))
		return nil
	}
	for i, c := range chunks {
		if w := fresh[i]; c.ID != w.ID || c.StartLine != w.StartLine || c.EndLine != w.EndLine || !slices.Equal(c.Lines, w.Lines) || !slices.Equal(c.Headings, w.Headings) {
			bad("chunk %d is not what cutting the file gives", i)
		}
	}
	return nil
}
