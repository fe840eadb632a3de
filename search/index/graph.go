package index

import (
	"context"

	"example.com/ragflow/state"
)

// LegGraph is the name of the leg that finds documents by their names and by the
// links between them.
const LegGraph = "graph"

// Bounds of what links are followed.
const (
	MostHops        = 3  // of a search that follows links
	mostConnections = 50 // of a page that are followed
	mostRelated     = 10 // of RELATED_TO of a page that are shown
)

// place is where a document lies in the parts of its view.
type place struct{ part, file int }

// linksOf returns the graph of a view, made when first asked for. It is read then:
// what changed since the view was made has no place in it.
func (db *DB) linksOf(ctx context.Context, v *view) (*linkGraph, error) {
	v.linking.Lock()
	defer v.linking.Unlock()
	if v.links != nil {
		return v.links, nil
	}
	g, err := db.readLinks(ctx, v.root)
	if err != nil {
		return nil, err
	}
	places := make([]place, len(g.pages))
	for i := range places {
		places[i].part = -1
	}
	for i := range v.parts {
		p := &v.parts[i]
		for n, f := range p.roster {
			if page, ok := g.byID[f.id]; ok && (p.alive == nil || p.alive.has(n)) && g.pages[page].source == f.source {
				places[page] = place{i, n}
			}
		}
	}
	v.links, v.places = g, places
	return g, nil
}

// degree counts the documents that a page is connected with.
func (p *linkedPage) degree() int {
	others := map[int32]bool{}
	for _, l := range p.out {
		others[l.page] = true
	}
	for _, l := range p.in {
		others[l.page] = true
	}
	return len(others)
}

// connection is one way from a page to another.
type connection struct {
	pageLink
	reverse bool
}

// connections returns the ways from a page, at most mostConnections: relations
// before links of the text, and the page's own before those of others.
func (p *linkedPage) connections() []connection {
	var out, links []connection
	for _, l := range p.out {
		if l.relation == state.LinksTo {
			links = append(links, connection{l, false})
		} else {
			out = append(out, connection{l, false})
		}
	}
	out = append(out, links...)
	for _, l := range p.in {
		out = append(out, connection{l, true})
	}
	return out[:min(len(out), mostConnections)]
}

// transitive are the relations that hold over several hops: what a dependency
// depends on is one too.
func transitive(relation string) bool {
	return relation == state.DependsOn || relation == state.Requires
}
