package offline

import (
	"cmp"
	"regexp"
	"slices"

	"example.com/ragflow/state"
)

// How the parts of an answer are chosen. The gains, losses and limits were set
// on the questions and dialogues of docker-eval, dev.
const (
	maxPicks      = 3    // statements an answer is built on, of each part of the question
	keepAbove     = 0.45 // of the best statement's score, without what it has from its passage
	maxWords      = 97   // of quoted prose; the first statement may be longer
	enoughWords   = 20   // of a definition that needs nothing beside it
	maxItems      = 12   // of a list that is shown whole
	rowAsked      = 0.7  // of the question that a row must hold to be the one asked for
	rowShare      = 0.4  // of what the best row says, for a row to stand beside it
	maxRows       = 6    // of a table
	maxCode       = 40   // lines of a block that is shown
	answerLent    = 0.2  // what a word counts that the conversation lends, of what it counts in the search
	otherAction   = 0.5  // of a heading without the verb that a how-to question asks about
	lateLoss      = 0.7  // for each paragraph, list or block before
	redundantLoss = 0.35 // for saying again what is chosen already
	elsewhereLoss = 0.02 // for standing on another page than the first statement
	messageGain   = 4    // a pasted message is repeated by what tells of it
	messageMost   = 0.4  // gained so
	topicGain     = 0.2  // for standing on a page that the conversation is about
	sectionGain   = 0.12 // for standing in the section of the first statement
	blockGain     = 0.22 // for standing in its paragraph, list or table
	noveltyGain   = 0.25 // for covering words that nothing chosen covers
	shortWords    = 4    // statements below this say little

	// How far below the first statement another may score, where the question asks for
	// one thing; set on half 0 of XQuAD and on docker-eval, dev.
	likelyGap = 0.25 // it is the answer once in ten times as often
	factGap   = 0.5  // it speaks of what is asked too
	sameGap   = 0.75 // the same of a question for a number, a time, a person or a place
	factShare = 0.5  // of what the first one holds, for another to speak of it too
	sameShare = 0.75
	shortCode = 12 // lines of a block beside what is no procedure
)

// place names a unit of a passage.
type place struct{ passage, unit int }

// statement is a unit that might answer, with its score.
type statement struct {
	place
	source  int // its number
	score   float64
	signals signals
}

// selection is one choice of statements for an answer.
type selection struct {
	lex lexicon
	inquiry
	question string        // without courtesy
	language string        // that the answer is framed in
	words    []string      // of the question
	verb     string        // that a how-to question asks about; "" without one
	changed  bool          // it asks what a release changed
	lent     []state.Boost // by the conversation
	object   []weighed     // words for what a pronoun of the question stands for, where the conversation tells
	told     set           // pages that earlier answers cited, where the question goes on with what they tell
	cut      []passage     // the sources one by one, which statements are scored in…
	passages []passage     // …and joined, which they are shown from
	homes    []home        // of each source
	chosen   []place       // in the order chosen
	with     map[place]int // of those shown with another source than their own: its number
	spent    int           // words of the chosen ones
}

func newSelection(lex lexicon, t state.Task) *selection {
	question, _ := asked(t.Question)
	query := strongest(t.Queries)
	s := newScoring(lex, question, query, t.Sources)
	s.told, s.language = toldBefore(query, t.Sources), t.Language
	s.passages, s.homes = lex.join(s.cut)
	for _, b := range query.Boosts {
		if b.Weight == objectWeight {
			s.object = append(s.object, lex.question(state.Query{Text: b.Text})...)
		}
	}
	if s.kind == Fact && len(s.own) <= 1 {
		s.become(kindBefore(t.Asked))
	}
	return s
}

// newScoring is a selection that scores the statements of sources and shows none:
// question is what query asks, without courtesy.
func newScoring(lex lexicon, question string, query state.Query, sources []state.Source) *selection {
	s := &selection{
		lex: lex, lent: query.Boosts, inquiry: lex.inquire(question, query), cut: lex.passages(sources),
		words: plainWords(question), question: question, changed: asksForChanges(question),
	}
	s.become(s.kind)
	return s
}

// become makes the question one of a kind.
func (s *selection) become(kind QuestionType) {
	s.kind = kind
	if kind == HowTo {
		s.verb = s.lex.action(s.question)
	}
}

// kindBefore is what kind of answer the newest of the earlier questions wanted.
// It looks at questions and not at messages, which a budget cuts.
func kindBefore(earlier []string) QuestionType {
	if len(earlier) == 0 {
		return Fact
	}
	question, _ := asked(earlier[len(earlier)-1])
	return TypeOf(question)
}

// statements scores all units, best first.
func (s *selection) statements() []statement {
	var out []statement
	best := 0.0
	for _, p := range s.cut {
		best = max(best, p.src.Score)
	}
	w, signs := coefficientsFor(s.kind), symbols(s.question)
	s.wording.weigh(s.cut)
	for i := range s.cut {
		p := &s.cut[i]
		gain := 0.0
		if s.told.has(p.src.Source) {
			gain = topicGain
		}
		share := 0.0
		if best > 0 {
			share = p.src.Score / best
		}
		v, b := s.view(p), s.build(p)
		for j := range p.units {
			e := v.signals(j, share, i == 0)
			b.signals(&e, j)
			if at := s.shown(i, j); at.unit >= 0 {
				score := w.of(&e) + gain
				if slices.ContainsFunc(signs, func(sign string) bool { return holdsSymbol(p.text(j), sign) }) {
					score += symbolStatement
				}
				out = append(out, statement{at, p.n, score, e})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b statement) int { return cmp.Compare(b.score, a.score) })
	return out
}

// shown is where unit j of a source stands in what was joined. The unit is -1 for one
// that is none there: it stands in a comment that begins in the source before.
func (s *selection) shown(source, j int) place {
	at := s.homes[source]
	if p := &s.passages[at.passage]; len(p.parts) > 0 {
		u := s.cut[source].units[j]
		j = p.at(at.at+u.start, at.at+u.end)
	}
	return place{at.passage, j}
}

// toldBefore are the pages of sources that earlier answers cited, where the question
// goes on with what they tell.
func toldBefore(q state.Query, sources []state.Source) set {
	out := set{}
	if leansOn(q.Boosts) {
		for _, src := range sources {
			if slices.Contains(q.Cited, src.ID) {
				out[src.Source] = struct{}{}
			}
		}
	}
	return out
}

// build is how a passage is built, to a selection.
type build struct {
	*selection
	p      *passage
	heads  []float64 // of each section: how well its heading names what is asked
	change bool      // it is a note of what a release changed, and none is asked for
}

func (s *selection) build(p *passage) build {
	b := build{selection: s, p: p, heads: make([]float64, len(p.sections)), change: !s.changed && changes(p.src.Source)}
	for i := range p.sections {
		b.heads[i] = named(s.terms, p, i)
		if s.verb != "" && !s.speaks(p.sections[i].name, s.verb) {
			b.heads[i] *= otherAction
		}
	}
	return b
}

// signals sets the features of unit j that come of how a document is built.
func (b *build) signals(e *signals, j int) {
	s, p := b.selection, b.p
	u, raw, g := p.units[j], p.text(j), &p.glances()[j]
	e[headed] = b.heads[u.section] * p.early(j)
	if s.kind == Definition && u.kind == sentence {
		e[defining] = s.defines(g.tidied)
	}
	e[repeated] = repeats(s.words, g.words)
	if s.kind == Message {
		e[repeated] = min(messageGain*e[repeated], messageMost)
	}
	if u.ordered && u.number > 1 {
		e[midStep] = 1
	}
	if b.change {
		e[changeNote] = 1
	}
	if g.beside {
		e[beside] = 1
	}
	if g.away {
		e[away] = 1
	}
	switch {
	case u.kind == code && (s.kind != HowTo || s.program(raw)):
		e[strayCode] = 1
	case u.kind == code:
	case g.fields < shortWords && !s.counts(u, raw):
		e[tiny] = 1
	}
}

// counts reports whether a unit is an item that says how much there is, where that is
// asked.
func (s *selection) counts(u unit, raw string) bool {
	return s.kind == Number && u.kind == item && measured.MatchString(raw)
}

// measured is an item that says how much there is of something: "2 eggs".
var measured = regexp.MustCompile(`^\d[\d.,/]* \p{L}`)

// early is 1 for what comes first below its heading, less for what comes later,
// 0 where the passage does not hold the beginning.
func (p *passage) early(j int) float64 {
	sec := p.section(j)
	if !sec.begins {
		return 0
	}
	return 1 / (1 + lateLoss*float64(p.units[j].block-p.units[sec.first].block))
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
