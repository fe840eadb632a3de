package index

import (
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"example.com/ragflow/state"
)

// ErrNoPage tells that no document goes by a name. The error that wraps it says
// the name.
var ErrNoPage = errors.New("no document goes by that name")

// Related is a document that links connect with another one.
type Related struct {
	Root, Source, Title string
	// Via is the source of the document that the link leads from: the page itself, or
	// one on the way. Relation is the kind of the link. It leads to this document, or,
	// where Reverse is set, from this one to Via.
	Via, Relation string
	Reverse       bool
	Hops          int
	Score         float64 // DefaultDamping for each hop
}

// RelatedTo returns the documents that links connect with a page within some hops,
// the nearest first, and of those as near the ones that speak most of what the
// page's title says. The page is named by its source or the end of it, by its
// title, id or address. Of each page at most 50 connections are followed, and of
// the documents that it is only related to (RELATED_TO) the ten best are shown.
// The error matches ErrNoPage, or is that hops are not 1 to MostHops.
func (s *Searcher) RelatedTo(ctx context.Context, page string, hops int) (of Related, out []Related, err error) {
	e, err := Expansion{Hops: hops}.withDefaults(0)
	if err != nil {
		return of, nil, err
	}
	view, at, err := s.pageNamed(ctx, page)
	if err != nil {
		return of, nil, err
	}
	p := &s.views[view].links.pages[at]
	of = Related{Root: s.views[view].root, Source: p.source, Title: p.title, Score: 1}
	found := s.walk([]reached{{view: view, page: at, score: 1, damping: 1}}, map[pageKey]bool{{view, at}: true}, e)
	if err := s.represent(ctx, state.Query{Text: p.title, Weight: 1}, found); err != nil {
		return of, nil, err
	}
	for _, r := range choose(found, len(found)) {
		p := &s.views[r.view].links.pages[r.page]
		out = append(out, Related{
			Root: s.views[r.view].root, Source: p.source, Title: p.title,
			Via: r.via, Relation: r.pageWay.relation, Reverse: r.pageWay.reverse, Hops: r.hops, Score: r.score,
		})
	}
	return of, out, nil
}

// pageNamed finds a document by what a person calls it.
func (s *Searcher) pageNamed(ctx context.Context, name string) (view int, page int32, err error) {
	name = strings.TrimSpace(strings.ReplaceAll(name, `\`, "/"))
	for view, v := range s.views {
		g, err := s.db.linksOf(ctx, v)
		if err != nil {
			return 0, 0, err
		}
		target := strings.TrimPrefix(strings.TrimPrefix(name, strings.ReplaceAll(v.root, `\`, "/")+"/"), "./")
		if page, ok := g.names.resolve(&linkedPage{}, target); ok {
			return view, page, nil
		}
		if page, ok := g.names.resolve(&linkedPage{}, path.Join("/", target)); ok {
			return view, page, nil
		}
	}
	return 0, 0, fmt.Errorf("%w: %q", ErrNoPage, name)
}
