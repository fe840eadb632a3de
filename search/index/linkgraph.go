package index

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"slices"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/state"
)

// linkGraph is what the documents of a collection say of each other. It is
// immutable. Its pages are in order of their source.
type linkGraph struct {
	pages    []linkedPage
	names    *pageNames
	byID     map[int64]int32 // page by row of files
	links    int             // that lead from one page to another
	dangling int             // to pages, by path, that there are not
}

// linkedPage is a document with what leads to it and from it.
type linkedPage struct {
	id     int64
	source string
	title  string
	url    string
	meta   map[string]string
	out    []pageLink // in the order of relations, then as the document has them
	in     []pageLink // likewise, by source
}

// pageLink is one end of a link.
type pageLink struct {
	page     int32 // the other end
	relation string
}

// readLinks makes the graph of root: 20 ms for 1,455 pages with 3,000 links.
func (db *DB) readLinks(ctx context.Context, root string) (*linkGraph, error) {
	g := &linkGraph{byID: map[int64]int32{}}
	var bodies []string
	err := db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		g.pages, bodies = nil, nil
		return each(tx, func(r row) error {
			var p linkedPage
			var meta []byte
			var body string
			if err := r.Scan(&p.id, &p.source, &p.title, &p.url, &meta, &body); err != nil {
				return err
			}
			var said state.Metadata
			if err := json.Unmarshal(meta, &said); err != nil {
				return fmt.Errorf("metadata of %q: %w", p.source, err)
			}
			p.meta = said.Strings()
			g.pages, bodies = append(g.pages, p), append(bodies, body)
			return nil
		}, `SELECT f.id, f.source, f.title, f.url, f.meta, coalesce(l.body, '')
			FROM collections c JOIN files f ON f.collection = c.id LEFT JOIN links l ON l.file = f.id
			WHERE c.root = ? ORDER BY f.source`, root)
	})
	if err != nil {
		return nil, fmt.Errorf("links of %q: %w", root, err)
	}
	for i := range g.pages {
		g.byID[g.pages[i].id] = int32(i) //nolint:gosec // far fewer
	}
	g.names = newPageNames(g.pages)
	for i := range g.pages {
		if bodies[i] == "" {
			continue
		}
		var targets map[string][]string
		if err := json.Unmarshal([]byte(bodies[i]), &targets); err != nil {
			return nil, fmt.Errorf("links of %q: %w", g.pages[i].source, err)
		}
		g.connect(int32(i), targets) //nolint:gosec // far fewer
	}
	return g, nil
}

// connect adds the links of a page, each other end once a relation.
func (g *linkGraph) connect(page int32, targets map[string][]string) {
	p := &g.pages[page]
	for _, relation := range slices.Sorted(maps.Keys(targets)) {
		seen := map[int32]bool{page: true}
		for _, t := range targets[relation] {
			to, ok := g.names.resolve(p, t)
			if !ok && isPath(t) {
				g.dangling++
			}
			if !ok || seen[to] {
				continue
			}
			seen[to] = true
			g.links++
			p.out = append(p.out, pageLink{to, relation})
			g.pages[to].in = append(g.pages[to].in, pageLink{page, relation})
		}
	}
}

// Link is a link between two documents of a collection, by their sources.
type Link struct{ From, To, Relation string }

// Links returns the links between documents of root, in order of From: those
// whose targets are there now. dangling counts the links that name a page by its
// path and find none. A root that was never indexed has no links.
func (db *DB) Links(ctx context.Context, root string) (links []Link, dangling int, err error) {
	g, err := db.readLinks(ctx, root)
	if err != nil {
		return nil, 0, err
	}
	for _, p := range g.pages {
		for _, l := range p.out {
			links = append(links, Link{p.source, g.pages[l.page].source, l.relation})
		}
	}
	return links, g.dangling, nil
}
