package index

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"path"
	"slices"
	"strings"

	"github.com/bits-and-blooms/bitset"
	"github.com/hbollon/go-edlib"

	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// Bounds of the graph leg.
const (
	mostNamed   = 50  // documents that a search by name finds
	linkDamping = 0.5 // what is left of a score after each relation

	expanded     = 5  // best hits whose relations Expand follows
	mostRelated  = 10 // documents that a page is only related to (RELATED_TO)
	shortestName = 5  // bytes of a name that is looked for in a query
)

// reached is a document that a search by name found, or that relations led to.
type reached struct {
	snapshot, page int
	score          float64

	parent state.Hit // that relations led from
	state.Trail

	chunk   string  // shown for the document: the best one for the query, else the first
	lexical float64 // score of that chunk
}

// pageKey names a document of any snapshot.
type pageKey struct{ snapshot, page int }

// SearchNames returns documents by what they are called: those whose name, title, tags or
// description contain the query, and those whose name or title it contains. The score is
// how alike query and name or title are by Jaro and Winkler, within 0 and 1; of one score,
// documents that are connected with more others come first. Each is shown
// by the passage that fits the query best. There are k hits at most, and never more than mostNamed.
func (s *Searcher) SearchNames(ctx context.Context, q state.Query, k int) ([]state.Hit, error) {
	query := foldName(q.Text)
	if query == "" || min(k, mostNamed) <= 0 {
		return nil, context.Cause(ctx)
	}
	var found []*reached
	for v := range s.snapshots {
		pages, err := s.snapshots[v].readPages(ctx)
		if err != nil {
			return nil, err
		}
		for i := range pages {
			p := &pages[i]
			if _, ok := s.partOf(v, p); !ok {
				continue
			}
			if likeness := p.likeness(query); likeness > 0 {
				found = append(found, &reached{snapshot: v, page: i, score: likeness})
			}
		}
	}
	degree := func(r *reached) int { return s.snapshots[r.snapshot].pages[r.page].degree }
	slices.SortFunc(found, func(a, b *reached) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(degree(b), degree(a)), cmp.Compare(a.snapshot, b.snapshot), cmp.Compare(a.page, b.page))
	})
	found = found[:min(len(found), k, mostNamed)]
	if err := s.represent(ctx, q, found); err != nil {
		return nil, err
	}
	var hits []state.Hit
	for _, r := range found {
		if r.chunk != "" {
			hits = append(hits, state.Hit{Chunk: r.chunk, Score: r.score, Legs: []state.Leg{{Name: search.LegGraph, Rank: len(hits) + 1, Score: r.score}}})
		}
	}
	return hits, nil
}

// likeness returns how alike a folded query and the name or title of a page are, in (0, 1].
// It is 0 where none of name, title, tags and description contains the query, and the query
// contains neither name nor title.
func (p *page) likeness(query string) float64 {
	file := strings.NewReplacer("-", " ", "_", " ").Replace(path.Base(pagePath(p.source)))
	names := []string{foldName(p.title), foldName(file)}
	asked := " " + strings.TrimRight(query, ".?!,;: ") + " "
	contains := func(text string) bool { return strings.Contains(text, query) }
	if !slices.ContainsFunc(names, func(name string) bool {
		return contains(name) || len(name) >= shortestName && strings.Contains(asked, " "+name+" ")
	}) && !slices.ContainsFunc([]string{"tags", "keywords", "description"}, func(key string) bool { return contains(foldName(p.meta[key])) }) {
		return 0
	}
	return float64(max(edlib.JaroWinklerSimilarity(query, names[0]), edlib.JaroWinklerSimilarity(query, names[1])))
}

// Expand adds to hits, which are ordered by score, what the documents of the five best relate
// to: documents of which there is no hit yet, by the passage that fits the query best. One
// scores as the hit that relations led from, times linkDamping for each relation; of one score,
// those that fit the query's words better come first. All are ordered by score then, and of
// one score the given hits come first. A hit that scores 0 or less leads nowhere. What a
// filter of the searcher leaves out is not added, but relations are followed through it.
func (s *Searcher) Expand(ctx context.Context, q state.Query, hits []state.Hit, e search.Expansion) ([]state.Hit, error) {
	e.Hops, e.Limit = cmp.Or(e.Hops, 1), cmp.Or(e.Limit, len(hits))
	if e.Limit < 0 || e.Hops < 1 || e.Hops > search.MaxHops {
		return nil, fmt.Errorf("expansion by %d hits over %d hops; it must be 1 to %d hops", e.Limit, e.Hops, search.MaxHops)
	}
	known := map[pageKey]bool{}
	var starts []*reached
	for i, h := range hits {
		v, page, err := s.pageOf(ctx, h.Chunk)
		if err != nil {
			return nil, err
		}
		if page < 0 || len(h.Legs) == 0 {
			continue
		}
		if i < expanded && h.Score > 0 && !known[pageKey{v, page}] {
			starts = append(starts, &reached{snapshot: v, page: page, score: h.Score, parent: h})
		}
		known[pageKey{v, page}] = true
	}
	found := s.follow(starts, known, e.Hops)
	if len(found) == 0 {
		return hits, nil
	}
	if err := s.represent(ctx, q, found); err != nil {
		return nil, err
	}
	out := slices.Clone(hits)
	for _, r := range choose(found, e.Limit) {
		share := 0.0 // of the query's weight, that the legs of the parent have
		for _, l := range r.parent.Legs {
			share = min(1, share+l.Share)
		}
		out = append(out, state.Hit{Chunk: r.chunk, Score: r.score, Legs: []state.Leg{{
			Name: search.LegGraph, Query: r.parent.Legs[0].Query, Rank: 1 + len(out) - len(hits), Score: r.score,
			Share: cmp.Or(share, 1) * math.Pow(linkDamping, float64(r.Hops)), Trail: &r.Trail,
		}}})
	}
	slices.SortStableFunc(out, func(a, b state.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return out, nil
}

// follow follows the relations of some documents, breadth first from each, to documents that
// are not known yet. A document that several ways lead to has the best score of them. What a
// dependency depends on is a dependency too, so DEPENDS_ON is followed over MaxHops.
func (s *Searcher) follow(starts []*reached, known map[pageKey]bool, hops int) (order []*reached) {
	best := map[pageKey]*reached{}
	for _, start := range starts {
		list := s.snapshots[start.snapshot].pages
		seen := map[int]bool{start.page: true}
		frontier := []*reached{start}
		for hop := 1; hop <= search.MaxHops; hop++ {
			var next []*reached
			for _, from := range frontier {
				for _, to := range list[from.page].out {
					chained := to.kind == state.DependsOn && (hop == 1 || from.Relation == state.DependsOn)
					if seen[to.page] || hop > hops && !chained {
						continue
					}
					seen[to.page] = true
					r := &reached{
						snapshot: start.snapshot, page: to.page, score: from.score * linkDamping, parent: start.parent,
						Trail: state.Trail{Via: list[from.page].source, Relation: to.kind, Hops: hop},
					}
					next = append(next, r)
					k := pageKey{r.snapshot, r.page}
					if b := best[k]; b != nil && b.score < r.score {
						*b = *r
					} else if b == nil && !known[k] {
						best[k], order = r, append(order, r)
					}
				}
			}
			frontier = next
		}
	}
	return order
}

// pageOf returns the document of a chunk, by snapshot and number; number -1: it is not known.
// It reads the documents of the snapshot.
func (s *Searcher) pageOf(ctx context.Context, chunk string) (v, number int, err error) {
	part, at, ok := s.locate(chunk)
	if !ok {
		return 0, -1, nil
	}
	p := &s.parts[part]
	v = p.snapshot
	pages, err := s.snapshots[v].readPages(ctx)
	if err != nil {
		return 0, -1, err
	}
	number, ok = slices.BinarySearchFunc(pages, p.source(at), func(p page, source string) int { return strings.Compare(p.source, source) })
	if !ok {
		number = -1
	}
	return v, number, nil
}

// locate finds the chunk that has a public id: see publicID.
func (s *Searcher) locate(id string) (part, chunk int, ok bool) {
	bare, mark, marked := strings.Cut(id, "@")
	for i := range s.parts {
		p := &s.parts[i]
		if marked && search.RootMark(p.root) != mark {
			continue
		}
		if c, found := p.place(bare); found && p.live(p.fileOf(c)) {
			return i, c, true
		}
	}
	return 0, 0, false
}

// partOf returns the part of the searcher that a page of a snapshot lies in; ok is false
// where the page may not be found.
func (s *Searcher) partOf(snapshot int, p *page) (part int, ok bool) {
	if p.part < 0 {
		return 0, false
	}
	part = p.part
	for v := range snapshot {
		part += len(s.snapshots[v].parts)
	}
	files := s.parts[part].shown
	return part, files == nil || files.Test(uint(p.file))
}

// represent sets the chunk to show for each document. A document that may not be found has
// none.
func (s *Searcher) represent(ctx context.Context, q state.Query, found []*reached) error {
	type fileAt struct{ part, file int }
	byFile := map[fileAt]*reached{}
	narrowed := s.narrowed()
	for i := range narrowed.parts {
		narrowed.parts[i].shown = bitset.New(uint(len(narrowed.parts[i].Files)))
	}
	for _, r := range found {
		page := &s.snapshots[r.snapshot].pages[r.page]
		part, ok := s.partOf(r.snapshot, page)
		if !ok {
			continue
		}
		narrowed.parts[part].shown.Set(uint(page.file))
		byFile[fileAt{part, page.file}] = r
		p := &s.parts[part]
		for c, end := p.chunksOf(page.file); c < end && r.chunk == ""; c++ {
			if p.shows(c) {
				r.chunk = s.publicID(candidate{part: part, chunk: c})
			}
		}
	}
	// A chunk that is not among a few for each document fits badly anyway.
	hits := newTop(min(s.all.Chunks, max(200, 8*len(byFile))), s.better)
	if err := narrowed.best(ctx, s.queryTerms(q), hits); err != nil {
		return err
	}
	for _, c := range hits.ranked() {
		r := byFile[fileAt{c.part, s.parts[c.part].fileOf(c.chunk)}]
		if r != nil && r.lexical == 0 {
			r.chunk, r.lexical = s.publicID(c), c.score
		}
	}
	return nil
}

// choose returns the best of the documents that may be found, best first: no more than
// mostRelated that one page is only related to.
func choose(found []*reached, limit int) []*reached {
	found = slices.DeleteFunc(found, func(r *reached) bool { return r.chunk == "" })
	slices.SortFunc(found, func(a, b *reached) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.lexical, a.lexical), cmp.Compare(a.snapshot, b.snapshot), cmp.Compare(a.page, b.page))
	})
	type viaKey struct {
		snapshot int
		source   string
	}
	related := map[viaKey]int{}
	found = slices.DeleteFunc(found, func(r *reached) bool {
		if r.Relation != state.RelatedTo {
			return false
		}
		from := viaKey{r.snapshot, r.Via}
		related[from]++
		return related[from] > mostRelated
	})
	return found[:min(len(found), limit)]
}
