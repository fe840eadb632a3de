package index

import "slices"

// Where each file of a part has one chunk, whose number is that of the file, a window
// is finished as follows: term by term for all promising files, not file by file. Lists
// are worked through without branches that would often be mispredicted.

// gatherOnes lists the files, counted from the window's first, that can still reach a
// floor with the terms from t on, each once, in no order.
func (w *window) gatherOnes(t int, floor float64) {
	w.promising = slices.Grow(w.promising[:0], len(w.touched))[:len(w.touched)]
	w.promising = w.promising[:sift(w.promising, w.touched, w.chunks, w.least(t, floor))]
	if w.allowed != nil {
		w.promising = slices.DeleteFunc(w.promising, func(at uint32) bool { return !w.allowed.has(w.c0 + int(at)) })
	}
}

// siftOnes leaves only those that can still reach a floor with the terms from t on.
func (w *window) siftOnes(t int, floor float64) {
	w.promising = w.promising[:sift(w.promising, w.promising, w.chunks, w.least(t, floor))]
}

// sift copies those whose sums are not below a bound, and returns how many these are.
func sift(to, from []uint32, sums []float64, least float64) int {
	done, kept := siftEights(to, from, sums, least)
	for _, at := range from[done:] {
		to[kept] = at
		kept += int(bit(!(sums[at] < least))) //nolint:gosec // a bit
	}
	return kept
}

// finishOnes adds what the terms from t on give the promising files, and offers those
// that can win.
func (w *window) finishOnes(t int, floor float64, found *top) {
	marked, ordered := false, false
	for ; t < len(w.terms) && len(w.promising) > 0; t++ {
		switch {
		case w.worthAdding(t):
			if !marked {
				w.markOnes()
				marked = true
			}
			w.addOnes(t, (*onesSet)(w.able))
		case !ordered:
			ordered, floor = true, w.raised(floor, found.k)
			w.siftOnes(t, floor)
			slices.Sort(w.promising)
			fallthrough
		default:
			w.lookUp(t)
		}
		w.siftOnes(t+1, floor)
	}
	if marked {
		clear(w.able)
	}
	if !ordered {
		floor = w.raised(floor, found.k)
	}
	least := w.least(len(w.terms), floor)
	for _, at := range w.promising {
		sum, f := w.chunks[at], w.c0+int(at)
		if sum > 0 && !(sum < least) && (w.only == nil || w.only.has(f)) {
			found.offer(candidate{w.part, f, sum})
		}
	}
}

// raised is a floor that enough of many promising files reach already, or that given.
func (w *window) raised(floor float64, k int) float64 {
	if len(w.promising) <= 2*k {
		return floor
	}
	w.partial = w.partial[:0]
	for _, at := range w.promising {
		if sum := w.chunks[at]; sum > 0 && (w.only == nil || w.only.has(w.c0+int(at))) {
			w.partial = append(w.partial, sum)
		}
	}
	return max(floor, w.reached(k))
}

// markOnes notes the promising files.
func (w *window) markOnes() {
	w.makeAble()
	for _, at := range w.promising {
		w.able[at>>6] |= 1 << (at & 63)
	}
}

// lookUp adds what a term gives the promising files, which ascend.
func (w *window) lookUp(t int) {
	c := &w.cursors[t]
	for _, at := range w.promising {
		f := uint32(w.c0) + at //nolint:gosec // chunks of a segment fit 32 bits
		if c.seek(f); c.chunk != f {
			continue
		}
		if place := plainPlace(uint32(c.codes[c.i]), w.rows.lengths[f]); place < uint32(len(w.shares)) {
			w.sum(int(f), w.gives(t, &w.shares[place]))
		} else {
			w.addOne(t, &c.posting)
		}
	}
}

// addOne adds what a term gives a chunk that is all of its file.
func (w *window) addOne(t int, in *posting) {
	term, titleLength := w.terms[t], uint32(0)
	if in.title > 0 {
		titleLength = w.seg.fileField(int(in.chunk), 2)
	}
	_, body, heading := w.seg.chunkRow(in.chunk)
	w.sum(int(in.chunk), float64(term.weight*(w.score.chunkImpact(term.term, in, body, heading, in.title, titleLength)+
		w.score.fileImpact(term.term, in.body, w.seg.fileField(int(in.chunk), 1), in.title, titleLength))))
}

// addOnes adds what a term gives the chunks in a set, or all of the window.
func (w *window) addOnes(t int, set *onesSet) {
	l := &w.packed
	w.cursors[t].pack(l, uint32(w.c0), uint32(w.c1), set) //nolint:gosec // chunks of a segment fit 32 bits
	for _, p := range l.list[:w.addPlains(t, l.list)] {
		in := l.at(p, uint32(w.c0)) //nolint:gosec // as above
		w.addOne(t, &in)
	}
}

// gains are what a term counts at most.
type gains struct{ chunk, file, document, weight float64 }

// addPlains adds what those of some packed postings give that are in the text alone, as
// nearly all are. It moves the others to the beginning, and returns how many those are.
func (w *window) addPlains(t int, list []uint32) (others int) {
	term := w.terms[t]
	g := gains{term.chunkGain, term.fileGain, w.score.ranking.Document, term.weight}
	lengths, shares := w.rows.lengths[w.c0:w.c1], w.shares
	sums := w.chunks[:len(lengths)]
	known, n := len(w.touched), 0
	w.touched = slices.Grow(w.touched, len(list))
	touched := w.touched[known : known+len(list)]
	for i := 0; i < len(list); {
		done, news := addEights(list[i:], lengths, sums, shares, &g, touched[n:])
		i, n = i+done, n+news
		end := len(list)
		if widest { // those of which one is not plain, or a rest
			end = min(end, i+8)
		}
		for ; i < end; i++ {
			at := list[i] & packedChunk
			place := plainPlace(list[i]>>packedCode, lengths[at])
			if place >= uint32(len(shares)) {
				list[others] = list[i]
				others++
				continue
			}
			by, was := &shares[place], sums[at]
			is := was + float64(g.weight*(float64(g.chunk*by.chunk)+float64(g.document*float64(g.file*by.file))))
			sums[at], touched[n] = is, at
			n += starts(was, is)
		}
	}
	w.touched = w.touched[:known+n]
	return others
}
