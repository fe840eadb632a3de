package index

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"slices"
	"sync"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/state"
)

// LegDense is the name of the leg that vectors give their hits.
const LegDense = "dense"

// MinCosine is the least cosine a dense hit has unless told otherwise.
const MinCosine = 0.0

// Vectors are the vectors of a [Searcher], in memory: 4 bytes a dimension and
// vector and 4 for its length, and 1 byte a dimension where a tier holds so many that they are clustered; those
// are read from its file to be compared exactly. They are safe for concurrent
// use.
type Vectors struct {
	s        *Searcher
	parts    []*vectorSegment // by part of the searcher; nil: the collection has none
	embedder Embedder
	metric   string
	found    int // chunks that have a vector
	all      int // chunks
}

// Vectors returns the vectors that e made of what the searcher searches. They
// are read, or put together, by the first call for a state of the index, and
// shared after that. Where a collection's vectors were made by another embedder
// the error is an [*EmbedderError]; a collection that has none yet has none.
func (s *Searcher) Vectors(ctx context.Context, e Embedder) (*Vectors, error) {
	e, err := e.withDefaults()
	if err != nil {
		return nil, err
	}
	v := &Vectors{s: s, parts: make([]*vectorSegment, len(s.parts)), embedder: e, all: s.all.chunks}
	stamps := make([]vectorStamp, len(s.parts))
	err = s.db.sql.Read(ctx, func(tx *sqlite.Tx) error { return v.stamp(tx, stamps) })
	if err != nil {
		return nil, fmt.Errorf("vectors: %w", err)
	}
	s.db.vectorsMu.Lock()
	defer s.db.vectorsMu.Unlock()
	for i, stamp := range stamps {
		if stamp.embedder == 0 {
			continue
		}
		p := &s.parts[i]
		if v.parts[i], err = s.db.vectorSegment(ctx, p, stamp, v.embedder.Dimension); err != nil {
			return nil, fmt.Errorf("vectors of %q: %w", p.root, err)
		}
		for row, chunk := range v.parts[i].rows {
			if p.live(int(chunk)) && (row == 0 || chunk != v.parts[i].rows[row-1]) {
				v.found++
			}
		}
	}
	s.db.forgetVectors(s)
	return v, nil
}

// forgetVectors lets go of vectors in memory that belong to earlier views of the
// same collections. db.vectorsMu is held.
func (db *DB) forgetVectors(s *Searcher) {
	used := map[stamp]bool{}
	collections := map[int64]bool{}
	for i := range s.parts {
		used[s.parts[i].stamp] = true
		collections[s.parts[i].collection] = true
	}
	for k := range db.vectors {
		if collections[k.collection] && !used[k] {
			delete(db.vectors, k)
		}
	}
}

// CheckEmbedder tells, without reading vectors, whether [Searcher.Vectors] would
// refuse e.
func (s *Searcher) CheckEmbedder(ctx context.Context, e Embedder) error {
	e, err := e.withDefaults()
	if err != nil {
		return err
	}
	v := &Vectors{s: s, embedder: e}
	return s.db.sql.Read(ctx, func(tx *sqlite.Tx) error { return v.stamp(tx, make([]vectorStamp, len(s.parts))) })
}

// stamp finds out what the vectors of each part are to be made of, and the
// dimension.
func (v *Vectors) stamp(tx *sqlite.Tx, stamps []vectorStamp) error {
	var mark int64
	if err := tx.QueryRow(`SELECT coalesce(max(id), 0) FROM vectors`).Scan(&mark); err != nil {
		return err
	}
	for i, p := range v.s.parts {
		id, stored, found, err := collectionEmbedder(tx, p.root)
		switch {
		case err != nil:
			return err
		case !found:
			continue
		case !v.embedder.fits(stored):
			return &EmbedderError{Root: p.root, Stored: stored, Given: v.embedder}
		}
		v.embedder.Dimension = stored.Dimension
		stamps[i] = vectorStamp{database: v.s.db.id, collection: p.collection, since: p.since, generation: p.generation, embedder: id, kind: stored.Vectors, mark: mark}
	}
	return nil
}

// Of returns the same vectors for a searcher that [Searcher.Only] or
// [Searcher.Matching] made of the one they are of.
func (v *Vectors) Of(s *Searcher) *Vectors {
	narrowed := *v
	narrowed.s = s
	return &narrowed
}

// Embedder returns what made the vectors. Its dimension is 0 where there are
// none.
func (v *Vectors) Embedder() Embedder { return v.embedder }

// Len returns how many chunks have a vector.
func (v *Vectors) Len() int { return v.found }

// Missing returns how many chunks have none: this leg cannot find them.
func (v *Vectors) Missing() int { return v.all - v.found }

// By returns the same vectors, to be searched by a metric; they are by
// MetricCosine. None has to be made anew for that: of each vector the length is kept
// that the model gave it. The error is that there is no such metric.
func (v *Vectors) By(metric string) (*Vectors, error) {
	if err := CheckMetric(metric); err != nil {
		return nil, err
	}
	by := *v
	by.metric = metric
	return &by, nil
}

// Search returns the k chunks whose vectors are nearest to query, best first, all of
// a score of least and more; a chunk of several vectors once, by the nearest of them.
// Up to 20,000 vectors of a tier are compared one by one: nothing that is near is
// missed. Of more, those in the clusters
// nearest to the query are, which finds 97 of 100 (see clusters). Equal ones are
// ordered by root, source and place. What a score is says the metric; it is the same
// on every machine. By MetricDot and MetricL2, where vectors differ in length, all
// are looked at.
func (v *Vectors) Search(ctx context.Context, query []float32, k int, least float64) ([]state.Hit, error) {
	k = min(k, v.found)
	if k <= 0 {
		return nil, context.Cause(ctx)
	}
	if len(query) != v.embedder.Dimension {
		return nil, &DimensionError{Model: v.embedder.Model, Got: len(query), Want: v.embedder.Dimension}
	}
	unit, length, err := normalise(query)
	if err != nil {
		return nil, err
	}
	found, err := v.scan(ctx, unit, measure{v.metric, length}, k, least)
	if err != nil {
		return nil, err
	}
	return v.s.hits(found, LegDense), nil
}

// quickBytes is how many bytes of vectors, or of their codes, are compared in about the time
// that it takes to wake another thread and to wait for it: 0.1 to 0.2 ms.
const quickBytes = 2 << 20

// Quick reports whether a search looks at so little that another thread had better not be
// woken for it: the codes in the clusters of some 100,000 passages, or the vectors of some
// 1,000.
func (v *Vectors) Quick() bool {
	most := 0
	for i, seg := range v.parts {
		switch {
		case seg == nil:
		case seg.near == nil:
			most += len(seg.rows) * 4 * seg.dimension
		case v.s.parts[i].narrowed() || !(measure{metric: v.metric}).byAngle(seg.even):
			return false // perhaps it looks at all of them
		default:
			lists := len(seg.near.ends)
			most += (lists + len(seg.rows)/lists*seg.near.probe) * seg.dimension / 2
		}
	}
	return most <= quickBytes
}

const (
	// scanBlock is how many rows are scanned between two looks at the context,
	// and the least that a goroutine is given.
	scanBlock = 2048
	// scanAlone is how many multiplications one goroutine does alone: below
	// that, others cost more than they help.
	scanAlone = 1 << 20
)

// stretch is a run of rows of one part.
type stretch struct{ part, from, to int }

// scan finds the k nearest of all rows, with a heap for each worker.
func (v *Vectors) scan(ctx context.Context, unit []float32, m measure, k int, least float64) ([]candidate, error) {
	var work []stretch
	alone := 0
	for p, seg := range v.parts {
		switch {
		case seg == nil:
		case seg.near != nil:
			work = append(work, stretch{p, 0, len(seg.rows)})
			alone = scanAlone // worth a goroutine
		default:
			for from := 0; from < len(seg.rows); {
				to := seg.chunkEnd(min(from+scanBlock, len(seg.rows)) - 1)
				work = append(work, stretch{p, from, to})
				from = to
			}
			alone += len(seg.rows) * len(unit)
		}
	}
	workers := min(runtime.GOMAXPROCS(0), len(work))
	if alone <= scanAlone {
		workers = min(1, workers)
	}
	better := byScore(v.s.compare)
	heaps, faults := make([]*top, workers), make([]error, workers)
	share := (len(work) + workers - 1) / max(1, workers)
	scanShare := func(w int) {
		heaps[w] = newTop(k, better)
		for _, s := range work[min(w*share, len(work)):min((w+1)*share, len(work))] {
			if ctx.Err() != nil || faults[w] != nil {
				return
			}
			faults[w] = v.scanPart(ctx, s, unit, m, least, heaps[w])
		}
	}
	var wg sync.WaitGroup
	for w := 1; w < workers; w++ {
		wg.Go(func() { scanShare(w) })
	}
	if workers > 0 {
		scanShare(0)
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	if err := errors.Join(faults...); err != nil {
		return nil, fmt.Errorf("search vectors: %w", err)
	}
	var all []candidate
	for _, h := range heaps {
		all = append(all, h.list...)
	}
	slices.SortFunc(all, better)
	return all[:min(k, len(all))], nil
}

// byScore orders candidates, best first; equal ones as compare says.
func byScore(compare func(a, b candidate) int) func(a, b candidate) int {
	return func(a, b candidate) int {
		if a.score != b.score {
			return cmp.Compare(b.score, a.score)
		}
		return compare(a, b)
	}
}

// scanPart offers a stretch of rows, or what is near in a part that is clustered.
func (v *Vectors) scanPart(ctx context.Context, s stretch, unit []float32, m measure, least float64, found *top) error {
	seg, p := v.parts[s.part], &v.s.parts[s.part]
	if seg.near == nil {
		for i := s.from; i < s.to; {
			chunk, nearest := seg.rows[i], math.Inf(-1)
			for ; i < s.to && seg.rows[i] == chunk; i++ {
				nearest = max(nearest, m.score(cosine(unit, seg.row(i)), seg.lengths[i]))
			}
			if nearest >= least && nearest >= found.floor() && p.shows(int(chunk)) {
				found.offer(candidate{s.part, int(chunk), nearest})
			}
		}
		return nil
	}
	var allowed func(row int) bool
	if p.narrowed() || p.alive != nil {
		allowed = func(row int) bool { return p.shows(int(seg.rows[row])) }
	}
	lists, share := seg.least(p.narrowed() && m.byAngle(seg.even), allowed)
	near, err := seg.nearChunks(ctx, unit, m, found.k, lists, share, allowed)
	for _, c := range near {
		if c.score >= least {
			found.offer(candidate{s.part, c.chunk, c.score})
		}
	}
	return err
}

// errNoDirection tells that a vector cannot be compared with others.
var errNoDirection = errors.New("the model gave a vector that is zero or not finite")

// normalise returns v brought to length 1, and the length it has.
func normalise(v []float32) (unit []float32, length float64, err error) {
	var sum float64
	for _, f := range v {
		sum += float64(f) * float64(f)
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		return nil, 0, errNoDirection
	}
	length = math.Sqrt(sum)
	unit = make([]float32, len(v))
	for i, f := range v {
		unit[i] = float32(float64(f) / length)
	}
	return unit, length, nil
}
