package offline

import "slices"

// view is a passage as one question sees it. What each unit says is looked up once
// for all that compares it, in the order of the question's slots: each term, and behind
// it what may stand for it.
type view struct {
	q       *inquiry
	p       *passage
	glances []glance
	central []float64
	clues   []clues
	rows    [][]float64    // of each unit: how much it says each slot
	named   map[int][]bool // of each section: which slots its heading, or one above, names
	whole   float64        // share of the question's weight that the passage holds

	mixed, inflected []float64 // memory for rows
	keys             []string  // likewise, for the terms of a unit
}

func (q *inquiry) view(p *passage) *view {
	n := len(q.slots)
	v := &view{
		q: q, p: p, glances: p.glances(), central: p.centralities(), clues: p.cluesFor(q.kind), rows: make([][]float64, len(p.units)),
		named: map[int][]bool{}, inflected: make([]float64, n),
	}
	memory := make([]float64, n*(len(p.units)+1))
	row := func(in held) []float64 {
		out := memory[:n:n]
		memory = memory[n:]
		for i, t := range q.slots {
			out[i] = in[t]
		}
		return out
	}
	for j, in := range p.terms {
		v.rows[j] = row(in)
	}
	whole := row(p.all)
	for j, words := range p.tokens {
		q.otherwise.in(words, func(term string) {
			if i := slices.Index(q.slots, term); i >= 0 {
				v.rows[j][i], whole[i] = max(v.rows[j][i], otherShare), max(whole[i], otherShare)
			}
		})
	}
	v.whole = q.share(whole)
	return v
}

// share is the share of the question's weight that a row holds: [coverage] by slots.
func (q *inquiry) share(row []float64) float64 {
	return q.shareBy(row, func(t *weighed) float64 { return t.weight })
}

// rareShare is share where rare words count most.
func (q *inquiry) rareShare(row []float64) float64 {
	return q.shareBy(row, func(t *weighed) float64 { return t.weight * t.weight })
}

func (q *inquiry) shareBy(row []float64, weight func(*weighed) float64) float64 {
	var all, covered float64
	slot := 0
	for i := range q.terms {
		t := &q.terms[i]
		w := weight(t)
		all += w
		share := row[slot]
		slot++
		if t.path && share > 0 {
			share = 1
		}
		for range t.others {
			share = max(share, synonymShare*row[slot])
			slot++
		}
		covered += w * share
	}
	if all == 0 {
		return 0
	}
	return covered / all
}

// most is the greater of two rows, slot by slot. It is valid until the next call, which
// may be given it.
func (v *view) most(a, b []float64) []float64 {
	v.mixed = append(v.mixed[:0], a...)
	for i, s := range b {
		v.mixed[i] = max(v.mixed[i], s)
	}
	return v.mixed
}

// below is a row with what title and headings say, for a unit of a section. It writes to
// the row.
func (v *view) below(section int, row []float64) []float64 {
	named, ok := v.named[section]
	if !ok {
		named = make([]bool, len(row))
		for i, t := range v.q.slots {
			named[i] = v.p.about.has(t) || v.p.sections[section].name.has(t)
		}
		v.named[section] = named
	}
	for i, n := range named {
		if n {
			row[i] = 1
		}
	}
	return row
}

// nearly is the row of unit j where words that are nearly the same count too. It is
// valid until the next call.
func (v *view) nearly(j int) []float64 {
	v.keys = v.keys[:0]
	for t := range v.p.terms[j] {
		v.keys = append(v.keys, t)
	}
	for i, t := range v.q.slots {
		v.inflected[i] = v.rows[j][i]
		if v.inflected[i] > 0 || !v.q.stems[i] {
			continue
		}
		for _, k := range v.keys {
			if alike(t, k) {
				v.inflected[i] = nearlyShare
				break
			}
		}
	}
	return v.inflected
}
