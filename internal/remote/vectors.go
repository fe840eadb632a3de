package remote

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

func encodeSpec(e search.VectorSpec) string {
	data, _ := json.Marshal(e) // texts and numbers have no error
	return string(data)
}

// embedderOf returns the embedder of a root.
func embedderOf(r *root) (e search.VectorSpec, found bool) {
	return e, json.Unmarshal([]byte(r.Embedder), &e) == nil
}

// Embedder implements search.Backend.
func (db *DB) Embedder(ctx context.Context, name string) (e search.VectorSpec, found bool, err error) {
	roots, err := db.roots(ctx)
	if r := roots[name]; r != nil {
		e, found = embedderOf(r)
	}
	return e, found, err
}

// Embed implements search.Backend. Each passage has its own vector, so a text that moves to
// another file is embedded again. A text that the model refuses is tried again cut shorter.
func (db *DB) Embed(ctx context.Context, e search.VectorSpec, names []string, o search.EmbedOptions) (*search.EmbedReport, error) {
	e, err := e.WithDefaults()
	if err != nil {
		return nil, err
	}
	r := &embedding{DB: db, names: names}
	r.EmbedRun = search.EmbedRun[Chunk]{EmbedOptions: o, Spec: e, Read: r.read, Save: r.save}
	err = r.run(ctx)
	r.Report.Embedder = r.Spec
	if err != nil {
		err = fmt.Errorf("embed with %s: %w", e.Model, err)
	}
	return &r.Report, err
}

// embedding is one run of Embed.
type embedding struct {
	search.EmbedRun[Chunk]
	*DB
	names []string
	s     *snapshot
}

func (r *embedding) run(ctx context.Context) error {
	roots, err := r.roots(ctx)
	if err != nil {
		return err
	}
	var mine []*root
	for _, name := range r.names {
		if roots[name] == nil {
			continue
		}
		stored, found := embedderOf(roots[name])
		switch {
		case found && r.Spec.Fits(stored):
			r.Spec.Dimension = stored.Dimension
		case found && !r.Switch:
			return &search.EmbedderError{Root: name, Stored: stored, Given: r.Spec}
		}
		mine = append(mine, roots[name])
	}
	made, err := r.store.Embedders(ctx)
	for _, known := range made {
		if r.Spec.Dimension == 0 && r.Spec.Fits(known) {
			r.Spec.Dimension = known.Dimension
		}
	}
	if err != nil || len(mine) == 0 {
		return err
	}
	r.s = newSnapshot(r.DB, mine)
	r.Report.Chunks = r.s.docs
	missing, err := r.missing(ctx)
	if err == nil {
		err = r.Run(ctx, missing)
	}
	if err != nil {
		return err
	}
	return r.adopt(ctx, r.Switch)
}

// missing returns the chunks without a vector, by their ids alone.
func (r *embedding) missing(ctx context.Context) (list []Chunk, err error) {
	had, roots := map[string]bool{}, r.s.rootIDs()
	n, err := r.store.CountVectors(ctx, r.Spec, roots)
	if err != nil || n == r.s.docs {
		return nil, err
	}
	if n > 0 {
		if err := r.store.EachVector(ctx, r.Spec, roots, func(id string) { had[id] = true }); err != nil {
			return nil, err
		}
	}
	order := map[string]string{}
	err = r.store.EachChunk(ctx, roots, 0, func(c Chunk) error {
		if h, ok := r.s.newHit(c); ok && !had[c.ID] {
			list, order[c.ID] = append(list, Chunk{ID: c.ID}), h.order
		}
		return nil
	})
	slices.SortFunc(list, func(a, b Chunk) int { return strings.Compare(order[a.ID], order[b.ID]) })
	return list, err
}

// read reads the texts to embed.
func (r *embedding) read(ctx context.Context, round []Chunk) (texts []string, list []Chunk, err error) {
	ids := make([]string, len(round))
	for i, c := range round {
		ids[i] = c.ID
	}
	with := WithText | WithData
	if r.s.RanksHybrid() {
		with |= WithTerms
	}
	list, err = r.store.Chunks(ctx, Filter{IDs: ids}, with)
	for _, c := range list {
		var d chunkData
		if err := json.Unmarshal(c.Data, &d); err != nil {
			return nil, nil, err
		}
		texts = append(texts, r.Spec.Passage(state.Chunk{Title: c.Title, Headings: d.Headings, Text: c.Text}))
	}
	return texts, list, err
}

// save writes vectors; the first ones make the embedder that of roots without one.
func (r *embedding) save(ctx context.Context, list []Chunk, vectors [][]float32) error {
	if err := r.store.PutVectors(ctx, r.Spec, list, vectors); err != nil || r.Report.Embedded > 0 {
		return err
	}
	return r.adopt(ctx, false)
}

// adopt makes the embedder that of roots without one, or of all.
func (r *embedding) adopt(ctx context.Context, all bool) error {
	for _, own := range r.s.roots {
		if r.Spec.Dimension == 0 || own.Embedder == encodeSpec(r.Spec) || own.Embedder != "" && !all {
			continue
		}
		if err := r.change(ctx, "set the embedder of", own.Name, false, func(_ context.Context, _ int64, changed *root, _ map[string]int) error {
			changed.Embedder = encodeSpec(r.Spec)
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

// PruneVectors implements search.Backend.
func (db *DB) PruneVectors(ctx context.Context) (pruned int, err error) {
	roots, err := db.roots(ctx)
	if err != nil {
		return 0, err
	}
	made, err := db.store.Embedders(ctx)
	for _, e := range made {
		used, others := false, []string{}
		for name, r := range roots {
			if stored, found := embedderOf(r); found && stored == e {
				used = true
			} else {
				others = append(others, ID(name))
			}
		}
		if err == nil {
			var n int
			n, err = db.store.DeleteVectors(ctx, e, others, !used)
			pruned += n
		}
	}
	return pruned, err
}

// vectors implements search.Vectors.
type vectors struct {
	s     *snapshot
	spec  search.VectorSpec
	found int
}

func (s *snapshot) CheckEmbedder(_ context.Context, e search.VectorSpec) error {
	_, _, err := s.embedder(e)
	return err
}

// embedder returns the embedder with its dimension, and the roots with vectors of it.
func (s *snapshot) embedder(e search.VectorSpec) (search.VectorSpec, []string, error) {
	e, err := e.WithDefaults()
	var with []string
	for _, r := range s.roots {
		stored, found := embedderOf(r)
		switch {
		case !found || err != nil:
			continue
		case !e.Fits(stored):
			return e, nil, &search.EmbedderError{Root: r.Name, Stored: stored, Given: e}
		}
		e.Dimension = stored.Dimension
		with = append(with, ID(r.Name))
	}
	return e, with, err
}

func (s *snapshot) Vectors(ctx context.Context, e search.VectorSpec) (search.Vectors, error) {
	e, with, err := s.embedder(e)
	v := &vectors{s: s, spec: e}
	if err == nil && len(with) > 0 {
		v.found, err = s.db.store.CountVectors(ctx, e, with)
		v.found = min(v.found, s.docs)
	}
	if err != nil {
		return nil, fmt.Errorf("vectors: %w", err)
	}
	return v, nil
}

func (v *vectors) Of(s search.Snapshot) search.Vectors {
	narrowed := *v
	if s, ok := s.(*snapshot); ok {
		narrowed.s = s
	}
	return &narrowed
}

func (v *vectors) Len() int { return v.found }

func (v *vectors) Missing() int { return v.s.docs - v.found }

// Search finds nearly all of the nearest vectors, by the server's neighbour graph.
func (v *vectors) Search(ctx context.Context, query []float32, k int, least float64) ([]state.Hit, error) {
	k = min(k, v.found)
	if k <= 0 || v.s.only != nil && len(v.s.only) == 0 {
		return nil, context.Cause(ctx)
	}
	unit, err := v.spec.Unit(query)
	if err != nil {
		return nil, err
	}
	found, err := v.s.enough(k, func(n int) ([]Chunk, error) { return v.s.db.store.Near(ctx, v.spec, v.s.filter(), unit, n) })
	if err != nil {
		return nil, fmt.Errorf("search by vectors: %w", err)
	}
	found = slices.DeleteFunc(found, func(h hit) bool { return h.score < least })
	return asHits(found, search.LegDense), nil
}

func (s *snapshot) RanksHybrid() bool {
	h, ok := s.db.store.(HybridStore)
	return ok && h.RanksHybrid()
}

func (v *vectors) SearchHybrid(ctx context.Context, q state.Query, query []float32, k int) ([]state.Hit, error) {
	_, weights := v.s.Weigh(q)
	hybrid, ok := v.s.db.store.(HybridStore)
	if k = min(k, v.found); !ok || k <= 0 || v.s.only != nil && len(v.s.only) == 0 {
		return nil, context.Cause(ctx)
	}
	unit, err := v.spec.Unit(query)
	if err != nil {
		return nil, err
	}
	w := v.s.search(weights)
	found, err := v.s.enough(k, func(n int) ([]Chunk, error) {
		w.Limit = n
		return hybrid.Hybrid(ctx, v.spec, w, unit)
	})
	if err != nil {
		return nil, fmt.Errorf("search by words and vectors: %w", err)
	}
	return asHits(found, search.LegHybrid), nil
}
