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
	nearGrade      = 0.2  // below it nothing found is near the question
	enoughWords    = 20   // of a definition that needs nothing beside it
	maxItems       = 8    // of a list that is shown whole
	rowAsked       = 0.7  // of the question that a row must hold to be the one asked for
	rowShare       = 0.4  // of what the best row says, for a row to stand beside it
	maxRows        = 6    // of a table
	maxCode        = 40   // lines of a block that is shown
	answerLent     = 0.2  // what a word counts that the conversation lends, of what it counts in the search
	priorWeight    = 0.12 // of looking like an answer to this type of question
	defineWeight   = 0.3  // of "X is …", where X is what the question asks for
	sourceWeight   = 0.25 // of the rank of the source
	nameWeight     = 0.25 // of standing early below a heading that names what is asked
	codeCoverage   = 0.85 // of the words in a block of code: much of it is example and output
	otherAction    = 0.5  // of a heading without the verb that a how-to question asks about
	lateLoss       = 0.7  // for each paragraph, list or block before
	headingShare   = 0.5  // of a word that only the headings above hold
	leadShare      = 0.5  // of a word that only the sentence before holds
	redundantLoss  = 0.35 // for saying again what is chosen already
	elsewhereLoss  = 0.02 // for standing on another page than the first statement
	noveltyGain    = 0.25 // for covering words that nothing chosen covers
	navigationLoss = 0.25 // of "for more information, see …"
	longWords      = 45   // statements beyond this are hard to read
	longLoss       = 0.1
	shortWords     = 4 // statements below this say little
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
	asked    []string // the words of the question
	verb     string   // that a how-to question asks about; "" without one
	kind     QuestionType
	terms    []weighed
	own      []weighed // without what the conversation lends
	passages []passage
	chosen   []place // in the order chosen
	words    int
}

func newSelection(lex lexicon, t state.Task, passages []passage) *selection {
	question, _ := asked(t.Question)
	s := &selection{
		lex: lex, kind: TypeOf(question), passages: passages,
		terms: lex.question(lessLent(strongest(t.Queries), answerLent)),
		own:   lex.question(state.Query{Text: question}),
		asked: plainWords(question),
	}
	if s.kind == HowTo {
		s.verb = lex.action(question)
	}
	return s
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
	var before held
	if u.lead >= 0 {
		before = p.terms[u.lead]
	} else if j > 0 && p.units[j-1].block == u.block {
		before = p.terms[j-1]
	}
	heading := p.section(j).name
	score := coverage(s.terms, func(t string) float64 {
		above := 0.0
		if p.about.has(t) || heading.has(t) {
			above = headingShare
		}
		return max(p.terms[j][t], leadShare*before[t], above)
	})
	if u.kind == code {
		score *= codeCoverage
	}
	name := named(s.terms, p, u.section)
	if s.verb != "" && !s.speaks(heading, s.verb) {
		name *= otherAction
	}
	score += nameWeight * name * p.early(j)
	score += priorWeight * prior(s.kind, u.kind, raw)
	if s.kind == Definition && u.kind == sentence {
		score += defineWeight * s.defines(raw)
	}
	score += sourceWeight/float64(i+1) + repeats(s.asked, raw)
	if leadsAway(raw) {
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

// early is 1 for what comes first below its heading, less for what comes later,
// 0 where the passage does not hold the beginning.
func (p passage) early(j int) float64 {
	sec := p.section(j)
	if !sec.begins {
		return 0
	}
	return 1 / (1 + lateLoss*float64(p.units[j].block-p.units[sec.first].block))
}

// choose picks the statements of an answer and what they need to be understood.
func (s *selection) choose() {
	if s.kind == HowTo && s.recipe() {
		return
	}
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
		if s.kind == Definition && picks == 0 && s.defined(pick.place) && s.words >= enoughWords {
			break
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
	if s.passages[c.passage].src.Source != s.passages[s.chosen[0].passage].src.Source {
		most += elsewhereLoss / redundantLoss
	}
	return c.score + noveltyGain*fresh - redundantLoss*most
}

// overlap is the share of the smaller set that the other holds.
func overlap(a, b held) float64 {
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

// takeCode adds the block of code that belongs to the first statement of a
// how-to answer, or to another of its passage, unless there is one.
func (s *selection) takeCode() {
	for _, p := range s.chosen {
		if s.passages[p.passage].units[p.unit].kind == code {
			return
		}
	}
	for _, p := range s.chosen {
		if p.passage != s.chosen[0].passage {
			continue
		}
		units := s.passages[p.passage].units
		for i := p.unit + 1; i < len(units) && i <= p.unit+2 && units[i].section == units[p.unit].section; i++ {
			if at := (place{p.passage, i}); units[i].kind == code && s.passages[p.passage].lines(i) <= maxCode {
				if units[i].lead >= 0 {
					s.take(place{p.passage, units[i].lead}, true)
				}
				s.chosen = append(s.chosen, at)
				return
			}
		}
	}
}

// closest picks the one statement that comes nearest to the question; where
// none comes near, the first sentence of the page that does.
func (s *selection) closest(grade float64) {
	all := s.statements()
	if grade < nearGrade {
		all = s.openings()
	}
	for _, c := range all {
		p := s.passages[c.passage]
		raw := p.text(c.unit)
		said := tidy(raw)
		if p.units[c.unit].kind == code || strings.HasSuffix(said, ":") || leadsAway(raw) || len(strings.Fields(said)) < shortWords {
			continue
		}
		s.chosen = append(s.chosen, c.place)
		if head := p.units[c.unit].head; head >= 0 && head != c.unit {
			s.chosen = append(s.chosen, place{c.passage, head})
		}
		return
	}
	if all := s.statements(); len(all) > 0 {
		s.take(all[0].place, true)
	}
}

// openings are the sentences of the sources in order.
func (s *selection) openings() []statement {
	var out []statement
	for i, p := range s.passages {
		for j, u := range p.units {
			if u.kind == sentence && p.section(j).begins && strings.ContainsAny(p.text(j)[len(p.text(j))-1:], ".!?") {
				out = append(out, statement{place: place{i, j}})
			}
		}
	}
	return out
}
