package index

import (
	"cmp"
	"context"
	"fmt"
	"slices"

	"example.com/ragflow/state"
)

// Presets of an [Expansion].
const (
	DefaultExpanded = 5   // Expansion.Top
	DefaultDamping  = 0.5 // Expansion.Damping
)

// Expansion says how a search follows links. Zero values are the defaults.
type Expansion struct {
	Top     int     // best hits whose documents' links are followed; default 5
	Damping float64 // what is left of a score after a hop, above 0 and up to 1; default 0.5
	Hops    int     // 1 to MostHops; default 1. DEPENDS_ON and REQUIRES are followed over MostHops always
	Limit   int     // hits that are added at most; default as many as there are
}

func (e Expansion) withDefaults(hits int) (Expansion, error) {
	e = Expansion{
		Top: cmp.Or(e.Top, DefaultExpanded), Damping: cmp.Or(e.Damping, DefaultDamping),
		Hops: cmp.Or(e.Hops, 1), Limit: cmp.Or(e.Limit, hits),
	}
	switch {
	case e.Top < 0 || e.Limit < 0:
		return e, fmt.Errorf("expansion of %d hits to %d more: neither can be negative", e.Top, e.Limit)
	case !(e.Damping > 0 && e.Damping <= 1):
		return e, fmt.Errorf("the damping of an expansion is %v, but must be above 0 and at most 1", e.Damping)
	case e.Hops < 1 || e.Hops > MostHops:
		return e, fmt.Errorf("links are followed over %d hops, but it must be 1 to %d", e.Hops, MostHops)
	}
	return e, nil
}

// reached is a document that links led to.
type reached struct {
	view    int
	page    int32
	score   float64
	damping float64 // of the score of the hit it was reached from
	parent  state.Hit
	hops    int
	via     string
	pageWay connection
	before  *reached // on the way; nil: it was where the way began

	chunk   string  // that stands for it: the best one for the query, else the first
	lexical float64 // score of that by words
}

// Expand adds to hits, which are in order of their scores, what the links of the
// best ones lead to: documents of which there is no hit yet, by the passage that
// fits the query best. One scores as the hit it was reached from, times the damping
// for each hop; where that is the same for several, those that fit the query's words
// better go first. All are in order of their scores then, and of one score those that
// were there before. A hit that scores 0 or
// less leads nowhere. What a filter of the searcher leaves out is not added, but
// links are followed through it.
func (s *Searcher) Expand(ctx context.Context, q state.Query, hits []state.Hit, e Expansion) ([]state.Hit, error) {
	e, err := e.withDefaults(len(hits))
	if err != nil {
		return nil, err
	}
	found, err := s.reach(ctx, hits, e)
	if err != nil || len(found) == 0 {
		return hits, err
	}
	if err := s.represent(ctx, q, found); err != nil {
		return nil, err
	}
	out := slices.Clone(hits)
	for _, r := range choose(found, e.Limit) {
		share := 1.0
		if len(r.parent.Legs) > 0 && r.parent.Legs[0].Share > 0 {
			share = 0
			for _, l := range r.parent.Legs {
				share = min(1, share+l.Share)
			}
		}
		out = append(out, state.Hit{Chunk: r.chunk, Score: r.score, Legs: []state.Leg{{
			Name: LegGraph, Query: r.parent.Legs[0].Query, Rank: 1 + len(out) - len(hits), Score: r.score, Share: share * r.damping,
			Trail: &state.Trail{Via: r.via, Relation: r.pageWay.relation, Reverse: r.pageWay.reverse, Hops: r.hops, From: s.sourceOf(r.origin())},
		}}})
	}
	slices.SortStableFunc(out, func(a, b state.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return out, nil
}

// origin is where the way to a document began.
func (r *reached) origin() *reached {
	for r.before != nil {
		r = r.before
	}
	return r
}

// sourceOf is the source of a document.
func (s *Searcher) sourceOf(r *reached) string { return s.views[r.view].links.pages[r.page].source }

// reach follows the links of the best hits. A document that several lead to has the
// best score of them.
func (s *Searcher) reach(ctx context.Context, hits []state.Hit, e Expansion) ([]*reached, error) {
	there := map[pageKey]bool{}
	var starts []reached
	for i, h := range hits {
		view, page, err := s.pageOf(ctx, h.Chunk)
		if err != nil {
			return nil, err
		}
		if page < 0 || len(h.Legs) == 0 {
			continue
		}
		if i < e.Top && h.Score > 0 && !there[pageKey{view, page}] {
			starts = append(starts, reached{view: view, page: page, score: h.Score, damping: 1, parent: h})
		}
		there[pageKey{view, page}] = true
	}
	return s.walk(starts, there, e), nil
}

// pageKey names a document of any view.
type pageKey struct {
	view int
	page int32
}

// walk follows the links of some documents, breadth first from each, to documents
// that are not there yet.
func (s *Searcher) walk(starts []reached, there map[pageKey]bool, e Expansion) (order []*reached) {
	best := map[pageKey]*reached{}
	for _, start := range starts {
		g := s.views[start.view].links
		type visit struct {
			page  int32
			chain string // transitive relation that led there, which goes on; "": none
		}
		seen := map[visit]bool{}
		frontier := []*reached{&start}
		for hop := 1; hop <= MostHops && len(frontier) > 0; hop++ {
			var next []*reached
			for _, from := range frontier {
				for _, c := range g.pages[from.page].connections() {
					chain := transitive(c.relation) && !c.reverse && (hop == 1 || from.pageWay.relation == c.relation && !from.pageWay.reverse)
					at := visit{page: c.page}
					if transitive(c.relation) && !c.reverse {
						at.chain = c.relation
					}
					if c.page == start.page || seen[at] || hop > e.Hops && !chain {
						continue
					}
					seen[at] = true
					damping := from.damping * e.Damping
					r := reached{
						view: start.view, page: c.page, parent: start.parent, damping: damping, score: start.score * damping,
						hops: hop, via: g.pages[from.page].source, pageWay: c, before: from,
					}
					next = append(next, &r)
					k, found := pageKey{r.view, r.page}, r // its own, for what is found changes
					if known := best[k]; known != nil && known.score < r.score {
						*known = found
					} else if known == nil && !there[k] {
						best[k] = &found
						order = append(order, &found)
					}
				}
			}
			frontier = next
		}
	}
	return order
}

// pageOf returns the document of a chunk: its view, and its page in the graph of
// that; page -1: it is not known.
func (s *Searcher) pageOf(ctx context.Context, chunk string) (view int, page int32, err error) {
	part, at, ok := s.locate(chunk)
	if !ok {
		return 0, -1, nil
	}
	p := &s.parts[part]
	for view = range s.views {
		if s.views[view].root == p.root {
			break
		}
	}
	g, err := s.db.linksOf(ctx, s.views[view])
	if err != nil {
		return 0, -1, err
	}
	if page, ok = g.byID[p.roster[p.chunkField(at, 0)].id]; !ok {
		page = -1
	}
	return view, page, nil
}

// placeOf returns where a page lies in the parts of the searcher.
func (s *Searcher) placeOf(view int, page int32) (part, file int, ok bool) {
	at := s.views[view].places[page]
	if at.part < 0 {
		return 0, 0, false
	}
	for v := range view {
		at.part += len(s.views[v].parts)
	}
	if files := s.parts[at.part].found(); files != nil && !files.has(at.file) {
		return 0, 0, false
	}
	return at.part, at.file, true
}

// represent finds the chunk that stands for each document. Those that may not be
// found have none.
func (s *Searcher) represent(ctx context.Context, q state.Query, found []*reached) error {
	type fileAt struct{ part, file int }
	byFile := map[fileAt]*reached{}
	narrowed := *s
	narrowed.parts = slices.Clone(s.parts)
	for i := range narrowed.parts {
		narrowed.parts[i].shown = newBitmap(narrowed.parts[i].files)
	}
	for _, r := range found {
		part, file, ok := s.placeOf(r.view, r.page)
		if !ok {
			continue
		}
		narrowed.parts[part].shown.set(file)
		byFile[fileAt{part, file}] = r
		p := &s.parts[part]
		for c, end := p.chunksOf(file); c < end; c++ {
			if p.shows(c) {
				r.chunk = s.publicID(candidate{part: part, chunk: c})
				break
			}
		}
	}
	// More than a few chunks a document: what is not among them fits badly anyway.
	hits := newTop(min(s.all.chunks, max(200, 8*len(byFile))), s.better)
	terms := s.queryTerms(q)
	for i := range narrowed.parts {
		if err := narrowed.newScan(i, terms, hits).run(ctx); err != nil {
			return err
		}
	}
	for _, c := range hits.ranked() {
		r := byFile[fileAt{c.part, int(s.parts[c.part].chunkField(c.chunk, 0))}]
		if r != nil && r.lexical == 0 {
			r.chunk, r.lexical = s.publicID(c), c.score
		}
	}
	return nil
}

// choose returns the best of the documents that may be found, best first: no more
// than mostRelated that one page is only related to.
func choose(found []*reached, limit int) []*reached {
	found = slices.DeleteFunc(found, func(r *reached) bool { return r.chunk == "" })
	slices.SortFunc(found, func(a, b *reached) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.lexical, a.lexical), cmp.Compare(a.view, b.view), cmp.Compare(a.page, b.page))
	})
	type viaKey struct {
		view   int
		source string
	}
	related := map[viaKey]int{}
	found = slices.DeleteFunc(found, func(r *reached) bool {
		if r.pageWay.relation != state.RelatedTo {
			return false
		}
		from := viaKey{r.view, r.via}
		related[from]++
		return related[from] > mostRelated
	})
	return found[:min(len(found), limit)]
}
