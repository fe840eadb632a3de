package pdf

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode/utf8"
)

// findTables replaces the lines of tables by one line for each table.
func (p *pageReader) findTables() {
	p.sort()
	for turns := range 4 {
		pools := p.flows(turns)
		all := slices.Concat(pools...)
		if len(all) == 0 {
			continue
		}
		rules := p.rulings(turns)
		for _, g := range rules.grids() {
			p.replace(g.table(all))
		}
		for _, pool := range pools {
			for _, t := range gutterTables(pool, rules) {
				p.replace(t)
			}
		}
	}
	p.withTables()
}

// sort puts the lines in order if most stand above the line before: PDFium reads some turned pages from the
// bottom.
func (p *pageReader) sort() {
	rising := 0
	for i, l := range p.lines[:max(0, len(p.lines)-1)] {
		switch next := p.lines[i+1]; {
		case next.turns != l.turns:
			return
		case next.base > l.base:
			rising++
		default:
			rising--
		}
	}
	if rising > 0 {
		slices.SortStableFunc(p.lines, func(a, b textLine) int { return cmp.Compare(b.base, a.base) })
	}
}

// replace puts a table in the place of its first line.
func (p *pageReader) replace(t *table) {
	if t != nil {
		p.tables[t.line] = append(p.tables[t.line], t)
	}
}

// withTables sets the lines to those without the words of tables, and the tables.
func (p *pageReader) withTables() {
	var lines []textLine
	for i, l := range p.lines {
		for _, t := range p.tables[i] {
			first := t.rows[0]
			lines = append(lines, textLine{page: l.page, size: l.size, left: l.left, right: l.right, base: first.base, turns: l.turns, table: t})
		}
		if kept := slices.DeleteFunc(l.words, func(w word) bool { return w.used }); len(kept) < len(l.words) {
			l.words = kept
			l.hyphen = false
			var words []string
			for _, w := range kept {
				words = append(words, w.text)
			}
			l.text = strings.Join(words, " ")
			if len(kept) > 0 {
				l.left, l.right = kept[0].left, kept[len(kept)-1].right
			}
		}
		l.words = nil
		if l.text != "" {
			lines = append(lines, l)
		}
	}
	p.lines = lines
}

// flows returns the words of the lines of so many turns. Those of a column of prose stand apart.
func (p *pageReader) flows(turns int) [][]*word {
	var lines []*textLine
	page := interval{math.Inf(1), math.Inf(-1)}
	for i := range p.lines {
		if l := &p.lines[i]; l.turns == turns {
			lines = append(lines, l)
			page = interval{min(page.from, l.left), max(page.to, l.right)}
			for k := range l.words {
				l.words[k].line = i
			}
		}
	}
	width := page.to - page.from
	pools := make([][]*word, 1)
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && lines[to].base-lines[to-1].base <= 3*lines[to].height {
			to++
		}
		flow := interval{math.Inf(1), math.Inf(-1)}
		long := 0
		var words []*word
		for _, l := range lines[from:to] {
			flow = interval{min(flow.from, l.left), max(flow.to, l.right)}
			if utf8.RuneCountInString(l.text) > 28 && l.right-l.left > 0.3*width {
				long++
			}
			if leaders.MatchString(l.text) {
				continue // of a table of contents
			}
			for k := range l.words {
				words = append(words, &l.words[k])
			}
		}
		if n := to - from; n >= 5 && flow.to-flow.from < 0.65*width && 10*long >= 4*n {
			pools = append(pools, words)
		} else {
			pools[0] = append(pools[0], words...)
		}
		from = to
	}
	return pools
}
