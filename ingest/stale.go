package ingest

import (
	"context"
	"os"
	"slices"
	"time"

	"example.com/ragflow/internal/load"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// Renew compares the files of chunks with their hashes in the index, and syncs the files that
// differ, also if size and time are as before. It returns the sources of these files. Files of
// other libraries, of roots that do not exist and of more than 1 MiB are not compared. Errors
// are those of [Library.Sync].
func (l *Library) Renew(ctx context.Context, chunks []state.Chunk) (sources []string, err error) {
	if l.index.ReadOnly() {
		return nil, nil
	}
	roots := l.View().Roots
	for _, c := range chunks {
		if !differs(roots, c) {
			continue
		}
		path := Path(c.Root, c.Source)
		if info, err := os.Stat(path); err == nil { // else the file is deleted from the index
			never := search.File{Source: c.Source, Size: info.Size(), ModTime: time.Unix(0, 0)}
			if err := l.index.Touch(ctx, c.Root, never); err != nil {
				return sources, err
			}
		}
		if _, err := l.Sync(ctx, path); err != nil {
			return sources, err
		}
		sources = append(sources, c.Source)
	}
	return sources, nil
}

// Differs reports whether [Library.Renew] would sync the file of one of the chunks.
func (l *Library) Differs(chunks []state.Chunk) bool {
	roots := l.View().Roots
	return !l.index.ReadOnly() && slices.ContainsFunc(chunks, func(c state.Chunk) bool { return differs(roots, c) })
}

func differs(roots []string, c state.Chunk) bool {
	return slices.Contains(roots, c.Root) && load.Differs(Path(c.Root, c.Source), c.FileHash) && CheckPath(c.Root) == nil
}
