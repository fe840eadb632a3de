package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/ragflow/internal/text"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// Searcher searches collections as they were at one moment, as one index. They may be in
// several databases. It is safe for concurrent use, keeps no file open and needs no closing.
type Searcher struct {
	search.Languages

	ranking   search.Ranking
	analyzer  text.Analyzer
	snapshots []*snapshot // by root
	parts     []part      // of all snapshots, in their order
	all       totals
	scorer    scorer
}

// Searcher returns a searcher over the current content of roots, in any order. If a root was
// never indexed, the error matches [search.ErrNotIndexed].
func (db *DB) Searcher(ctx context.Context, roots ...string) (*Searcher, error) {
	roots = slices.Compact(slices.Sorted(slices.Values(roots)))
	if err := db.publishDue(ctx, roots); err != nil {
		return nil, err
	}
	snapshots, err := db.snapshots(ctx, roots)
	if err != nil {
		return nil, err
	}
	s := &Searcher{ranking: db.ranking, analyzer: db.analyzer}
	for _, v := range snapshots {
		s.add(v, v.parts)
	}
	return s.ready(), nil
}

// add adds a collection to a searcher that is being built; parts are those of the snapshot,
// perhaps narrowed by a filter.
func (s *Searcher) add(v *snapshot, parts []part) {
	for _, p := range parts {
		p.snapshot = len(s.snapshots)
		s.parts = append(s.parts, p)
	}
	s.snapshots = append(s.snapshots, v)
	s.all.add(v.all, 1)
}

// ready computes the statistics of all collections.
func (s *Searcher) ready() *Searcher {
	s.scorer = newScorer(s.ranking, s.all)
	s.Languages = search.NewLanguages(s.analyzer, s.all.Chunks, s.DocFreq)
	return s
}

// Unite implements [search.Uniter] for searchers of databases with the same analyzer and
// ranking. A collection that both have counts once.
func (s *Searcher) Unite(other search.Snapshot) (search.Snapshot, bool) {
	o, ok := other.(*Searcher)
	if !ok || o.ranking != s.ranking || o.analyzer.Name() != s.analyzer.Name() {
		return nil, false
	}
	type collection struct {
		*snapshot
		parts []part
	}
	var all []collection
	for _, one := range []*Searcher{s, o} {
		for i, v := range one.snapshots {
			same := func(c collection) bool { return c.db == v.db && c.root == v.root }
			if !slices.ContainsFunc(all, same) {
				all = append(all, collection{v, one.partsOf(i)})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b collection) int { return strings.Compare(a.root, b.root) })
	out := &Searcher{ranking: s.ranking, analyzer: s.analyzer}
	for _, c := range all {
		out.add(c.snapshot, c.parts)
	}
	return out.ready(), true
}

// partsOf returns the parts of a snapshot, by its number.
func (s *Searcher) partsOf(snapshot int) (out []part) {
	for _, p := range s.parts {
		if p.snapshot == snapshot {
			out = append(out, p)
		}
	}
	return out
}

// publishDue publishes segments that are due, for future processes. A search does not need it,
// so it does not wait for another publisher, and a failure is only logged.
func (db *DB) publishDue(ctx context.Context, roots []string) error {
	if db.ReadOnly() || !db.publishing.TryLock() {
		return nil
	}
	defer db.publishing.Unlock()
	for _, root := range roots {
		err := db.publish(ctx, root)
		if errors.Is(err, search.ErrNotIndexed) || context.Cause(ctx) != nil {
			return fmt.Errorf("search %q: %w", root, err)
		}
		if err != nil {
			db.log.WarnContext(ctx, "segment cannot be saved", "root", root, "error", err)
		}
	}
	return nil
}

// Docs returns the number of chunks, the N of idf.
func (s *Searcher) Docs() int { return s.all.Chunks }

// Files returns the number of documents that have chunks.
func (s *Searcher) Files() int { return s.all.Files }

// DocFreq returns the number of chunks with an analyzed term in text, heading path or title.
func (s *Searcher) DocFreq(term string) int {
	df := 0
	for i := range s.parts {
		df += s.parts[i].find(term).chunks
	}
	return df
}

// better orders candidates, best first.
func (s *Searcher) better(a, b candidate) int {
	if a.score != b.score {
		return cmp.Compare(b.score, a.score)
	}
	return s.compare(a, b)
}

// compare orders candidates of equal score: by root, source and position.
func (s *Searcher) compare(a, b candidate) int {
	if a.part == b.part {
		return cmp.Compare(a.chunk, b.chunk)
	}
	p, q := &s.parts[a.part], &s.parts[b.part]
	if p.snapshot != q.snapshot {
		return cmp.Compare(p.snapshot, q.snapshot)
	}
	return strings.Compare(p.source(a.chunk), q.source(b.chunk))
}

// Search returns the k best chunks for q, best first, all with a score above 0. The words of
// q.Text have the weight 1, those of boosts their weight; the greatest weight of a term counts.
// In a query of 64 words and more, each occurrence of a word counts. Boosts with a weight that
// is not positive and finite are ignored. [Searcher.Respelled] returns the terms that are
// added.
func (s *Searcher) Search(ctx context.Context, q state.Query, k int) (hits []state.Hit, err error) {
	if k = min(k, s.all.Chunks); k <= 0 {
		return nil, context.Cause(ctx)
	}
	found := newTop(k, s.better)
	if err := s.best(ctx, q, found); err != nil {
		return nil, err
	}
	return s.hits(found.ranked(), search.LegLexical), nil
}

// hits returns the hits of a leg.
func (s *Searcher) hits(found []candidate, leg string) []state.Hit {
	if len(found) == 0 {
		return nil
	}
	hits, legs := make([]state.Hit, len(found)), make([]state.Leg, len(found))
	for i, c := range found {
		hit, why := &hits[i], &legs[i]
		hit.Chunk = s.publicID(c)
		why.Name, why.Rank, why.Score = leg, i+1, c.score
		hit.Score, hit.Legs = c.score, legs[i:i+1:i+1]
	}
	return hits
}

// publicID returns the id of a chunk for callers. If a chunk of an earlier root has the same
// id, it ends in a mark of its root.
func (s *Searcher) publicID(c candidate) string {
	p := &s.parts[c.part]
	id := p.id(c.chunk)
	for i := 0; s.parts[i].snapshot != p.snapshot; i++ {
		if chunk, ok := s.parts[i].place(id); ok && s.parts[i].live(s.parts[i].fileOf(chunk)) {
			return id + "@" + search.RootMark(p.root)
		}
	}
	return id
}
