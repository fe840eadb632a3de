package index

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"

	"example.com/ragflow/internal/parallel"
	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// Vectors are the vectors of a [Searcher], in memory: 4 bytes for each dimension of each
// vector. They are safe for concurrent use.
type Vectors struct {
	s        *Searcher
	parts    []*segmentVectors // by part of the searcher; nil if the collection has none
	embedder search.VectorSpec
	found    int // chunks with a vector
	all      int // chunks
}

// Vectors returns e's vectors of the searcher's chunks, loaded once for each state of the
// index. If a collection has vectors of another embedder, the error is an
// [*search.EmbedderError]; a collection without vectors is no error.
func (s *Searcher) Vectors(ctx context.Context, e search.VectorSpec) (search.Vectors, error) {
	e, stamps, err := s.vectorStamps(ctx, e)
	if err != nil {
		return nil, err
	}
	v := &Vectors{s: s, parts: make([]*segmentVectors, len(s.parts)), embedder: e, all: s.all.Chunks}
	for i := range s.parts {
		p := &s.parts[i]
		stamp := stamps[p.snapshot]
		if stamp.embedder == 0 {
			continue
		}
		if v.parts[i], err = s.snapshots[p.snapshot].db.vectorsOf(ctx, p, stamp, e.Dimension); err != nil {
			return nil, fmt.Errorf("vectors of %q: %w", p.root, err)
		}
		for _, chunk := range v.parts[i].rows {
			if p.live(p.fileOf(int(chunk))) {
				v.found++
			}
		}
	}
	for _, c := range s.snapshots {
		c.forgetVectors()
	}
	return v, nil
}

// segmentVectors are the vectors of a segment, read from the database. They are immutable.
type segmentVectors struct {
	stamp     vectorStamp
	dimension int
	chunks    int       // of the segment, which has fewer after a purge
	lacking   int       // unchanged chunks without a vector
	rows      []uint32  // chunk of each vector, ascending
	data      []float32 // dimension numbers for each row
}

// vectorStamp identifies a state of the table vectors.
type vectorStamp struct {
	embedder int64 // row of the table embedders; 0 if the collection has no vectors
	newest   int64 // greatest id of a vector
}

func (v *segmentVectors) row(i int) []float32 { return v.data[i*v.dimension : (i+1)*v.dimension] }

// vectorsOf returns the vectors of a part: those in memory if they are up to date, else those
// of the database. If no chunk lacks a vector, newer vectors make no difference.
func (db *DB) vectorsOf(ctx context.Context, p *part, want vectorStamp, dimension int) (*segmentVectors, error) {
	db.vectorsMu.Lock()
	defer db.vectorsMu.Unlock()
	if v := db.vectors[p.key()]; v != nil && v.chunks == p.Totals.Chunks && (v.stamp == want || v.lacking == 0 && v.stamp.embedder == want.embedder) {
		return v, nil
	}
	var v *segmentVectors
	if err := db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		v = &segmentVectors{stamp: want, dimension: dimension, chunks: p.Totals.Chunks}
		return v.read(tx, p)
	}); err != nil {
		return nil, err
	}
	db.vectors[p.key()] = v
	return v, nil
}

// read reads the vectors of a part's chunks, without chunks that changed since the part was
// made.
func (v *segmentVectors) read(tx *sqlite.Tx, p *part) error {
	numbers := make(map[int64]int, len(p.Files)) // of files in the part
	for i, f := range p.Files {
		numbers[f.ID] = i
	}
	return each(tx, func(r row) error {
		var file int64
		var ordinal int
		var id, body sql.RawBytes
		if err := r.Scan(&file, &ordinal, &id, &body); err != nil {
			return err
		}
		number, ok := numbers[file]
		if !ok {
			return nil
		}
		first, end := p.chunksOf(number)
		chunk := first + ordinal
		switch {
		case chunk >= end || p.id(chunk) != string(id):
			return nil // the file changed
		case body == nil:
			v.lacking++
			return nil
		}
		if v.data == nil {
			v.data = make([]float32, 0, p.Totals.Chunks*v.dimension)
		}
		v.rows = append(v.rows, uint32(chunk))
		if v.data, ok = unpack(v.data, body, v.dimension); !ok {
			return fmt.Errorf("the vector of chunk %s has %d bytes for %d dimensions", id, len(body), v.dimension)
		}
		return nil
	}, `SELECT f.id, c.ordinal, c.id, v.vector FROM files f JOIN chunks c ON c.file = f.id LEFT JOIN vectors v ON v.embedder = ? AND v.key = c.passage
		WHERE f.collection = ? AND f.version > ? AND c.rev <= ? ORDER BY f.source, c.ordinal`, v.stamp.embedder, p.Collection, p.Since, p.maxRev)
}

// forgetVectors drops vectors in memory of earlier snapshots of the same collection.
func (v *snapshot) forgetVectors() {
	v.db.vectorsMu.Lock()
	defer v.db.vectorsMu.Unlock()
	for k := range v.db.vectors {
		if k.collection == v.manifest.collection && !slices.ContainsFunc(v.parts, func(p part) bool { return p.key() == k }) {
			delete(v.db.vectors, k)
		}
	}
}

// CheckEmbedder returns the error that [Searcher.Vectors] would, without reading vectors.
func (s *Searcher) CheckEmbedder(ctx context.Context, e search.VectorSpec) error {
	_, _, err := s.vectorStamps(ctx, e)
	return err
}

// vectorStamps returns the current vectors of each collection, and the embedder with its
// dimension.
func (s *Searcher) vectorStamps(ctx context.Context, e search.VectorSpec) (search.VectorSpec, []vectorStamp, error) {
	e, err := e.WithDefaults()
	if err != nil {
		return e, nil, err
	}
	stamps := make([]vectorStamp, len(s.snapshots))
	for i, v := range s.snapshots {
		if stamps[i], err = v.vectorStamp(ctx, &e); err != nil {
			return e, nil, fmt.Errorf("vectors: %w", err)
		}
	}
	return e, stamps, nil
}

// vectorStamp returns the current vectors of the collection, and sets the dimension of e.
func (v *snapshot) vectorStamp(ctx context.Context, e *search.VectorSpec) (stamp vectorStamp, err error) {
	err = v.db.sql.Read(ctx, func(tx *sqlite.Tx) error {
		id, stored, found, err := collectionEmbedder(tx, v.root)
		switch {
		case err != nil || !found:
			return err
		case !e.Fits(stored):
			return &search.EmbedderError{Root: v.root, Stored: stored, Given: *e}
		}
		e.Dimension, stamp.embedder = stored.Dimension, id
		return tx.QueryRow(`SELECT coalesce(max(id), 0) FROM vectors`).Scan(&stamp.newest)
	})
	return stamp, err
}

// Of returns the same vectors for a searcher narrowed from theirs.
func (v *Vectors) Of(s search.Snapshot) search.Vectors {
	narrowed := *v
	if s, ok := s.(*Searcher); ok {
		narrowed.s = s
	}
	return &narrowed
}

// Len returns the number of chunks with a vector.
func (v *Vectors) Len() int { return v.found }

// Missing returns the number of chunks without a vector, which cannot be found by vectors.
func (v *Vectors) Missing() int { return v.all - v.found }

// Search returns the k chunks whose vectors have the greatest cosine with query, best first,
// and at least minCosine. All vectors are compared. Equal scores are ordered by root, source
// and position; a score is the same on every machine. The error for a query of another
// dimension is a [*search.DimensionError].
func (v *Vectors) Search(ctx context.Context, query []float32, k int, minCosine float64) ([]state.Hit, error) {
	k = min(k, v.found)
	if k <= 0 {
		return nil, context.Cause(ctx)
	}
	unit, err := v.embedder.Unit(query)
	if err != nil {
		return nil, err
	}
	found, err := v.scan(ctx, unit, k, minCosine)
	if err != nil {
		return nil, err
	}
	return v.s.hits(found, search.LegDense), nil
}

// scanBlock is the number of rows that one goroutine scans at a time.
const scanBlock = 1 << 14

// scan finds the k nearest of all rows.
func (v *Vectors) scan(ctx context.Context, unit []float32, k int, minCosine float64) ([]candidate, error) {
	type block struct{ part, from, to int }
	var blocks []block
	for p, vectors := range v.parts {
		if vectors == nil {
			continue
		}
		for from := 0; from < len(vectors.rows); from += scanBlock {
			blocks = append(blocks, block{p, from, min(from+scanBlock, len(vectors.rows))})
		}
	}
	better := func(a, b candidate) int { return cmp.Or(cmp.Compare(b.score, a.score), v.s.compare(a, b)) }
	tops := make([]*top, len(blocks))
	parallel.Each(len(blocks), func(i int) {
		b := blocks[i]
		vectors, p := v.parts[b.part], &v.s.parts[b.part]
		tops[i] = newTop(k, better)
		for row := b.from; row < b.to && ctx.Err() == nil; row++ {
			chunk, score := int(vectors.rows[row]), cosine(unit, vectors.row(row))
			if score >= minCosine && score >= tops[i].floor() && p.shows(p.fileOf(chunk)) {
				tops[i].offer(candidate{b.part, chunk, score})
			}
		}
	})
	if err := context.Cause(ctx); err != nil {
		return nil, err
	}
	var all []candidate
	for _, t := range tops {
		all = append(all, t.list...)
	}
	slices.SortFunc(all, better)
	return all[:min(k, len(all))], nil
}

// cosine returns the scalar product of two vectors of length 1, limited to [-1, 1] because of
// rounding.
func cosine(a, b []float32) float64 { return min(1, max(-1, float64(dot(a, b)))) }

// dotGo returns the dot product. Eight independent sums let the processor overlap the
// additions. The conversions prevent fused multiply-add, which rounds differently, so every
// machine computes the same bits.
func dotGo(a, b []float32) float32 {
	b = b[:len(a)]
	var s0, s1, s2, s3, s4, s5, s6, s7 float32
	for len(a) >= 8 && len(b) >= 8 {
		x, y := (*[8]float32)(a), (*[8]float32)(b) // avoids bounds checks
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
