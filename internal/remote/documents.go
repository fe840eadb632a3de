package remote

import (
	"context"
	"maps"
	"slices"

	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

func (s *snapshot) Documents(context.Context) ([]*search.Document, error) {
	return s.documents(), nil
}

func listDocuments(roots []*root) (out []*search.Document) {
	for _, r := range roots {
		for _, source := range slices.Sorted(maps.Keys(r.files)) {
			f := r.files[source]
			out = append(out, search.NewDocument(r.Name, source, f.Title, f.URL, f.Chunks > 0 && f.version > 0, f.metadata()))
		}
	}
	return out
}

// metadata returns the metadata of a file with typed values, if it has such.
func (f file) metadata() state.Metadata {
	if f.Metadata != nil || f.Meta == nil {
		return f.Metadata
	}
	out := state.Metadata{}
	for key, value := range f.Meta {
		out[key] = value
	}
	return out
}

// Narrow implements search.Snapshot. The server is asked for chunks of the files that pass, by
// their ids.
func (s *snapshot) Narrow(_ context.Context, pass func(*search.Document) bool) (search.Snapshot, error) {
	only := map[string]bool{}
	for _, d := range s.documents() {
		if id := ID(d.Root, d.Source); d.Indexed && (s.only == nil || s.only[id]) && pass(d) {
			only[id] = true
		}
	}
	return s.within(only), nil
}

// within returns a snapshot that finds only some files.
func (s *snapshot) within(only map[string]bool) *snapshot {
	out := *s
	out.only = only
	return &out
}

func (s *snapshot) BestChunks(ctx context.Context, q state.Query, docs []*search.Document) ([]state.Hit, error) {
	out, only := make([]state.Hit, len(docs)), map[string]bool{}
	for _, d := range docs {
		if id := ID(d.Root, d.Source); s.only == nil || s.only[id] {
			only[id] = true
		}
	}
	if len(only) == 0 {
		return out, context.Cause(ctx)
	}
	some := s.within(only)
	hits, err := some.words(ctx, q, max(200, 8*len(docs)))
	if err != nil {
		return nil, err
	}
	firsts := some.filter()
	firsts.First = true
	list, err := s.db.store.Chunks(ctx, firsts, 0)
	for _, c := range list {
		if h, ok := some.newHit(c); ok {
			hits = append(hits, h)
		}
	}
	best := map[string]state.Hit{}
	for _, h := range hits {
		if _, ok := best[h.file]; !ok {
			best[h.file] = state.Hit{Chunk: h.chunk, Score: h.score}
		}
	}
	for i, d := range docs {
		out[i] = best[ID(d.Root, d.Source)]
	}
	return out, err
}
