package index

import (
	"math"
	"math/bits"
	"slices"
)

// add adds what a term gives all files of the window.
func (w *window) add(t int) {
	w.cursors[t].take(&w.list, uint32(w.c0), uint32(w.c1)) //nolint:gosec // chunks of a segment fit 32 bits
	w.addTaken(t)
}

// addPromising adds what a term gives the promising files.
func (w *window) addPromising(t int) {
	w.cursors[t].take(&w.list, uint32(w.c0), uint32(w.c1)) //nolint:gosec // chunks of a segment fit 32 bits
	w.list.leave(w.able, uint32(w.c0))                     //nolint:gosec // as above
	w.addTaken(t)
}

// addTaken adds what the postings in the list give. It does what addFile does
// file by file, from postings that were all read before.
func (w *window) addTaken(t int) {
	l := &w.list
	for i := 0; i < len(l.chunks); {
		place := plainPlace(uint32(l.codes[i]), w.rows.lengths[l.chunks[i]])
		if place >= uint32(len(w.shares)) {
			i = w.addMore(t, i)
			continue
		}
		w.sum(int(l.chunks[i]), w.gives(t, &w.shares[place]))
		i++
	}
}

// gives is what a term gives a chunk that is all of its file, which has these shares of it.
func (w *window) gives(t int, of *plainShares) float64 {
	term := &w.terms[t]
	return float64(term.weight * (float64(term.chunkGain*of.chunk) + float64(w.score.ranking.Document*float64(term.fileGain*of.file))))
}

// starts is 1 where a sum was 0 and is not any more; sums are not below 0.
func starts(was, is float64) int {
	return int((math.Float64bits(was) - 1) & -math.Float64bits(is) >> 63) //nolint:gosec // a bit
}

// addMore adds what a term gives the file that its i-th posting is of, and returns the
// first posting behind those of the file.
func (w *window) addMore(t, i int) int {
	l, term := &w.list, w.terms[t]
	p := l.at(i)
	f, end := w.rows.fileOf(p.chunk), w.rows.end(p.chunk)
	if p.title > 0 {
		return w.addTitles(t, f, i)
	}
	if p.chunk+1 == end && w.rows.first(p.chunk) {
		w.addOnly(t, f, p)
		return i + 1
	}
	total := uint32(0)
	for {
		total += p.body
		var v float64
		if length := w.rows.lengths[p.chunk]; length > 0 && p.plain() {
			v = float64(term.chunkGain * w.score.inText(p.body, uint32(length)))
		} else {
			_, body, heading := w.seg.chunkRow(p.chunk)
			v = w.score.chunkImpact(term.term, &p, body, heading, 0, 0)
		}
		w.sum(int(p.chunk), float64(term.weight*v))
		if i++; i == len(l.chunks) || l.chunks[i] >= end {
			break
		}
		p = l.at(i)
	}
	w.sumWhole(f, float64(term.weight*w.score.fileImpact(term.term, total, w.rows.files[f], 0, 0)))
	return i
}

// addOnly adds what a term gives the only chunk of a file.
func (w *window) addOnly(t, f int, p posting) {
	term := w.terms[t]
	_, body, heading := w.seg.chunkRow(p.chunk)
	w.sum(int(p.chunk), float64(term.weight*(w.score.chunkImpact(term.term, &p, body, heading, 0, 0)+
		w.score.fileImpact(term.term, p.body, w.seg.fileField(f, 1), 0, 0))))
}

// sum adds to a chunk.
func (w *window) sum(chunk int, v float64) {
	sum := &w.chunks[chunk-w.c0]
	was := *sum
	*sum += v
	if starts(was, *sum) > 0 {
		w.touched = append(w.touched, uint32(chunk-w.c0)) //nolint:gosec // chunks of a segment fit 32 bits
	}
}

// sumWhole adds to all chunks of a document that hold a term.
func (w *window) sumWhole(file int, v float64) {
	s := &w.files[file-w.f0]
	*s += v
	w.most = max(w.most, *s)
}

// addTitles is addMore for a file with the term in its title, which all of its
// chunks have part in.
func (w *window) addTitles(t, f, i int) int {
	l := &w.list
	w.addWhole(t, f, l.at(i).title, func(at int) (p posting) {
		for i < len(l.chunks) && int(l.chunks[i]) < at {
			i++
		}
		if i < len(l.chunks) && int(l.chunks[i]) == at {
			p = l.at(i)
			i++
		}
		return p
	})
	return i
}

// addFile adds what a term gives one file and its chunks. The cursor of the term
// stands on the file's first posting; it is moved behind the last.
func (w *window) addFile(t, f int) {
	c := &w.cursors[t]
	w.addWhole(t, f, c.title, func(at int) (p posting) {
		for int(c.chunk) < at { // in damaged postings
			c.next()
		}
		if int(c.chunk) == at {
			p = c.posting
			c.next()
		}
		return p
	})
}

// addWhole adds what a term gives one file, in(chunk) being its posting there.
func (w *window) addWhole(t, f int, title uint32, in func(chunk int) posting) {
	term, length := w.terms[t], w.seg.fileField(f, 2)
	first, end := w.seg.chunksOf(f)
	total := uint32(0)
	for at := first; at < end; at++ {
		p := in(at)
		total += p.body
		_, body, heading := w.seg.chunkRow(uint32(at)) //nolint:gosec // chunks of a segment fit 32 bits
		v := w.score.chunkImpact(term.term, &p, body, heading, title, length)
		if end-first == 1 {
			v += w.score.fileImpact(term.term, total, w.seg.fileField(f, 1), title, length)
		}
		w.sum(at, float64(term.weight*v))
	}
	if end-first > 1 {
		w.sumWhole(f, float64(term.weight*w.score.fileImpact(term.term, total, w.seg.fileField(f, 1), title, length)))
	}
}

// finish offers the chunks of the window that can win, after the first terms were
// added, and clears the sums.
func (w *window) finish(added int, found *top) {
	defer w.clear()
	floor := found.floor()
	if w.rows.files == nil {
		w.gatherOnes(added, floor)
		w.finishOnes(added, floor, found)
		return
	}
	w.gather(added, floor)
	// Of the other terms, what few documents are looked up for is not added.
	if w.worthAdding(added) {
		w.mark()
		for ; w.worthAdding(added); added++ {
			w.addPromising(added)
			w.sift(added+1, floor)
		}
		clear(w.able)
	}
	if len(w.promising) > 2*found.k {
		floor = max(floor, w.raise(found.k))
	}
	for _, f := range w.promising {
		w.finishFile(int(f), added, max(floor, found.floor()), found)
	}
}

// worthAdding reports whether to add a term up for the promising files takes less time
// than to look it up for each.
func (w *window) worthAdding(t int) bool {
	return t < len(w.terms) && len(w.promising)*w.lookups > w.expected(t)
}

// mark notes the chunks of the promising files.
func (w *window) mark() {
	w.makeAble()
	for _, f := range w.promising {
		first, end := w.span(int(f))
		for at := first - w.c0; at < end-w.c0; at++ {
			w.able.set(at)
		}
	}
}

// makeAble has room for the chunks of the window.
func (w *window) makeAble() {
	if words := (w.c1 - w.c0 + 63) / 64; len(w.able) < words {
		w.able = make(bitmap, max(words, len(onesSet{})))
	}
}

// lookups is about how many postings are added in the time that one is looked up; where
// documents are of one chunk it is onesLookups, or wideLookups on processors that pick
// sixteen postings at once.
const lookups, onesLookups, wideLookups = 4, 32, 128

// expected is about how many postings a term has in the window.
func (w *window) expected(t int) int {
	return w.cursors[t].n * (w.c1 - w.c0) / w.seg.chunks
}

// finishFile looks up the terms from the given one on for one file, until it cannot
// reach the floor, and offers its chunks.
func (w *window) finishFile(f, t int, floor float64, found *top) {
	first, end := w.span(f)
	chunks, whole := w.chunks[first-w.c0:end-w.c0], &w.files[f-w.f0]
	for ; ; t++ {
		if (greatest(chunks)+*whole+w.rest[t])*slack < floor { // a bound that is no number holds nothing back
			return
		}
		if t == len(w.terms) {
			for i, v := range chunks {
				if v > 0 && (w.only == nil || w.only.has(first+i)) {
					found.offer(candidate{w.part, first + i, v + *whole})
				}
			}
			return
		}
		if c := &w.cursors[t]; uint64(c.chunk) < uint64(end) {
			c.seek(uint32(first)) //nolint:gosec // chunks of a segment fit 32 bits
			if uint64(c.chunk) < uint64(end) {
				w.addFile(t, f)
			}
		}
	}
}

// greatest is the greatest of some sums; most documents have few.
func greatest(sums []float64) float64 {
	m := sums[0]
	for _, v := range sums[1:] {
		if v > m {
			m = v
		}
	}
	return m
}

// scanned is how many chunks of a window there are, at most, for each that was added
// to, if all are looked at rather than a list of those.
const scanned = 6

// gather lists the files, in order, that can still reach a floor with the terms from
// t on. A file of several chunks can through any of them that holds a term so far, for
// the others have less.
func (w *window) gather(t int, floor float64) {
	w.promising = w.promising[:0]
	least := w.least(t, floor) - w.most
	if !(least > 0) { // or no number
		least = math.SmallestNonzeroFloat64 // what holds no term so far is not meant
	}
	if sums := w.chunks[:w.c1-w.c0]; len(sums) <= scanned*len(w.touched) {
		for at, v := range sums {
			if v >= least {
				w.promise(w.c0 + at)
			}
		}
		return
	}
	w.makeAble()
	for _, at := range w.touched {
		w.able[at>>6] |= bit(w.chunks[at] >= least) << (at & 63) // without a branch, which would often be mispredicted
	}
	for i, word := range w.able {
		for ; word != 0; word &= word - 1 {
			w.promise(w.c0 + i<<6 + bits.TrailingZeros64(word))
		}
		w.able[i] = 0
	}
}

// least is the sum so far below which a chunk cannot reach a floor with the terms from t
// on; no number where nothing is sure.
func (w *window) least(t int, floor float64) float64 { return floor/slack - w.rest[t] }

// bit is 1 for true.
func bit(is bool) uint64 {
	if is {
		return 1
	}
	return 0
}

// promise lists the file of a chunk, unless it is or may not be found.
func (w *window) promise(chunk int) {
	f := w.rows.fileOf(uint32(chunk))                                         //nolint:gosec // chunks of a segment fit 32 bits
	if len(w.promising) > 0 && w.promising[len(w.promising)-1] == uint32(f) { //nolint:gosec // as above
		return
	}
	if w.allowed == nil || w.allowed.has(f) {
		w.promising = append(w.promising, uint32(f)) //nolint:gosec // as above
	}
}

// sift leaves only those that can still reach a floor with the terms from t on.
func (w *window) sift(t int, floor float64) {
	least, kept := w.least(t, floor), 0
	for _, f := range w.promising {
		w.promising[kept] = f
		first, end := w.span(int(f))
		sum := greatest(w.chunks[first-w.c0:end-w.c0]) + w.files[int(f)-w.f0]
		kept += int(bit(!(sum < least)))
	}
	w.promising = w.promising[:kept]
}

// raise returns a score that k chunks of promising files reach already.
func (w *window) raise(k int) float64 {
	w.partial = w.partial[:0]
	for _, f := range w.promising {
		first, end := w.span(int(f))
		for i, v := range w.chunks[first-w.c0 : end-w.c0] {
			if v > 0 && (w.only == nil || w.only.has(first+i)) {
				w.partial = append(w.partial, v+w.files[int(f)-w.f0])
			}
		}
	}
	return w.reached(k)
}

// reached is a score that k of the partial sums reach.
func (w *window) reached(k int) float64 {
	if len(w.partial) < k {
		return math.Inf(-1)
	}
	return math.Float64frombits(floorOf(w.partial, k, slices.Max(w.partial)))
}

// clear forgets the sums.
func (w *window) clear() {
	if n := w.c1 - w.c0; n <= scanned*len(w.touched) {
		clear(w.chunks[:n])
	} else {
		for _, at := range w.touched {
			w.chunks[at] = 0
		}
	}
	w.touched = w.touched[:0]
	if w.most > 0 {
		clear(w.files[:w.f1-w.f0])
		w.most = 0
	}
}
