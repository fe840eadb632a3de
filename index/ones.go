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
			w.addPromising(t)
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
	c, term := &w.cursors[t], w.terms[t]
	for _, f := range w.promising {
		if c.seek(f); c.chunk != f {
			continue
		}
		if length := w.rows.lengths[f]; length > onlyChunk && c.posting.plain() {
			n := uint32(length &^ onlyChunk)
			w.sum(int(f), float64(term.weight*(w.score.chunkImpact(term.term, &c.posting, n, 0, 0, 0)+
				w.score.fileImpact(term.term, c.body, n, 0, 0))))
		} else {
			w.addFile(t, int(f))
		}
	}
}
