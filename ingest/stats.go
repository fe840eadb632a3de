package ingest

import (
	"cmp"
	"context"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"example.com/ragflow/internal/folder"
	"example.com/ragflow/internal/load"
	"example.com/ragflow/search"
)

// Stats describe the index. Its JSON is the schema of `ragflow index stats --json`.
type Stats struct {
	Analyzer    string            `json:"analyzer"` // analyzer and format of the terms
	Bytes       int64             `json:"bytes"`    // of the database
	Collections []CollectionStats `json:"collections"`
}

// CollectionStats describe one root in the index.
type CollectionStats struct {
	Root       string       `json:"root"`
	Files      int          `json:"files"`   // Indexed + Empty + Skipped + Failed
	Indexed    int          `json:"indexed"` // with chunks, as they were read last
	Empty      int          `json:"empty"`   // read, but without text
	Bare       int          `json:"bare"`    // of those that are empty: they have only metadata, such as front matter
	Skipped    int          `json:"skipped"` // binary or too large
	Failed     int          `json:"failed"`  // could not be read the last time; an earlier version is still found
	Unread     []Count      `json:"unread"`  // files in the folder now whose kind is not read, by ending
	Chunks     int          `json:"chunks"`
	Chunkers   []Count      `json:"chunkers"`    // files by the chunker that cut them, by name
	FileBytes  int64        `json:"file_bytes"`  // of the files
	Embedder   string       `json:"embedder"`    // model, dimension and the embedded part of a chunk; empty: there are no vectors
	Vectors    int          `json:"vectors"`     // passages that have one
	Generation int64        `json:"generation"`  // rises with every change
	LastChange *time.Time   `json:"last_change"` // when it rose last; null if that is unknown
	FileList   []FileStatus `json:"file_list,omitempty"`
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
	Reason string `json:"reason"` // why it is empty, was skipped or failed
	Title  string `json:"title"`
	Bytes  int64  `json:"bytes"`
	Chunks int    `json:"chunks"`
	Cut    string `json:"chunker"` // that cut it; empty if there are no chunks or it is unknown
}

// Count is a number of things of one name.
type Count struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Stats describe the configured roots, or all indexed roots if none are configured; files adds
// each file. The index and the folders are read, but no file.
func (l *Library) Stats(ctx context.Context, files bool) (*Stats, error) {
	stats, err := l.index.Stats(ctx)
	if err != nil {
		return nil, err
	}
	out := &Stats{Analyzer: stats.Analyzer, Bytes: stats.Bytes, Collections: []CollectionStats{}}
	wanted := l.wanted()
	collections, err := l.index.Collections(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range collections {
		if !wanted(c.Root) {
			continue
		}
		known, err := l.index.Files(ctx, c.Root)
		if err != nil {
			return nil, err
		}
		s := CollectionStats{Root: c.Root, Files: len(known), Generation: c.Generation}
		if !c.Changed.IsZero() {
			s.LastChange = &c.Changed
		}
		cut := map[string]int{}
		for _, f := range known {
			s.count(f)
			if f.CutBy != "" {
				cut[f.CutBy]++
			}
			if files {
				s.FileList = append(s.FileList, fileStatus(f))
			}
		}
		s.Chunkers, s.Unread = counts(cut), unread(ctx, c.Root)
		if s.Embedder, s.Vectors, err = l.vectorsOf(ctx, c.Root); err != nil {
			return nil, err
		}
		slices.SortFunc(s.FileList, func(a, b FileStatus) int { return cmp.Compare(a.Source, b.Source) })
		out.Collections = append(out.Collections, s)
	}
	return out, nil
}

// vectorsOf returns the embedder of a root's vectors and the number of passages that have one; "" if it has none.
func (l *Library) vectorsOf(ctx context.Context, root string) (embedder string, count int, err error) {
	e, found, err := l.index.Embedder(ctx, root)
	if err != nil || !found {
		return "", 0, err
	}
	s, err := l.index.Snapshot(ctx, root)
	if err != nil {
		return "", 0, err
	}
	v, err := s.Vectors(ctx, e)
	if err != nil {
		return "", 0, err
	}
	return e.String(), v.Len(), nil
}

// unread counts the files of a root that no loader reads, by ending.
func unread(ctx context.Context, root string) []Count {
	kinds := map[string]int{}
	for _, err := range folder.Files(ctx, root) {
		if left, ok := errors.AsType[*folder.FileError](err); ok && errors.Is(left.Err, load.ErrNoLoader) {
			kinds[cmp.Or(strings.ToLower(filepath.Ext(left.Path)), "without an ending")]++
		}
	}
	return counts(kinds)
}

// counts lists counters by name.
func counts(of map[string]int) []Count {
	out := []Count{}
	for _, name := range slices.Sorted(maps.Keys(of)) {
		out = append(out, Count{name, of[name]})
	}
	return out
}

// wanted returns whether a root is configured; all are if Options.Docs names none.
func (l *Library) wanted() func(root string) bool {
	all := slices.Concat(l.roots())
	return func(root string) bool { return len(l.o.Docs) == 0 || slices.Contains(all, root) }
}

func (s *CollectionStats) count(f search.File) {
	s.Chunks += f.Chunks
	s.FileBytes += f.Size
	switch statusOf(f) {
	case StatusIndexed:
		s.Indexed++
	case StatusEmpty:
		s.Empty++
		if bare(f) {
			s.Bare++
		}
	case StatusSkipped:
		s.Skipped++
	case StatusFailed:
		s.Failed++
	}
}

func fileStatus(f search.File) FileStatus {
	return FileStatus{f.Source, statusOf(f), reasonOf(f), f.Title, f.Size, f.Chunks, f.CutBy}
}

func statusOf(f search.File) string {
	switch read := f.Error == "" || isPartly(f.Error); {
	case read && f.Chunks > 0:
		return StatusIndexed
	case read:
		return StatusEmpty
	case isSkipReason(f.Error):
		return StatusSkipped
	}
	return StatusFailed
}

// bare reports whether a file has metadata and no text.
func bare(f search.File) bool { return f.Error == "" && f.Chunks == 0 && f.Meta != nil }

// reasonOf says why a file has no passages of its newest version.
func reasonOf(f search.File) string {
	switch {
	case f.Error != "" || f.Chunks > 0:
		return f.Error
	case f.Size == 0:
		return "the file has no bytes"
	case bare(f):
		return "it has only metadata, such as front matter, and no text"
	}
	return "it has no text but comments or space"
}
