package index

import (
	"cmp"
	"context"
	"path"
	"slices"
	"strings"

	"example.com/ragflow/search/rank"
	"example.com/ragflow/state"
)

// MostNamed is how many documents a search by name finds at most.
const MostNamed = 50

// shortestName is how long a name must be, in bytes, to be found in what a person
// asks.
const shortestName = 5

// named is a document whose name fits a query.
type named struct {
	reached
	likeness float64
	degree   int
}

// SearchNames returns documents by what they are called: those whose name, title,
// tags or description contain the query, and those whose name or title stands in
// it. The score is how alike query and name or title are, within 0 and 1
// ([rank.JaroWinkler]); of the same score, those come first that are connected with
// more others. Each is found by the passage that fits the query best. There are k
// hits at most, and never more than MostNamed.
func (s *Searcher) SearchNames(ctx context.Context, q state.Query, k int) ([]state.Hit, error) {
	query := foldName(q.Text)
	if query == "" || min(k, MostNamed) <= 0 {
		return nil, context.Cause(ctx)
	}
	var found []named
	for v, view := range s.views {
		g, err := s.db.linksOf(ctx, view)
		if err != nil {
			return nil, err
		}
		for i := range g.pages {
			page := int32(i) //nolint:gosec // far fewer
			if _, _, ok := s.placeOf(v, page); !ok {
				continue
			}
			if _, likeness := g.pages[i].likeness(query); likeness > 0 {
				found = append(found, named{reached{view: v, page: page}, likeness, g.pages[i].degree()})
			}
		}
	}
	slices.SortFunc(found, func(a, b named) int {
		return cmp.Or(cmp.Compare(b.likeness, a.likeness), cmp.Compare(b.degree, a.degree), cmp.Compare(a.view, b.view), cmp.Compare(a.page, b.page))
	})
	found = found[:min(len(found), k, MostNamed)]
	pages := make([]*reached, len(found))
	for i := range found {
		pages[i] = &found[i].reached
	}
	if err := s.represent(ctx, q, pages); err != nil {
		return nil, err
	}
	var hits []state.Hit
	for _, n := range found {
		if n.chunk != "" {
			hits = append(hits, state.Hit{Chunk: n.chunk, Score: n.likeness, Legs: []state.Leg{{Name: LegGraph, Rank: len(hits) + 1, Score: n.likeness}}})
		}
	}
	return hits, nil
}

// likeness says how alike a folded query and what a page is called are, and which of
// it contains the query or stands in it; 0 where none does.
func (p *linkedPage) likeness(query string) (in string, best float64) {
	for i, name := range p.names() {
		if in == "" && (strings.Contains(name, query) || len(name) >= shortestName && holdsWords(query, name)) {
			in = []string{"title", "file"}[i]
		}
		best = max(best, rank.JaroWinkler(query, name))
	}
	for _, key := range []string{"tags", "keywords", "description"} {
		if in == "" && strings.Contains(foldName(p.meta[key]), query) {
			in = key
		}
	}
	if in == "" {
		return "", 0
	}
	return in, best
}

// names returns what a page is called, folded: its title and the name of its file.
func (p *linkedPage) names() []string {
	name := path.Base(pagePath(p.source))
	return []string{foldName(p.title), foldName(strings.NewReplacer("-", " ", "_", " ").Replace(name))}
}

// holdsWords reports whether words stand in a text of folded words.
func holdsWords(text, words string) bool {
	trimmed := strings.TrimRight(text, ".?!,;: ")
	return strings.Contains(" "+trimmed+" ", " "+words+" ")
}
