package offline

import (
	"regexp"
	"strings"

	"example.com/ragflow/state"
)

// identifierName is a word that programs know things by: select_related, url_for(),
// maxAge, MAX_AGE. Names of products are written like BuildKit, and are none.
var identifierName = regexp.MustCompile(`[\p{L}\d]+(?:_[\p{L}\d]+)+|\p{L}[\p{L}\d]*\(\)|\b\p{Ll}+\p{Lu}[\p{L}\d]*`)

// identifiers are the terms of those that a question names; nil without one.
func (l lexicon) identifiers(question string) []weighed {
	names := identifierName.FindAllString(question, -1)
	if names == nil {
		return nil
	}
	return l.question(state.Query{Text: strings.Join(names, " ")})
}

// shareNamed is the share of a question that some of its terms are.
func shareNamed(question, terms []weighed) float64 {
	in := set{}
	for _, w := range terms {
		in[w.term] = struct{}{}
	}
	return coverage(question, in.in)
}

// describes is how well the heading of a section that begins in a passage is nothing but
// what the question names: a reference has one for each thing. 0 where it names nothing.
func (p *passage) describes(names []weighed) float64 {
	if len(names) == 0 {
		return 0
	}
	best := 0.0
	for _, sec := range p.sections {
		if sec.begins && sec.first < len(p.units) {
			best = max(best, titled(names, []set{sec.name}))
		}
	}
	return best
}

// What is told of an identifier: so many sentences of the paragraph that its section
// opens with, and no more once so many words are told.
const (
	describedSentences = 3
	describedWords     = 45
)

// described answers what an identifier is or does with the opening of the section that is
// about nothing else, and reports whether there is one.
func (s *selection) described() bool {
	names := s.lex.identifiers(s.question)
	if s.kind != Definition || shareNamed(s.own, names) < openingCut {
		return false
	}
	for i := range s.passages {
		p := &s.passages[i]
		if changes(p.src.Source) && !s.changed {
			continue
		}
		for sec := range p.sections {
			if at := p.opens(sec); at >= 0 && p.sections[sec].begins && titled(names, []set{p.sections[sec].name}) >= openingCut {
				s.describe(place{i, at})
				return true
			}
		}
	}
	return false
}

// opens is the first sentence of a section that tells something, and is no line with a
// label such as "Default: []"; -1 without one.
func (p *passage) opens(sec int) int {
	for j := p.sections[sec].first; j < p.sections[sec].end; j++ {
		if u := p.units[j]; u.kind == sentence && !p.away(j) && !aboutPage.MatchString(p.tidied(j)) && !label.MatchString(p.text(j)) && !strings.HasSuffix(p.tidied(j), ":") {
			return j
		}
	}
	return -1
}

// describe takes a sentence, and those of its paragraph that go on with it.
func (s *selection) describe(at place) {
	p := &s.passages[at.passage]
	s.take(at, noLimit)
	for j := at.unit + 1; j < len(p.units) && j < at.unit+describedSentences && s.spent < describedWords; j++ {
		if p.units[j].kind != sentence || p.units[j].block != p.units[at.unit].block || strings.HasSuffix(p.tidied(j), ":") {
			return
		}
		s.take(place{at.passage, j}, maxWords)
	}
}
