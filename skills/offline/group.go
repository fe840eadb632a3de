package offline

import (
	"cmp"
	"math"
	"regexp"
	"slices"
	"strings"
)

// noLimit is room for any number of words.
const noLimit = math.MaxInt

func (s *selection) has(p place) bool { return slices.Contains(s.chosen, p) }

// quoted reports whether the same words stand among the chosen already: pages
// repeat what holds in several places.
func (s *selection) quoted(p place) bool {
	shown := func(p place) string { return s.passages[p.passage].tidied(p.unit) }
	return slices.ContainsFunc(s.chosen, func(c place) bool { return shown(c) == shown(p) })
}

// take adds a statement with what belongs to it: the sentence that a pronoun
// points to, the sentence that leads into a list, what a colon announces. It
// reports whether there was room, which is so for the first of all.
func (s *selection) take(p place, room int) bool {
	group := s.group(p)
	n := 0
	for _, g := range group {
		if !s.has(g) {
			n += s.proseWords(g)
		}
	}
	if len(s.chosen) > 0 && s.spent+n > room {
		return false
	}
	first := slices.MinFunc(group, func(a, b place) int { return cmp.Compare(a.unit, b.unit) })
	with := s.source(first)
	for _, g := range group {
		if s.has(g) {
			continue
		}
		s.chosen = append(s.chosen, g)
		if with != s.source(g) { // the group runs over the end of a source
			if s.with == nil {
				s.with = map[place]int{}
			}
			s.with[g] = with
		}
	}
	s.spent += n
	return true
}

func (s *selection) proseWords(p place) int {
	if s.passages[p.passage].units[p.unit].kind == code {
		return 0
	}
	return len(strings.Fields(s.passages[p.passage].tidied(p.unit)))
}

// group is a statement with what belongs to it, the statement first.
func (s *selection) group(p place) []place {
	units := s.passages[p.passage].units
	u := units[p.unit]
	out := []place{p}
	add := func(i int) { out = append(out, place{p.passage, i}) }
	switch u.kind {
	case sentence:
		raw := s.passages[p.passage].tidied(p.unit)
		for _, i := range s.pointedAt(p) {
			add(i)
		}
		if strings.HasSuffix(raw, ":") || announces.MatchString(raw) {
			for _, i := range s.announced(p) {
				add(i)
			}
		}
	case item:
		if u.lead >= 0 && !s.passages[p.passage].away(u.lead) {
			add(u.lead)
			for _, i := range s.pointedAt(place{p.passage, u.lead}) {
				add(i)
			}
		}
		if s.kind == HowTo && u.ordered {
			for _, i := range s.within(p.passage, s.list(p)) {
				if i != p.unit {
					add(i)
				}
			}
		}
		if strings.HasSuffix(s.passages[p.passage].tidied(p.unit), ":") && p.unit+1 < len(units) && units[p.unit+1].kind == code {
			add(p.unit + 1)
		}
	case row:
		for _, i := range s.rows(p) {
			if i != p.unit {
				add(i)
			}
		}
	case code:
		if u.lead >= 0 {
			add(u.lead)
		}
		for _, i := range s.passages[p.passage].codeFrom(p.unit)[1:] {
			add(i)
		}
	}
	return out
}

// announces is said of what comes next: "The following table outlines …".
var announces = regexp.MustCompile(`(?i)\b(?:the|these) following \w+|\b(?:as follows|shown below|listed below)\b|\bponiższ\p{L}+|sau đây`)

// pointedAt is what a sentence points back to: the sentence before or, for "In this
// command:", the block of code before with its lead.
func (s *selection) pointedAt(p place) []int {
	units := s.passages[p.passage].units
	before := p.unit - 1
	if before < 0 || units[before].section != units[p.unit].section || !s.passages[p.passage].glances()[p.unit].pointsBack {
		return nil
	}
	switch u := units[before]; {
	case u.kind == sentence && u.block == units[p.unit].block:
		return []int{before}
	case u.kind == code && s.passages[p.passage].lines(before) <= maxCode && u.lead >= 0:
		return []int{u.lead, before}
	case u.kind == code && s.passages[p.passage].lines(before) <= maxCode:
		return []int{before}
	}
	return nil
}

// announced are the units behind a colon: a block of code, a list, the rows of
// a table that share a word with the question.
func (s *selection) announced(p place) []int {
	units := s.passages[p.passage].units
	next := p.unit + 1
	if next >= len(units) {
		return nil
	}
	switch units[next].kind {
	case code:
		if of := &s.passages[p.passage]; of.lines(next) <= maxCode {
			return of.codeFrom(next)
		}
	case item:
		return s.list(place{p.passage, next})
	case row:
		return s.rows(place{p.passage, next})
	case sentence: // the colon announces prose
	}
	return nil
}

// list are the items of the list that p stands in, all of them or, of a long
// list, the first ones, with the code that belongs to an item.
func (s *selection) list(p place) []int {
	units := s.passages[p.passage].units
	first := p.unit
	for first > 0 && (units[first-1].kind == item || units[first-1].kind == code || units[first-1].within) && units[first-1].block == units[p.unit].block {
		first--
	}
	for units[first].kind != item { // it belongs to an item that the passage lacks
		first++
	}
	if units[first].number > 1 {
		first = p.unit // the list began before the passage: its middle is no beginning
	}
	var out []int
	items, shown := 0, false // and whether the code of the last item is
	for i := first; i < len(units) && units[i].block == units[p.unit].block; i++ {
		switch {
		case units[i].kind == item && units[i].level <= units[p.unit].level+1:
			if items++; items > maxItems {
				return out
			}
			out, shown = append(out, i), false
		case shown || units[i].kind != code || s.passages[p.passage].lines(i) > maxCode || len(out) == 0:
		case out[len(out)-1] == i-1: // it belongs to its item
			out, shown = append(out, i), true
		case units[i-1].within && s.leadsIn(place{p.passage, i - 1}): // to a paragraph of its item
			out, shown = append(out, i-1, i), true
		}
	}
	return out
}

// leadsIn reports whether a sentence announces code, and is none of a note.
func (s *selection) leadsIn(p place) bool {
	of := &s.passages[p.passage]
	before := of.said[:of.units[p.unit].start]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	return !strings.Contains(line, ">") && strings.HasSuffix(of.tidied(p.unit), ":")
}

// record reports whether unit j is a row of a box that says one thing of something in each
// row, under its name: a table whose header has only its first cell.
func (p *passage) record(j int) bool {
	head := p.units[j].head
	if p.units[j].kind != row || head < 0 {
		return false
	}
	cells := p.cells(head)
	return len(cells) > 1 && cells[0] != "" && strings.Join(cells[1:], "") == ""
}

// rows are the header and the rows of the table that p stands in: all of a
// small table, else those that say most about the question.
func (s *selection) rows(p place) []int {
	units, record := s.passages[p.passage].units, s.passages[p.passage].record(p.unit)
	var rows []statement
	for i, u := range units {
		if u.kind == row && u.block == units[p.unit].block && i != u.head {
			c := coverage(s.terms, func(t string) float64 {
				if record && s.passages[p.passage].terms[u.head].has(t) {
					return 0 // the name of the thing tells no row from another
				}
				return s.passages[p.passage].terms[i][t]
			})
			if i == p.unit {
				c *= 1.01 // itself first
			}
			rows = append(rows, statement{place: place{p.passage, i}, score: c})
		}
	}
	slices.SortStableFunc(rows, func(a, b statement) int { return cmp.Compare(b.score, a.score) })
	best := 0.0
	if len(rows) > 0 {
		best = rows[0].score
	}
	var out []int
	if head := units[p.unit].head; head >= 0 && !record {
		out = append(out, head)
	}
	words := 0
	for n, r := range rows {
		if n > 0 && (best >= rowAsked || record) && r.score < rowShare*best || n > 0 && record && r.score == 0 {
			break // another row than the one asked for
		}
		if words += s.proseWords(r.place); n > 0 && (n >= maxRows || words > maxWords) {
			break
		}
		out = append(out, r.unit)
	}
	return out
}

// pointsBack reports whether a sentence begins with a word that points to the
// sentence before.
func pointsBack(s string) bool {
	words := plainWords(s)
	if len(words) == 0 {
		return false
	}
	if len(words) > 1 {
		switch words[0] + " " + words[1] {
		case "without one", "without it", "without this", "without them", "the former", "the latter", "the same", "if so", "if not", "once done", "of these", "in both", "as such":
			return true
		}
	}
	switch words[0] {
	case "this", "that", "these", "those", "it", "they", "such", "its", "their", "however", "otherwise", "instead", "therefore", "also",
		"additionally", "then", "both", "here", "but", "and", "so", "thus", "doing",
		"to", "ten", "ta", "te", "ono", "jednak", "nó", "điều", "đây":
		if words[0] == "to" {
			return len(words) > 2 && words[1] == "do" && (words[2] == "this" || words[2] == "so" || words[2] == "that")
		}
		return true
	case "in":
		return len(words) > 2 && (words[1] == "this" || words[1] == "that" || words[1] == "these" || words[1] == "such")
	case "for":
		return len(words) > 2 && words[1] == "this"
	}
	return false
}
