package offline

import (
	"math"
	"strings"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// The features of a unit that say how likely it answers a question. Each is
// within 0 and 1 but for the length.
const (
	held1         = iota // share of the question's weight that the unit holds
	heldRare             // the same with squared weights, in which rare words count most
	heldNearly           // what words that are nearly the same add to it
	heldBefore           // what the sentence before adds
	heldHeading          // what title and headings add
	heldPassage          // share that the whole passage holds
	sourceScore          // of the passage, of the best passage's
	sourceFirst          // 1 for the best passage
	pairsClose           // neighbouring words of the question that are neighbours here
	pairsNear            // that stand near each other here
	length               // logarithm of the words, of 20
	density              // share of the unit's words that the question has
	numbersHeld          // of the question's numbers
	namesHeld            // of the question's names
	newNumber            // Number: a number that the question lacks
	newUnit              // Number: a number before a word of the question
	newDate              // Time: a date that the question lacks
	moment               // Time: when something happens
	newName              // Person: a name that the question lacks
	newPlace             // Place: a name that the question lacks, and a word of place
	pathShown            // Place: a path or a file
	because              // Reason: a reason
	says                 // Definition: "X is …"
	doing                // HowTo: an order, a command
	anyName              // any other type: a name that the question lacks
	anyNumber            // any other type: a number that the question lacks
	early                // 1 for the first unit of the passage, less for later ones
	central              // how much it shares with the other units of the passage
	pronoun              // begins with a word that points back
	headed               // below a heading that names what is asked, the earlier the more
	defining             // Definition: says so of the thing asked for
	repeated             // repeats the question word for word, of what runGain allows
	away                 // "for more information, see …"
	strayCode            // code where the question does not ask how
	midStep              // a step that is not the first of its list
	changeNote           // a note of what a release changed, where the question asks for none
	beside               // what leads away from the way that is recommended: "if you can't …"
	tiny                 // too short to say much
	heldEarlier          // what the sentences of its paragraph before that one add
	heldAfter            // what the sentence after adds
	heldReferred         // heldBefore and heldEarlier, where it begins with "he", "its", "the company"
	wordsHeld            // share of all words as written, weighed by how few units hold them; see wording
	wordPairs            // of all neighbouring words
	nearKind             // Number, Time, Person, Place, "which company": share that stands near a new one
	nearNew              // any other type: share that stands near a new word
	amountWritten        // asked how long, far or expensive, or for a share: an amount of that kind
	nameGiven            // asked what something is called: says so
	fullNamed            // Person: a name of two words that the question lacks
	features
)

// signals holds the features of one unit.
type signals [features]float64

// weights are the coefficients of the features; see learned.
type coefficients [features]float64

func (w *coefficients) of(e *signals) float64 {
	sum := 0.0
	for i, v := range e {
		sum += w[i] * v
	}
	return sum
}

// ground is the part of a score that a unit has from its passage alone.
func (w *coefficients) ground(e *signals) float64 {
	return w[heldPassage]*e[heldPassage] + w[sourceScore]*e[sourceScore] + w[sourceFirst]*e[sourceFirst]
}

// inquiry is a question as signals is gathered for it.
type inquiry struct {
	kind    QuestionType
	terms   []weighed // with what the conversation lends
	slots   []string  // each of terms, and behind it what may stand for it; see view
	stems   []bool    // of them: those that may have others of their stem
	own     []weighed // those of the question itself
	said    held      // terms, and how much of its weight each has kept: a lent one less than 1
	asked   set       // its words as written, in lower case
	pairs   []pair
	numbers []string // terms
	names   []string // terms
	want    wanted
	wording wording
	// ownShare is what its own words weigh, of all it weighs with what the
	// conversation lends: how much its wording tells.
	ownShare  float64
	otherwise otherwise // other words for its own, where they count
}

// pair are two neighbouring words of content.
type pair struct {
	first, second string
	gap           int // positions between them
	weight        float64
}

// inquire reads a question: q is its strongest query, own what it asks without
// courtesy.
func (l lexicon) inquire(own string, q state.Query) inquiry {
	in := inquiry{kind: TypeOf(own), own: l.question(state.Query{Text: own}), said: held{}, asked: set{}}
	lent := lessLent(q, answerLent)
	for i, b := range q.Boosts {
		if len(in.own) == 0 && b.Weight >= leaningWeight || b.Weight == objectWeight {
			lent.Boosts[i] = b // "and all of them?" asks with the words of the question before, "delete it" with its object
		}
	}
	in.terms = l.question(lent)
	l.seen(own, in.terms)
	weightOf := map[string]float64{}
	for _, t := range in.terms {
		in.slots = append(in.slots, t.term)
		for _, o := range t.others {
			in.slots = append(in.slots, o.term)
		}
		weightOf[t.term] = t.weight
		in.said[t.term] = min(1, t.weight/l.idf(t.term))
	}
	for _, name := range in.slots {
		in.stems = append(in.stems, inflects(name))
	}
	words := plainWords(own)
	for _, w := range words {
		in.asked[w] = struct{}{}
	}
	in.want, in.wording = wants(own, words), newWording(words)
	in.ownShare = ownShare(in.own, in.terms)
	var last text.Token
	for i, t := range l.asWritten(own) {
		w, ok := weightOf[t.Term]
		if !ok {
			continue
		}
		word := own[t.Start:t.End]
		if digitsOnly(word) {
			in.numbers = append(in.numbers, t.Term)
		} else if looksLikeName(word, t.Start == 0) {
			in.names = append(in.names, t.Term)
		}
		if i > 0 && last.Term != "" && last.Term != t.Term && t.Pos > last.Pos {
			in.pairs = append(in.pairs, pair{last.Term, t.Term, t.Pos - last.Pos, w + weightOf[last.Term]})
		}
		last = t
	}
	return in
}

// ownShare is the share of the weight of terms that own ones have.
func ownShare(own, terms []weighed) float64 {
	var of, all float64
	for _, t := range own {
		of += t.weight
	}
	for _, t := range terms {
		all += t.weight
	}
	if all == 0 {
		return 0
	}
	return min(1, of/all)
}

// Limits of what counts as near.
const (
	nearPositions = 5    // between two words
	farApart      = 1e6  // between words of two units
	prefixRunes   = 4    // that two words of one stem share at least…
	prefixShare   = 0.6  // …and of the longer one
	denseTerms    = 12   // that a unit is counted as having at least
	codeShare     = 0.85 // of the words in a block of code
	nearlyShare   = 0.6  // what a word counts that is nearly the same
)

// signals gathers what speaks for unit j. score is that of its source, of the best
// one's; first says that it is the best one.
func (v *view) signals(j int, score float64, first bool) signals {
	var e signals
	q, p := v.q, v.p
	u, in, words, row := p.units[j], p.terms[j], v.glances[j].words, v.rows[j]
	own := q.share(row)
	e[held1] = own
	e[heldRare] = q.rareShare(row)
	e[heldNearly] = q.share(v.nearly(j)) - own
	before := row
	if u.lead >= 0 {
		before = v.rows[u.lead]
	} else if j > 0 && p.units[j-1].block == u.block {
		before = v.rows[j-1]
	}
	both := v.most(row, before)
	withBefore := q.share(both)
	e[heldBefore] = withBefore - own
	e[heldHeading] = q.share(v.below(u.section, both)) - withBefore
	e[heldPassage] = v.whole
	v.around(&e, j, own, withBefore)
	e[wordsHeld], e[wordPairs] = q.wording.held(words)
	e[wordsHeld] *= q.ownShare
	e[wordPairs] *= q.ownShare
	e[sourceScore] = score
	if first {
		e[sourceFirst] = 1
	}
	e[pairsClose], e[pairsNear] = q.close(p.tokens[j])
	e[length] = math.Log(float64(max(1, len(words))) / 20)
	if len(in) > 0 {
		n := 0.0
		for _, t := range q.terms {
			if in.has(t.term) {
				n += q.said[t.term]
			}
		}
		e[density] = n / float64(max(v.glances[j].size, denseTerms))
	}
	e[numbersHeld] = shareOf(q.numbers, in.has)
	e[namesHeld] = shareOf(q.names, in.has)
	v.cues(&e, j)
	if u.kind == code {
		for f := held1; f <= heldPassage; f++ {
			e[f] *= codeShare // much of it is example and output
		}
	}
	e[early] = 1 / float64(1+j)
	e[central] = v.central[j]
	if v.glances[j].pointsBack {
		e[pronoun] = 1
	}
	return e
}

// cues sets the features that depend on the type of the question.
func (v *view) cues(e *signals, j int) {
	q, raw, tokens := v.q, v.p.text(j), v.p.tokens[j]
	is := func(f int, b bool) {
		if b {
			e[f] = 1
		}
	}
	line, clue := v.glances[j].line, v.clues[j]
	f := newTo(q.asked, v.glances[j].fresh)
	if held, kind := v.near(j); kind {
		e[nearKind] = held
	} else {
		e[nearNew] = held
	}
	is(amountWritten, q.want.amount.writtenIn(raw, line))
	is(nameGiven, q.want.naming && givesName(raw, line))
	switch q.kind {
	case Number:
		number := f.number || clue.first
		is(newNumber, number)
		is(newUnit, number && q.counts(raw, tokens))
	case Time:
		is(newDate, f.date || clue.second && f.number)
		is(moment, clue.first)
	case Person:
		is(newName, f.name)
		is(fullNamed, f.name && fullName(raw, q.asked))
	case Place:
		is(newPlace, f.name && clue.first)
		is(pathShown, clue.second)
	case Reason:
		is(because, clue.first)
	case Definition:
		is(says, clue.first)
	case HowTo:
		is(doing, clue.first)
	default:
		is(anyName, f.name)
		is(anyNumber, f.number)
	}
}

// counts reports whether a number stands right before a word of the question.
func (q *inquiry) counts(raw string, tokens []text.Token) bool {
	for i, t := range tokens {
		word := strings.ToLower(raw[t.Start:t.End])
		if q.asked.has(word) || !digitsOnly(strings.Trim(word, ".,")) && !numerals().in(" "+word+" ") {
			continue
		}
		for _, after := range tokens[i+1 : min(len(tokens), i+4)] {
			for _, w := range q.terms {
				if w.term == after.Term {
					return true
				}
			}
		}
	}
	return false
}

// close is how much of the question's pairs of words are neighbours in one of
// some units, and how much stand near each other.
func (q *inquiry) close(units ...[]text.Token) (neighbours, near float64) {
	if len(q.pairs) == 0 {
		return 0, 0
	}
	at := map[string][]int{}
	for _, p := range q.pairs {
		at[p.first], at[p.second] = nil, nil
	}
	for u, tokens := range units {
		for _, t := range tokens {
			if places, ok := at[t.Term]; ok {
				at[t.Term] = append(places, u*farApart+t.Pos)
			}
		}
	}
	all := 0.0
	for _, p := range q.pairs {
		all += p.weight
		best := math.MaxInt
		for _, a := range at[p.first] {
			for _, b := range at[p.second] {
				d := b - a
				if d < 0 {
					d = 1 - d // the other way round
				}
				best = min(best, d)
			}
		}
		if best <= p.gap+1 {
			neighbours += p.weight
		}
		if best <= p.gap+nearPositions {
			near += p.weight
		}
	}
	if all == 0 {
		return 0, 0
	}
	return neighbours / all, near / all
}

// shareOf is the share of terms that has reports; 0 of none.
func shareOf(terms []string, has func(term string) bool) float64 {
	if len(terms) == 0 {
		return 0
	}
	n := 0
	for _, t := range terms {
		if has(t) {
			n++
		}
	}
	return float64(n) / float64(len(terms))
}
