package remote

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"golang.org/x/sync/errgroup"

	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

func encodeSpec(e search.VectorSpec) string {
	data, _ := json.Marshal(e) // texts and numbers have no error
	return string(data)
}

// embedderOf returns what made the vectors of a root.
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

// Embed implements search.Backend. A passage has a vector of its own, so a text that moves to
// another file is embedded again. A text that the model refuses is tried again cut shorter.
func (db *DB) Embed(ctx context.Context, e search.VectorSpec, names []string, o search.EmbedOptions) (*search.EmbedReport, error) {
	report := &search.EmbedReport{}
	e, err := e.WithDefaults()
	if err != nil {
		return nil, err
	}
	if o.Batch <= 0 {
		o.Batch = 16
	}
	if o.Workers <= 0 {
		o.Workers = 4
	}
	r := &embedding{DB: db, EmbedOptions: o, names: names, spec: e, report: report}
	err = r.run(ctx)
	report.Embedder = r.spec
	if err != nil {
		err = fmt.Errorf("embed with %s: %w", e.Model, err)
	}
	return report, err
}

// embedding is one run of Embed.
type embedding struct {
	*DB
	search.EmbedOptions
	names  []string
	spec   search.VectorSpec // its dimension is 0 until the first vector comes
	report *search.EmbedReport
	s      *snapshot
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
		case found && r.spec.Fits(stored):
			r.spec.Dimension = stored.Dimension
		case found && !r.Switch:
			return &search.EmbedderError{Root: name, Stored: stored, Given: r.spec}
		}
		mine = append(mine, roots[name])
	}
	made, err := r.store.Embedders(ctx)
	for _, known := range made {
		if r.spec.Dimension == 0 && r.spec.Fits(known) {
			r.spec.Dimension = known.Dimension
		}
	}
	if err != nil || len(mine) == 0 {
		return err
	}
	r.s = newSnapshot(r.DB, mine)
	r.report.Chunks = r.s.docs
	missing, err := r.missing(ctx)
	if err != nil {
		return err
	}
	for round := range slices.Chunk(missing, r.Batch*r.Workers) {
		if err := r.round(ctx, round); err != nil {
			return err
		}
		if r.Progress != nil {
			r.Progress(r.report.Embedded+r.report.Refused, len(missing))
		}
	}
	return r.adopt(ctx, r.Switch)
}

// missing lists the ids of chunks without a vector. They are listed only where numbers differ.
func (r *embedding) missing(ctx context.Context) (list []string, err error) {
	had, roots := map[string]bool{}, r.s.rootIDs()
	n, err := r.store.CountVectors(ctx, r.spec, roots)
	if err != nil || n == r.s.docs {
		return nil, err
	}
	if n > 0 {
		if err := r.store.EachVector(ctx, r.spec, roots, func(id string) { had[id] = true }); err != nil {
			return nil, err
		}
	}
	order := map[string]string{}
	err = r.store.EachChunk(ctx, roots, 0, func(c Chunk) error {
		if h, ok := r.s.newHit(c); ok && !had[c.ID] {
			list, order[c.ID] = append(list, c.ID), h.order
		}
		return nil
	})
	slices.SortFunc(list, func(a, b string) int { return strings.Compare(order[a], order[b]) })
	return list, err
}

// round embeds as many batches as there are workers, and saves what succeeds.
func (r *embedding) round(ctx context.Context, ids []string) error {
	list, err := r.store.Chunks(ctx, Filter{IDs: ids}, WithText|WithData)
	if err != nil {
		return err
	}
	vectors := make([][]float32, len(list)) // nil: it was not made
	refused := make([]error, (len(list)+r.Batch-1)/r.Batch)
	var workers errgroup.Group
	for i := range refused {
		workers.Go(func() (err error) {
			from := i * r.Batch
			some := list[from:min(from+r.Batch, len(list))]
			texts := make([]string, len(some))
			for i, c := range some {
				var d chunkData
				if err := json.Unmarshal(c.Data, &d); err != nil {
					return err
				}
				texts[i] = r.spec.Passage(state.Chunk{Title: c.Title, Headings: d.Headings, Text: c.Text})
			}
			out, refusal, err := r.Vectors(ctx, r.spec, texts)
			copy(vectors[from:], out)
			for _, v := range out {
				if v == nil {
					refused[i] = refusal
				}
			}
			return err
		})
	}
	failed := workers.Wait()
	if err := r.save(context.WithoutCancel(ctx), list, vectors); err != nil {
		return err
	}
	if refusal := cmp.Or(refused...); failed == nil && refusal != nil {
		for _, v := range vectors {
			if v == nil {
				r.report.Refused++
			}
		}
		if r.report.Embedded == 0 && r.report.Refused == len(list) {
			failed = refusal // it would refuse all others too
		}
	}
	return errors.Join(failed, context.Cause(ctx))
}

// save writes the vectors that were made.
func (r *embedding) save(ctx context.Context, list []Chunk, vectors [][]float32) error {
	var made []Chunk
	var units [][]float32
	for i, v := range vectors {
		if v == nil {
			continue
		}
		unit, err := r.spec.Unit(v)
		if err != nil {
			return err
		}
		made, units = append(made, list[i]), append(units, unit)
	}
	if len(made) == 0 {
		return nil
	}
	if err := r.store.PutVectors(ctx, r.spec, made, units); err != nil {
		return err
	}
	first := r.report.Embedded == 0
	r.report.Embedded += len(made)
	if first {
		return r.adopt(ctx, false)
	}
	return nil
}

// adopt makes the embedder that of roots without one, or of all.
func (r *embedding) adopt(ctx context.Context, all bool) error {
	for _, own := range r.s.roots {
		if r.spec.Dimension == 0 || own.Embedder == encodeSpec(r.spec) || own.Embedder != "" && !all {
			continue
		}
		if err := r.change(ctx, "set the embedder of", own.Name, false, func(_ context.Context, _ int64, changed *root, _ map[string]int) error {
			changed.Embedder = encodeSpec(r.spec)
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

// CheckEmbedder implements search.Snapshot.
func (s *snapshot) CheckEmbedder(_ context.Context, e search.VectorSpec) error {
	_, _, err := s.embedder(e)
	return err
}

// embedder returns the embedder with its dimension, and the roots that have vectors of it.
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

// Vectors implements search.Snapshot.
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

// Of implements search.Vectors.
func (v *vectors) Of(s search.Snapshot) search.Vectors {
	narrowed := *v
	if s, ok := s.(*snapshot); ok {
		narrowed.s = s
	}
	return &narrowed
}

// Len implements search.Vectors.
func (v *vectors) Len() int { return v.found }

// Missing implements search.Vectors.
func (v *vectors) Missing() int { return v.s.docs - v.found }

// Search implements search.Vectors. The server's graph of neighbours finds nearly all of the
// nearest.
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
