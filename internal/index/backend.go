package index

import (
	"context"

	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// DB and Searcher are what package search works with.
var (
	_ search.Backend  = (*DB)(nil)
	_ search.Snapshot = (*Searcher)(nil)
	_ search.Vectors  = (*Vectors)(nil)
	_ search.Uniter   = (*Searcher)(nil)
)

// Snapshot implements search.Backend; see [DB.Searcher].
func (db *DB) Snapshot(ctx context.Context, roots ...string) (search.Snapshot, error) {
	s, err := db.Searcher(ctx, roots...)
	if err != nil {
		return nil, err
	}
	return s, nil
}

// SearchWords implements search.Snapshot; see [Searcher.Search].
func (s *Searcher) SearchWords(ctx context.Context, q state.Query, k int) ([]state.Hit, error) {
	return s.Search(ctx, q, k)
}

// Snippets implements search.Snapshot: the rarest words of the query weigh most.
func (s *Searcher) Snippets(q state.Query) func(passage string) search.Snippet {
	weights := map[string]float64{}
	for _, t := range s.queryTerms(q) {
		weights[t.name] = t.weight * idf(s.all.Chunks, t.chunkDF)
	}
	return search.NewSnippets(s.Analyzer(), weights)
}
