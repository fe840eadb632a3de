package index

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"path"
	"slices"
	"strings"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// page is a document with what it says of itself and of others.
type page struct {
	id                 int64
	source, title, url string
	meta               map[string]string // by key in lower case; with title, url and extension
	targets            string            // column body of the table links

	part, file int // where it lies in the snapshot; part -1: it changed or went since

	out []pageLink // by relation, then as the document has them
	in  []pageLink // by relation, then by source
}

// pageLink is one end of a link.
type pageLink struct {
	page     int // the other end
	relation string
}

// pages are the documents of a collection, ordered by source. They are read when a snapshot
// first needs them for a filter, for names or for links.
type pages struct {
	list     []page
	names    pageNames
	dangling int // links to a path where no page is
}

// readPages reads the documents of root and resolves their links.
func (db *DB) readPages(ctx context.Context, root string) (*pages, error) {
	out := &pages{}
	err := db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		out.list = nil
		return each(tx, func(r row) error {
			p := page{part: -1}
			var meta []byte
			if err := r.Scan(&p.id, &p.source, &p.title, &p.url, &meta, &p.targets); err != nil {
				return err
			}
			var said state.Metadata
			if err := json.Unmarshal(meta, &said); err != nil {
				return fmt.Errorf("metadata of %q: %w", p.source, err)
			}
			p.describe(said.Strings())
			out.list = append(out.list, p)
			return nil
		}, `SELECT f.id, f.source, f.title, f.url, f.meta, coalesce(l.body, '')
			FROM collections c JOIN files f ON f.collection = c.id LEFT JOIN links l ON l.file = f.id
			WHERE c.root = ? ORDER BY f.source`, root)
	})
	if err != nil {
		return nil, fmt.Errorf("documents of %q: %w", root, err)
	}
	out.names = newPageNames(out.list)
	for i := range out.list {
		if out.list[i].targets == "" {
			continue
		}
		var byRelation map[string][]string
		if err := json.Unmarshal([]byte(out.list[i].targets), &byRelation); err != nil {
			return nil, fmt.Errorf("links of %q: %w", out.list[i].source, err)
		}
		out.connect(i, byRelation)
	}
	return out, nil
}

// describe sets what is known of a page: what its metadata say, and, where they do not,
// title, address and extension.
func (p *page) describe(said map[string]string) {
	p.meta = map[string]string{}
	for _, key := range slices.Sorted(maps.Keys(said)) {
		lower, value := strings.ToLower(key), strings.TrimSpace(said[key])
		if before := p.meta[lower]; before != "" && value != "" && before != value { // "Tags" and "tags"
			value = before + ", " + value
		}
		p.meta[lower] = cmp.Or(value, p.meta[lower])
	}
	extension := strings.ToLower(strings.TrimPrefix(path.Ext(p.source), "."))
	for key, value := range map[string]string{"title": p.title, "url": p.url, "extension": extension} {
		p.meta[key] = cmp.Or(p.meta[key], strings.TrimSpace(value))
	}
	maps.DeleteFunc(p.meta, func(_, value string) bool { return value == "" })
}

// pagesOf returns the documents of a snapshot. They are read now; what changed since the
// snapshot was made has no place in it.
func (db *DB) pagesOf(ctx context.Context, v *snapshot) (*pages, error) {
	v.reading.Lock()
	defer v.reading.Unlock()
	if v.pages != nil {
		return v.pages, nil
	}
	out, err := db.readPages(ctx, v.root)
	if err != nil {
		return nil, err
	}
	byID := make(map[int64]int, len(out.list))
	for i := range out.list {
		byID[out.list[i].id] = i
	}
	for i := range v.parts {
		p := &v.parts[i]
		for n, f := range p.Files {
			if at, ok := byID[f.ID]; ok && p.live(n) && out.list[at].source == f.Source {
				out.list[at].part, out.list[at].file = i, n
			}
		}
	}
	v.pages = out
	return out, nil
}

// items returns the values of a text: itself, and its parts where it is a list, which loaders
// join by ", ".
func items(text string) []string {
	if !strings.Contains(text, ", ") {
		return []string{text}
	}
	out := []string{text}
	for item := range strings.SplitSeq(text, ", ") {
		if item = strings.TrimSpace(item); item != "" {
			out = append(out, item)
		}
	}
	return out
}

// Links returns the links between documents of root, ordered by From: those whose targets
// exist now. dangling counts the links that name a page by its path and find none. A root
// that was never indexed has no links.
func (db *DB) Links(ctx context.Context, root string) (links []search.Link, dangling int, err error) {
	all, err := db.readPages(ctx, root)
	if err != nil {
		return nil, 0, err
	}
	for _, p := range all.list {
		for _, l := range p.out {
			links = append(links, search.Link{From: p.source, To: all.list[l.page].source, Relation: l.relation})
		}
	}
	return links, all.dangling, nil
}

// connect adds the links of a page, each other end once for a relation.
func (p *pages) connect(from int, byRelation map[string][]string) {
	relations := slices.SortedFunc(maps.Keys(byRelation), func(a, b string) int { // links of the text come last
		switch state.LinksTo {
		case a:
			return 1
		case b:
			return -1
		}
		return strings.Compare(a, b)
	})
	for _, relation := range relations {
		seen := map[int]bool{from: true}
		for _, target := range byRelation[relation] {
			to, ok := p.names.resolve(p.list[from].source, target)
			if !ok && isPath(target) {
				p.dangling++
			}
			if !ok || seen[to] {
				continue
			}
			seen[to] = true
			p.list[from].out = append(p.list[from].out, pageLink{to, relation})
			p.list[to].in = append(p.list[to].in, pageLink{from, relation})
		}
	}
}

// degree counts the documents that a page is connected with.
func (p *page) degree() int {
	others := map[int]bool{}
	for _, l := range slices.Concat(p.out, p.in) {
		others[l.page] = true
	}
	return len(others)
}

// mostConnections is how many links of a page are followed.
const mostConnections = 50

// connection is one way from a page to another.
type connection struct {
	pageLink
	reverse bool // the link leads to this page
}

// connections returns the ways from a page, at most mostConnections: relations before
// links of the text, and the page's own before those of others.
func (p *page) connections() []connection {
	var out []connection
	for _, l := range p.out {
		out = append(out, connection{l, false})
	}
	for _, l := range p.in {
		out = append(out, connection{l, true})
	}
	return out[:min(len(out), mostConnections)]
}
