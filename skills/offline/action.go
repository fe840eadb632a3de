package offline

import (
	"maps"
	"regexp"
	"slices"
	"strings"
)

// stepWords is the limit on the words of the steps that are shown of a list; a
// longer list is cut before a step.
const stepWords = 200

// action returns the term of the verb that a how-to question asks about: "back" of
// "how do I back it up". It is "" where the verb carries no meaning, as in "use".
func (l lexicon) action(question string) string {
	m := actionPattern.FindStringSubmatch(strings.ToLower(question))
	if m == nil || askingWord(m[1]) {
		return ""
	}
	terms := slices.Sorted(maps.Keys(l.set(m[1])))
	if len(terms) == 0 {
		return ""
	}
	return terms[0]
}

var actionPattern = regexp.MustCompile(`\bhow (?:do|can|to|could|should|would|must|may|does) (?:(?:i|we|you|one|someone) )?(?:\w+ly )?(\w+)`)

// seen adds "view" and its synonyms to the verb "see" of a how-to question. Searches
// do without, because pages say "see" when they refer to other pages.
func (l lexicon) seen(question string, terms []weighed) {
	if m := actionPattern.FindStringSubmatch(strings.ToLower(question)); m == nil || m[1] != "see" {
		return
	}
	see := l.set("see")
	for i, t := range terms {
		if view := l.action("how to view"); see.has(t.term) {
			terms[i].others = append([]synonym{{word: "view", term: view}}, l.others[view]...)
		}
	}
}

// speaks reports whether a name holds a term or a synonym of it.
func (s *selection) speaks(name set, term string) bool {
	if name.has(term) {
		return true
	}
	return slices.ContainsFunc(s.lex.others[term], func(o synonym) bool { return name.has(o.term) })
}

// steps returns the unit where the steps of a section begin: its first ordered list
// or, without one, its first block of commands. It is -1 where there are none.
func (p *passage) steps(sec int) int {
	found := -1
	for j := p.sections[sec].first; j < p.sections[sec].end; j++ {
		u := p.units[j]
		if u.kind == item && u.ordered && u.number == 1 {
			return j
		}
		if u.kind == code && u.lead >= 0 && found < 0 && p.lines(j) <= maxCode && !p.printed(j) {
			found = j
		}
	}
	return found
}

// printed reports whether a block of code is the output of a program, judged by the
// sentence before it.
func (p *passage) printed(j int) bool {
	lead := p.units[j].lead
	return lead >= 0 && printedBefore.MatchString(p.tidied(lead)) && !prompted.MatchString(p.text(j))
}

var (
	printedBefore = regexp.MustCompile(`(?i)\b(?:outputs?|results?|responses?|looks? like|similar to|you(?:'ll)? (?:should |will |can )?see|returns?|prints?)\b`)
	prompted      = regexp.MustCompile(`(?m)^[> \t]*(?:\$|PS>|C:\\>) `)
)

// lines is the number of lines of a block of code.
func (p *passage) lines(j int) int { return strings.Count(p.text(j), "\n") - 1 }

// leadsAway reports whether a unit only refers to another page: "see …", or a list
// item that is nothing but a link.
func leadsAway(raw string) bool {
	return navigation.MatchString(raw) || onlyLink(raw)
}

func onlyLink(raw string) bool {
	raw = strings.TrimSpace(raw)
	m := link.FindStringIndex(raw)
	return m != nil && m[0] == 0 && len(raw)-m[1] <= 1
}

// within cuts a list of steps at the limit of words, but not before the second step.
func (s *selection) within(p int, steps []int) []int {
	words, items, most := 0, 0, stepWords
	if len(s.chosen) > 0 {
		most = maxWords - s.spent
	}
	for n, j := range steps {
		if s.passages[p].units[j].kind == item {
			items++
		}
		if words += s.proseWords(place{p, j}); words > most && items > 2 {
			return slices.Clone(steps[:n])
		}
	}
	return steps
}
