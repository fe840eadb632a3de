package offline

import (
	"regexp"
	"strings"

	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// askingVerbs are words of a question for what a section says, in English, German, Polish and Vietnamese.
var askingVerbs = regexp.MustCompile(`^(?:say|says|state|states|mean|means|about|content|text|steht|besagt|regelt|sagt|inhalt|mówi|stanowi|brzmi|treść|dotyczy|quy|định|nói|gì|quy định|nội|dung)$`)

// Added to the log odds of a passage that holds the section that a question names by its number.
const (
	sectionOdds = 4
	namedOdds   = 2 // if it is named there, too
)

// oddsOf returns what a section adds to the log odds of its passage.
func oddsOf(s *text.Section) float64 {
	switch {
	case s == nil:
		return 0
	case s.Named:
		return sectionOdds + namedOdds
	}
	return sectionOdds
}

// section is the least grade of a question for a section by its number, if the passage holds it and all other words.
const section = 0.9

// SectionOf returns the section with a number in a passage, the first that is named before others; nil if the passage
// does not hold it. It is the whole passage if its innermost heading has the number.
func SectionOf(c state.Chunk, number string) (best *text.Section) {
	if number == "" {
		return nil
	}
	if n := len(c.Headings); n > 0 {
		if s := text.Sections("# " + c.Headings[n-1]); len(s) > 0 && s[0].Start == 0 && s[0].Number == number {
			s[0].End = len(c.Text)
			return &s[0]
		}
	}
	for _, s := range text.Sections(c.Text) {
		if s.Number == number && (best == nil || s.Named && !best.Named) {
			best = &s
		}
	}
	return best
}

// holdsSection reports whether a passage holds the section that a question names by its number, and all its other words
// but those that ask.
func (l lexicon) holdsSection(question string, s state.Source) bool {
	number, rest := text.SectionAsked(question)
	if SectionOf(s.Chunk, number) == nil {
		return false
	}
	p := l.passage(s.Chunk)
	for _, w := range l.content(rest) {
		if word := strings.ToLower(rest[w.Start:w.End]); len(word) > 3 && !askingVerbs.MatchString(word) && max(p.all.soft(w.Term), p.names.soft(w.Term)) == 0 {
			return false
		}
	}
	return true
}

// span is a run of units, the last one included; -1 if it is empty.
type span struct{ first, last int }

// sections returns for each source the units of the section that the question names by its number.
func (a *Answerer) sections(t state.Task) []span {
	number, _ := text.SectionAsked(t.Question)
	out := make([]span, len(t.Sources))
	for i, source := range t.Sources {
		out[i] = span{-1, -1}
		s := SectionOf(source.Chunk, number)
		for j, u := range a.lex.passage(source.Chunk).units {
			if s == nil || u.end <= s.Start || u.start >= s.End {
				continue
			}
			if out[i].last = j; out[i].first < 0 {
				out[i].first = j
			}
		}
	}
	return out
}
