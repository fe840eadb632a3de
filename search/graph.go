package search

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"math"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/hbollon/go-edlib"

	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// Limits of the graph leg.
const (
	maxNamed     = 50  // documents that a search by name finds
	minName      = 5   // bytes of a name that is looked for in a query
	maxExpanded  = 5   // best hits whose relations are followed
	maxRelated   = 10  // documents that a document is only related to (RELATED_TO)
	maxRelations = 50  // relations of a document
	linkDamping  = 0.5 // factor on a score for each relation
)

// documentGraph holds the documents of a snapshot and their relations. It is read when a
// search first needs it, and shared by all engines of the snapshot.
type documentGraph struct {
	mu     sync.Mutex  // held while the documents are read
	docs   []*Document // nil: not read yet
	nodes  []node      // by document
	names  []text.FileName
	placed map[[2]string]int
}

// node is a document in the graph.
type node struct {
	out    []relation // to other documents
	degree int        // documents that it is connected with
}

// relation leads to another document.
type relation struct {
	to   int
	kind string
}

// read reads the documents, and resolves their relations, which stay within a root.
func (g *documentGraph) read(ctx context.Context, s Snapshot) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.docs != nil {
		return nil
	}
	docs, err := s.Documents(ctx)
	if err != nil || len(docs) == 0 {
		return err
	}
	g.nodes, g.placed = make([]node, len(docs)), make(map[[2]string]int, len(docs))
	g.names = make([]text.FileName, len(docs))
	for i, d := range docs {
		g.names[i] = text.NewFileName(d.Source)
	}
	for first := 0; first < len(docs); {
		end := first
		for ; end < len(docs) && docs[end].Root == docs[first].Root; end++ {
			g.placed[[2]string{docs[end].Root, docs[end].Source}] = end
		}
		connect(docs[first:end], g.nodes[first:end], first)
		first = end
	}
	g.docs = docs
	return nil
}

// namedRelations returns the names of the documents that metadata relate a document to: by
// keys that name a relation, and in the mapping "relations", whose other keys mean RELATED_TO.
func namedRelations(m state.Metadata) map[string][]string {
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
	for _, key := range slices.Sorted(maps.Keys(m)) {
		if kind, ok := state.ParseRelation(key); ok {
			add(kind, m[key])
		}
	}
	mapping, _ := m["relations"].(map[string]any)
	for _, key := range slices.Sorted(maps.Keys(mapping)) {
		kind, _ := state.ParseRelation(key)
		add(kind, mapping[key])
	}
	return out
}

// connect resolves the relations of the documents of a root; the first has number
// first. The name of a document is its path, relative to the other document or, with a slash,
// to the root, its id, or its title. A name of several documents means none.
func connect(docs []*Document, nodes []node, first int) {
	byName := map[string]int{} // -1: several documents
	for i, d := range docs {
		for _, name := range []string{
			"/" + strings.ToLower(d.Source), "/" + pagePath(d.Source),
			foldName(d.values["document_id"]), foldName(d.values["pattern_id"]), foldName(d.values["id"]), foldName(d.Title),
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
	for i, d := range docs {
		kinds := append([]string{state.DependsOn}, slices.Sorted(maps.Keys(d.relations))...) // a chain is found before another way
		for _, kind := range kinds {
			for _, name := range d.relations[kind] {
				at := path.Join(path.Dir("/"+d.Source), name)
				if strings.HasPrefix(name, "/") {
					at = name
				}
				to := -1
				for _, form := range []string{strings.ToLower(at), "/" + pagePath(at), foldName(name)} {
					if found, ok := byName[form]; ok && to < 0 {
						to = found
					}
				}
				if r := (relation{first + to, kind}); to >= 0 && to != i && len(nodes[i].out) < maxRelations && !slices.Contains(nodes[i].out, r) {
					nodes[i].out = append(nodes[i].out, r)
					connected[[2]int{min(i, to), max(i, to)}] = true
				}
			}
		}
	}
	for pair := range connected {
		nodes[pair[0]].degree++
		nodes[pair[1]].degree++
	}
}

// pagePath returns the path by which other documents may name one: in lower case, without its
// extension, and without the name of the index of a folder.
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

// related is a document that a search by name or a relation found.
type related struct {
	doc   int
	score float64

	parent state.Hit // whose relations led to it
	state.Trail

	shown state.Hit // its best chunk for the query, with the score by words
}

// searchNames returns up to k documents whose name, title, tags or description contain the
// query, or whose name or title the query contains. The score is the similarity of query and
// name or title by Jaro and Winkler, within 0 and 1; of equal scores, documents that are
// connected with more others come first.
func (e *Engine) searchNames(ctx context.Context, q state.Query, k int) ([]state.Hit, error) {
	query := foldName(q.Text)
	if query == "" {
		return nil, context.Cause(ctx)
	}
	if err := e.graph.read(ctx, e.Snapshot); err != nil {
		return nil, err
	}
	var found []*related
	for i, d := range e.graph.docs {
		if likeness := d.likeness(query); likeness > 0 && d.Indexed && (e.passes == nil || e.passes(d)) {
			found = append(found, &related{doc: i, score: likeness})
		}
	}
	degree := func(r *related) int { return e.graph.nodes[r.doc].degree }
	slices.SortFunc(found, func(a, b *related) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(degree(b), degree(a)), cmp.Compare(a.doc, b.doc))
	})
	found = found[:max(0, min(len(found), k, maxNamed))]
	if len(found) == 0 {
		return nil, context.Cause(ctx)
	}
	if err := e.show(ctx, q, found); err != nil {
		return nil, err
	}
	var hits []state.Hit
	for _, r := range found {
		if r.shown.Chunk != "" {
			hits = append(hits, state.Hit{Chunk: r.shown.Chunk, Score: r.score, Legs: []state.Leg{{Name: LegGraph, Rank: len(hits) + 1, Score: r.score}}})
		}
	}
	return hits, nil
}

// likeness returns the similarity of a folded query and the name or title of a document, in
// (0, 1]; 0 if neither contains the other, nor tags or description contain the query.
func (d *Document) likeness(query string) float64 {
	file := strings.NewReplacer("-", " ", "_", " ").Replace(path.Base(pagePath(d.Source)))
	names := []string{foldName(d.Title), foldName(file)}
	asked := " " + strings.TrimRight(query, ".?!,;: ") + " "
	contains := func(text string) bool { return strings.Contains(text, query) }
	if !slices.ContainsFunc(names, func(name string) bool {
		return contains(name) || len(name) >= minName && strings.Contains(asked, " "+name+" ")
	}) && !slices.ContainsFunc([]string{"tags", "keywords", "description"}, func(key string) bool { return contains(foldName(d.values[key])) }) {
		return 0
	}
	return float64(max(edlib.JaroWinklerSimilarity(query, names[0]), edlib.JaroWinklerSimilarity(query, names[1])))
}

// expand adds to hits up to limit documents that those of the five best hits relate to. A
// document scores as the hit that led to it, times linkDamping for each relation; of equal
// scores, the best by words come first, and given hits before them. A hit with a score of 0 or
// less leads nowhere. Relations are followed through documents that a filter leaves out.
func (e *Engine) expand(ctx context.Context, q state.Query, hits []state.Hit, hops, limit int) ([]state.Hit, error) {
	if err := e.graph.read(ctx, e.Snapshot); err != nil {
		return nil, err
	}
	chunks, err := e.chunksOf(ctx, hits)
	if err != nil {
		return nil, err
	}
	known := map[int]bool{}
	var starts []*related
	for i, h := range hits {
		c := chunks[h.Chunk]
		if c == nil || len(h.Legs) == 0 {
			continue
		}
		doc, ok := e.graph.placed[[2]string{c.Root, c.Source}]
		if ok && i < maxExpanded && h.Score > 0 && !known[doc] {
			starts = append(starts, &related{doc: doc, score: h.Score, parent: h})
		}
		known[doc] = known[doc] || ok
	}
	found := e.graph.follow(starts, known, hops)
	if len(found) == 0 {
		return hits, nil
	}
	if err := e.show(ctx, q, found); err != nil {
		return nil, err
	}
	out := slices.Clone(hits)
	for _, r := range e.graph.choose(found, limit) {
		share := 0.0 // of the query's weight, that the legs of the parent have
		for _, l := range r.parent.Legs {
			share = min(1, share+l.Share)
		}
		out = append(out, state.Hit{Chunk: r.shown.Chunk, Score: r.score, Legs: []state.Leg{{
			Name: LegGraph, Query: r.parent.Legs[0].Query, Rank: 1 + len(out) - len(hits), Score: r.score,
			Share: cmp.Or(share, 1) * math.Pow(linkDamping, float64(r.Hops)), Trail: &r.Trail,
		}}})
	}
	slices.SortStableFunc(out, func(a, b state.Hit) int { return cmp.Compare(b.Score, a.Score) })
	return out, nil
}

// follow follows the relations of documents, breadth first from each, to documents that are
// not known yet. A document that several ways lead to has the best score of them. DEPENDS_ON
// is followed over MaxHops, because what a dependency depends on is a dependency too.
func (g *documentGraph) follow(starts []*related, known map[int]bool, hops int) (order []*related) {
	best := map[int]*related{}
	for _, start := range starts {
		seen := map[int]bool{start.doc: true}
		frontier := []*related{start}
		for hop := 1; hop <= MaxHops; hop++ {
			var next []*related
			for _, from := range frontier {
				for _, to := range g.nodes[from.doc].out {
					chained := to.kind == state.DependsOn && (hop == 1 || from.Relation == state.DependsOn)
					if seen[to.to] || hop > hops && !chained {
						continue
					}
					seen[to.to] = true
					r := &related{
						doc: to.to, score: from.score * linkDamping, parent: start.parent,
						Trail: state.Trail{Via: g.docs[from.doc].Source, Relation: to.kind, Hops: hop},
					}
					next = append(next, r)
					if b := best[r.doc]; b != nil && b.score < r.score {
						*b = *r
					} else if b == nil && !known[r.doc] {
						best[r.doc], order = r, append(order, r)
					}
				}
			}
			frontier = next
		}
	}
	return order
}

// show sets the chunk to show for each document; a document that may not be found gets none.
func (e *Engine) show(ctx context.Context, q state.Query, found []*related) error {
	docs := make([]*Document, len(found))
	for i, r := range found {
		docs[i] = e.graph.docs[r.doc]
	}
	best, err := e.BestChunks(ctx, q, docs)
	for i, h := range best {
		found[i].shown = h
	}
	return err
}

// choose returns up to limit of the documents that may be found, best first, and no more than
// maxRelated that one document is only related to.
func (g *documentGraph) choose(found []*related, limit int) []*related {
	found = slices.DeleteFunc(found, func(r *related) bool { return r.shown.Chunk == "" })
	slices.SortFunc(found, func(a, b *related) int {
		return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(b.shown.Score, a.shown.Score), cmp.Compare(a.doc, b.doc))
	})
	type source struct{ root, via string }
	count := map[source]int{}
	found = slices.DeleteFunc(found, func(r *related) bool {
		if r.Relation != state.RelatedTo {
			return false
		}
		from := source{g.docs[r.doc].Root, r.Via}
		count[from]++
		return count[from] > maxRelated
	})
	return found[:min(len(found), limit)]
}
