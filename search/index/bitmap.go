package index

import "math/bits"

// bitmap is a set of small numbers, 64 in a word.
type bitmap []uint64

// newBitmap has room for the numbers below n.
func newBitmap(n int) bitmap { return make(bitmap, (n+63)/64) }

func (b bitmap) set(i int)      { b[i>>6] |= 1 << (i & 63) }
func (b bitmap) unset(i int)    { b[i>>6] &^= 1 << (i & 63) }
func (b bitmap) has(i int) bool { return b[i>>6]&(1<<(i&63)) != 0 }

// next is the least member that is not below i; behind all where there is none.
func (b bitmap) next(i int) int {
	for w := i >> 6; w < len(b); w++ {
		word := b[w]
		if w == i>>6 {
			word &= ^uint64(0) << (i & 63)
		}
		if word != 0 {
			return w<<6 + bits.TrailingZeros64(word)
		}
	}
	return len(b) << 6
}

// count is how many members there are.
func (b bitmap) count() (n int) {
	for _, word := range b {
		n += bits.OnesCount64(word)
	}
	return n
}

// fill puts in all numbers below n.
func (b bitmap) fill(n int) {
	for i := range n {
		b.set(i)
	}
}

// intersect leaves only what o has too.
func (b bitmap) intersect(o bitmap) {
	for i := range o {
		b[i] &= o[i]
	}
}

// subtract takes out what o has.
func (b bitmap) subtract(o bitmap) {
	for i := range o {
		b[i] &^= o[i]
	}
}

// unite puts in what o has.
func (b bitmap) unite(o bitmap) {
	for i := range o {
		b[i] |= o[i]
	}
}
