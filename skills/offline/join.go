package offline

import (
	"slices"
	"strings"

	"example.com/ragflow/skills/cite"
	"example.com/ragflow/state"
)

// widestGap is how many bytes of white space may stand between two chunks of a
// document that touch.
const widestGap = 16

// part is a source within a passage that was joined of several.
type part struct {
	n          int // of [Source N]
	start, end int // in bytes of the passage's text
	about      set // as of the source by itself
}

// touches reports whether one source goes on where another ends: a section, a list
// or a block of code may run over the cut between them.
func touches(before, behind state.Source) bool {
	gap := behind.Start - before.End
	return before.Source == behind.Source && before.Root == behind.Root && before.Ordinal+1 == behind.Ordinal &&
		0 <= gap && gap <= widestGap && before.End-before.Start == len(before.Text)
}

// home is where a source stands in what was joined: its passage, and where it begins
// in the text of that.
type home struct{ passage, at int }

// join makes one passage of those sources that touch, in the place of the first of
// them, so that what runs over a cut is whole. cut are the sources one by one.
func (l lexicon) join(cut []passage) (joined []passage, homes []home) {
	homes = make([]home, len(cut))
	done := make([]bool, len(cut))
	for i := range cut {
		if done[i] {
			continue
		}
		run := runAround(cut, i)
		p, ok := l.joined(cut, run)
		if !ok {
			p, run = cut[i], []int{i}
		}
		joined = append(joined, p)
		for k, j := range run {
			done[j], homes[j].passage = true, len(joined)-1
			if k > 0 {
				homes[j].at = p.parts[k].start
			}
		}
	}
	return joined, homes
}

// runAround are the sources that touch one another around one of them, by index, in
// the order of the document.
func runAround(cut []passage, i int) []int {
	run := []int{i}
	for {
		at := slices.IndexFunc(cut, func(p passage) bool { return touches(p.src, cut[run[0]].src) })
		if at < 0 {
			break
		}
		run = slices.Insert(run, 0, at)
	}
	for {
		at := slices.IndexFunc(cut, func(p passage) bool { return touches(cut[run[len(run)-1]].src, p.src) })
		if at < 0 {
			return run
		}
		run = append(run, at)
	}
}

// joined is the passage of a run of sources. It reports false where a sentence is cut in
// two itself: a statement has one source.
func (l lexicon) joined(cut []passage, run []int) (p passage, ok bool) {
	first := &cut[run[0]]
	if len(run) == 1 {
		return *first, true
	}
	whole, parts := first.src, make([]part, len(run))
	var b strings.Builder
	for k, i := range run {
		p := &cut[i]
		if k > 0 {
			b.WriteString(strings.Repeat("\n", p.src.Start-cut[run[k-1]].src.End))
		}
		parts[k] = part{p.n, b.Len(), b.Len() + len(p.src.Text), p.about}
		b.WriteString(p.src.Text)
		whole.Score, whole.End = max(whole.Score, p.src.Score), p.src.End
	}
	whole.Text = b.String()
	starts := make([]int, 0, len(run))
	for _, in := range parts[1:] {
		starts = append(starts, in.start)
	}
	out := l.passage(first.n, whole, starts...)
	out.parts = parts
	for _, u := range out.units {
		if u.end > out.part(u.start).end {
			return passage{}, false
		}
	}
	return out, true
}

// at is the first unit that holds any of a span of the text; -1 where none does.
func (p *passage) at(start, end int) int {
	return slices.IndexFunc(p.units, func(u unit) bool { return start < u.end && u.start < end })
}

// part is the source that holds a byte of the text.
func (p *passage) part(offset int) part {
	out := part{p.n, 0, len(p.src.Text), p.about}
	for _, s := range p.parts {
		if s.start <= offset {
			out = s
		}
	}
	return out
}

// sectionPart is the source that a section begins in.
func (p *passage) sectionPart(sec int) part {
	if first := p.sections[sec].first; first < len(p.units) {
		return p.part(p.units[first].start)
	}
	return p.part(0)
}

// source is the number of the source that unit j stands in.
func (p *passage) source(j int) int { return p.part(p.units[j].start).n }

// pick is what is quoted of unit j.
func (p *passage) pick(j int) cite.Pick {
	u, in := p.units[j], p.part(p.units[j].start)
	return cite.Pick{N: in.n, Start: u.start - in.start, End: u.end - in.start}
}

// mark is that of the source that unit j stands in.
func (p *passage) mark(j int) string { return cite.Marker(p.source(j)) }
