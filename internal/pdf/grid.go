package pdf

import (
	"cmp"
	"math"
	"slices"
)

const (
	maxFields   = 20_000 // rows by columns of a table on a page
	maxBoxWords = 120    // in a field of a table; a frame around more is a box of text
	lineGap     = 4.0    // points between two lines of a grid; nearer ones are one
)

// ruledGrid is the fields that ruling lines part. Field (i, j) lies below ys[i] and right of xs[j].
type ruledGrid struct {
	xs, ys []float64 // xs ascending, ys descending
	rulings
}

// grids returns the grids of a page: lines that touch each other make one.
func (r rulings) grids() []ruledGrid {
	var grids []ruledGrid
	seenAcross, seenDown := make([]bool, len(r.across)), make([]bool, len(r.down))
	for i, first := range r.across {
		if seenAcross[i] {
			continue
		}
		seenAcross[i] = true
		g := ruledGrid{rulings: rulings{across: []ruling{first}}}
		for n := 0; n < len(g.across); n++ {
			for j, v := range r.down {
				if seenDown[j] || !meet(g.across[n], v) {
					continue
				}
				seenDown[j] = true
				g.down = append(g.down, v)
				for k, h := range r.across {
					if !seenAcross[k] && meet(h, v) {
						seenAcross[k] = true
						g.across = append(g.across, h)
					}
				}
			}
		}
		g.xs, g.ys = places(g.down, g.across), places(g.across, g.down)
		slices.Reverse(g.ys)
		if len(g.xs) >= 3 && len(g.ys) >= 3 && len(g.xs)*len(g.ys) <= maxFields {
			grids = append(grids, g)
		}
	}
	return grids
}

func meet(h, v ruling) bool {
	return v.at >= h.from-touching && v.at <= h.to+touching && h.at >= v.from-touching && h.at <= v.to+touching
}

// places returns the positions of lines, in ascending order, and the ends of crossing lines beyond the outermost.
func places(lines, crossing []ruling) []float64 {
	if len(lines) == 0 || len(crossing) == 0 {
		return nil
	}
	var all []float64
	for _, l := range lines {
		all = append(all, l.at)
	}
	low, high := slices.Min(all), slices.Max(all)
	for _, c := range crossing {
		if c.to-c.from > 5*lineGap {
			all = append(all, min(c.from, low), max(c.to, high))
		}
	}
	slices.Sort(all)
	at := all[:1]
	for _, x := range all {
		if x-at[len(at)-1] > lineGap {
			at = append(at, x)
		}
	}
	return at
}

// parted reports whether one of the lines near a place passes a point of it.
func parted(lines []ruling, at, through float64) bool {
	return slices.ContainsFunc(lines, func(l ruling) bool {
		return math.Abs(l.at-at) <= lineGap && l.from <= through && l.to >= through
	})
}

// table returns the table that a grid makes of words, or nil, and marks them as used.
func (g *ruledGrid) table(words []*word) *table {
	rows, columns := len(g.ys)-1, len(g.xs)-1
	owner := make([]int, rows*columns) // the field that covers another one, plus 1
	down, right := make([]int, rows*columns), make([]int, rows*columns)
	for i := range rows {
		for j := range columns {
			at := i*columns + j
			if owner[at] > 0 {
				continue
			}
			i2, j2 := i, j
			for j2+1 < columns && owner[i*columns+j2+1] == 0 && !parted(g.down, g.xs[j2+1], (g.ys[i]+g.ys[i+1])/2) {
				j2++
			}
			for i2+1 < rows && owner[(i2+1)*columns+j] == 0 && !parted(g.across, g.ys[i2+1], (g.xs[j]+g.xs[j+1])/2) {
				i2++
			}
			down[at], right[at] = i2-i, j2-j
			for k := i; k <= i2; k++ {
				for l := j; l <= j2; l++ {
					owner[k*columns+l] = at + 1
				}
			}
		}
	}
	fields := make([][]*word, rows*columns)
	var inside []*word
	for _, w := range words {
		x, y := (w.left+w.right)/2, w.base+0.3*w.height
		if w.used || x < g.xs[0] || x > g.xs[columns] || y > g.ys[0] || y < g.ys[rows] {
			continue
		}
		i, j := 0, 0
		for i+1 < rows && g.ys[i+1] > y {
			i++
		}
		for j+1 < columns && g.xs[j+1] <= x {
			j++
		}
		at := owner[i*columns+j] - 1
		if fields[at] = append(fields[at], w); len(fields[at]) > maxBoxWords {
			return nil
		}
		inside = append(inside, w)
	}
	t := &table{ruled: true, edges: g.xs[:columns]}
	for i := range rows {
		row := tableRow{base: g.ys[i+1]}
		for j := range columns {
			at := i*columns + j
			if owner[at] == at+1 && len(fields[at]) > 0 {
				row.cells = append(row.cells, tableCell{lines: rowsOf(fields[at]), first: j, last: j + right[at], down: down[at]})
			}
		}
		t.rows = append(t.rows, row)
	}
	t.splitBands()
	t.splitColumns(g.xs)
	if !t.tidy() {
		return nil
	}
	for _, w := range inside {
		w.used = true
	}
	return t
}

// splitBands splits rows whose cells hold as many aligned lines of text each, half of them numbers: only some of
// the rows of the table are ruled. Rows that a cell of a row above covers stay whole.
func (t *table) splitBands() {
	var rows []tableRow
	covered := 0 // rows from here
	for _, row := range t.rows {
		bases := row.bands()
		if len(bases) < 2 || covered > 0 {
			bases = []float64{row.base}
		}
		for n, base := range bases {
			part := tableRow{base: base}
			for _, c := range row.cells {
				own := c
				own.lines = nil
				for _, l := range c.lines {
					if nearest(bases, l.base) == n {
						own.lines = append(own.lines, l)
					}
				}
				if len(own.lines) > 0 {
					part.cells = append(part.cells, own)
				}
			}
			rows = append(rows, part)
		}
		covered--
		for _, c := range row.cells {
			covered = max(covered, c.down)
		}
	}
	t.rows = rows
}

func nearest(bases []float64, base float64) int {
	best := 0
	for i, b := range bases {
		if math.Abs(b-base) < math.Abs(bases[best]-base) {
			best = i
		}
	}
	return best
}

// bands returns the base lines of the rows within a row; none if it is not to be split. The first column may
// have lines of its own, which name the rows below.
func (r *tableRow) bands() []float64 {
	var bases []float64 // of the other columns
	cells, filled, digits := 0, 0, 0
	label := tableCell{}
	add := func(l wordRow) {
		if len(bases) == 0 || math.Abs(bases[nearest(bases, l.base)]-l.base) > 0.4*l.height {
			bases = append(bases, l.base)
		}
	}
	for _, c := range r.cells {
		switch {
		case c.down > 0:
			return nil
		case c.first == 0:
			label = c
			continue
		}
		cells++
		for _, l := range c.lines {
			filled++
			if l.hasNumbers() {
				digits++
			}
			add(l)
		}
	}
	if cells == 0 || len(bases) < 2 || 2*digits < filled || 10*filled < 8*cells*len(bases) || cells == 1 && len(label.lines) != len(bases) {
		return nil
	}
	for _, l := range label.lines {
		add(l)
	}
	slices.SortFunc(bases, func(a, b float64) int { return cmp.Compare(b, a) })
	return bases
}

// splitColumns splits columns between two lines at the gutters in them, and cells over some columns whose text
// does not cross any: only some of the columns and rows are ruled.
func (t *table) splitColumns(xs []float64) {
	var gutters []interval
	for c := range t.edges {
		if c > 0 {
			gutters = append(gutters, interval{xs[c], xs[c]})
		}
		var lines []wordRow
		multi := 0
		for _, r := range t.rows {
			for _, cell := range r.cells {
				if cell.first != c || cell.last != c || cell.down > 0 {
					continue
				}
				for _, l := range cell.lines {
					lines = append(lines, l)
					if len(l.pieces()) > 1 {
						multi++
					}
				}
			}
		}
		if multi >= 2 && 10*multi >= 6*len(lines) {
			gutters = append(gutters, guttersOf(lines)...)
		}
	}
	column := make([]int, len(t.edges)+1) // gutters before it
	t.edges = t.edges[:1:1]
	for i, g := range gutters {
		t.edges = append(t.edges, g.to)
		for c := range column {
			if c > 0 && g.from == xs[c] && g.to == xs[c] {
				column[c] = i + 1
			}
		}
	}
	column[len(column)-1] = len(gutters) + 1
	for i := range t.rows {
		var cells []tableCell
		for _, cell := range t.rows[i].cells {
			first, last := column[cell.first], column[cell.last+1]-1
			cells = append(cells, cell.spread(first, last, gutters)...)
		}
		t.rows[i].cells = cells
	}
}

// spread returns the parts of a cell over columns that its lines make, if their columns differ.
func (c tableCell) spread(first, last int, gutters []interval) []tableCell {
	whole := c
	whole.first, whole.last = first, last
	if first == last || c.down > 0 {
		return []tableCell{whole}
	}
	var parts []tableCell
	for _, l := range c.lines {
		for _, piece := range cutAt(l, gutters) {
			a, b := columnsOf(piece, gutters)
			a, b = max(a, first), min(b, last)
			line := wordRow{l.base, l.height, piece}
			k := slices.IndexFunc(parts, func(p tableCell) bool { return p.first <= b && a <= p.last })
			switch {
			case k < 0:
				parts = append(parts, tableCell{lines: []wordRow{line}, first: a, last: b})
			case parts[k].first != a || parts[k].last != b || parts[k].lines[len(parts[k].lines)-1].base == l.base:
				return []tableCell{whole}
			default:
				parts[k].lines = append(parts[k].lines, line)
			}
		}
	}
	if len(parts) < 2 {
		return []tableCell{whole}
	}
	slices.SortFunc(parts, func(a, b tableCell) int { return cmp.Compare(a.first, b.first) })
	return parts
}
