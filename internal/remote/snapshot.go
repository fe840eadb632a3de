package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"

	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// snapshot implements search.Snapshot. It finds nothing that was put later; deleted chunks are
// missing from it.
type snapshot struct {
	search.Languages

	db     *DB
	roots  []*root          // by name
	places map[string]place // of files with chunks, by id
	where  []string         // ids of the roots; nil if the server has no others
	docs   int              // chunks

	documents func() []*search.Document // of the roots; made when first needed
	only      map[string]bool           // ids of files that may be found; nil means all
}

// place is a file in a snapshot.
type place struct {
	file
	root int
}

// Snapshot implements search.Backend.
func (db *DB) Snapshot(ctx context.Context, names ...string) (search.Snapshot, error) {
	all, err := db.roots(ctx)
	if err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	var roots []*root
	for _, name := range slices.Compact(slices.Sorted(slices.Values(names))) {
		r := all[name]
		if r == nil {
			return nil, fmt.Errorf("search %q: %w", name, search.ErrNotIndexed)
		}
		own := *r // gets its terms
		roots = append(roots, &own)
	}
	s := newSnapshot(db, roots)
	if len(roots) < len(all) {
		s.where = s.rootIDs()
	}
	if err := db.readTerms(ctx, roots); err != nil {
		return nil, fmt.Errorf("search: %w", err)
	}
	s.Languages = search.NewLanguages(db.analyzer, s.docs, s.DocFreq)
	return s, nil
}

func newSnapshot(db *DB, roots []*root) *snapshot {
	s := &snapshot{db: db, roots: roots, places: map[string]place{}}
	s.documents = sync.OnceValue(func() []*search.Document { return listDocuments(roots) })
	for i, r := range roots {
		for _, f := range r.files {
			if f.Chunks > 0 && f.version > 0 {
				s.places[f.id] = place{f, i}
				s.docs += f.Chunks
			}
		}
	}
	return s
}

func (s *snapshot) rootIDs() (out []string) {
	for _, r := range s.roots {
		out = append(out, ID(r.Name))
	}
	return out
}

func (s *snapshot) DocFreq(term string) (n int) {
	term = encodeTerm(term)
	for _, r := range s.roots {
		n += r.terms[term]
	}
	return n
}

func (s *snapshot) Docs() int { return s.docs }

func (s *snapshot) Files() int { return len(s.places) }

func (s *snapshot) Passing() int {
	if s.only != nil {
		return len(s.only)
	}
	return len(s.places)
}

// Respelled returns nil: the server does not list its terms, so none is found by a similar
// spelling.
func (*snapshot) Respelled(string) []search.Respelled { return nil }

// hit is a chunk that a leg found.
type hit struct {
	chunk, file string // the public id, and that of the file
	order       string // among hits of one score: root, source and place
	score       float64
}

// newHit returns the hit for a chunk; ok is false if the snapshot does not find it.
func (s *snapshot) newHit(c Chunk) (h hit, ok bool) {
	p, ok := s.places[c.File]
	if !ok || c.Version > p.version || s.only != nil && !s.only[p.id] {
		return h, false
	}
	return hit{s.publicID(c.Public, p.root), p.id, fmt.Sprintf("%06d %s %09d", p.root, p.Source, c.Ordinal), c.Score}, true
}

// publicID returns the id of a chunk in a snapshot: outside the first root it ends in a mark of
// the root, because chunks of two roots may have the same id.
func (s *snapshot) publicID(chunk string, root int) string {
	if root == 0 {
		return chunk
	}
	return chunk + "@" + search.RootMark(s.roots[root].Name)
}

func ranked(hits []hit, k int) []hit {
	slices.SortFunc(hits, func(a, b hit) int { return cmp.Or(cmp.Compare(b.score, a.score), strings.Compare(a.order, b.order)) })
	return hits[:min(k, len(hits))]
}

func asHits(hits []hit, leg string) (out []state.Hit) {
	for i, h := range hits {
		out = append(out, state.Hit{Chunk: h.chunk, Score: h.score, Legs: []state.Leg{{Name: leg, Rank: i + 1, Score: h.score}}})
	}
	return out
}

// filter returns the filter of the snapshot.
func (s *snapshot) filter() Filter {
	if s.only == nil {
		return Filter{Roots: s.where}
	}
	return Filter{Files: slices.Sorted(maps.Keys(s.only))}
}

// SearchWords gives a chunk the BM25 of its own terms and that of the terms of its document.
// The order is that of the embedded index, except that all fields of a chunk have one length.
func (s *snapshot) SearchWords(ctx context.Context, q state.Query, k int) ([]state.Hit, error) {
	found, err := s.words(ctx, q, min(k, s.docs))
	if err != nil {
		return nil, fmt.Errorf("search by words: %w", err)
	}
	return asHits(found, search.LegLexical), nil
}

func (s *snapshot) words(ctx context.Context, q state.Query, k int) ([]hit, error) {
	_, weights := s.Weigh(q)
	if k <= 0 || len(weights) == 0 || s.only != nil && len(s.only) == 0 {
		return nil, context.Cause(ctx)
	}
	w := s.search(weights)
	return s.enough(k, func(n int) ([]Chunk, error) {
		w.Limit = n
		return s.db.store.Words(ctx, w)
	})
}

// search returns the search for terms in the snapshot.
func (s *snapshot) search(weights map[string]float64) Words {
	w := Words{
		Filter: s.filter(), Weights: map[string]float64{}, Document: search.DefaultRanking().Document,
		Roots: s.rootIDs(), Chunks: s.docs, Files: len(s.places),
		DocFreq: func(stored string) (n int) {
			for _, r := range s.roots {
				n += r.terms[stored]
			}
			return n
		},
	}
	w.Length = float64(w.DocFreq(everyTerm)) / float64(max(1, w.DocFreq(everyChunk)))
	for term, weight := range weights {
		w.Weights[encodeTerm(term)] = weight
	}
	return w
}

// enough asks for more and more chunks, until k of them are hits or there are no more.
func (s *snapshot) enough(k int, ask func(n int) ([]Chunk, error)) ([]hit, error) {
	for n := k + 10; ; n *= 4 {
		n = min(n, MaxChunks)
		list, err := ask(n)
		if err != nil {
			return nil, err
		}
		var found []hit
		for _, c := range list {
			if h, ok := s.newHit(c); ok {
				found = append(found, h)
			}
		}
		if len(found) >= k || len(list) < n || n == MaxChunks {
			return ranked(found, k), nil
		}
	}
}

func (s *snapshot) Chunks(ctx context.Context, ids []string) ([]state.Chunk, error) {
	bare := make([]string, len(ids))
	for i, id := range ids {
		bare[i], _, _ = strings.Cut(id, "@")
	}
	if len(ids) == 0 {
		return nil, context.Cause(ctx)
	}
	chunks, places, err := s.read(ctx, Filter{Roots: s.where, Publics: bare})
	if err != nil {
		return nil, fmt.Errorf("read chunks: %w", err)
	}
	found := map[string]int{}
	for i, c := range chunks { // by the id with and without a mark; without one the first root counts
		for _, id := range []string{c.ID, c.ID + "@" + search.RootMark(c.Root)} {
			if before, ok := found[id]; !ok || places[i].root < places[before].root {
				found[id] = i
			}
		}
	}
	var out []state.Chunk
	for _, id := range ids {
		if i, ok := found[id]; ok {
			c := chunks[i]
			c.ID = id
			out = append(out, c)
		}
	}
	return out, nil
}

// read returns the chunks that pass, with their files.
func (s *snapshot) read(ctx context.Context, f Filter) (chunks []state.Chunk, places []place, err error) {
	list, err := s.db.store.Chunks(ctx, f, WithText|WithData)
	for _, stored := range list {
		p, ok := s.places[stored.File]
		if !ok || stored.Version > p.version {
			continue
		}
		var d chunkData
		if err := json.Unmarshal(stored.Data, &d); err != nil {
			return nil, nil, fmt.Errorf("chunk %s: %w", stored.Public, err)
		}
		c := state.Chunk{
			ID: stored.Public, Root: s.roots[p.root].Name, Source: p.Source, Title: p.Title, Headings: d.Headings, Text: stored.Text,
			Start: d.Start, End: d.End, StartLine: d.StartLine, EndLine: d.EndLine, Lines: d.Lines, Page: d.Page, Breaks: d.Breaks, PageLabels: d.Labels,
			Kind: d.Kind, Ordinal: stored.Ordinal, Hash: stored.Hash, URL: p.URL, Cut: d.Cut, FileHash: p.Hash,
		}
		if d.Raw != nil {
			c.Text = string(d.Raw)
		}
		if len(p.Metadata) > 0 {
			c.Metadata, c.DocumentType, c.DocumentID = p.Metadata, p.Metadata.Text("document_type"), p.Metadata.Text("document_id")
		}
		chunks, places = append(chunks, c), append(places, p)
	}
	return chunks, places, err
}
