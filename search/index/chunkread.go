package index

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/state"
)

// Chunks returns chunks by id, in the order asked for. Left out are ids that the
// searcher does not know, and chunks that changed or went since it was made. What
// they hold is shared and not to be written to.
func (s *Searcher) Chunks(ctx context.Context, ids []string) ([]state.Chunk, error) {
	found, current, err := s.chunksOf(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read chunks: %w", err)
	}
	if len(found) == 0 {
		return nil, nil
	}
	out := make([]state.Chunk, 0, len(ids))
	for _, id := range ids {
		if c, ok := found[id]; ok {
			out = append(out, *c)
			if current && len(c.Text) <= mostKept {
				s.chunks.Get(id, func() *state.Chunk { return c })
			}
		}
	}
	return out, nil
}

// chunksOf reads chunks by the ids asked for, and reports whether the index is as it was
// when the searcher was made.
func (s *Searcher) chunksOf(ctx context.Context, ids []string) (found map[string]*state.Chunk, current bool, err error) {
	err = s.db.sql.Read(ctx, func(tx *sqlite.Tx) (err error) {
		found = make(map[string]*state.Chunk, len(ids))
		if current, err = s.current(tx); err != nil {
			return err
		}
		if current {
			s.recall(ids, found)
		}
		for _, v := range s.views {
			if err := v.read(tx, ids, found); err != nil {
				return err
			}
		}
		return nil
	})
	return found, current, err
}

// current reports whether the index is as it was when the searcher was made, so
// that the chunks it remembers are those that the tables hold.
func (s *Searcher) current(tx *sqlite.Tx) (bool, error) {
	for _, v := range s.views {
		var generation int64
		err := tx.QueryRow(`SELECT generation FROM collections WHERE id = ?`, v.manifest.collection).Scan(&generation)
		if errors.Is(err, sql.ErrNoRows) || err == nil && generation != v.manifest.generation {
			return false, nil
		}
		if err != nil {
			return false, err
		}
	}
	return true, nil
}

// recall puts the chunks that are remembered into found.
func (s *Searcher) recall(ids []string, found map[string]*state.Chunk) {
	for _, id := range ids {
		if c, ok := s.chunks.Find(id); ok {
			found[id] = c
		}
	}
}

// read reads, of the ids that no view before held, those that this one holds.
func (v *view) read(tx *sqlite.Tx, ids []string, found map[string]*state.Chunk) error {
	asked := map[string][]string{} // ids by the id in this collection
	for _, id := range ids {
		if _, ok := found[id]; ok {
			continue
		}
		bare, mark, marked := strings.Cut(id, "@")
		if !marked || rootMark(v.root) == mark {
			asked[bare] = append(asked[bare], id)
		}
	}
	chunks, err := chunksByID(tx, v.manifest.collection, v.root, slices.Sorted(maps.Keys(asked)), v.maxRev)
	for _, c := range chunks {
		for _, id := range asked[c.ID] {
			named := *c
			named.ID = id
			found[id] = &named
		}
	}
	return err
}

// Beside returns the id of the neighbour of a chunk in the same document: away places
// after it, or before it where away is negative. It reports false where there is none,
// and for an id that the searcher does not know.
func (s *Searcher) Beside(id string, away int) (beside string, ok bool) {
	i, chunk, ok := s.locate(id)
	if !ok {
		return "", false
	}
	p := &s.parts[i]
	first, end := p.chunksOf(int(p.chunkField(chunk, 0)))
	at := chunk + away
	if at < first || at >= end || !p.live(at) {
		return "", false
	}
	return s.publicID(candidate{part: i, chunk: at}), true
}
