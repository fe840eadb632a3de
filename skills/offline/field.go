package offline

import (
	"slices"
	"strings"
)

// How well a line with a label must be asked for, to be all of the answer.
const (
	fieldLabel = 0.5  // of the words of the label
	fieldRest  = 0.75 // of what else is asked, in the passage or, where labels come again, right above the line
)

// field answers a question with the one line that gives what is asked behind its name:
// "Total: 465.05 EUR", in the invoice asked about. It reports whether there is one.
func (s *selection) field() bool {
	switch s.kind {
	case Definition, Number, Fact, Time, Person, Place:
	default:
		return false
	}
	var at place
	best := 0.0
	for i := range s.passages {
		p := &s.passages[i]
		if changes(p.src.Source) {
			continue
		}
		for j := range p.units {
			if fit := s.fieldFit(p, j); fit >= fieldRest && fit > best {
				at, best = place{i, j}, fit
			}
		}
	}
	return best > 0 && s.take(at, noLimit)
}

// fieldFit is how well the place of unit j speaks of what is asked, where the unit has a
// label that is asked for; else 0.
func (s *selection) fieldFit(p *passage, j int) float64 {
	name := p.label(j)
	asked := func(term string) bool {
		return slices.ContainsFunc(s.own, func(w weighed) bool { return w.term == term && tellingWord(w) })
	}
	n := 0
	for t := range name {
		if asked(t) {
			n++
		}
	}
	if n == 0 || float64(n) < fieldLabel*float64(name.size()) {
		return 0
	}
	rest := slices.DeleteFunc(slices.Clone(s.own), func(w weighed) bool { return name.has(w.term) || !tellingWord(w) })
	if len(rest) == 0 && s.kind == Definition && !s.asked.has("the") {
		return 0 // "What is a bind mount?" asks what it is, and not for one
	}
	if len(rest) == 0 {
		return 1
	}
	again := false
	for k := range p.units {
		again = again || k != j && len(p.label(k)) > 0 && overlapping(p.label(k), name)
	}
	return coverage(rest, func(t string) float64 {
		if p.about.has(t) || p.section(j).name.has(t) || p.terms[j].has(t) || !again && p.all.has(t) {
			return 1
		}
		return 0
	})
}

// label is the words of the label that unit j begins with; nil where it has none or
// nothing stands behind it.
func (p *passage) label(j int) set {
	raw := strings.TrimLeft(p.text(j), "*_ ")
	end := strings.IndexByte(raw, ':')
	if end < 0 || end > longestLabel || p.units[j].kind != sentence && p.units[j].kind != item || !label.MatchString(raw) || strings.Trim(raw[end:], ": \n*_") == "" {
		return nil
	}
	end += len(p.text(j)) - len(raw)
	out := set{}
	for _, t := range p.tokens[j] {
		if t.End <= end {
			out[t.Term] = struct{}{}
		}
	}
	return out
}

// longestLabel is how long a label is at most, in bytes.
const longestLabel = 40

func overlapping(a, b set) bool {
	for t := range a {
		if b.has(t) {
			return true
		}
	}
	return false
}
