package offline

import (
	"slices"
	"strings"

	"example.com/ragflow/internal/skills/readable"
	"example.com/ragflow/internal/text"
)

// piece is the part of a passage that an answer shows: neighbouring sentences, with the header of their
// table.
type piece struct {
	source      int // index of the source
	p           *passage
	unit        int  // the key sentence
	first, last int  // units that are shown
	single      bool // a row of a table, which answers without its neighbours
}

// Limits of an answer.
const (
	maxPieces    = 3
	answerWords  = 140 // of a piece that is shown alone
	bestWords    = 98  // of the best piece
	moreWords    = 30  // of the others
	maxCodeLines = 16  // lines of a block of code
	valueWords   = 12  // of a value below its label
)

// around returns the piece around unit j that fits into room words. While there is room it adds the rest of the block,
// the units after it and those before it, all below one heading.
func (p *passage) around(source, j, room int) piece {
	x := piece{source: source, p: p, unit: j, first: j, last: j}
	left := room - p.wordsIn(j)
	key := p.blocks[p.units[j].block]
	grow := func(to int, inBlock bool) bool {
		if to < 0 || to >= len(p.units) || p.blocks[p.units[to].block].section != key.section || inBlock && p.units[to].block != p.units[j].block || p.wordsIn(to) > left {
			return false
		}
		left -= p.wordsIn(to)
		x.first, x.last = min(to, x.first), max(to, x.last)
		return true
	}
	for _, inBlock := range []bool{true, false} {
		for grow(x.last+1, inBlock) {
		}
		for grow(x.first-1, inBlock) {
		}
	}
	for b := p.units[x.last].block; x.last > j && p.blocks[b].head == b; b = p.units[x.last].block {
		x.last-- // a header without rows
	}
	return x
}

// headerOnly reports whether a piece is only the header of a table, because no row fits.
func (x *piece) headerOnly() bool {
	b := x.p.units[x.last].block
	return x.first == x.last && x.p.blocks[b].head == b
}

// wordsIn returns the number of words of a unit; only the lines of code that are shown count.
func (p *passage) wordsIn(j int) int {
	u := p.units[j]
	s := p.text[u.start:u.end]
	if p.blocks[u.block].kind == code {
		if lines := strings.SplitAfterN(s, "\n", maxCodeLines+2); len(lines) > maxCodeLines+1 {
			s = strings.Join(lines[:maxCodeLines+1], "")
		}
	}
	return len(strings.Fields(s))
}

// blocks returns the blocks of a piece, in the order of the document, behind the header of its table or the number of
// its section.
func (x *piece) blocks() []int {
	from, to := x.p.units[x.first].block, x.p.units[x.last].block
	var out []int
	if h := x.p.blocks[from].head; h >= 0 && h < from {
		out = append(out, h)
	} else if h := x.p.numberedHeading(from); h >= 0 {
		out = append(out, h)
	}
	for i := from; i <= to; i++ {
		out = append(out, i)
	}
	return out
}

// numberedHeading returns the heading with a number that the item of block i stands below, as "1." below "§ 4"; -1
// without one.
func (p *passage) numberedHeading(i int) int {
	h := slices.IndexFunc(p.blocks[:i], func(o block) bool { return o.kind == heading && o.section == p.blocks[i].section })
	if h < 0 || p.blocks[i].kind != item || len(text.Sections(p.text[p.blocks[h].start:p.blocks[h].end])) == 0 {
		return -1
	}
	return h
}

// span returns the part of block i that a piece shows.
func (x *piece) span(i int) unit {
	b, first, last := x.p.blocks[i], x.p.units[x.first], x.p.units[x.last]
	out := unit{b.start, b.end, i}
	if b.kind == code {
		out.end = b.start + codeEnd(x.p.text[b.start:b.end])
	}
	if first.block == i && x.first > 0 && x.p.units[x.first-1].block == i {
		out.start = first.start
	}
	if last.block == i && x.last+1 < len(x.p.units) && x.p.units[x.last+1].block == i {
		out.end = last.end
	}
	return out
}

// codeEnd returns the end of the part of a code block that is shown: maxCodeLines lines, or all if only one
// line is left.
func codeEnd(raw string) int {
	lines, _ := readable.Code(raw)
	if len(lines) <= maxCodeLines+1 {
		return len(raw)
	}
	at, shown := 0, 0
	for line := range strings.Lines(raw) {
		_, opens := text.OpenFence(strings.TrimLeft(line, "> \t"))
		if shown > 0 || strings.TrimSpace(line) != "" && (at > 0 || !opens) {
			shown++
		}
		if at += len(line); shown == maxCodeLines {
			break
		}
	}
	return len(strings.TrimRight(raw[:at], " \t\r\n"))
}

// shown returns the text that a piece shows, below the title and the headings of its passage.
func (x *piece) shown() string {
	var b strings.Builder
	for _, i := range x.blocks() {
		span := x.span(i)
		b.WriteString(x.p.text[span.start:span.end] + "\n")
	}
	return b.String()
}

// hidden returns how many items or rows of the list or table at the end of a piece are not shown.
func (x *piece) hidden() (n int) {
	from, end := x.p.units[x.first].block, x.p.units[x.last].block
	last := x.p.blocks[end]
	for i, o := range x.p.blocks {
		if last.group > 0 && o.kind == last.kind && o.group == last.group && o.indent <= last.indent && (i < from || i > end) && o.head != i {
			n++
		}
	}
	return n
}

// startsMidList reports whether a piece begins within a list and ends after it.
func (x *piece) startsMidList() bool {
	from := x.p.units[x.first].block
	group := x.p.blocks[from].group
	return group > 0 && x.p.blocks[from].head < 0 && x.p.blocks[x.p.units[x.last].block].group != group &&
		slices.ContainsFunc(x.p.blocks[:from], func(o block) bool { return o.group == group })
}
