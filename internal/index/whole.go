package index

import (
	"context"
	"fmt"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/state"
)

// Whole returns the documents with the chunks that fit a query best, each with all its chunks in order. Documents that
// were not read to their end, changed since the searcher was made or have too many chunks are left out.
func (s *Searcher) Whole(ctx context.Context, q state.Query) (out [][]state.Chunk, err error) {
	const maxFound, maxFiles, maxWhole = 5000, 24, 2000 // chunks that are found, documents, chunks of a document
	found := newTop(max(1, min(s.all.Chunks, maxFound)), s.better)
	if err := s.best(ctx, q, found); err != nil {
		return nil, err
	}
	seen := map[filePlace]bool{}
	for _, c := range found.ranked() {
		p := &s.parts[c.part]
		at := filePlace{c.part, p.fileOf(c.chunk)}
		if seen[at] || len(seen) == maxFiles {
			continue
		}
		seen[at] = true
		var failed string
		err := s.snapshots[p.snapshot].db.sql.Read(ctx, func(tx *sqlite.Tx) error {
			return tx.QueryRow(`SELECT coalesce((SELECT error FROM files WHERE id = ?), '')`, p.Files[at.file].ID).Scan(&failed)
		})
		if err != nil {
			return nil, fmt.Errorf("read %q: %w", p.Files[at.file].Source, err)
		}
		var ids []string
		for first, end := p.chunksOf(at.file); first < end; first++ {
			ids = append(ids, s.publicID(candidate{part: c.part, chunk: first}))
		}
		if failed != "" || len(ids) > maxWhole {
			continue
		}
		chunks, err := s.Chunks(ctx, ids)
		if err != nil {
			return nil, err
		}
		if len(chunks) == len(ids) {
			out = append(out, chunks)
		}
	}
	return out, nil
}
