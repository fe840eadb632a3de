package offline

import (
	"strings"
	"sync"
	"unicode"
)

// glance is what a unit looks like, whatever is asked.
type glance struct {
	line       string   // see clauses
	words      []string // see plainWords
	tidied     string   // see tidy
	fields     int      // between white space
	size       int      // words that it says, each once
	pointsBack bool
	beside     bool // see besideWay
	away       bool // see leadsAway
	fresh      []freshWord
}

// clues tell how a unit looks to a type of question: what first and second say depends
// on the type.
type clues struct{ first, second bool }

// looked are the glances of a passage. They are taken when the first question chooses
// among its units, which most passages that are found never see.
type looked struct {
	once  sync.Once
	units []glance

	centre  sync.Once
	central []float64 // of each unit

	mu    sync.Mutex
	clues map[QuestionType][]clues // of each unit
}

// glances are those of the units. They are shared and not to be written to.
func (p *passage) glances() []glance {
	p.looked.once.Do(func() {
		units := make([]glance, len(p.units))
		for j := range units {
			raw := p.text(j)
			u := glance{
				line: clauses(raw), words: plainWords(raw), tidied: tidy(raw), fields: len(strings.Fields(raw)), size: p.terms[j].size(),
				beside: besideWay.MatchString(raw), away: leadsAway(raw), fresh: freshWords(raw),
			}
			u.pointsBack = pointsBack(u.tidied)
			units[j] = u
		}
		p.looked.units = units
	})
	return p.looked.units
}

// tidied is unit j as one readable line.
func (p *passage) tidied(j int) string { return p.glances()[j].tidied }

// away reports whether unit j only says where to read on.
func (p *passage) away(j int) bool { return p.glances()[j].away }

// cluesFor are those of the units for a type of question. They are shared and not to be
// written to.
func (p *passage) cluesFor(kind QuestionType) []clues {
	glances := p.glances()
	p.looked.mu.Lock()
	defer p.looked.mu.Unlock()
	if known, ok := p.looked.clues[kind]; ok {
		return known
	}
	out := make([]clues, len(glances))
	for j := range out {
		out[j] = cluesOf(kind, p.text(j), &glances[j])
	}
	if p.looked.clues == nil {
		p.looked.clues = map[QuestionType][]clues{}
	}
	p.looked.clues[kind] = out
	return out
}

func cluesOf(kind QuestionType, raw string, g *glance) clues {
	switch kind { //nolint:exhaustive // the others look for what is new in a unit alone
	case Number:
		return clues{first: numerals().in(g.line)}
	case Time:
		return clues{moments().in(g.line), dates().in(g.line)}
	case Place:
		return clues{places().in(g.line), pathPattern.MatchString(g.tidied)}
	case Reason:
		return clues{first: reasons().in(g.line)}
	case Definition:
		return clues{first: definesPattern.MatchString(raw)}
	case HowTo:
		return clues{first: imperative.MatchString(raw) || codePattern.MatchString(raw)}
	}
	return clues{}
}

// centralities are, of each unit, the mean share of its terms that each other one has.
// They are shared and not to be written to.
func (p *passage) centralities() []float64 {
	p.looked.centre.Do(func() { p.looked.central = p.compareUnits() })
	return p.looked.central
}

func (p *passage) compareUnits() []float64 {
	n := len(p.units)
	out := make([]float64, n)
	if n < 2 {
		return out
	}
	shared := make([]float64, n*n) // by overlap, which is the same either way
	for i := range n {
		for j := range i {
			shared[i*n+j] = overlap(p.terms[i], p.terms[j])
			shared[j*n+i] = shared[i*n+j]
		}
	}
	for j := range n {
		if len(p.terms[j]) == 0 {
			continue
		}
		for i := range n {
			out[j] += shared[j*n+i]
		}
		out[j] /= float64(n - 1)
	}
	return out
}

// freshWord is a word of a unit that may be new to a question: in lower case, bare
// without the ending of a possessive too, and what it would be.
type freshWord struct {
	word, bare         string
	number, date, name bool
}

// freshWords are the numbers, dates and names of a unit.
func freshWords(raw string) (out []freshWord) {
	sentence := true // the next word begins a sentence
	for field := range strings.FieldsFuncSeq(raw, func(r rune) bool { return unicode.IsSpace(r) || strings.ContainsRune("()[]\"“”«»—–/", r) }) {
		word := strings.Trim(field, ".,;:!?'’`*_")
		begins := sentence
		sentence = strings.HasSuffix(field, ".") || strings.HasSuffix(field, ":")
		if word == "" {
			continue
		}
		w := freshWord{number: strings.IndexFunc(word, unicode.IsDigit) >= 0}
		w.date = w.number && year.MatchString(word)
		w.name = !w.number && !begins && unicode.IsUpper([]rune(word)[0])
		if w.number || w.name {
			w.word, w.bare = strings.ToLower(word), strings.ToLower(strings.TrimSuffix(strings.TrimSuffix(word, "'s"), "’s"))
			out = append(out, w)
		}
	}
	return out
}

// fresh tells which kinds of thing a unit names that the question does not.
type fresh struct{ number, date, name bool }

// newTo tells of such words those that are not in the question, whose words are asked.
func newTo(asked set, words []freshWord) (f fresh) {
	for _, w := range words {
		switch {
		case asked.has(w.word):
		case w.number:
			f.number = true
			f.date = f.date || w.date
		default:
			f.name = f.name || !asked.has(w.bare)
		}
	}
	return f
}
