package index

import (
	"cmp"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"maps"
	"runtime"
	"slices"
	"strings"
	"sync"

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

// chunksOf reads chunks by the ids asked for, and tells whether the index is as it was when
// the searcher was made. What is more than one statement reads, two connections read side
// by side.
func (s *Searcher) chunksOf(ctx context.Context, ids []string) (found map[string]*state.Chunk, current bool, err error) {
	if len(ids) <= idsAtOnce || runtime.GOMAXPROCS(0) == 1 {
		return s.readChunks(ctx, ids)
	}
	known := 0
	for _, id := range ids {
		if _, ok := s.chunks.Find(id); ok {
			known++
		}
	}
	if len(ids)-known <= idsAtOnce {
		return s.readChunks(ctx, ids)
	}
	var (
		wg     sync.WaitGroup
		others map[string]*state.Chunk
		still  bool
		fault  error
	)
	wg.Go(func() { others, still, fault = s.readChunks(ctx, ids[len(ids)/2:]) })
	found, current, err = s.readChunks(ctx, ids[:len(ids)/2])
	wg.Wait()
	maps.Copy(found, others)
	return found, current && still, cmp.Or(err, fault)
}

func (s *Searcher) readChunks(ctx context.Context, ids []string) (found map[string]*state.Chunk, current bool, err error) {
	found = make(map[string]*state.Chunk, len(ids))
	if s.recall(ids, found); len(s.views) == 1 && len(ids)-len(found) <= idsAtOnce { // as most often
		if err := s.db.sql.ReadOnce(ctx, func(tx *sqlite.Tx) (err error) {
			if len(found) == len(ids) {
				current, err = s.current(tx)
			} else {
				current, err = s.views[0].read(tx, ids, found)
			}
			return err
		}); err != nil || current {
			return found, current, err
		}
	}
	err = s.db.sql.Read(ctx, func(tx *sqlite.Tx) (err error) {
		clear(found)
		if current, err = s.current(tx); err != nil {
			return err
		}
		if current {
			s.recall(ids, found)
		}
		for _, v := range s.views {
			if _, err := v.read(tx, ids, found); err != nil {
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

// read reads, of the ids that no view before held, those that this one holds, and tells
// whether it saw that the collection is as it was; where it reads none it sees nothing.
func (v *view) read(tx *sqlite.Tx, ids []string, found map[string]*state.Chunk) (current bool, err error) {
	type asked struct{ bare, id string }
	var list []asked // by the id in this collection
	for _, id := range ids {
		if _, ok := found[id]; ok {
			continue
		}
		bare, mark, marked := strings.Cut(id, "@")
		if !marked || rootMark(v.root) == mark {
			if list == nil {
				list = make([]asked, 0, len(ids)-len(found))
			}
			list = append(list, asked{bare, id})
		}
	}
	if len(list) == 0 {
		return false, nil
	}
	slices.SortFunc(list, func(a, b asked) int { return strings.Compare(a.bare, b.bare) })
	wanted := make([]string, 0, len(list))
	for i, a := range list {
		if i == 0 || a.bare != list[i-1].bare {
			wanted = append(wanted, a.bare)
		}
	}
	chunks, generation, err := chunksByID(tx, v.manifest.collection, v.root, wanted, v.maxRev)
	for _, c := range chunks {
		bare := c.ID
		i, _ := slices.BinarySearchFunc(list, bare, func(a asked, bare string) int { return strings.Compare(a.bare, bare) })
		for ; i < len(list) && list[i].bare == bare; i++ {
			if c.ID != list[i].id { // as another root's chunk is called, too
				renamed := *c
				c = &renamed
				c.ID = list[i].id
			}
			found[c.ID] = c
		}
	}
	return len(chunks) > 0 && generation == v.manifest.generation, err
}
