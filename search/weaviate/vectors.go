package weaviate

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/weaviate/weaviate/entities/models"
	"golang.org/x/sync/errgroup"

	"example.com/ragflow/search"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// vectorClass is the class of the vectors of an embedder, whose dimension is known.
func vectorClass(e search.VectorSpec) string {
	return "Vectors" + textHash(encodeSpec(e))[:12]
}

func encodeSpec(e search.VectorSpec) string {
	data, _ := json.Marshal(e) // texts and numbers have no error
	return string(data)
}

// vectorClasses returns the embedders that have made vectors, by class.
func (db *DB) vectorClasses(ctx context.Context) (map[string]search.VectorSpec, error) {
	schema, err := db.client.Schema().Getter().Do(ctx)
	if err != nil {
		return nil, db.explain(ctx, err)
	}
	out := map[string]search.VectorSpec{}
	for _, c := range schema.Classes {
		if name, ok := strings.CutPrefix(c.Class, db.prefix+"Vectors"); ok {
			var e search.VectorSpec
			if err := json.Unmarshal([]byte(c.Description), &e); err == nil && vectorClass(e) == "Vectors"+name {
				out["Vectors"+name] = e
			}
		}
	}
	return out, nil
}

// embedderOf returns what made the vectors of a root.
func embedderOf(r *root) (e search.VectorSpec, found bool) {
	return e, json.Unmarshal([]byte(r.embedder), &e) == nil
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
	classes, err := r.vectorClasses(ctx)
	for _, known := range classes {
		if r.spec.Dimension == 0 && r.spec.Fits(known) {
			r.spec.Dimension = known.Dimension
		}
	}
	if err != nil || len(mine) == 0 {
		return err
	}
	r.s = newSnapshot(r.DB, mine)
	r.report.Chunks = r.s.docs
	missing, err := r.missing(ctx, classes)
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

// missing lists the objects of chunks without a vector. They are listed only where numbers
// differ.
func (r *embedding) missing(ctx context.Context, classes map[string]search.VectorSpec) (list []string, err error) {
	class, had := vectorClass(r.spec), map[string]bool{}
	if _, ok := classes[class]; ok {
		n, err := r.counts(ctx, class, is("root", r.s.rootIDs()...))
		if err != nil || n[0] == r.s.docs {
			return nil, err
		}
		if err := r.all(ctx, class, "", func(o object) error { had[o.id()] = true; return nil }); err != nil {
			return nil, err
		}
	}
	type chunk struct {
		id string
		hit
	}
	var chunks []chunk
	err = r.all(ctx, "Chunk", hitFields, func(o object) error {
		if h, ok := r.s.newHit(o, 0); ok && !had[o.id()] {
			chunks = append(chunks, chunk{o.id(), h})
		}
		return nil
	})
	slices.SortFunc(chunks, func(a, b chunk) int { return strings.Compare(a.order, b.order) })
	for _, c := range chunks {
		list = append(list, c.id)
	}
	return list, err
}

// round embeds as many batches as there are workers, and saves what succeeds.
func (r *embedding) round(ctx context.Context, ids []string) error {
	list, err := r.get(ctx, "Chunk", is("id", ids...), hitFields+"root title text data _additional{id}")
	if err != nil {
		return err
	}
	vectors := make([][]float32, len(list))
	var workers errgroup.Group
	for from := 0; from < len(list); from += r.Batch {
		workers.Go(func() error {
			some := list[from:min(from+r.Batch, len(list))]
			texts := make([]string, len(some))
			for i, o := range some {
				var d chunkData
				if err := json.Unmarshal([]byte(o.text("data")), &d); err != nil {
					return err
				}
				texts[i] = r.spec.Passage(state.Chunk{Title: o.text("title"), Headings: d.Headings, Text: o.text("text")})
			}
			out, err := r.embed(ctx, texts)
			copy(vectors[from:], out)
			return err
		})
	}
	failed := workers.Wait()
	if err := r.save(context.WithoutCancel(ctx), list, vectors); err != nil {
		return err
	}
	if failed == nil && r.report.Embedded == 0 && r.report.Refused == len(list) {
		failed = fmt.Errorf("%w: it refuses every one", search.ErrTextRefused)
	}
	return errors.Join(failed, context.Cause(ctx))
}

// shortestPassage is the fewest tokens that a refused text is cut to.
const shortestPassage = 16

// embed makes the vectors of texts. Where they are refused each is tried alone, and then cut
// shorter; the vector of a text that is refused even so is empty.
func (r *embedding) embed(ctx context.Context, texts []string) ([][]float32, error) {
	out, err := r.EmbedOptions.Embed(ctx, texts)
	switch {
	case err == nil && len(out) != len(texts):
		return nil, fmt.Errorf("%d vectors came for %d texts", len(out), len(texts))
	case !errors.Is(err, search.ErrTextRefused) || ctx.Err() != nil:
		return out, err
	case len(texts) == 1:
		whole := strings.TrimPrefix(texts[0], r.spec.Prefix)
		n := text.Count(whole) / 2
		if n < shortestPassage {
			return [][]float32{{}}, nil
		}
		return r.embed(ctx, []string{r.spec.Prefix + text.Trim(whole, n)})
	}
	out = nil
	for _, t := range texts {
		one, err := r.embed(ctx, []string{t})
		if err != nil {
			return out, err
		}
		out = append(out, one[0])
	}
	return out, nil
}

// save writes the vectors that were made. nil was not made, and an empty one refused.
func (r *embedding) save(ctx context.Context, list []object, vectors [][]float32) error {
	var objects []*models.Object
	for i, v := range vectors {
		switch {
		case v == nil:
			continue
		case len(v) == 0:
			r.report.Refused++
			continue
		case len(v) > search.MaxDimension:
			return fmt.Errorf("the model gave a vector of %d dimensions", len(v))
		case r.spec.Dimension == 0:
			r.spec.Dimension = len(v)
		case len(v) != r.spec.Dimension:
			return &search.DimensionError{Model: r.spec.Model, Got: len(v), Want: r.spec.Dimension}
		}
		if err := hasDirection(v); err != nil {
			return err
		}
		o, c := list[i], r.object(vectorClass(r.spec), list[i].id(), nil)
		c.Properties = map[string]any{"root": o.text("root"), "file": o.text("file"), "chunk": o.text("chunk"), "version": o.whole("version"), "ordinal": o.whole("ordinal")}
		c.Vector = v
		objects = append(objects, c)
	}
	if len(objects) == 0 {
		return nil
	}
	class := r.class(vectorClass(r.spec), encodeSpec(r.spec), map[string]string{"root": exact, "file": exact, "chunk": exact}, "version", "ordinal")
	class.VectorIndexType, class.VectorIndexConfig = "hnsw", map[string]any{"distance": "cosine"}
	if r.report.Embedded == 0 {
		if err := r.create(ctx, class); err != nil {
			return err
		}
	}
	if err := r.importObjects(ctx, objects); err != nil {
		return err
	}
	first := r.report.Embedded == 0
	r.report.Embedded += len(objects)
	if first {
		return r.adopt(ctx, false)
	}
	return nil
}

// adopt makes the embedder that of roots without one, or of all.
func (r *embedding) adopt(ctx context.Context, all bool) error {
	for _, own := range r.s.roots {
		if r.spec.Dimension == 0 || own.embedder == encodeSpec(r.spec) || own.embedder != "" && !all {
			continue
		}
		if err := r.change(ctx, "set the embedder of", own.name, false, func(_ int64, changed *root, _ map[string]int) error {
			changed.embedder = encodeSpec(r.spec)
			return nil
		}); err != nil {
			return err
		}
	}
	return nil
}

func hasDirection(v []float32) error {
	var sum float64
	for _, f := range v {
		sum += float64(f) * float64(f)
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		return errNoDirection
	}
	return nil
}

// PruneVectors implements search.Backend.
func (db *DB) PruneVectors(ctx context.Context) (pruned int, err error) {
	roots, err := db.roots(ctx)
	if err != nil {
		return 0, err
	}
	classes, err := db.vectorClasses(ctx)
	for class, spec := range classes {
		used, others := false, []string{}
		for name, r := range roots {
			if e, found := embedderOf(r); found && e == spec {
				used = true
			} else {
				others = append(others, id(name))
			}
		}
		if err == nil {
			var n int
			n, err = db.deleteObjects(ctx, class, "root", others)
			pruned += n
		}
		if err == nil && !used {
			err = db.explain(ctx, db.client.Schema().ClassDeleter().WithClassName(db.prefix+class).Do(ctx))
		}
	}
	return pruned, err
}

// vectors implements search.Vectors.
type vectors struct {
	s     *snapshot
	spec  search.VectorSpec
	class string
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
			return e, nil, &search.EmbedderError{Root: r.name, Stored: stored, Given: e}
		}
		e.Dimension = stored.Dimension
		with = append(with, id(r.name))
	}
	return e, with, err
}

// Vectors implements search.Snapshot.
func (s *snapshot) Vectors(ctx context.Context, e search.VectorSpec) (search.Vectors, error) {
	e, with, err := s.embedder(e)
	v := &vectors{s: s, spec: e, class: vectorClass(e)}
	if err == nil && len(with) > 0 {
		var n []int
		if n, err = s.db.counts(ctx, v.class, is("root", with...)); err == nil {
			v.found = min(n[0], s.docs)
		}
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
	if len(query) != v.spec.Dimension {
		return nil, &search.DimensionError{Model: v.spec.Model, Got: len(query), Want: v.spec.Dimension}
	}
	if err := hasDirection(query); err != nil {
		return nil, err
	}
	numbers, err := json.Marshal(query)
	if err != nil {
		return nil, err
	}
	for n := k + 10; ; n *= 4 {
		n = min(n, mostObjects)
		answer, err := v.s.db.graphql(ctx, "Get{"+v.s.db.fields(v.class, n, v.s.filter("file"), "nearVector:{vector:"+string(numbers)+"}", hitFields+"_additional{id distance}")+"}")
		if err != nil {
			return nil, fmt.Errorf("search by vectors: %w", err)
		}
		list := v.s.db.objects(answer, v.class)
		texts, err := v.texts(ctx, list)
		if err != nil {
			return nil, fmt.Errorf("search by vectors: %w", err)
		}
		var found []hit
		for _, o := range list {
			maps.Copy(o, texts[o.id()])
			if h, ok := v.s.newHit(o, min(1, max(-1, 1-o.additional("distance").number("distance")))); ok && h.score >= least {
				found = append(found, h)
			}
		}
		if len(found) >= k || len(list) < n || n == mostObjects {
			return asHits(ranked(found, k), search.LegDense), nil
		}
	}
}

// texts reads what a filter by phrases needs of chunks; nothing where there is none.
func (v *vectors) texts(ctx context.Context, list []object) (map[string]object, error) {
	if v.s.fits == nil {
		return nil, nil
	}
	ids, out := make([]string, len(list)), map[string]object{}
	for i, o := range list {
		ids[i] = o.id()
	}
	found, err := v.s.db.get(ctx, "Chunk", is("id", ids...), fitFields+"_additional{id}")
	for _, o := range found {
		key := o.id()
		delete(o, "_additional")
		out[key] = o
	}
	return out, err
}
