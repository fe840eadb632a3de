package offline

import (
	"cmp"
	"slices"
	"strings"

	"example.com/ragflow/state"
)

// How the parts of an answer are chosen.
const (
	maxPicks       = 3    // statements an answer is built on
	keepAbove      = 0.6  // of the best statement's score
	maxWords       = 70   // of quoted prose; the first statement may be longer
	maxItems       = 8    // of a list that is shown whole
	maxRows        = 6    // of a table
	maxCode        = 40   // lines of a block that is shown
	answerLent     = 0.2  // what a word counts that the conversation lends, of what it counts in the search
	priorWeight    = 0.12 // of looking like an answer to this type of question
	sourceWeight   = 0.25 // of the rank of the source
	headingShare   = 0.5  // of a word that only the headings above hold
	leadShare      = 0.5  // of a word that only the sentence before holds
	redundantLoss  = 0.35 // for saying again what is chosen already
	noveltyGain    = 0.25 // for covering words that nothing chosen covers
	navigationLoss = 0.25 // of "for more information, see …"
	longWords      = 45   // statements beyond this are hard to read
	longLoss       = 0.1
	shortWords     = 5 // statements below this say little
	shortLoss      = 0.1
	codeOutOfPlace = 0.2 // loss of code where the question does not ask how
)

// place names a unit of a passage.
type place struct{ passage, unit int }

// statement is a unit that might answer, with its score.
type statement struct {
	place
	score float64
}

// selection is one choice of statements for an answer.
type selection struct {
	lex      lexicon
	kind     QuestionType
	terms    []weighed
	passages []passage
	chosen   []place // in the order chosen
	words    int
}

func newSelection(lex lexicon, t state.Task, passages []passage) *selection {
	return &selection{
		lex: lex, kind: TypeOf(t.Question), passages: passages,
		terms: lex.question(lessLent(strongest(t.Queries), answerLent)),
	}
}

// statements scores all units, best first.
func (s *selection) statements() []statement {
	var out []statement
	for i, p := range s.passages {
		for j := range p.units {
			out = append(out, statement{place{i, j}, s.score(i, j)})
		}
	}
	slices.SortStableFunc(out, func(a, b statement) int { return cmp.Compare(b.score, a.score) })
	return out
}

func (s *selection) score(i, j int) float64 {
	p, u := s.passages[i], s.passages[i].units[j]
	raw := p.text(j)
	before := set{}
	if u.lead >= 0 {
		before = p.terms[u.lead]
	} else if j > 0 && p.units[j-1].block == u.block {
		before = p.terms[j-1]
	}
	heading := s.lex.set(u.heading)
	score := coverage(s.terms, func(t string) float64 {
		switch {
		case p.terms[j].has(t):
			return 1
		case before.has(t):
			return leadShare
		case p.about.has(t) || heading.has(t):
			return headingShare
		}
		return 0
	})
	score += priorWeight * prior(s.kind, u.kind, raw)
	score += sourceWeight / float64(i+1)
	if navigation.MatchString(raw) {
		score -= navigationLoss
	}
	switch n := len(strings.Fields(raw)); {
	case u.kind == code && s.kind != HowTo:
		score -= codeOutOfPlace
	case u.kind == code:
	case n > longWords:
		score -= longLoss
	case n < shortWords:
		score -= shortLoss
	}
	return score
}

// choose picks the statements of an answer and what they need to be understood.
func (s *selection) choose() {
	left := s.statements()
	if len(left) == 0 {
		return
	}
	best := left[0].score
	covered := set{}
	for picks := 0; picks < maxPicks && len(left) > 0; picks++ {
		at, top := -1, 0.0
		for i, c := range left {
			if v := s.value(c, covered); at < 0 || v > top {
				at, top = i, v
			}
		}
		if at < 0 || picks > 0 && top < keepAbove*best {
			break
		}
		pick := left[at]
		left = slices.Delete(left, at, at+1)
		if s.has(pick.place) || !s.take(pick.place, picks == 0) {
			picks--
			continue
		}
		for t := range s.passages[pick.passage].terms[pick.unit] {
			covered[t] = struct{}{}
		}
	}
	if s.kind == HowTo {
		s.takeCode()
	}
}

// value is a statement's score in view of what is chosen already.
func (s *selection) value(c statement, covered set) float64 {
	if len(s.chosen) == 0 {
		return c.score
	}
	terms := s.passages[c.passage].terms[c.unit]
	fresh := coverage(s.terms, func(t string) float64 {
		if terms.has(t) && !covered.has(t) {
			return 1
		}
		return 0
	})
	most := 0.0
	for _, p := range s.chosen {
		most = max(most, overlap(terms, s.passages[p.passage].terms[p.unit]))
	}
	return c.score + noveltyGain*fresh - redundantLoss*most
}

// overlap is the share of the smaller set that the other holds.
func overlap(a, b set) float64 {
	if len(a) > len(b) {
		a, b = b, a
	}
	if len(a) == 0 {
		return 0
	}
	n := 0
	for t := range a {
		if b.has(t) {
			n++
		}
	}
	return float64(n) / float64(len(a))
}

func (s *selection) has(p place) bool { return slices.Contains(s.chosen, p) }

// take adds a statement with what belongs to it: the sentence that a pronoun
// points to, the sentence that leads into a list, what a colon announces. It
// reports whether there was room.
func (s *selection) take(p place, first bool) bool {
	group := s.group(p)
	n := 0
	for _, g := range group {
		if !s.has(g) {
			n += s.proseWords(g)
		}
	}
	if !first && s.words+n > maxWords {
		return false
	}
	for _, g := range group {
		if !s.has(g) {
			s.chosen = append(s.chosen, g)
		}
	}
	s.words += n
	return true
}

func (s *selection) proseWords(p place) int {
	if s.passages[p.passage].units[p.unit].kind == code {
		return 0
	}
	return len(strings.Fields(tidy(s.passages[p.passage].text(p.unit))))
}

// group is a statement with what belongs to it, the statement first.
func (s *selection) group(p place) []place {
	units := s.passages[p.passage].units
	u := units[p.unit]
	out := []place{p}
	add := func(i int) { out = append(out, place{p.passage, i}) }
	switch u.kind {
	case sentence:
		raw := tidy(s.passages[p.passage].text(p.unit))
		if pointsBack(raw) && p.unit > 0 && units[p.unit-1].kind == sentence && units[p.unit-1].heading == u.heading {
			add(p.unit - 1)
		}
		if strings.HasSuffix(raw, ":") {
			for _, i := range s.announced(p) {
				add(i)
			}
		}
	case item:
		if u.lead >= 0 {
			add(u.lead)
		}
		if s.kind == HowTo && u.ordered {
			for _, i := range s.list(p) {
				if i != p.unit {
					add(i)
				}
			}
		}
		if strings.HasSuffix(tidy(s.passages[p.passage].text(p.unit)), ":") && p.unit+1 < len(units) && units[p.unit+1].kind == code {
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
	}
	return out
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
		if s.lines(place{p.passage, next}) <= maxCode {
			return []int{next}
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
	for first > 0 && (units[first-1].kind == item || units[first-1].kind == code) && units[first-1].block == units[p.unit].block {
		first--
	}
	for units[first].kind == code { // it belongs to an item that the passage lacks
		first++
	}
	if units[first].number > 1 {
		first = p.unit // the list began before the passage: its middle is no beginning
	}
	var out []int
	items := 0
	for i := first; i < len(units) && units[i].block == units[p.unit].block; i++ {
		switch {
		case units[i].kind == item && units[i].level <= units[p.unit].level+1:
			if items++; items > maxItems {
				return out
			}
			out = append(out, i)
		case units[i].kind == code && s.lines(place{p.passage, i}) <= maxCode:
			out = append(out, i)
		}
	}
	return out
}

// rows are the header and the rows of the table that p stands in: all of a
// small table, else those that say most about the question.
func (s *selection) rows(p place) []int {
	units := s.passages[p.passage].units
	var rows []statement
	for i, u := range units {
		if u.kind == row && u.block == units[p.unit].block && i != u.head {
			c := coverage(s.terms, s.passages[p.passage].terms[i].in)
			if i == p.unit {
				c++ // itself first
			}
			rows = append(rows, statement{place{p.passage, i}, c})
		}
	}
	slices.SortStableFunc(rows, func(a, b statement) int { return cmp.Compare(b.score, a.score) })
	var out []int
	if head := units[p.unit].head; head >= 0 {
		out = append(out, head)
	}
	words := 0
	for n, r := range rows {
		if words += s.proseWords(r.place); n > 0 && (n >= maxRows || words > maxWords) {
			break
		}
		out = append(out, r.unit)
	}
	return out
}

func (s *selection) lines(p place) int {
	return strings.Count(s.passages[p.passage].text(p.unit), "\n") - 1
}

// takeCode adds the block of code that belongs to the statements of a how-to
// answer, unless there is one.
func (s *selection) takeCode() {
	for _, p := range s.chosen {
		if s.passages[p.passage].units[p.unit].kind == code {
			return
		}
	}
	for _, p := range s.chosen {
		units := s.passages[p.passage].units
		for i := p.unit + 1; i < len(units) && i <= p.unit+2; i++ {
			if at := (place{p.passage, i}); units[i].kind == code && s.lines(at) <= maxCode {
				if units[i].lead >= 0 {
					s.take(place{p.passage, units[i].lead}, true)
				}
				s.chosen = append(s.chosen, at)
				return
			}
		}
	}
}

// closest picks the one statement that comes nearest to the question.
func (s *selection) closest() {
	for _, c := range s.statements() {
		if u := s.passages[c.passage].units[c.unit]; u.kind != code && !strings.HasSuffix(tidy(s.passages[c.passage].text(c.unit)), ":") {
			s.chosen = append(s.chosen, c.place)
			if head := s.passages[c.passage].units[c.unit].head; head >= 0 && head != c.unit {
				s.chosen = append(s.chosen, place{c.passage, head})
			}
			return
		}
	}
	if all := s.statements(); len(all) > 0 {
		s.take(all[0].place, true)
	}
}

// pointsBack reports whether a sentence begins with a word that points to the
// sentence before.
func pointsBack(s string) bool {
	words := plainWords(s)
	if len(words) == 0 {
		return false
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
