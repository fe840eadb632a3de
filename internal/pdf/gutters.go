package pdf

import (
	"cmp"
	"math"
	"slices"
)

// wordRow is words at the same height, from left to right.
type wordRow struct {
	base, height float64
	words        []*word
}

// hasNumbers reports whether half of the words are numbers.
func (r wordRow) hasNumbers() bool {
	n := 0
	for _, w := range r.words {
		if isNumber(w.text) {
			n++
		}
	}
	return 2*n >= len(r.words)
}

// rowsOf sorts words into rows from the top.
func rowsOf(words []*word) []wordRow {
	words = slices.Clone(words)
	slices.SortStableFunc(words, func(a, b *word) int { return cmp.Compare(b.base, a.base) })
	var rows []wordRow
	for _, w := range words {
		n := len(rows)
		if n == 0 || rows[n-1].base-w.base > 0.4*max(w.height, rows[n-1].height) {
			rows = append(rows, wordRow{base: w.base, height: w.height})
			n++
		}
		r := &rows[n-1]
		r.words, r.height = append(r.words, w), max(r.height, w.height)
	}
	for _, r := range rows {
		slices.SortStableFunc(r.words, func(a, b *word) int { return cmp.Compare(a.left, b.left) })
	}
	return rows
}

const cellGap = 0.75 // heights between two cells

// pieces cuts a row between words that are as far apart as cells.
func (r wordRow) pieces() [][]*word {
	var pieces [][]*word
	right := 0.0
	for i, w := range r.words {
		if i == 0 || w.left-right > cellGap*r.height {
			pieces = append(pieces, nil)
			right = w.right
		}
		last := len(pieces) - 1
		pieces[last], right = append(pieces[last], w), max(right, w.right)
	}
	return pieces
}

type interval struct{ from, to float64 }

// gutterTables finds tables in aligned words and marks these words as used.
func gutterTables(words []*word, rules rulings) []*table {
	rows := rowsOf(slices.DeleteFunc(slices.Clone(words), func(w *word) bool { return w.used }))
	var tables []*table
	for from := 0; from < len(rows); {
		to := runEnd(rows, from)
		if to-from < 2 {
			from++
			continue
		}
		if t := tableOf(rows[from:to], rules); t != nil {
			tables = append(tables, t)
			for _, r := range rows[from:to] {
				for _, w := range r.words {
					w.used = true
				}
			}
		}
		from = to
	}
	return tables
}

// runEnd returns the end of the run of near rows with two cells or more that begins at a row; at most two rows
// of one cell stand between them.
func runEnd(rows []wordRow, from int) int {
	const maxDistance, maxSingle = 2.6, 2
	end, single := from, 0
	for i := from; i < len(rows); i++ {
		if i > from && rows[i-1].base-rows[i].base > maxDistance*max(rows[i].height, rows[i-1].height) {
			break
		}
		if len(rows[i].pieces()) >= 2 {
			end, single = i+1, 0
		} else if single++; single > maxSingle || i == from {
			break
		}
	}
	return end
}

// tableOf returns the table that rows make, or nil.
func tableOf(rows []wordRow, rules rulings) *table {
	gutters := guttersOf(rows)
	if len(gutters) == 0 || len(gutters)*len(rows) > maxFields {
		return nil
	}
	t := &table{}
	left := math.Inf(1)
	for i, r := range rows {
		left = min(left, r.words[0].left)
		row := tableRow{base: r.base, height: r.height}
		if i+1 < len(rows) {
			row.rule = rules.between(r, rows[i+1])
		}
		for _, piece := range cutAt(r, gutters) {
			first, last := columnsOf(piece, gutters)
			if n := len(row.cells); n > 0 && row.cells[n-1].last >= first {
				c := &row.cells[n-1]
				c.lines[0].words, c.last = append(c.lines[0].words, piece...), max(c.last, last)
				continue
			}
			row.cells = append(row.cells, tableCell{lines: []wordRow{{r.base, r.height, piece}}, first: first, last: last})
		}
		t.rows = append(t.rows, row)
	}
	t.edges = []float64{left}
	for _, g := range gutters {
		t.edges = append(t.edges, g.to)
	}
	if !t.tidy() || !t.plausible() {
		return nil
	}
	return t
}

// guttersOf returns the intervals between columns: those that few of the rows with two cells or more cross.
func guttersOf(rows []wordRow) []interval {
	type edge struct {
		at   float64
		step int
	}
	var edges []edge
	var pieces []interval
	multi, height := 0, 0.0
	for _, r := range rows {
		height += r.height / float64(len(rows))
		cells := r.pieces()
		if len(cells) < 2 {
			continue
		}
		multi++
		for _, c := range cells {
			p := extent(c)
			pieces = append(pieces, p)
			edges = append(edges, edge{p.from, 1}, edge{p.to, -1})
		}
	}
	slices.SortFunc(edges, func(a, b edge) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(b.step, a.step)) })
	tolerance := multi / 5
	if multi == 3 || multi == 4 {
		tolerance = 1
	}
	outer := math.Inf(1)
	var gutters []interval
	crossed, began, first := 0, -outer, true
	for _, e := range edges {
		before := crossed
		crossed += e.step
		switch {
		case before <= tolerance && crossed > tolerance:
			if first || e.at-began > 0.45*height {
				gutters = append(gutters, interval{began, e.at})
			}
			first = false
		case before > tolerance && crossed <= tolerance:
			began = e.at
		}
	}
	if first {
		return nil
	}
	return withSparse(append(gutters, interval{began, outer}), pieces, height)
}

// withSparse divides gutters by the columns that have few cells, and leaves out what lies outside of all columns.
func withSparse(gutters, pieces []interval, height float64) []interval {
	var all []interval
	for _, g := range gutters {
		in := interval{math.Inf(1), math.Inf(-1)}
		for _, p := range pieces {
			if p.from > g.from+0.45*height && p.to < g.to-0.45*height {
				in = interval{min(in.from, p.from), max(in.to, p.to)}
			}
		}
		if in.from < in.to {
			all = append(all, interval{g.from, in.from}, interval{in.to, g.to})
		} else {
			all = append(all, g)
		}
	}
	return all[1 : len(all)-1]
}

func extent(words []*word) interval {
	s := interval{words[0].left, words[0].right}
	for _, w := range words {
		s.to = max(s.to, w.right)
	}
	return s
}

// cutAt cuts a row into cells, between words that are far apart or have a gutter between them.
func cutAt(r wordRow, gutters []interval) [][]*word {
	var cells [][]*word
	pieces := r.pieces()
	if len(pieces) == 1 && !r.hasNumbers() {
		return pieces
	}
	for _, piece := range pieces {
		from := 0
		for i := 1; i < len(piece); i++ {
			a, b := piece[i-1].right, piece[i].left
			if b-a > 0.3*r.height && slices.ContainsFunc(gutters, func(g interval) bool {
				return a <= g.to && b >= g.from && (g.from == g.to || min(b, g.to)-max(a, g.from) > 0.15*r.height)
			}) {
				cells = append(cells, piece[from:i])
				from = i
			}
		}
		cells = append(cells, piece[from:])
	}
	return cells
}

// columnsOf returns the columns that words cover.
func columnsOf(words []*word, gutters []interval) (first, last int) {
	s := extent(words)
	for _, g := range gutters {
		if s.from >= g.from-1 {
			first++
		}
		if s.to > g.to+1 {
			last++
		}
	}
	return min(first, last), last // within a gutter: the column before it
}
