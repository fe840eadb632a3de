package offline

import (
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/state"
)

// choose picks the statements of an answer and what they need to be understood.
func (s *selection) choose() {
	all := s.ownFirst(s.statements())
	if len(all) == 0 {
		return
	}
	parts := s.parts()
	if len(parts) < 2 {
		s.pick(all, maxPicks, maxWords)
	} else {
		s.pick(all, 1, maxWords)
		whole := s.inquiry
		for i, part := range parts {
			s.inquiry = part
			s.pick(s.statements(), maxPicks-1, maxWords*(i+1)/len(parts))
		}
		s.inquiry = whole
	}
	if s.kind == HowTo {
		s.takeCode()
	}
}

// pick adds up to n statements of all, which are in order of their scores, as far as there is room for
// so many words in the answer. The very first one needs no room.
func (s *selection) pick(all []statement, n, room int) {
	if len(all) == 0 {
		return
	}
	left := slices.Clone(all)
	ground := coefficientsFor(s.kind).ground(&all[0].signals)
	covered := set{}
	for picks := 0; picks < n && len(left) > 0; {
		at, top := 0, 0.0
		for i, c := range left {
			if i > 0 && c.score+mostGain < top {
				break // nor can those behind it, which score less
			}
			if v := s.value(c, covered); i == 0 || v > top {
				at, top = i, v
			}
		}
		if top-ground < keepAbove*(all[0].score-ground) && len(s.chosen) > 0 {
			return
		}
		c := left[at]
		best := c.place
		left = slices.Delete(left, at, at+1)
		first := len(s.chosen) == 0
		if !first && (!s.joins(c, all[0].score-c.score) || s.anotherCode(best)) {
			continue
		}
		if s.has(best) || s.idle(best) || !s.take(best, room) {
			continue
		}
		picks++
		for t := range s.passages[best.passage].terms[best.unit] {
			covered[t] = struct{}{}
		}
		if s.kind == Definition && first && s.defined(best) && s.spent >= enoughWords {
			return
		}
	}
}

// joins reports whether a statement has a place beside the first one, below which it
// scores by a gap: it may be the answer as well, or it speaks of what is asked itself
// and does not only stand near what does. Who asks after a procedure, a reason or
// several things is told what goes with the first.
func (s *selection) joins(c statement, gap float64) bool {
	p := &s.passages[c.passage]
	if s.kind == Definition && p.record(c.unit) {
		return false // a detail of what is defined
	}
	if s.kind == HowTo && p.units[c.unit].ordered && s.inSteps(c.place) {
		return false // a step behind those that there was room for
	}
	if s.partShown(c.place) {
		return false
	}
	block := p.units[c.unit].kind == code
	switch s.kind {
	case Number, Time, Person, Place:
		return !block && (gap <= likelyGap || gap <= sameGap && s.speaksToo(c.place, sameShare))
	case Fact, YesNo:
		return gap <= likelyGap && (!block || p.lines(c.unit) <= shortCode) || gap <= factGap && !block && s.speaksToo(c.place, factShare)
	default:
		return true
	}
}

// inSteps reports whether the first steps of the list that a unit stands in are chosen.
func (s *selection) inSteps(at place) bool {
	units, n := s.passages[at.passage].units, 0
	for _, c := range s.chosen {
		if c.passage == at.passage && units[c.unit].kind == item && units[c.unit].block == units[at.unit].block {
			n++
		}
	}
	return n >= fewSteps
}

// speaksToo reports whether a statement holds such a share of the question's own words
// that the first one holds. What the title of its page says counts for neither.
func (s *selection) speaksToo(at place, share float64) bool {
	said := s.speaksOf(at)
	return said > 0 && said >= share*s.speaksOf(s.chosen[0])
}

// speaksOf is how much of the question's own words a statement holds itself.
func (s *selection) speaksOf(at place) float64 {
	p := &s.passages[at.passage]
	own := slices.DeleteFunc(slices.Clone(s.own), func(w weighed) bool { return !tellingWord(w) || p.names[0].has(w.term) })
	return coverage(own, p.terms[at.unit].in)
}

// idle reports whether a statement tells nothing beside what is chosen: what a page
// holds, the name of a box of facts, the same words once more, or, unless it is the first, one word alone.
func (s *selection) idle(p place) bool {
	of := &s.passages[p.passage]
	if of.record(p.unit) && of.units[p.unit].head == p.unit {
		return true
	}
	said := of.tidied(p.unit)
	return len(s.chosen) > 0 && len(plainWords(said)) < fewWords || s.quoted(p) || aboutPage.MatchString(said)
}

// fewWords is below how many words nothing is put beside the first statement: a
// cell that says "ok", an option by itself.
const fewWords = 2

// aboutPage is a sentence that tells what a page holds or which one to read, and
// not what it says.
var aboutPage = regexp.MustCompile(`(?i)^\W*(?:this|the following|the next) (?:page|section|guide|topic|chapter|article|document|tutorial|reference)s? (?:provides?|describes?|explains?|covers?|shows?|contains?|lists?|outlines?|discusses|includes?|walks?|introduces|gives|details|is about|will|goes)\b` +
	`|^\W*in this (?:section|guide|page|tutorial|chapter|article)\b` +
	`|^\W*(?:next,? )?you(?:['’]ll| will| are going to) (?:see|learn|practice|explore|discover)\b` +
	`|^\W*(?:now that (?:you|we)\b[^,.]{0,80}, )?(?:(?:now|next|then|here|first|later),? )?(?:let['’]s|we(?:['’]ll| will|['’]re going to| are going to)) (?:now |also |first |briefly )?(?:look|see|talk|discuss|explore|cover|examine|learn|walk through|return|go over|turn|take a look|dive|introduce|get into)\b` +
	`|^\W*for [^,.]{3,80}, (?:see|refer to|read|visit|check out)\b`)

// mostGain is more than what a statement's value is above its score.
const mostGain = noveltyGain + blockGain + sectionGain

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
	v := c.score + noveltyGain*fresh - redundantLoss*most
	first := s.chosen[0]
	beside := c.source == s.passages[first.passage].source(first.unit)
	switch p, q := &s.passages[c.passage], &s.passages[first.passage]; {
	case p.src.Source != q.src.Source:
		v -= elsewhereLoss
	case beside && p.units[c.unit].block == q.units[first.unit].block && !p.units[c.unit].within:
		v += blockGain
	case beside && p.units[c.unit].section == q.units[first.unit].section:
		v += sectionGain
	}
	return v
}

// parts are the questions that a turn asks, where it asks several: each with
// its own words, to which the rest of the turn lends some weight.
func (s *selection) parts() []inquiry {
	questions := clausesAsked(s.question)
	if len(questions) < 2 {
		return nil
	}
	var out []inquiry
	for _, q := range questions {
		boosts := append(slices.Clone(s.lent), state.Boost{Text: s.question, Weight: restWeight})
		in := s.lex.inquire(q, state.Query{Text: q, Boosts: boosts})
		if len(s.lex.question(state.Query{Text: q})) > 0 {
			out = append(out, in)
		}
	}
	return out
}

// restWeight is what a word counts, in one part of a question, that stands in
// the rest of it; [answerLent] makes it less.
const restWeight = 2.5

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
			if at := (place{p.passage, i}); units[i].kind == code && s.passages[p.passage].lines(i) <= maxCode && !s.program(s.passages[p.passage].text(i)) {
				if units[i].lead >= 0 {
					s.take(place{p.passage, units[i].lead}, noLimit)
				}
				s.chosen = append(s.chosen, at)
				return
			}
		}
	}
}

// program reports whether a block is source code in a language that the
// question does not name: who asks how to do something wants the command.
func (s *selection) program(block string) bool {
	fence, _, _ := strings.Cut(block, "\n")
	lang := strings.ToLower(strings.Trim(fence, "` ~{}"))
	lang, _, _ = strings.Cut(lang, " ")
	names, ok := map[string][]string{
		"go": {"go", "golang"}, "golang": {"go", "golang"}, "python": {"python"}, "py": {"python"}, "java": {"java"}, "kotlin": {"kotlin"},
		"csharp": {"c", "csharp", "net"}, "c#": {"c", "csharp", "net"}, "rust": {"rust"}, "ruby": {"ruby"}, "php": {"php"}, "http": {"http", "api", "curl"},
		"typescript": {"typescript", "ts", "javascript"}, "ts": {"typescript", "ts", "javascript"}, "javascript": {"javascript", "js"}, "js": {"javascript", "js"},
	}[lang]
	return ok && !slices.ContainsFunc(names, s.asked.has)
}

// closest picks the one statement that comes nearest to the question, if it is
// about the same thing: about the heaviest words that the documents know at
// all. It reports whether there is one.
func (s *selection) closest() bool {
	terms := s.lex.question(state.Query{Text: s.question, Boosts: s.lent})
	known := make([]weighed, 0, len(terms))
	sum, strange := 0.0, 0.0
	for _, t := range terms {
		if s.lex.docFreq(t.term) > 0 {
			known = append(known, t)
			sum += t.weight
		} else if slices.Contains(s.names, t.term) {
			strange += t.weight
		}
	}
	if len(known) == 0 || strange >= sum || s.apart() {
		return false // it is about what the documents do not know
	}
	for _, c := range s.statements() {
		p := &s.passages[c.passage]
		said := p.tidied(c.unit)
		if p.units[c.unit].kind == code || strings.HasSuffix(said, ":") || p.away(c.unit) || len(strings.Fields(said)) < shortWords {
			continue
		}
		about := p.sectionPart(p.units[c.unit].section).about
		says := func(t string) float64 {
			if about.has(t) || p.section(c.unit).name.has(t) {
				return 1
			}
			return p.terms[c.unit][t]
		}
		if !s.leans() && coverage(known[:min(len(known), closeWords)], says) < closeShare && coverage(known, says) < closeShare {
			continue
		}
		s.chosen = append(s.chosen, c.place)
		if head := p.units[c.unit].head; head >= 0 && head != c.unit {
			s.chosen = append(s.chosen, place{c.passage, head})
		}
		return true
	}
	return false
}

// leans reports whether the question goes on with the one before, which says
// what it is about.
func (s *selection) leans() bool { return leansOn(s.lent) }

func leansOn(lent []state.Boost) bool {
	return slices.ContainsFunc(lent, func(b state.Boost) bool { return b.Weight >= leaningWeight })
}

// apart reports whether the question names a thing by several words that the
// sources hold apart only: then they tell of other things.
func (s *selection) apart() bool {
	if strings.ContainsAny(s.question, "'\"`“”‘«") {
		return false // a message or a title, whose capitals make no names
	}
	chunks := make([]state.Chunk, len(s.passages))
	for i, p := range s.passages {
		chunks[i] = p.src.Chunk
	}
	return len(s.lex.apart(s.question, chunks)) > 0
}

// ownFirst are statements without those that lead but hold none of the words of a
// question that leans on the conversation: what that lends only says what it is about.
func (s *selection) ownFirst(all []statement) []statement {
	if !s.leans() {
		return all
	}
	first := slices.IndexFunc(all, s.holdsOwn)
	return all[max(0, first):]
}

// strays reports whether a question that leans on the conversation has words of its own,
// and no statement holds one: all there is speaks of what was asked before.
func (s *selection) strays() bool {
	return s.leans() && slices.ContainsFunc(s.own, tellingWord) && !slices.ContainsFunc(s.statements(), s.holdsOwn)
}

// holdsOwn reports whether a statement, or a heading above it, holds one of the words of
// content that the question has itself, and of the thing that it wants something done
// with, where a pronoun stands for that.
func (s *selection) holdsOwn(c statement) bool {
	p := &s.passages[c.passage]
	holds := func(term string) bool {
		return p.terms[c.unit].has(term) || p.section(c.unit).name.has(term) || p.sectionPart(p.units[c.unit].section).about.has(term)
	}
	either := func(w weighed) bool {
		return tellingWord(w) && (holds(w.term) || slices.ContainsFunc(w.others, func(o synonym) bool { return holds(o.term) }))
	}
	return slices.ContainsFunc(s.own, either) && (len(s.object) == 0 || slices.ContainsFunc(s.object, either))
}

// tellingWord reports whether a word of a question says what it asks, and not only that
// it does.
func tellingWord(w weighed) bool { return !askingWord(w.term) }

// stranger reports whether a question for a person names things of which the
// best statement does not speak: it tells of somebody else. Where no passage says what
// the person did, they tell of the thing alone.
func (s *selection) stranger() bool {
	if s.kind != Person {
		return false
	}
	if len(s.names) > 0 {
		if all := s.statements(); len(all) > 0 && all[0].signals[namesHeld] < 1 {
			return true
		}
	}
	did := slices.DeleteFunc(slices.Clone(s.own), func(w weighed) bool { return !tellingWord(w) || slices.Contains(s.names, w.term) })
	return len(did) > 0 && !slices.ContainsFunc(did, s.isSaid)
}

// isSaid reports whether a passage says a word, or in another one the same. What is said
// everywhere says nothing of it: "create" is no support for who founded something.
func (s *selection) isSaid(w weighed) bool {
	others := inEnglish()[w.term]
	if s.lex.language(s.question) == "vi" {
		others = inVietnamese()[w.term]
	}
	return slices.ContainsFunc(s.cut, func(p passage) bool {
		whole := p.whole()
		return soft([]weighed{w}, whole) > 0 || misspelled(w.term, whole) ||
			slices.ContainsFunc(others, func(o string) bool { return whole.has(o) && s.lex.idf(o) >= tellingOther })
	})
}

// tellingOther is how rare a word must be to stand for another that no passage holds.
const tellingOther = 3.5

// What a statement must be about to be close to a question: one of its heaviest
// known words, or a good share of all.
const (
	closeWords = 2
	closeShare = 0.35

	leaningWeight = 0.5 // of what the conversation lends a question that leans on it
)
