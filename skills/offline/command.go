package offline

import (
	"regexp"
	"slices"
)

// What makes a sentence with a command the answer to a how-to question. The numbers
// were set on some sixty questions of our own over the Docker manual.
const (
	commandCut    = 0.7   // how well it must say what is asked…
	commandHeld   = 0.8   // …of which it must hold so much…
	purposeHeld   = 0.5   // …and the clause itself so much
	commandGain   = 0.15  // more for a command that has words of the question itself, by their share
	commandRank   = 0.1   // of the rank of its source, beside that
	blockedGain   = 0.2   // for a block of code that can be copied
	commandShare  = 0.7   // what a word counts that only the command has…
	unitShare     = 0.6   // …that another clause has…
	besideShare   = 0.5   // …or a sentence of its paragraph before
	lineLoss      = 0.01  // …less for each of its lines…
	mostLines     = 10    // …up to so many
	wordLoss      = 0.006 // less for each word of the command: a short one shows what is asked alone…
	mostWordsLost = 20    // …up to so many
	againLoss     = 0.05  // less for what goes on with steps before it…
	asideLoss     = 0.05  // …and for what a sentence says aside
	innerLoss     = 0.2   // less for a step within a list about more
	otherLoss     = 0.1   // for what names another thing
	fewCommands   = 2     // of a block whose comments and output say what it does
	looseWords    = 0.5   // words of a clause that need not be asked for
)

// commanded is how well an instruction tells how to do what is asked, from 0 to 1, and
// a little more where the command has words of the question itself; 0 for what does
// something else.
func commanded(terms []weighed, p *passage, in *instruction, instructing set, does func(term string) bool) float64 {
	at := p.section(in.unit)
	name, about := at.name, p.sectionPart(p.units[in.unit].section).about
	best, terms := 0.0, evened(terms)
	for k, purpose := range in.purposes {
		if !purpose.serves(does) {
			continue
		}
		asked := set{}
		covered := coverage(terms, func(t string) float64 {
			switch {
			case purpose.has(t):
				asked[t] = struct{}{}
				return 1
			case in.command.has(t):
				return commandShare
			case name.has(t) || about.has(t):
				return aboutWeight
			case p.terms[in.unit].has(t):
				return unitShare
			case p.before(in.unit, t):
				return besideShare
			}
			return 0
		})
		size := 0
		for _, name := range purpose.names {
			if !asked.has(name) {
				size++ // what is done with another thing counts twice
			}
		}
		for t, counts := range purpose.words {
			if asked.has(t) || counts && !instructing.has(t) {
				size++
			}
		}
		if covered < commandHeld || coverage(terms, purpose.in) < purposeHeld {
			continue
		}
		fit := covered * min(1, (looseWords+float64(len(asked)))/float64(size))
		if k > 0 && purpose.does != nil {
			fit -= asideLoss
		}
		best = max(best, fit)
	}
	if best < commandCut {
		return 0
	}
	best += commandGain * coverage(terms, in.command.in)
	best -= wordLoss * float64(min(len(in.command), mostWordsLost))
	if in.block >= 0 {
		best += blockedGain - lineLoss*float64(min(p.lines(in.block), mostLines))
	}
	if u := p.units[in.unit]; u.ordered && u.number > 1 {
		best -= innerLoss
	}
	if in.again {
		best -= againLoss
	}
	return best
}

// evened are terms whose weights are half their own and half the mean: that an object is
// common in the documents makes it no less the object.
func evened(terms []weighed) []weighed {
	out, sum := slices.Clone(terms), 0.0
	for _, t := range terms {
		sum += t.weight
	}
	for i := range out {
		if !askingWord(out[i].term) {
			out[i].weight = (out[i].weight + sum/float64(len(out))) / 2
		}
	}
	return out
}

// before reports whether a sentence before unit j, in its paragraph or right before it
// below the same heading, holds a term.
func (p *passage) before(j int, term string) bool {
	for k := j - 1; k >= p.section(j).first && (k == j-1 || p.units[k].block == p.units[j].block); k-- {
		if p.terms[k].has(term) {
			return true
		}
	}
	return false
}

// in makes a purpose a measure for coverage.
func (u purpose) in(term string) float64 {
	if u.has(term) {
		return 1
	}
	return 0
}

func (u purpose) has(term string) bool { _, ok := u.words[term]; return ok }

// serves reports whether a purpose is to do something.
func (u purpose) serves(does func(term string) bool) bool {
	if u.does != nil {
		return slices.ContainsFunc(u.does, does)
	}
	for t := range u.words {
		if does(t) {
			return true
		}
	}
	return false
}

// commandFit is how well the best instruction of a passage tells how to do what is
// asked; verb is that of the question.
func (l lexicon) commandFit(terms []weighed, p *passage, verb string) float64 {
	best, all := 0.0, l.instructions(p)
	for k := range all {
		best = max(best, commanded(terms, p, &all[k], l.instructing, func(term string) bool { return l.does(verb, term) }))
	}
	return best
}

// does reports whether a term is what a how-to question wants done, or another word
// for it; everything is where its verb says nothing.
func (l lexicon) does(verb, term string) bool {
	return verb == "" || verb == term || slices.ContainsFunc(l.others[verb], func(o synonym) bool { return o.term == term })
}

// command is the instruction that tells best how to do what is asked, and how well it
// does; 0 where none does.
func (s *selection) command() (at place, best float64) {
	does := func(term string) bool { return s.lex.does(s.verb, term) }
	for i := range s.passages {
		p := &s.passages[i]
		if changes(p.src.Source) && !s.changed {
			continue
		}
		all := s.lex.instructions(p)
		for k := range all {
			in := &all[k]
			if in.block >= 0 && s.program(p.text(in.block)) {
				continue
			}
			value := commanded(s.terms, p, in, s.lex.instructing, does)
			if value == 0 {
				continue
			}
			part := p.part(p.units[in.unit].start)
			value += commandRank/float64(part.n) - recipeOther*s.unnamed(part.about, p.section(in.unit).name)
			if p.glances()[in.unit].beside {
				value -= besideLoss
			}
			if newTo(s.asked, p.glances()[in.unit].fresh).name {
				value -= otherLoss
			}
			if value > best {
				at, best = place{i, in.unit}, value
			}
		}
	}
	return at, best
}

// tell takes an instruction with the block of code that shows it, and what its
// paragraph goes on with as far as there is room.
func (s *selection) tell(told place) {
	p := &s.passages[told.passage]
	all := s.lex.instructions(p)
	in := all[slices.IndexFunc(all, func(i instruction) bool { return i.unit == told.unit })]
	u := p.units[told.unit]
	if u.kind == item && verifies.MatchString(p.tidied(told.unit)) {
		if steps := s.list(told); len(steps) > 1 && steps[0] < told.unit {
			s.take(place{told.passage, steps[0]}, noLimit)
			return
		}
	}
	if u.ordered && u.number > 1 {
		s.chosen, s.spent = append(s.chosen, told), s.spent+s.proseWords(told)
	} else {
		s.take(told, noLimit)
	}
	if in.block >= 0 {
		s.take(place{told.passage, in.block}, noLimit)
		return
	}
	for j := told.unit + 1; j < len(p.units) && p.units[j].block == u.block && p.units[j].kind == sentence && s.spent < enoughProse; j++ {
		if p.away(j) || !s.take(place{told.passage, j}, maxWords) {
			return
		}
	}
}

// verifies begins a step that shows that those before it have done what is asked.
var verifies = regexp.MustCompile(`(?i)^\W*(?:verify|check|confirm|test|make sure|ensure) (?:that|whether|if|you)\b|^\W*(?:sprawdź|upewnij się),? (?:czy|że)|^kiểm tra xem`)
