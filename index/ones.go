package index

import "slices"

// Where each file of a part has one chunk, whose number is that of the file, a window
// is finished as follows: term by term for all promising files, not file by file. Lists
// are worked through without branches that would often be mispredicted.

// gatherOnes lists the files that can still reach a floor with the terms from t on, each
// once, in no order.
func (w *window) gatherOnes(t int, floor float64) {
	w.promising = slices.Grow(w.promising[:0], len(w.touched))[:len(w.touched)]
	for i, at := range w.touched {
		w.promising[i] = at + uint32(w.c0) //nolint:gosec // chunks of a segment fit 32 bits
	}
	w.siftOnes(t, floor)
	if w.allowed != nil {
		w.promising = slices.DeleteFunc(w.promising, func(f uint32) bool { return !w.allowed.has(int(f)) })
	}
}

// siftOnes leaves only those that can still reach a floor with the terms from t on.
func (w *window) siftOnes(t int, floor float64) {
	least, kept := w.least(t, floor), 0
	for _, f := range w.promising {
		w.promising[kept] = f
		kept += int(bit(!(w.chunks[int(f)-w.c0] < least))) //nolint:gosec // a bit
	}
	w.promising = w.promising[:kept]
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
	for _, f := range w.promising {
		sum := w.chunks[int(f)-w.c0]
		if sum > 0 && !(sum < least) && (w.only == nil || w.only.has(int(f))) {
			found.offer(candidate{w.part, int(f), sum})
		}
	}
}

// raised is a floor that enough of many promising files reach already, or that given.
func (w *window) raised(floor float64, k int) float64 {
	if len(w.promising) > 2*k {
		return max(floor, w.raise(k))
	}
	return floor
}

// markOnes notes the promising files.
func (w *window) markOnes() {
	w.makeAble()
	for _, f := range w.promising {
		at := f - uint32(w.c0) //nolint:gosec // chunks of a segment fit 32 bits
		w.able[at>>6] |= 1 << (at & 63)
	}
}

// lookUp adds what a term gives the promising files, which ascend.
func (w *window) lookUp(t int) {
	c := &w.cursors[t]
	for _, f := range w.promising {
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

// addPlains adds what those of some packed postings give that are in the text alone, as
// nearly all are. It moves the others to the beginning, and returns how many those are.
func (w *window) addPlains(t int, list []uint32) (others int) {
	term, document, shares := w.terms[t], w.score.ranking.Document, w.shares
	forChunk, forFile, weight := term.chunkGain, term.fileGain, term.weight
	lengths := w.rows.lengths[w.c0:w.c1]
	sums := w.chunks[:len(lengths)]
	known, n := len(w.touched), 0
	w.touched = slices.Grow(w.touched, len(list))
	touched := w.touched[known : known+len(list)][:len(list)]
	for _, p := range list {
		at := p & packedChunk
		place := plainPlace(p>>packedCode, lengths[at])
		if place >= uint32(len(shares)) {
			list[others] = p
			others++
			continue
		}
		by := &shares[place]
		was := sums[at]
		is := was + float64(weight*(float64(forChunk*by.chunk)+float64(document*float64(forFile*by.file))))
		sums[at], touched[n] = is, at
		n += starts(was, is)
	}
	w.touched = w.touched[:known+n]
	return others
}
