package ingest

import (
	"context"

	"example.com/ragflow/internal/load"
	"example.com/ragflow/state"
)

// Passages reads a file of the library again and returns the passages that it is cut into, in
// order, with the metadata of the document, as a sync would store them now. The semantic chunker
// asks its model for that. Errors are those of [Library.Text].
func (l *Library) Passages(ctx context.Context, root, source string) ([]state.Chunk, error) {
	f, file, err := l.indexed(ctx, root, source)
	if err != nil {
		return nil, err
	}
	o, err := l.chunkingOf(ctx, root)
	if err != nil {
		return nil, err
	}
	r := guarded(job{file: file}, func() (r read) {
		doc, err := load.Load(ctx, file, load.Limits{OCR: l.o.OCR})
		if err == nil {
			r.entry, err = l.cut(ctx, doc, f, o)
		}
		r.problem = err
		return r
	})
	for i := range r.entry.Chunks {
		r.entry.Chunks[i].Metadata = r.entry.File.Metadata
	}
	return r.entry.Chunks, r.problem
}
