package offline

import (
	"maps"
	"regexp"
	"strings"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// pathShare is what a word counts that is a part of a path or an address, or a
// number with a sign: it names something, and says nothing.
const pathShare = 0.3

// passage is a source taken apart, with the terms of its parts.
type passage struct {
	n        int // of [Source N], of the first where it was joined of several
	src      state.Source
	parts    []part // that it was joined of, in the order of the document; nil where it is one source
	said     string // the text that units are of
	units    []unit
	terms    []held // of each unit
	tokens   [][]text.Token
	all      held     // of all units
	plain    []string // words of the whole text, see plainWords
	about    set      // of title and headings
	names    []set    // of the title, and of each heading
	headings []string // of each section
	sections []section
	looked   *looked
}

// section is what stands under one heading, as far as the passage holds it.
type section struct {
	name   set
	head   string // the last term of its heading: of "System requirements", the thing itself
	begins bool   // its first unit is there
	first  int    // its first unit; len(units) where it has none
	end    int    // after its last one
}

// takeApart makes a passage without its number.
func (l lexicon) takeApart(src state.Source, starts []int) passage {
	p := passage{src: src, plain: plainWords(src.Text), looked: &looked{}}
	var headings []string
	name := src.Title
	if n := len(src.Headings); n > 0 {
		name = src.Headings[n-1]
	}
	p.said = src.Text
	switch {
	case src.Cut.Language != "":
		p.said, p.units, headings = outlineSource(src, name)
	case src.Cut.Inside != "":
		p.units, headings = outlineInside(src, name)
	case isPlainFile(src):
		p.units, headings = outlinePlain(src.Text, name)
	default:
		p.units, headings = outline(src.Text, name)
	}
	p.units = cutCode(p.said, p.units, starts)
	p.names = append(p.names, l.set(src.Title))
	for _, h := range src.Headings {
		p.names = append(p.names, l.set(h))
	}
	p.about = set{}
	for _, name := range p.names {
		maps.Copy(p.about, name)
	}
	all := 0
	for _, u := range p.units {
		raw := p.said[u.start:u.end]
		tokens := l.tokens(raw)
		in := said(raw, tokens)
		all += len(in)
		p.tokens = append(p.tokens, tokens)
		p.terms = append(p.terms, in)
	}
	p.all = make(held, all*3/4) // as many are about as many as differ
	for _, in := range p.terms {
		for t, share := range in {
			p.all.add(t, share)
		}
	}
	p.headings = headings
	for i, name := range headings {
		sec := section{begins: i > 0 || src.Ordinal == 0, first: len(p.units)}
		sec.name = l.set(name)
		if tokens := l.tokens(name); len(tokens) > 0 {
			sec.head = tokens[len(tokens)-1].Term
		}
		for j, u := range p.units {
			if u.section == i {
				sec.first = min(sec.first, j)
				sec.end = j + 1
			}
		}
		p.sections = append(p.sections, sec)
	}
	return p
}

// text is the unit as it stands in the document, without marks of comments.
func (p *passage) text(i int) string { return p.said[p.units[i].start:p.units[i].end] }

// section is the one that unit i stands in.
func (p *passage) section(i int) section { return p.sections[p.units[i].section] }

// says is how much a term counts in what the passage says with its title and
// headings.
func (p *passage) says(term string) float64 {
	for _, sec := range p.sections[1:] {
		if sec.name.has(term) {
			return 1
		}
	}
	if p.about.has(term) {
		return max(p.all[term], aboutWeight)
	}
	return p.all[term]
}

// nameFloor is what a heading counts that names the thing among many others.
const nameFloor = 0.4

// named is how well the heading of a section says what is asked, from 0 to 1:
// the share of the question that it holds, with the help of the title and the
// headings above, less where it speaks of other things as well.
func named(terms []weighed, p *passage, sec int) float64 {
	name := p.sections[sec].name
	about := p.sectionPart(sec).about
	asked := 0
	covered := coverage(terms, func(t string) float64 {
		switch {
		case name.has(t):
			asked++
			return 1
		case about.has(t):
			return aboutWeight
		}
		return 0
	})
	if asked == 0 {
		return 0
	}
	return covered * (nameFloor + (1-nameFloor)*min(1, float64(asked)/float64(name.size())))
}

// held is what a text says: terms and how much each counts, above 0 up to 1.
type held map[string]float64

func (h held) has(term string) bool { _, ok := h[term]; return ok }

// size is the number of words.
func (h held) size() int { return distinctWords(h) }

// in makes a measure for coverage.
func (h held) in(term string) float64 { return h[term] }

func (h held) add(term string, share float64) { h[term] = max(h[term], share) }

// said is what a unit says. The words that an option such as --keep-data is
// made of are not among it: it is a name, and keeps no data. Words that a path
// is made of count for less.
func said(s string, tokens []text.Token) held {
	out := make(held, len(tokens))
	end := 0 // of the option under way
	for _, t := range tokens {
		if t.Start < end {
			continue
		}
		word := s[t.Start:t.End]
		if word[0] == '-' && strings.Contains(strings.TrimLeft(word, "-"), "-") {
			end = t.End
		}
		share := 1.0
		if partOfPath(s, t) {
			share = pathShare
		}
		out.add(t.Term, share)
	}
	return out
}

// partOfPath reports whether a token is only a part of a path or an address,
// or a number that a sign makes another thing: #95, 95%.
func partOfPath(s string, t text.Token) bool {
	from, to := t.Start, t.End
	for from > 0 && !breaks(s[from-1]) {
		from--
	}
	for to < len(s) && !breaks(s[to]) {
		to++
	}
	field := strings.TrimRight(s[from:to], ".,;:!?")
	if from == t.Start && len(field) <= t.End-t.Start {
		return false // the whole of it
	}
	if digitsOnly(s[t.Start:t.End]) && (strings.HasPrefix(field, "#") || strings.HasSuffix(field, "%") || longNumber.MatchString(field)) {
		return true
	}
	return strings.HasPrefix(field, "/") || strings.HasPrefix(field, "~/") || strings.HasPrefix(field, "./") || strings.HasPrefix(field, "../") ||
		strings.Contains(field, "://") || strings.Count(field, "/") >= 2 || strings.Contains(field, `:\`) || strings.Count(field, `\`) >= 2
}

// longNumber is a time or an address, of which each number is only a part.
var longNumber = regexp.MustCompile(`^\d+[.:-]\d+[.:-]\d+`)

func breaks(b byte) bool { return breaking[b] }

var breaking = func() (is [256]bool) { //nolint:gochecknoglobals // a constant table
	for _, b := range []byte(" \t\n\r`\"'()[]{}<>|*=,") {
		is[b] = true
	}
	return is
}()

func digitsOnly(s string) bool {
	return strings.Trim(s, "0123456789") == ""
}
