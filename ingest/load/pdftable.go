package load

import (
	"math"
	"slices"
	"strings"
)

// cellGap is a wide space in a line, as between the cells of a table.
type cellGap struct {
	at       int     // in the text
	from, to float64 // points
}

// rows finds the lines that are rows of a table: with two wide gaps, or with one
// beside another such line. A line of a justified paragraph may have wide gaps,
// too: it ends where others end that have none, and its gaps do not stand above
// those of the lines beside it.
func rows(lines []pdfLine) {
	for i := range lines {
		l := &lines[i]
		if len(l.gaps) == 0 {
			continue
		}
		beside, above := false, false
		for _, k := range []int{i - 1, i + 1} {
			if k >= 0 && k < len(lines) && lines[k].page == l.page && len(lines[k].gaps) > 0 {
				beside = true
				above = above || aligned(*l, lines[k])
			}
		}
		l.row = (len(l.gaps) > 1 || beside && !numbered(l.text)) && (above || !flush(lines, i))
	}
}

// aligned reports whether the gaps of two lines stand above each other, all of
// those of the one that has fewer: cells begin or end at the same place.
func aligned(a, b pdfLine) bool {
	if len(a.gaps) > len(b.gaps) {
		a, b = b, a
	}
	near := 0.3 * a.size
	for _, g := range a.gaps {
		if !slices.ContainsFunc(b.gaps, func(o cellGap) bool { return math.Abs(o.to-g.to) < near || math.Abs(o.from-g.from) < near }) {
			return false
		}
	}
	return true
}

// flush reports whether a line ends where two lines or more near it end that have
// no gaps.
func flush(lines []pdfLine, i int) bool {
	l, n := lines[i], 0
	for k := max(0, i-nearLines); k < min(len(lines), i+nearLines); k++ {
		if o := lines[k]; o.page == l.page && len(o.gaps) == 0 && math.Abs(o.right-l.right) < 0.3*l.size {
			n++
		}
	}
	return n >= 2
}

// row writes a row of a table as Markdown does; the first one is its head.
func (w *layout) row(l pdfLine, first bool) {
	from := 0
	w.out.WriteByte('|')
	for _, gap := range append(slices.Clone(l.gaps), cellGap{at: len(l.text)}) {
		w.out.WriteString(" " + strings.ReplaceAll(strings.TrimSpace(l.text[from:gap.at]), "|", `\|`) + " |")
		from = gap.at
	}
	if first {
		w.out.WriteString("\n|" + strings.Repeat(" --- |", len(l.gaps)+1))
	}
}

// tabular reports whether a line looks like a row of a table: mostly figures.
func tabular(l pdfLine) bool {
	words := strings.Fields(l.text)
	figures := 0
	for _, w := range words {
		if strings.ContainsAny(w, "0123456789") {
			figures++
		}
	}
	return len(words) >= 3 && 2*figures >= len(words)
}
