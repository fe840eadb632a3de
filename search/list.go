package search

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"example.com/ragflow/internal/rank"
	"example.com/ragflow/state"
)

// Request says what a search lists. The zero value uses the engine's options.
type Request struct {
	K      int          // passages; 0 means Retrieval.TopK
	Leg    string       // one of [Legs]; empty means Dense.Leg
	Filter state.Filter // documents that may be found
	Ranks  bool         // the ranking alone: no snippets, and near-duplicates stay
	// MinScore drops hits with a lower score; 0 drops none. Scores of different legs and models
	// cannot be compared.
	MinScore float64
}

// Listing is a list of passages for a person.
type Listing struct {
	Hits       []ListedHit
	Duplicates int // hits dropped because a better one has nearly the same text
	Passing    int // documents that pass the filter
	Warnings   []string
	Note       string // why a leg counts less than usual
}

// ListedHit is one passage of a listing.
type ListedHit struct {
	state.Hit
	Chunk   state.Chunk
	Rerank  *float64 // score of the order, within 0 and 1; nil if this hit was not reordered
	Snippet Snippet
}

const (
	// spareHits is the number of extra hits to ask for, which replace near-duplicates.
	spareHits = 10
	// comparedHits is the number of hits that are compared with each other. Among later ones
	// only equal texts are dropped.
	comparedHits = 200
)

// List returns the k passages that fit a query best, without near-duplicates, in the configured
// order. If a dense search is not possible, the error matches [ErrNoDense] or
// [ErrEmbedderChanged], or is that of the embedder; a hybrid search warns instead. The error of
// a filter by an unknown key is an [*UnknownKeyError].
func (e *Engine) List(ctx context.Context, q state.Query, r Request) (l *Listing, err error) {
	leg := e.legFor(q, cmp.Or(r.Leg, e.o.Dense.Leg))
	if e.o.Observer != nil {
		inner, ended := e.o.Observer(ctx, q, leg, e.o.Source)
		defer func() { ended(l.found(), err) }()
		ctx = inner
	}
	return e.list(ctx, q, r, leg)
}

// found returns the hits of a listing; l may be nil.
func (l *Listing) found() (hits []state.Hit) {
	if l != nil {
		for i := range l.Hits {
			hits = append(hits, l.Hits[i].Hit)
		}
	}
	return hits
}

func (e *Engine) list(ctx context.Context, q state.Query, r Request, leg string) (*Listing, error) {
	k := cmp.Or(r.K, e.o.Retrieval.TopK)
	narrowed, err := e.Narrowed(ctx, r.Filter)
	if err != nil {
		return nil, err
	}
	method, compared := e.listOrder(leg)
	depth := max(k, compared)
	spare := spareHits
	if r.Ranks {
		spare = 0
	}
	found, err := narrowed.byLegs(ctx, q, depth+spare, leg)
	if err == nil && r.Leg != LegLexical && r.Leg != LegDense { // a leg that was asked for by name is asked alone
		found.Hits, err = narrowed.follow(ctx, q, found.Hits, depth+spare)
	}
	if err != nil {
		return nil, err
	}
	chunks, err := e.chunksOf(ctx, found.Hits)
	if err != nil {
		return nil, err
	}
	l := &Listing{Passing: narrowed.Passing(), Warnings: found.Warnings}
	if len(found.Warnings) == 0 {
		l.Note = e.lexicalNote(q, leg)
	}
	hits := slices.DeleteFunc(found.Hits, func(h state.Hit) bool {
		return chunks[h.Chunk] == nil || r.MinScore != 0 && !(h.Score >= r.MinScore)
	})
	if !r.Ranks {
		hits, l.Duplicates = withoutDuplicates(hits, chunks, depth)
	}
	for _, h := range hits {
		l.Hits = append(l.Hits, ListedHit{Hit: h, Chunk: *chunks[h.Chunk]})
	}
	orderer := e.o.List
	if leg == LegHybrid && e.o.ListDepth > 0 {
		orderer = e.o.Offline
	}
	if err := narrowed.order(ctx, q, l, method, compared, found.nearness, orderer); err != nil {
		return nil, err
	}
	l.Hits = l.Hits[:min(k, len(l.Hits))]
	if !r.Ranks {
		snippet := e.Snippets(q)
		for i := range l.Hits {
			l.Hits[i].Snippet = snippet(l.Hits[i].Chunk.Text)
		}
	}
	return l, nil
}

// chunksOf reads the chunks of hits, by id, without those that left the index.
func (e *Engine) chunksOf(ctx context.Context, hits []state.Hit) (map[string]*state.Chunk, error) {
	ids := make([]string, len(hits))
	for i, h := range hits {
		ids[i] = h.Chunk
	}
	chunks, err := e.Chunks(ctx, ids)
	if err != nil {
		return nil, fmt.Errorf("read what was found: %w", err)
	}
	out := make(map[string]*state.Chunk, len(chunks))
	for i := range chunks {
		out[chunks[i].ID] = &chunks[i]
	}
	return out, nil
}

// withoutDuplicates returns the k best hits without those with nearly the text of a better one,
// and the number of those dropped above the last of them.
func withoutDuplicates(hits []state.Hit, chunks map[string]*state.Chunk, k int) (kept []state.Hit, duplicates int) {
	var vectors []rank.Vector
	var compared []*state.Chunk // of the vectors
	near := rank.AtLeast(rank.NearDuplicate)
	seen := map[string]bool{}
	for i, h := range hits {
		if len(kept) == k {
			break
		}
		c := chunks[h.Chunk]
		again := seen[c.Hash]
		if !again && i < comparedHits {
			v := rank.TextVector(c.Text)
			for j, o := range compared {
				again = again || rank.Repeats(o, c, rank.Cosine(vectors[j], v), near)
			}
			if !again {
				vectors, compared = append(vectors, v), append(compared, c)
			}
		}
		if again {
			duplicates++
			continue
		}
		seen[c.Hash] = true
		kept = append(kept, h)
	}
	return kept, duplicates
}

// order reorders the first hits of a listing by a method; the others follow unchanged.
func (e *Engine) order(ctx context.Context, q state.Query, l *Listing, method string, compared int, n nearness, orderer Orderer) error {
	if method == RerankOff || method == byProbability && n.unknown() || len(l.Hits) == 0 {
		return nil
	}
	first := l.Hits[:min(compared, len(l.Hits))]
	byID := make(map[string]ListedHit, len(first))
	candidates := make([]state.Source, len(first))
	for i, h := range first {
		byID[h.Chunk.ID] = h
		candidates[i] = state.Source{Chunk: h.Chunk, Score: h.Score}
	}
	var (
		ordered Ordered
		err     error
	)
	if method == byProbability {
		ordered, err = e.orderByProbability(ctx, q, first, candidates, n)
	} else {
		ordered, err = e.reorder(ctx, method, orderer, []state.Query{q}, candidates)
	}
	if err != nil {
		return err
	}
	l.Warnings = append(l.Warnings, ordered.Warnings...)
	rest := slices.Clone(l.Hits[len(first):])
	l.Hits = make([]ListedHit, 0, len(l.Hits))
	for i := range ordered.Sources {
		s := &ordered.Sources[i]
		h := byID[s.ID]
		if len(ordered.Warnings) == 0 {
			score := min(max(s.Score, 0), 1)
			h.Rerank = &score
		}
		l.Hits = append(l.Hits, h)
	}
	l.Hits = append(l.Hits, rest...)
	return nil
}
