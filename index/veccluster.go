package index

import (
	"cmp"
	"context"
	"math"
	"runtime"
	"slices"
	"sync"
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
	// rescored is how many candidates are compared exactly, at least, and for each
	// hit that is wanted.
	rescored       = 100
	rescoredOfEach = 4
)

// clusters make many vectors quick to search: an inverted file, with each
// vector in the list of the centroid nearest to it, as one byte a dimension.
// A search looks into the lists nearest to the query and compares the best of
// what it finds there exactly. The scale of a dimension is its greatest value, so
// that no value is clipped. Immutable.
type clusters struct {
	probe     int       // lists that are looked into
	scale     []float32 // of each dimension: the worth of one step
	centroids []float32 // of length 1; dimension numbers a list
	ends      []uint32  // of each list, in order
	order     []uint32  // rows, list by list
	codes     []int8    // of the vectors, in the order of order
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
	c.encode(v)
	v.near = c
	return v.tune(ctx)
}

// row returns the vector of a row in memory.
func (v *vectorSegment) row(i int) []float32 { return v.data[i*v.dimension : (i+1)*v.dimension] }

// eachBlock calls f for the numbers below n, some side by side, until the
// context ends.
func eachBlock(ctx context.Context, n int, f func(i int)) {
	var wg sync.WaitGroup
	workers := runtime.GOMAXPROCS(0)
	for w := range workers {
		wg.Go(func() {
			for from := w * scanBlock; from < n && ctx.Err() == nil; from += workers * scanBlock {
				for i := from; i < min(from+scanBlock, n); i++ {
					f(i)
				}
			}
		})
	}
	wg.Wait()
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

// encode fills in scales and codes.
func (c *clusters) encode(v *vectorSegment) {
	d := v.dimension
	c.scale = make([]float32, d)
	for i, f := range v.data {
		c.scale[i%d] = max(c.scale[i%d], float32(math.Abs(float64(f))))
	}
	for i := range c.scale {
		c.scale[i] /= math.MaxInt8
	}
	c.codes = make([]int8, len(v.data))
	for place, row := range c.order {
		codes := c.codes[place*d : (place+1)*d]
		for i, f := range v.row(int(row)) {
			if c.scale[i] > 0 {
				codes[i] = int8(math.Round(float64(f / c.scale[i])))
			}
		}
	}
}

// tune sets how many lists are looked into, and returns the recall that gives.
func (v *vectorSegment) tune(ctx context.Context) (recall float64, err error) {
	queries := min(probedRows, len(v.rows))
	wanted := make([][]int, queries) // rows, by query
	everything := func(int) bool { return true }
	var wg sync.WaitGroup
	for w := range runtime.GOMAXPROCS(0) {
		wg.Go(func() {
			for q := w; q < queries && ctx.Err() == nil; q += runtime.GOMAXPROCS(0) {
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
			}
		})
	}
	wg.Wait()
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

// approximate finds k rows near a vector of length 1, with their exact scores, in
// order. allowed says which rows may be found. The least nearest lists are looked
// into, and more while too few rows were found, or while few of those looked at may be
// found, measured by the share that may of all; all of them where angles alone do not
// say what is near.
func (v *vectorSegment) approximate(ctx context.Context, unit []float32, m measure, k, least int, share float64, allowed func(row int) bool) ([]candidate, error) {
	c, d := v.near, v.dimension
	order := c.lists(unit)
	query, step := c.query(unit)
	byAngle := m.byAngle(v.even)
	if !byAngle {
		least = len(order)
	}
	best := newTop(max(rescored, rescoredOfEach*k), betterRow)
	seen, passed := 0, 0
	for n, list := range order {
		if n >= least && len(best.list) == best.k && float64(passed) >= commonShare*share*float64(seen) {
			break
		}
		if n%16 == 0 && ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		for place, to := c.span(list); place < to; place++ {
			score := float64(dotCodes(query, c.codes[place*d:(place+1)*d]))
			row := int(c.order[place])
			if !byAngle {
				score = m.score(score*step, v.lengths[row])
			}
			if share > 0 {
				seen++
				if !allowed(row) {
					continue
				}
				passed++
			}
			if score >= best.floor() && (share > 0 || allowed(row)) {
				best.offer(candidate{chunk: row, score: score})
			}
		}
	}
	return v.rescoreBest(unit, m, best.list, k, step)
}

// rescoreBest returns the k best of some candidates, in order, with their exact scores.
// Those whose codes tell that they are not among them are not read: a cosine differs
// from what codes say by no more than slip.
func (v *vectorSegment) rescoreBest(unit []float32, m measure, list []candidate, k int, step float64) ([]candidate, error) {
	slices.SortFunc(list, betterRow)
	known := len(list)
	if m.metric == MetricCosine || m.metric == "" {
		known = min(k, known)
	}
	if err := v.rescore(unit, m, list[:known]); err != nil || known == 0 {
		return list, err
	}
	floor := slices.MinFunc(list[:known], func(a, b candidate) int { return cmp.Compare(a.score, b.score) }).score
	end, slip := known, v.near.slip(unit, step)
	for end < len(list) && list[end].score*step+slip >= floor {
		end++
	}
	if err := v.rescore(unit, m, list[known:end]); err != nil {
		return nil, err
	}
	list = list[:end]
	slices.SortFunc(list, betterRow)
	return list[:min(k, len(list))], nil
}

// slip is how far the cosine of a vector of length 1 and one of the vectors is from what
// its code says, at most: half a step of each dimension that was lost in the code, half
// of one in each of the query's whole numbers, and what rounding may take.
func (c *clusters) slip(unit []float32, step float64) float64 {
	sum := 0.0
	for i, f := range unit {
		sum += math.Abs(float64(f)) * float64(c.scale[i])
	}
	return (sum+step*math.MaxInt8*float64(len(unit)))/2*(1+1e-3) + 1e-4
}

// nearChunks finds k chunks near a vector of length 1, with their exact scores, as
// approximate finds rows. One of several rows scores as the best of them, wherever
// that lies.
func (v *vectorSegment) nearChunks(ctx context.Context, unit []float32, m measure, k, least int, share float64, allowed func(row int) bool) ([]candidate, error) {
	for ask := k; ; ask *= 4 { // rows, until they are of k chunks
		rows, err := v.approximate(ctx, unit, m, ask, least, share, allowed)
		if err != nil {
			return nil, err
		}
		chunks := make([]candidate, len(rows))
		for i, c := range rows {
			chunks[i] = candidate{chunk: int(v.rows[c.chunk]), score: c.score}
		}
		if !v.several() {
			return chunks, nil
		}
		slices.SortFunc(chunks, func(a, b candidate) int { return cmp.Compare(a.chunk, b.chunk) })
		chunks = slices.CompactFunc(chunks, func(a, b candidate) bool { return a.chunk == b.chunk })
		if len(chunks) < k && len(rows) == ask {
			continue
		}
		return chunks, v.rescoreChunks(unit, m, chunks)
	}
}

// rescoreChunks gives chunks the exact scores of their best rows.
func (v *vectorSegment) rescoreChunks(unit []float32, m measure, chunks []candidate) error {
	var rows []candidate // part is the place in chunks
	for i, c := range chunks {
		first, _ := slices.BinarySearch(v.rows, uint32(c.chunk))
		for row := range v.chunkEnd(first) - first {
			rows = append(rows, candidate{part: i, chunk: first + row})
		}
		chunks[i].score = math.Inf(-1)
	}
	err := v.rescore(unit, m, rows)
	for _, r := range rows {
		chunks[r.part].score = max(chunks[r.part].score, r.score)
	}
	return err
}

// chunkEnd returns the first row behind those of a row's chunk.
func (v *vectorSegment) chunkEnd(row int) int {
	end := row + 1
	for end < len(v.rows) && v.rows[end] == v.rows[row] {
		end++
	}
	return end
}

// span returns the places of a list.
func (c *clusters) span(list int) (from, to int) {
	if list > 0 {
		from = int(c.ends[list-1])
	}
	return from, int(c.ends[list])
}

// commonShare is how many of the rows in the lists nearest to a query must pass a
// filter, of the share that passes everywhere: below it the filter leaves out what the
// query is about.
const commonShare = 0.8

// least is how many lists a search looks into at least: all of them where a
// filter leaves few rows, which may lie anywhere. share is that of the rows that pass.
func (v *vectorSegment) least(filtered bool, allowed func(row int) bool) (least int, share float64) {
	if !filtered {
		return v.near.probe, 0
	}
	passed := 0
	for row := range v.rows {
		if allowed(row) {
			passed++
		}
	}
	if passed <= exactRows {
		return len(v.near.ends), 0
	}
	return v.near.probe, float64(passed) / float64(len(v.rows))
}

// lists returns the lists, the nearest first.
func (c *clusters) lists(unit []float32) []int {
	order := make([]int, len(c.ends))
	scores := make([]float32, len(c.ends))
	for i := range order {
		order[i] = i
		scores[i] = dot(unit, c.centroids[i*len(unit):(i+1)*len(unit)])
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Or(cmp.Compare(scores[b], scores[a]), cmp.Compare(a, b)) })
	return order
}

// query returns whole numbers whose products with codes are as great as those
// of vectors, but for the factor step.
func (c *clusters) query(unit []float32) (out []int32, step float64) {
	// Four sums of a quarter of the dimensions each must not overflow.
	limit := min(math.MaxInt16, float64(math.MaxInt32/math.MaxInt8/(len(unit)/4+8)))
	var greatest float64
	for i, f := range unit {
		greatest = max(greatest, math.Abs(float64(f)*float64(c.scale[i])))
	}
	out = make([]int32, len(unit))
	if greatest > 0 {
		for i, f := range unit {
			out[i] = int32(math.Round(float64(f) * float64(c.scale[i]) / greatest * limit))
		}
	}
	return out, greatest / limit
}

// rescore gives candidates their exact scores, and brings them in the order of rows, in
// which they are read.
func (v *vectorSegment) rescore(unit []float32, m measure, list []candidate) error {
	slices.SortFunc(list, func(a, b candidate) int { return cmp.Compare(a.chunk, b.chunk) })
	buf := make([]byte, 4*v.dimension)
	x := make([]float32, v.dimension)
	for i := range list {
		row := list[i].chunk
		if v.data != nil {
			list[i].score = m.score(cosine(unit, v.row(row)), v.lengths[row])
			continue
		}
		if err := v.readRow(row, buf, x); err != nil {
			return err
		}
		list[i].score = m.score(cosine(unit, x), v.lengths[row])
	}
	return nil
}
