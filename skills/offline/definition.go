package offline

import (
	"regexp"
	"strings"
)

// defines is 1 for a tidied sentence that says what the thing asked for is, less for
// one that says so of something else.
func (s *selection) defines(said string) float64 {
	verb := definingVerb.FindStringIndex(said)
	if verb == nil {
		return 0
	}
	subject := s.lex.set(said[:verb[0]])
	asked := 0
	covered := coverage(s.own, func(t string) float64 {
		if subject.has(t) {
			asked++
			return 1
		}
		return 0
	})
	if asked == 0 {
		return 0
	}
	return covered * float64(asked) / float64(len(subject))
}

// defined takes what a definition goes on with, where p is one: the rest of its
// paragraph, as far as there is room.
func (s *selection) defined(p place) bool {
	of := &s.passages[p.passage]
	units := of.units
	if units[p.unit].kind != sentence || s.defines(of.tidied(p.unit)) < definition {
		return false
	}
	for j := p.unit + 1; j < len(units) && units[j].block == units[p.unit].block && units[j].kind == sentence; j++ {
		at := place{p.passage, j}
		if s.spent+s.proseWords(at) > maxWords || of.away(j) || strings.HasSuffix(of.tidied(j), ":") {
			break
		}
		s.take(at, noLimit)
	}
	return true
}

// definition is how much of a definition of the thing asked for a sentence must
// be to stand for itself.
const definition = 0.6

// definingVerb is the verb of a definition; what stands before it is the subject.
var definingVerb = regexp.MustCompile(`(?i) (?:is|are|was|stands for|refers? to|means?|lets? you|allows?|provides?|enables?|represents?|describes?|determines?|helps?|jest|są|to|là) `)
