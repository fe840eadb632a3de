package offline

import (
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/state"
)

// sides are the two things that a question compares, as it names them: "CMD" and
// "ENTRYPOINT" of "What is the difference between CMD and ENTRYPOINT?". They are
// empty for a question that compares nothing, or more.
func sides(question string) (a, b string) {
	question = strings.TrimRight(strings.TrimSpace(question), "?.! ")
	for _, p := range comparisons {
		m := p.FindStringSubmatch(question)
		if m == nil {
			continue
		}
		a, b = bare(m[1]), bare(m[2])
		if a != "" && b != "" && len(strings.Fields(a)) <= sideWords && len(strings.Fields(b)) <= sideWords && !strings.Contains(a, ",") {
			return a, b
		}
	}
	return "", ""
}

// sideWords is how many words the name of a thing that is compared has at most.
const sideWords = 4

// comparisons are the ways to ask what tells two things apart.
//
//nolint:gochecknoglobals // a table
var comparisons = []*regexp.Regexp{
	regexp.MustCompile(`(?i)\bdifferences? between (.+?) and (.+)$`),
	regexp.MustCompile(`(?i)^how (?:do|does|are) (.+?) and (.+?) (?:differ|different|compare)$`),
	regexp.MustCompile(`(?i)^(?:how|in what way|what way) (?:do|does|is|are) (.+?) (?:differ|different) from (.+)$`),
	regexp.MustCompile(`(?i)^(?:please )?compare (.+?) (?:with|to|and) (.+)$`),
	regexp.MustCompile(`(?i)^(?:what is |what are )?(.+?) (?:vs\.?|versus|compared (?:to|with)) (.+)$`),
	regexp.MustCompile(`(?i)różnic\p{L}+ (?:po)?między (.+?) a (.+)$`),
	regexp.MustCompile(`(?i)^czym (?:się )?różni (?:się )?(.+?) od (.+)$`),
	regexp.MustCompile(`(?i)^porównaj (.+?) (?:z|ze|i|oraz) (.+)$`),
	regexp.MustCompile(`(?i)(?:khác nhau|khác biệt|điểm khác) giữa (.+?) (?:và|với) (.+)$`),
	regexp.MustCompile(`(?i)^so sánh (.+?) (?:với|và) (.+)$`),
	regexp.MustCompile(`(?i)^(.+?) khác (?:gì )?(?:so )?với (.+)$`),
}

// bare is a name without its article and without what is said of it behind.
func bare(name string) string {
	name = articles.ReplaceAllString(strings.TrimSpace(name), "")
	if i := strings.Index(strings.ToLower(name), " in "); i > 0 {
		name = name[:i] // "… and ENTRYPOINT in a Dockerfile"
	}
	return strings.TrimSpace(strings.TrimSuffix(strings.TrimSpace(name), " là gì"))
}

var articles = regexp.MustCompile(`(?i)^(?:an?|the|using|between) `)

// sideQueries search for each of two things that a question compares: a passage
// about one of them alone says little of the question.
func sideQueries(question string) []state.Query {
	a, b := sides(question)
	if a == "" {
		return nil
	}
	out := make([]state.Query, 0, 2)
	for _, side := range []string{a, b} {
		out = append(out, state.Query{Text: side, Weight: sideQueryWeight, Why: "one of the two things that are compared", Attempt: 1})
	}
	return out
}

// sideQueryWeight is that of the list of one thing that is compared.
const sideQueryWeight = 0.5

// compared is one of two things, with the terms of its name and of the other's.
type compared struct {
	name       string
	own, other set
}

// capitals reports whether the name is written in capitals alone, and so a name
// where it is written like that only.
func (c compared) capitals() bool {
	return len(c.name) > 1 && strings.ToUpper(c.name) == c.name && strings.ToLower(c.name) != c.name
}

// compare tells each of two things that a question compares by its best statement
// about it alone, and then what is said of both. It reports whether the sources
// speak of each.
func (s *selection) compare() bool {
	a, b := sides(s.question)
	if a == "" {
		return false
	}
	own, other := s.lex.set(a), s.lex.set(b)
	whole := s.inquiry
	var told []statement
	for _, side := range []compared{{a, own, other}, {b, other, own}} {
		s.inquiry = s.lex.inquire(side.name, state.Query{Text: side.name})
		s.kind = Definition
		best, ok := s.bestOf(side)
		if !ok {
			s.inquiry = whole
			return false
		}
		told = append(told, best)
	}
	s.inquiry = whole
	all := s.statements()
	if i := slices.IndexFunc(all[:min(len(all), maxPicks)], func(c statement) bool { return s.tellsApart(c, own, other) }); i >= 0 {
		s.take(all[i].place, noLimit)
	}
	for _, c := range told {
		if !s.has(c.place) {
			s.take(c.place, noLimit)
		}
	}
	return true
}

// What speaks for a statement about one of two things, beside its score.
const (
	sideDefined = 0.3  // that it says what the thing is
	sideBoth    = 0.15 // that its passage speaks of the other thing too
)

// bestOf is the best statement about one of two things, for an inquiry about it.
func (s *selection) bestOf(side compared) (best statement, ok bool) {
	top := 0.0
	for _, c := range s.statements() {
		if !s.tellsOf(c, side) {
			continue
		}
		p := &s.passages[c.passage]
		score := c.score + sideDefined*s.defines(p.tidied(c.unit))
		if allOf(side.other, p.all.has) {
			score += sideBoth
		}
		if !ok || score > top {
			best, top, ok = c, score, true
		}
	}
	return best, ok
}

// tellsOf reports whether a statement is prose that names one thing near its
// beginning, and the other not there: what it says is said of the first.
func (s *selection) tellsOf(c statement, side compared) bool {
	p := &s.passages[c.passage]
	if k := p.units[c.unit].kind; k == code || k == row {
		return false
	}
	said := p.tidied(c.unit)
	words := strings.Fields(said)
	if len(words) <= shortWords || p.away(c.unit) || aboutPage.MatchString(said) || p.glances()[c.unit].pointsBack || strings.HasSuffix(said, ":") || strings.HasSuffix(said, "?") {
		return false
	}
	beginning := strings.Join(words[:min(len(words), subjectWords)], " ")
	if side.capitals() && !strings.Contains(beginning, side.name) {
		return false // ADD is not to add
	}
	begins := s.lex.set(beginning)
	for t := range side.other {
		if begins.has(t) && !side.own.has(t) {
			return false
		}
	}
	return allOf(side.own, begins.has)
}

func allOf(terms set, has func(string) bool) bool {
	for t := range terms {
		if !has(t) {
			return false
		}
	}
	return true
}

// subjectWords is how many words of a statement may hold the thing it is about.
const subjectWords = 6

// tellsApart reports whether a statement names both things, beside words that set
// them apart.
func (s *selection) tellsApart(c statement, a, b set) bool {
	p := &s.passages[c.passage]
	in := p.terms[c.unit]
	return allOf(a, in.has) && allOf(b, in.has) && apartPattern.MatchString(p.tidied(c.unit))
}

var apartPattern = regexp.MustCompile(`(?i)\b(?:differences?|differs?|different|similar|unlike|whereas|while|instead of|rather than|both|compared|versus|vs|than|różni\p{L}*|podobn\p{L}+|natomiast|zamiast)\b|khác|trong khi|giống|so với`)
