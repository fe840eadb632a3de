package offline

import (
	"slices"
	"strings"
)

// piece is a part of a passage that an answer shows whole: blocks that belong
// together, with the sentence that was chosen.
type piece struct {
	source int // index of the source
	p      *passage
	unit   int          // that was chosen
	blocks []int        // in the order of the document
	spans  map[int]unit // of blocks of which only a part is shown
}

// Bounds of what an answer shows.
const (
	mostPieces  = 3
	answerWords = 150 // of all pieces
	pieceWords  = 110 // of one
	fewestLeft  = 25  // for a further piece
	mostCode    = 16  // lines of a block of code
	shortPiece  = 40  // words of a piece that may say nothing by itself
	saysNothing = 0.6 // share of a piece's words that the question has, from which on the text behind it is shown too
)

// whole returns the piece around a sentence that fits into so many words: the
// block of the sentence, and then, as far as there is room, the term or item that
// it lies inside, the paragraph that introduces it, the header of its table, what
// its term or item explains, the code, list or table that it introduces, and the
// rest of its list or table.
func (in *inquiry) whole(p *passage, source, j, room int) piece {
	out := piece{source: source, p: p, unit: j, spans: map[int]unit{}}
	b := p.units[j].block
	left := room
	take := func(i int, must bool) bool {
		if slices.Contains(out.blocks, i) {
			return true
		}
		n := p.wordsIn(i)
		if n > left && !must {
			return false
		}
		left -= n
		out.blocks = append(out.blocks, i)
		return true
	}
	if p.wordsIn(b) > room {
		out.spans[b] = p.around(j, room)
		left -= len(strings.Fields(p.text[out.spans[b].start:out.spans[b].end]))
		out.blocks = append(out.blocks, b)
	} else {
		take(b, true)
	}
	if h := p.blocks[b].head; h >= 0 {
		take(h, true)
	}
	top := b
	for k := p.parent(b); k >= 0; k = p.parent(k) {
		if take(k, false) {
			top = k
		}
	}
	takeAll := func(from, to int) {
		for i := from; i < to && take(i, false); i++ {
		}
	}
	takeAll(top+1, p.childrenEnd(top))
	if k := p.lead(top); k >= 0 {
		take(k, false)
	}
	if k := p.lead(b); k >= 0 {
		take(k, false)
	}
	takeAll(b+1, p.introduced(b))
	p.takeList(top, left, take)
	if end := slices.Max(out.blocks) + 1; end < len(p.blocks) && p.blocks[end].section == p.blocks[b].section && in.repeatsQuestion(&out) && take(end, false) {
		takeAll(end+1, p.introduced(end))
	}
	taken := slices.Clone(out.blocks)
	out.blocks = slices.DeleteFunc(out.blocks, func(i int) bool { return i != b && p.isBareHeader(i, taken) })
	slices.Sort(out.blocks)
	return out
}

// isBareHeader reports whether block i is the header of a table of which no row is
// among the blocks taken.
func (p *passage) isBareHeader(i int, taken []int) bool {
	return p.blocks[i].head == i && !slices.ContainsFunc(taken, func(k int) bool { return k != i && p.blocks[k].head == i })
}

// wordsIn is how many words a block has, of code as many as are shown.
func (p *passage) wordsIn(i int) int {
	b := p.blocks[i]
	s := p.text[b.start:b.end]
	if b.kind == code {
		if lines := strings.SplitAfterN(s, "\n", mostCode+2); len(lines) > mostCode+1 {
			s = strings.Join(lines[:mostCode+1], "")
		}
	}
	return len(strings.Fields(s))
}

// around is as much of the block of a sentence as fits, the sentences behind it
// before those in front.
func (p *passage) around(j, room int) unit {
	out := p.units[j]
	first, last := j, j
	for {
		grew := false
		for _, k := range []int{last + 1, first - 1} {
			if k < 0 || k >= len(p.units) || p.units[k].block != out.block {
				continue
			}
			from, to := min(out.start, p.units[k].start), max(out.end, p.units[k].end)
			if len(strings.Fields(p.text[from:to])) <= room {
				out.start, out.end = from, to
				first, last, grew = min(first, k), max(last, k), true
				break
			}
		}
		if !grew {
			return out
		}
	}
}

// introduced is the block behind the code, list or table that paragraph i
// introduces: what follows it directly, or at its colon.
func (p *passage) introduced(i int) int {
	b, next := p.blocks[i], i+1
	if next >= len(p.blocks) || p.blocks[next].section != b.section || b.kind != paragraph && b.kind != item {
		return next
	}
	colon := strings.HasSuffix(strings.TrimRight(p.text[b.start:b.end], "*_ "), ":")
	switch first := p.blocks[next]; {
	case first.kind == code:
		return next + 1
	case colon && (first.kind == item || first.kind == row) || first.kind == row:
		for next < len(p.blocks) && p.blocks[next].section == b.section && (p.blocks[next].group == first.group && p.blocks[next].kind == first.kind || p.blocks[next].indent > first.indent) {
			next++
		}
	}
	return next
}

// takeList takes the rest of a list or table where all of it fits.
func (p *passage) takeList(i, room int, take func(int, bool) bool) {
	b := p.blocks[i]
	if b.kind != item && b.kind != row {
		return
	}
	var all []int
	words := 0
	for k, o := range p.blocks {
		if o.section == b.section && (o.group == b.group && o.kind == b.kind || len(all) > 0 && k == all[len(all)-1]+1 && o.indent > b.indent) {
			all = append(all, k)
			words += p.wordsIn(k)
		}
	}
	if words > room+p.wordsIn(i) {
		return
	}
	for _, k := range all {
		take(k, false)
	}
}

// repeatsQuestion reports whether a piece says hardly more than the question
// does, such as the message that was asked about.
func (in *inquiry) repeatsQuestion(x *piece) bool {
	own, all := 0.0, 0.0
	for j, u := range x.p.units {
		if !slices.Contains(x.blocks, u.block) {
			continue
		}
		for _, t := range x.p.tokens[j] {
			all++
			if in.asked[strings.ToLower(x.p.text[u.start+t.Start:u.start+t.End])] {
				own++
			}
		}
	}
	return all <= shortPiece && own >= saysNothing*all
}

// wordCount is how many words a piece shows.
func (x *piece) wordCount() int {
	n := 0
	for _, i := range x.blocks {
		if s, ok := x.spans[i]; ok {
			n += len(strings.Fields(x.p.text[s.start:s.end]))
		} else {
			n += x.p.wordsIn(i)
		}
	}
	return n
}

// left is how many items or rows of the piece's list or table are not shown, and
// how many lines of its code, of the last one.
func (x *piece) left() (entries int) {
	last := x.p.blocks[x.blocks[len(x.blocks)-1]]
	for _, i := range x.blocks {
		if k := x.p.blocks[i].kind; k == item || k == row {
			last = x.p.blocks[i]
		}
	}
	if last.kind != item && last.kind != row {
		return 0
	}
	for i, o := range x.p.blocks {
		if o.kind == last.kind && o.group == last.group && o.indent <= last.indent && !slices.Contains(x.blocks, i) {
			entries++
		}
	}
	return entries
}
