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
	"example.com/ragflow/state"
)

// page is a document with its names and its relations to other documents. Pages are read when a
// snapshot first needs them for a filter, for names or for relations.
type page struct {
	id                 int64
	source, title, url string
	meta               map[string]string   // by key in lower case; with title, url and extension
	says               map[string][]string // of other documents: how it calls them, by relation

	part, file int // where it lies in the snapshot; part -1: it changed or went since

	out    []relation // to other documents
	degree int        // how many documents it is connected with
}

// relation leads to another page.
type relation struct {
	page int
	kind string
}

// readPages reads the documents of root, ordered by source, and resolves their relations.
func (db *DB) readPages(ctx context.Context, root string) ([]page, error) {
	list := []page{}
	err := db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		list = list[:0]
		return each(tx, func(r row) error {
			p := page{part: -1}
			var meta []byte
			if err := r.Scan(&p.id, &p.source, &p.title, &p.url, &meta); err != nil {
				return err
			}
			var said state.Metadata
			if err := json.Unmarshal(meta, &said); err != nil {
				return fmt.Errorf("metadata of %q: %w", p.source, err)
			}
			p.describe(said.Strings())
			p.says = relations(said)
			list = append(list, p)
			return nil
		}, `SELECT f.id, f.source, f.title, f.url, f.meta FROM collections c JOIN files f ON f.collection = c.id WHERE c.root = ? ORDER BY f.source`, root)
	})
	if err != nil {
		return nil, fmt.Errorf("documents of %q: %w", root, err)
	}
	connect(list)
	return list, nil
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

// readPages returns the documents of a snapshot. They are read now; what changed since the
// snapshot was made has no place in it.
func (v *snapshot) readPages(ctx context.Context) ([]page, error) {
	v.reading.Lock()
	defer v.reading.Unlock()
	if v.pages != nil {
		return v.pages, nil
	}
	out, err := v.db.readPages(ctx, v.root)
	if err != nil {
		return nil, err
	}
	byID := make(map[int64]int, len(out))
	for i := range out {
		byID[out[i].id] = i
	}
	for i := range v.parts {
		p := &v.parts[i]
		for n, f := range p.Files {
			if at, ok := byID[f.ID]; ok && p.live(n) && out[at].source == f.Source {
				out[at].part, out[at].file = i, n
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

// relations returns how a document calls those that its metadata relate it to: by keys
// that name a relation, and in the mapping "relations", where another key means RELATED_TO.
func relations(said state.Metadata) map[string][]string {
	out := map[string][]string{}
	add := func(kind string, names any) {
		list, ok := names.([]any)
		if !ok {
			list = []any{names}
		}
		for _, name := range list {
			if name := fmt.Sprint(name); name != "" {
				out[kind] = append(out[kind], name)
			}
		}
	}
	for _, key := range slices.Sorted(maps.Keys(said)) {
		if kind, ok := state.ParseRelation(key); ok {
			add(kind, said[key])
		}
	}
	mapping, _ := said["relations"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(mapping)) {
		kind, _ := state.ParseRelation(key)
		add(kind, mapping[key])
	}
	return out
}

// maxConnections is how many relations of a page are followed.
const maxConnections = 50

// connect resolves what pages say of others. A page is called by its path, seen from the
// other page or, with a slash, from the root, by its id, or by its title. A name of several
// pages means none.
func connect(list []page) {
	byName := map[string]int{} // -1: several pages
	for i := range list {
		p := &list[i]
		for _, name := range []string{
			"/" + strings.ToLower(p.source), "/" + pagePath(p.source),
			foldName(p.meta["document_id"]), foldName(p.meta["pattern_id"]), foldName(p.meta["id"]), foldName(p.title),
		} {
			if other, taken := byName[name]; !taken {
				byName[name] = i
			} else if other != i {
				byName[name] = -1
			}
		}
	}
	delete(byName, "")
	connected := map[[2]int]bool{}
	for i := range list {
		p := &list[i]
		kinds := append([]string{state.DependsOn}, slices.Sorted(maps.Keys(p.says))...) // a chain is found before another way
		for _, kind := range kinds {
			for _, name := range p.says[kind] {
				at := path.Join(path.Dir("/"+p.source), name)
				if strings.HasPrefix(name, "/") {
					at = name
				}
				to := -1
				for _, called := range []string{strings.ToLower(at), "/" + pagePath(at), foldName(name)} {
					if found, ok := byName[called]; ok && to < 0 {
						to = found
					}
				}
				if r := (relation{to, kind}); to >= 0 && to != i && len(p.out) < maxConnections && !slices.Contains(p.out, r) {
					p.out = append(p.out, r)
					connected[[2]int{min(i, to), max(i, to)}] = true
				}
			}
		}
	}
	for pair := range connected {
		list[pair[0]].degree++
		list[pair[1]].degree++
	}
}

// pagePath brings the path of a page to the one that others may use: without its extension,
// of a folder without the name of its index, in lower case.
func pagePath(p string) string {
	p = strings.ToLower(strings.Trim(path.Clean("/"+p), "/"))
	switch ext := path.Ext(p); ext {
	case ".md", ".markdown", ".html", ".htm", ".rst", ".txt", ".adoc":
		p = strings.TrimSuffix(p, ext)
	}
	if dir, last := path.Split(p); last == "index" || last == "_index" || last == "readme" {
		return strings.TrimSuffix(dir, "/")
	}
	return p
}

func foldName(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }
