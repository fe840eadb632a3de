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
// vector. They are safe for concurrent use.
type Vectors struct {
	s        *Searcher
	parts    []*vectorSegment // by part of the searcher; nil: the collection has none
	embedder Embedder
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
		for _, chunk := range v.parts[i].rows {
			if p.live(int(chunk)) {
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
		stamps[i] = vectorStamp{database: v.s.db.id, collection: p.collection, since: p.since, generation: p.generation, embedder: id, mark: mark}
	}
	return nil
}

// Of returns the same vectors for a searcher that [Searcher.Only] or
// [Searcher.Matching] derived from theirs.
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

// Search returns the k chunks whose vectors have the greatest cosine with query,
// best first, of those with a cosine of at least least. All vectors are compared.
// Equal scores are ordered by root, source and position; a score is the same on
// every machine. A query of another dimension is a [*DimensionError].
func (v *Vectors) Search(ctx context.Context, query []float32, k int, least float64) ([]state.Hit, error) {
	k = min(k, v.found)
	if k <= 0 {
		return nil, context.Cause(ctx)
	}
	if len(query) != v.embedder.Dimension {
		return nil, &DimensionError{Model: v.embedder.Model, Got: len(query), Want: v.embedder.Dimension}
	}
	unit, err := normalise(query)
	if err != nil {
		return nil, err
	}
	found, err := v.scan(ctx, unit, k, least)
	if err != nil {
		return nil, err
	}
	return v.s.hits(found, LegDense), nil
}

const (
	// scanBlock is how many rows are scanned between two checks of the context.
	scanBlock = 2048
	// scanAlone is how many multiplications one goroutine does alone: below
	// that, more goroutines cost more than they save.
	scanAlone = 1 << 20
)

// block is a range of rows of one part.
type block struct{ part, from, to int }

// scan finds the k nearest of all rows, with a heap for each worker.
func (v *Vectors) scan(ctx context.Context, unit []float32, k int, least float64) ([]candidate, error) {
	var blocks []block
	rows := 0
	for p, seg := range v.parts {
		if seg == nil {
			continue
		}
		for from := 0; from < len(seg.rows); from += scanBlock {
			blocks = append(blocks, block{p, from, min(from+scanBlock, len(seg.rows))})
		}
		rows += len(seg.rows)
	}
	workers := min(runtime.GOMAXPROCS(0), len(blocks))
	if rows*len(unit) <= scanAlone {
		workers = min(1, workers)
	}
	better := byScore(v.s.compare)
	heaps := make([]*top, workers)
	var wg sync.WaitGroup
	for w := range workers {
		heaps[w] = newTop(k, better)
		wg.Go(func() {
			for i := w; i < len(blocks) && ctx.Err() == nil; i += workers {
				v.scanRows(blocks[i], unit, least, heaps[w])
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	var all []candidate
	for _, h := range heaps {
		all = append(all, h.list...)
	}
	slices.SortFunc(all, better)
	return all[:min(k, len(all))], nil
}

// scanRows offers the rows of a block that may be shown.
func (v *Vectors) scanRows(b block, unit []float32, least float64, found *top) {
	seg, p := v.parts[b.part], &v.s.parts[b.part]
	for i := b.from; i < b.to; i++ {
		chunk, score := int(seg.rows[i]), cosine(unit, seg.row(i))
		if score >= least && score >= found.floor() && p.shows(chunk) {
			found.offer(candidate{b.part, chunk, score})
		}
	}
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

// errNoDirection tells that a vector cannot be compared with others.
var errNoDirection = errors.New("the model gave a vector that is zero or not finite")

// normalise returns v scaled to length 1.
func normalise(v []float32) ([]float32, error) {
	var sum float64
	for _, f := range v {
		sum += float64(f) * float64(f)
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		return nil, errNoDirection
	}
	length := math.Sqrt(sum)
	unit := make([]float32, len(v))
	for i, f := range v {
		unit[i] = float32(float64(f) / length)
	}
	return unit, nil
}

// cosine is the scalar product of two vectors of length 1, limited to [-1, 1]
// because of rounding.
func cosine(a, b []float32) float64 { return min(1, max(-1, float64(dot(a, b)))) }

// dotGo is the dot product. Eight independent sums let the processor overlap the
// additions. The conversions forbid fused multiply-add, which rounds differently,
// so every machine computes the same bits.
func dotGo(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	for len(a) >= 8 && len(b) >= 8 {
		x, y := (*[8]float32)(a), (*[8]float32)(b) // spares bounds checks
		s0 += float32(x[0] * y[0])
		s1 += float32(x[1] * y[1])
		s2 += float32(x[2] * y[2])
		s3 += float32(x[3] * y[3])
		s4 += float32(x[4] * y[4])
		s5 += float32(x[5] * y[5])
		s6 += float32(x[6] * y[6])
		s7 += float32(x[7] * y[7])
		a, b = a[8:], b[8:]
	}
	for i := range a {
		s0 += float32(a[i] * b[i])
	}
	return ((s0 + s1) + (s2 + s3)) + ((s4 + s5) + (s6 + s7))
}
