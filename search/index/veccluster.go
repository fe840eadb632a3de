package index

import (
	"cmp"
	"context"
	"math"
	"slices"

	"example.com/ragflow/internal/parallel"
)

const (
	// exactRows is how many vectors of a tier are compared one by one. More are
	// put into clusters: at 384 dimensions the scan of 20,000 takes about 4 ms.
	exactRows = 20_000
	// rowsOfCentroid is how many rows a centroid is learnt from.
	rowsOfCentroid = 32
	// clusterRounds is how often centroids are moved; more change recall little.
	clusterRounds = 5
	// Recall is measured with as many stored vectors as probedRows for their
	// probedNearest nearest, and clusters are added until it is wantedRecall: more
	// than the 0.95 promised, because a question lies further from its passages
	// than they lie from each other.
	probedRows    = 100
	probedNearest = 20
	wantedRecall  = 0.97
)

// clusters make many vectors quick to search: an inverted file, with each
// vector in the list of the centroid nearest to it, as one byte a dimension.
// A search looks into the lists nearest to the query, compares the codes it finds
// there, and exactly what the codes say is best: see probe. Immutable.
type clusters struct {
	probe     int       // lists that are looked into
	centroids []float32 // of length 1; dimension numbers a list
	outer     codes     // of the centroids
	ends      []uint32  // of each list, in order
	order     []uint32  // rows, list by list
	codes     codes     // of the vectors, in the order of order
}

// cluster puts the vectors of a segment, which are in memory, into clusters. The
// result depends on the vectors alone. It returns the share of the nearest that
// searches find.
func (v *vectorSegment) cluster(ctx context.Context) (recall float64, err error) {
	lists := int(math.Sqrt(float64(len(v.rows))))
	c := &clusters{centroids: v.learn(ctx, lists)}
	nearest := make([]uint32, len(v.rows))
	eachBlock(ctx, len(v.rows), func(row int) { nearest[row] = uint32(c.nearestTo(v.row(row))) })
	if err := context.Cause(ctx); err != nil {
		return 0, err
	}
	c.ends, c.order = make([]uint32, lists), make([]uint32, len(v.rows))
	for _, list := range nearest {
		c.ends[list]++
	}
	at := make([]uint32, lists) // where the next row of a list goes
	for i := 1; i < lists; i++ {
		c.ends[i] += c.ends[i-1]
		at[i] = c.ends[i-1]
	}
	for row, list := range nearest {
		c.order[at[list]] = uint32(row)
		at[list]++
	}
	c.codes = encode(v.data, v.dimension, c.order)
	c.encodeLists(v.dimension)
	v.near = c
	return v.tune(ctx)
}

// row returns the vector of a row in memory.
func (v *vectorSegment) row(i int) []float32 { return v.data[i*v.dimension : (i+1)*v.dimension] }

// eachBlock calls f for the numbers below n, some side by side, until the
// context ends.
func eachBlock(ctx context.Context, n int, f func(i int)) {
	parallel.Each((n+scanBlock-1)/scanBlock, func(block int) {
		for i := block * scanBlock; i < min((block+1)*scanBlock, n) && ctx.Err() == nil; i++ {
			f(i)
		}
	})
}

// learn finds centroids by spherical k-means over rows spread evenly.
func (v *vectorSegment) learn(ctx context.Context, lists int) []float32 {
	d := v.dimension
	sample := min(len(v.rows), lists*rowsOfCentroid)
	rowOf := func(i int) []float32 { return v.row(i * len(v.rows) / sample) }
	c := &clusters{centroids: make([]float32, lists*d)}
	for i := range lists {
		copy(c.centroids[i*d:], rowOf(i*sample/lists))
	}
	nearest := make([]int, sample)
	for range clusterRounds {
		eachBlock(ctx, sample, func(i int) { nearest[i] = c.nearestTo(rowOf(i)) })
		sums := make([]float64, lists*d)
		for i, list := range nearest {
			for j, f := range rowOf(i) {
				sums[list*d+j] += float64(f)
			}
		}
		for list := range lists {
			var square float64
			for _, f := range sums[list*d : (list+1)*d] {
				square += f * f
			}
			if square == 0 {
				continue // nothing is near it; it stays where it is
			}
			length := math.Sqrt(square)
			for j, f := range sums[list*d : (list+1)*d] {
				c.centroids[list*d+j] = float32(f / length)
			}
		}
	}
	return c.centroids
}

// nearestTo returns the list whose centroid is nearest to a vector.
func (c *clusters) nearestTo(x []float32) int {
	best, score := 0, float32(math.Inf(-1))
	for i := range len(c.centroids) / len(x) {
		if s := dot(x, c.centroids[i*len(x):(i+1)*len(x)]); s > score {
			best, score = i, s
		}
	}
	return best
}

// encodeLists makes the codes of centroids.
func (c *clusters) encodeLists(dimension int) {
	lists := make([]uint32, len(c.ends))
	for i := range lists {
		lists[i] = uint32(i) //nolint:gosec // fewer than rows
	}
	c.outer = encode(c.centroids, dimension, lists)
}

// tune sets how many lists are looked into, and returns the recall that gives.
func (v *vectorSegment) tune(ctx context.Context) (recall float64, err error) {
	queries := min(probedRows, len(v.rows))
	wanted := make([][]int, queries) // rows, by query
	everything := func(int) bool { return true }
	parallel.Each(queries, func(q int) {
		if ctx.Err() != nil {
			return
		}
		own := q * len(v.rows) / queries
		best := newTop(probedNearest, betterRow)
		for row := range v.rows {
			if row != own {
				best.offer(candidate{chunk: row, score: float64(dot(v.row(own), v.row(row)))})
			}
		}
		for _, c := range best.ranked() {
			wanted[q] = append(wanted[q], c.chunk)
		}
	})
	for v.near.probe = 4; ; v.near.probe += max(1, v.near.probe/2) {
		v.near.probe = min(v.near.probe, len(v.near.ends))
		found, all := 0, 0
		for q := range queries {
			if err := context.Cause(ctx); err != nil {
				return 0, err
			}
			got, err := v.approximate(ctx, v.row(q*len(v.rows)/queries), measure{}, probedNearest+1, v.near.probe, 0, everything)
			if err != nil {
				return 0, err
			}
			for _, row := range wanted[q] {
				all++
				if slices.ContainsFunc(got, func(c candidate) bool { return c.chunk == row }) {
					found++
				}
			}
		}
		recall = float64(found) / float64(max(1, all))
		if recall >= wantedRecall || v.near.probe == len(v.near.ends) {
			return recall, nil
		}
	}
}

// betterRow orders candidates that name rows.
func betterRow(a, b candidate) int {
	return cmp.Or(cmp.Compare(b.score, a.score), cmp.Compare(a.chunk, b.chunk))
}
