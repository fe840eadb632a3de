package remote

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strconv"
	"sync"

	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// catalogue holds the documents without their text in an embedded index, which knows how to
// filter them, count them by metadata, find them by name and follow their relations. Each
// document is one passage there, whose id is that of the file; its text is a word that all
// share and a number of its own.
type catalogue struct {
	search.Backend

	mu     sync.Mutex
	placed map[string]map[string]int64 // versions of the files that it holds, by root and source
	number map[string]string           // by id of the file
}

// everyDocument is the word that all documents of a catalogue share.
const everyDocument = "document"

// of brings the catalogue up to date with roots.
func (c *catalogue) of(ctx context.Context, roots []*root) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, r := range roots {
		held := c.placed[r.Name]
		if held == nil {
			held = map[string]int64{}
			c.placed[r.Name] = held
		}
		var put []search.Entry
		var gone []string
		for source, f := range r.files {
			if version, ok := held[source]; ok && version == f.version {
				continue
			}
			e := search.Entry{File: f.File}
			if f.Chunks > 0 && f.version > 0 {
				if c.number[f.id] == "" {
					c.number[f.id] = strconv.Itoa(1_000_000 + len(c.number))
				}
				e.Chunks = []state.Chunk{{ID: f.id, Text: everyDocument + " " + c.number[f.id]}}
			}
			put, held[source] = append(put, e), f.version
		}
		for source := range held {
			if _, ok := r.files[source]; !ok {
				gone = append(gone, source)
				delete(held, source)
			}
		}
		err := c.Delete(ctx, r.Name, gone...)
		if err == nil {
			err = c.Put(ctx, r.Name, put)
		}
		if err != nil {
			delete(c.placed, r.Name)
			return fmt.Errorf("catalogue: %w", err)
		}
	}
	return nil
}

// documents returns the catalogue of the documents that the snapshot may find.
func (s *snapshot) documents(ctx context.Context) (search.Snapshot, error) {
	if err := s.db.catalogue.of(ctx, s.roots); err != nil {
		return nil, err
	}
	names := make([]string, len(s.roots))
	for i, r := range s.roots {
		names[i] = r.Name
	}
	return s.db.catalogue.Snapshot(ctx, names...)
}

// found returns the ids of files that a search in the catalogue found. Marks of roots do not
// occur, because ids of files differ.
func (s *snapshot) found(hits []state.Hit) (out []string) {
	for _, h := range hits {
		if _, ok := s.places[h.Chunk]; ok && (s.only == nil || s.only[h.Chunk]) {
			out = append(out, h.Chunk)
		}
	}
	return out
}

// Narrow implements search.Snapshot. The server is asked for chunks of the files that pass, by
// their ids.
func (s *snapshot) Narrow(ctx context.Context, f state.Filter) (search.Snapshot, error) {
	if f.Empty() {
		return s, nil
	}
	documents, err := s.documents(ctx)
	if err == nil {
		documents, err = documents.Narrow(ctx, f)
	}
	if err != nil {
		return nil, err
	}
	hits, err := documents.SearchWords(ctx, state.Query{Text: everyDocument, Weight: 1}, len(s.places))
	if err != nil {
		return nil, err
	}
	out := *s
	out.only = map[string]bool{}
	for _, id := range s.found(hits) {
		out.only[id] = true
	}
	return &out, nil
}

// represent returns a chunk for each of some files: the one that fits a query best, else the
// first.
func (s *snapshot) represent(ctx context.Context, q state.Query, files []string) (map[string]hit, error) {
	out := map[string]hit{}
	if len(files) == 0 {
		return out, nil
	}
	some := *s
	some.only = map[string]bool{}
	for _, id := range files {
		some.only[id] = true
	}
	hits, err := some.words(ctx, q, max(200, 8*len(files)))
	if err != nil {
		return nil, err
	}
	firsts := some.filter()
	firsts.First = true
	list, err := s.db.store.Chunks(ctx, firsts, 0)
	for _, o := range list {
		if h, ok := some.newHit(o); ok {
			hits = append(hits, h)
		}
	}
	for _, h := range hits {
		if _, ok := out[h.file]; !ok {
			out[h.file] = h
		}
	}
	return out, err
}

// SearchNames implements search.Snapshot.
func (s *snapshot) SearchNames(ctx context.Context, q state.Query, k int) ([]state.Hit, error) {
	documents, err := s.documents(ctx)
	if err != nil {
		return nil, err
	}
	named, err := documents.SearchNames(ctx, q, k)
	if err != nil {
		return nil, err
	}
	shown, err := s.represent(ctx, q, s.found(named))
	var out []state.Hit
	for _, h := range named {
		if r, ok := shown[h.Chunk]; ok {
			h.Chunk, h.Legs[0].Rank = r.chunk, len(out)+1
			out = append(out, h)
		}
	}
	return out, err
}

// Expand implements search.Snapshot.
func (s *snapshot) Expand(ctx context.Context, q state.Query, hits []state.Hit, e search.Expansion) ([]state.Hit, error) {
	documents, err := s.documents(ctx)
	if err != nil {
		return nil, err
	}
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.Chunk
	}
	chunks, err := s.Chunks(ctx, ids)
	if err != nil {
		return nil, err
	}
	files := map[string]string{} // of chunks
	for _, c := range chunks {
		files[c.ID] = ID(c.Root, c.Source)
	}
	given := slices.Clone(hits)
	for i, h := range given {
		given[i].Chunk = files[h.Chunk]
	}
	e.Limit = cmp.Or(e.Limit, len(hits))
	all, err := documents.Expand(ctx, q, given, e)
	if err != nil {
		return nil, err
	}
	related := slices.DeleteFunc(all, func(h state.Hit) bool {
		return slices.ContainsFunc(given, func(g state.Hit) bool { return g.Chunk == h.Chunk })
	})
	shown, err := s.represent(ctx, q, s.found(related))
	out := slices.Clone(hits)
	for _, h := range related {
		if r, ok := shown[h.Chunk]; ok {
			h.Chunk = r.chunk
			out = append(out, h)
		}
	}
	slices.SortStableFunc(out, func(a, b state.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return out, err
}
