package index

import (
	"cmp"
	"context"
	"math"
	"slices"
	"sync"
)

// A search in clusters compares what it must, and no more. Of each vector in the lists
// nearest to the query it looks at the high halves of its code, which tell the cosine to
// some hundredths; of those that may be among the best by that, at the low ones, too, which
// tell it to some thousandths; of those that still may be, at the vector itself, which is
// read from the file. How far the one may be from the other is known: see question.

// probe is the scratch memory of a search in clusters, and what it looked at.
type probe struct {
	question question      // for the codes of rows
	outer    question      // for those of centroids
	first    []uint64      // keys of the nearest lists, the nearest first: see nearestLists
	lists    heap[uint64]  // keys of the others
	products []int32       // of the rows of a list, or of the lists
	rough    heap[int32]   // the k best products of high halves
	fine     heap[float64] // the k best cosines that codes tell
	seen     []rough
	list     []candidate // rows
	sorter   top         // of list
	row      []byte      // a vector as the file holds it
	room     []float32   // for its numbers

	scanned, compared, read int // rows whose high halves, whose codes and whose vectors were compared
}

// rough is a place in the order of lists, with the product of its high halves.
type rough struct {
	place   int
	product int32
}

// ask returns the products of a question with places, valid until the next call.
func (p *probe) ask(q *question, c *codes, from, to int) []int32 {
	p.products = slices.Grow(p.products[:0], to-from)[:to-from]
	q.products(c, from, p.products)
	return p.products
}

//nolint:gochecknoglobals // a pool of scratch memory; what is in it never shows
var probes = sync.Pool{New: func() any { return new(probe) }}

// approximate finds k rows near a vector of length 1, with their exact scores, in
// order. allowed says which rows may be found, nil all. The least nearest lists are looked
// into, and more while too few rows were found, or while few of those looked at may be
// found, measured by the share that may of all; all of them where angles alone do not
// say what is near.
func (v *vectorSegment) approximate(ctx context.Context, unit []float32, m measure, k, least int, share float64, allowed func(row int) bool) ([]candidate, error) {
	p := probes.Get().(*probe) // the pool holds nothing else
	defer probes.Put(p)
	if err := v.probe(ctx, p, unit, m, k, least, share, allowed); err != nil {
		return nil, err
	}
	return slices.Clone(p.list), nil
}

// probe is approximate; what it finds is the list of p.
func (v *vectorSegment) probe(ctx context.Context, p *probe, unit []float32, m measure, k, least int, share float64, allowed func(row int) bool) error {
	p.scanned, p.compared, p.read, p.list = 0, 0, 0, p.list[:0]
	v.near.codes.ask(&p.question, unit)
	if !m.byAngle(v.even) {
		return v.probeAll(ctx, p, unit, m, k, allowed)
	}
	if err := v.scanNear(ctx, p, unit, k, least, share, allowed); err != nil {
		return err
	}
	v.compareCodes(p, k)
	return v.compareVectors(p, unit, m, k)
}

// enough is how many rows that may be found are looked at, at least, and for each hit
// that is wanted.
const (
	enough       = 100
	enoughOfEach = 4
)

// scanNear looks at the high halves of the rows of the lists nearest to the query, and
// keeps those that may be among the k best.
func (v *vectorSegment) scanNear(ctx context.Context, p *probe, unit []float32, k, least int, share float64, allowed func(row int) bool) error {
	c, q := v.near, &p.question
	c.nearestLists(p, unit, least)
	p.rough, p.seen = p.rough[:0], p.seen[:0]
	margin := int64(0) // how far a row may be behind the k best that is one of them
	if q.rough > 0 {
		margin = int64(math.Ceil(2 * q.roughSlip / q.rough))
	}
	floor, passed, wanted := int64(math.MinInt64), 0, max(enough, enoughOfEach*k)
	for n := range c.ends {
		if n >= least && passed >= wanted && float64(passed) >= commonShare*share*float64(p.scanned) {
			break
		}
		if n%16 == 0 && ctx.Err() != nil {
			return context.Cause(ctx)
		}
		from, to := c.span(p.nextList(n))
		p.scanned += to - from
		for i, product := range p.ask(&p.question, &c.codes, from, to) {
			low := int64(product) < floor
			if low && share == 0 && passed >= wanted || allowed != nil && !allowed(int(c.order[from+i])) {
				continue
			}
			passed++
			if low {
				continue
			}
			p.seen = append(p.seen, rough{from + i, product})
			if p.rough.keep(k, product); len(p.rough) == k {
				floor = int64(p.rough[0]) - margin
			}
		}
	}
	return nil
}

// compareCodes looks at the codes of the rows that were kept: first of as many as are
// wanted, then of those that may be better than one of these.
func (v *vectorSegment) compareCodes(p *probe, k int) {
	q, c := &p.question, v.near
	p.fine = p.fine[:0]
	look := func(r rough) {
		cosine := q.cosine(&c.codes, r.place, r.product)
		p.fine.keep(k, cosine)
		p.list = append(p.list, candidate{chunk: int(c.order[r.place]), score: cosine})
	}
	best := int32(math.MinInt32)
	if len(p.rough) == k {
		best = p.rough[0]
	}
	for _, r := range p.seen {
		if r.product >= best {
			look(r)
		}
	}
	for _, r := range p.seen {
		if r.product < best && q.roughly(r.product)+q.roughSlip >= p.fine[0]-q.slip {
			look(r)
		}
	}
	p.compared = len(p.list)
}

// compareVectors does the same with the vectors, and leaves the k best rows in the list,
// in order, with their scores. All metrics agree on what is near; where lengths differ by
// what rounding makes of them, a little more is read.
func (v *vectorSegment) compareVectors(p *probe, unit []float32, m measure, k int) error {
	known := p.bestFirst(k)
	if known == 0 {
		return nil
	}
	if err := v.rescore(p, unit, measure{}, p.list[:known]); err != nil {
		return err
	}
	slip := p.question.slip
	if m.metric != MetricCosine && m.metric != "" {
		slip += evenLengths * (2 + float64(v.lengths[0])/m.length)
	}
	floor := slices.MinFunc(p.list[:known], func(a, b candidate) int { return cmp.Compare(a.score, b.score) }).score
	end := known
	for i, c := range p.list[known:] {
		if c.score+slip >= floor {
			p.list[end], p.list[known+i] = c, p.list[end]
			end++
		}
	}
	if err := v.rescore(p, unit, measure{}, p.list[known:end]); err != nil {
		return err
	}
	p.list = p.list[:end]
	for i, c := range p.list {
		p.list[i].score = m.score(c.score, v.lengths[c.chunk])
	}
	slices.SortFunc(p.list, betterRow)
	p.list = p.list[:min(k, end)]
	return nil
}

// bestFirst brings the k best of the list, by what codes tell, to its beginning, in any
// order, and returns how many they are.
func (p *probe) bestFirst(k int) int {
	if len(p.list) <= k {
		return len(p.list)
	}
	found, floor := 0, p.fine[0]
	for i, c := range p.list {
		if c.score >= floor {
			p.list[i], p.list[found] = p.list[found], c
			found++
		}
	}
	if found > k { // several are the last of them
		p.sorter.list, p.sorter.better = p.list, betterRow
		p.sorter.ranked()
	}
	return k
}

// rescored is how many rows are compared exactly, at least, and for each hit that is
// wanted, where lengths count.
const (
	rescored       = 100
	rescoredOfEach = 4
)

// probeAll is probe where lengths count: it looks at the codes of all rows.
func (v *vectorSegment) probeAll(ctx context.Context, p *probe, unit []float32, m measure, k int, allowed func(row int) bool) error {
	q, c := &p.question, v.near
	best := newTop(max(rescored, rescoredOfEach*k), betterRow)
	var products []int32
	for place, row := range c.order {
		if place%scanBlock == 0 {
			if ctx.Err() != nil {
				return context.Cause(ctx)
			}
			products = p.ask(q, &c.codes, place, min(place+scanBlock, len(c.order)))
		}
		cosine := q.cosine(&c.codes, place, products[place%scanBlock])
		if score := m.score(cosine, v.lengths[row]); score >= best.floor() && (allowed == nil || allowed(int(row))) {
			best.offer(candidate{chunk: int(row), score: score})
		}
	}
	p.scanned, p.compared, p.list = len(c.order), len(c.order), append(p.list, best.list...)
	err := v.rescore(p, unit, m, p.list)
	slices.SortFunc(p.list, betterRow)
	p.list = p.list[:min(k, len(p.list))]
	return err
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
	err := v.rescore(new(probe), unit, m, rows)
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

// moreLists is how many lists, and twice as many as are looked into, are put in order
// exactly.
const moreLists = 16

// nearestLists puts lists in order, the nearest to a vector first: by the codes of their
// centroids, but for those that come first, by the centroids themselves. A key has the
// number of its list in the low 32 bits.
func (c *clusters) nearestLists(p *probe, unit []float32, least int) {
	q := &p.outer
	c.outer.ask(q, unit)
	p.first, p.lists = p.first[:0], p.lists[:0]
	for i, product := range p.ask(q, &c.outer, 0, len(c.ends)) {
		// The greatest product comes first. It stays far below 2^31 for every dimension.
		p.lists = append(p.lists, uint64(math.MaxInt32-int64(product))<<32|uint64(i)) //nolint:gosec // as above
	}
	p.lists.order()
	for range min(2*least+moreLists, len(c.ends)) {
		i := listOf(p.lists.pop())
		b := math.Float32bits(dot(unit, c.centroids[i*len(unit):(i+1)*len(unit)]))
		if b>>31 == 0 {
			b = ^b &^ (1 << 31) // the greatest comes first
		}
		p.first = append(p.first, uint64(b)<<32|uint64(i)) //nolint:gosec // not below 0
	}
	slices.Sort(p.first)
}

// listOf is the list of a key.
func listOf(key uint64) int { return int(uint32(key)) } //nolint:gosec // the low bits alone

// nextList is the list that comes after n others.
func (p *probe) nextList(n int) int {
	if n < len(p.first) {
		return listOf(p.first[n])
	}
	return listOf(p.lists.pop())
}

// rescore gives candidates their exact scores, and brings them in the order of rows, in
// which they are read.
func (v *vectorSegment) rescore(p *probe, unit []float32, m measure, list []candidate) error {
	p.read += len(list)
	slices.SortFunc(list, func(a, b candidate) int { return cmp.Compare(a.chunk, b.chunk) })
	p.row, p.room = slices.Grow(p.row[:0], 4*v.dimension)[:4*v.dimension], slices.Grow(p.room[:0], v.dimension)[:v.dimension]
	for i := range list {
		row := list[i].chunk
		if v.data != nil {
			list[i].score = m.score(cosine(unit, v.row(row)), v.lengths[row])
			continue
		}
		if _, err := v.file.ReadAt(p.row, v.dataAt+int64(row)*int64(len(p.row))); err != nil {
			return err
		}
		list[i].score = m.score(bounded(dotRow(unit, p.row, p.room)), v.lengths[row])
	}
	return nil
}
