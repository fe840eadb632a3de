package offline

import "strings"

// piece is the part of a passage that an answer shows: neighbouring sentences,
// with the header of their table.
type piece struct {
	source      int // index of the source
	p           *passage
	unit        int // the telling sentence
	first, last int // units that are shown
}

// Bounds of what an answer shows.
const (
	mostPieces  = 3
	answerWords = 140 // of all pieces
	bestWords   = 98  // of the best piece
	mostCode    = 16  // lines of a block of code
)

// around returns the piece around a sentence that fits into so many words. It
// takes, as far as there is room, the rest of the block of the sentence, the term
// or item that the block lies inside, what follows, and what stands before, all
// below one heading.
func (p *passage) around(source, j, room int) piece {
	x := piece{source, p, j, j, j}
	left := room - p.wordsIn(j)
	grow := func(to int) bool {
		if to < 0 || to >= len(p.units) || p.blocks[p.units[to].block].section != p.blocks[p.units[j].block].section {
			return false
		}
		words := 0
		for k := min(to, x.first); k <= max(to, x.last); k++ {
			if k < x.first || k > x.last {
				words += p.wordsIn(k)
			}
		}
		if words > left {
			return false
		}
		left -= words
		x.first, x.last = min(to, x.first), max(to, x.last)
		return true
	}
	block := p.units[j].block
	inside := func(k int) bool { return k >= 0 && k < len(p.units) && p.units[k].block == block }
	for inside(x.last+1) && grow(x.last+1) {
	}
	for inside(x.first-1) && grow(x.first-1) {
	}
	for k := p.parent(block); k >= 0 && grow(p.firstUnit(k)); k = p.parent(k) {
	}
	for grow(x.last + 1) {
	}
	for grow(x.first - 1) {
	}
	for b := p.units[x.last].block; x.last > j && p.blocks[b].head == b; b = p.units[x.last].block {
		x.last-- // a header without rows
	}
	return x
}

// headerOnly reports whether a piece is the header of a table, for whose rows there was no
// room.
func (x *piece) headerOnly() bool {
	b := x.p.units[x.last].block
	return x.first == x.last && x.p.blocks[b].head == b
}

// wordsIn is how many words a sentence has, of code as many as are shown.
func (p *passage) wordsIn(j int) int {
	u := p.units[j]
	s := p.text[u.start:u.end]
	if p.blocks[u.block].kind == code {
		if lines := strings.SplitAfterN(s, "\n", mostCode+2); len(lines) > mostCode+1 {
			s = strings.Join(lines[:mostCode+1], "")
		}
	}
	return len(strings.Fields(s))
}

// blocks are the blocks that a piece shows, in the order of the document.
func (x *piece) blocks() []int {
	from, to := x.p.units[x.first].block, x.p.units[x.last].block
	var out []int
	if h := x.p.blocks[from].head; h >= 0 && h < from {
		out = append(out, h)
	}
	for i := from; i <= to; i++ {
		out = append(out, i)
	}
	return out
}

// span is the part of block i that a piece shows.
func (x *piece) span(i int) unit {
	b, first, last := x.p.blocks[i], x.p.units[x.first], x.p.units[x.last]
	out := unit{b.start, b.end, i}
	if first.block == i && x.p.firstUnit(i) != x.first {
		out.start = first.start
	}
	if last.block == i && x.last+1 < len(x.p.units) && x.p.units[x.last+1].block == i {
		out.end = last.end
	}
	return out
}

// wordCount is how many words a piece shows.
func (x *piece) wordCount() int {
	n := 0
	for k := x.first; k <= x.last; k++ {
		n += x.p.wordsIn(k)
	}
	return n
}

// left is how many items or rows of the list or table that a piece ends in are not
// shown.
func (x *piece) left() int {
	n, from, end := 0, x.p.units[x.first].block, x.p.units[x.last].block
	last := x.p.blocks[end]
	if last.kind != item && last.kind != row {
		return 0
	}
	for i, o := range x.p.blocks {
		if o.kind == last.kind && o.group == last.group && o.indent <= last.indent && (i < from || i > end) && o.head != i {
			n++
		}
	}
	return n
}
