package cite

import (
	"slices"
	"strings"

	"example.com/ragflow/search/text"
)

// minNear is the share of a sentence's weight that three neighbouring sentences of a source
// must hold. It was chosen on the statements of testdata, with the counts of all sets in view.
const minNear = 0.25

// minTied is the share from which on a claim is tied to a source that it did not cite.
const minTied = 0.5

// Rules about the source as a whole.
const (
	nearRule    = "near"    // it holds enough of the words close together
	literalRule = "literal" // it holds all figures, codes and flags
	nameRule    = "name"    // it holds all names
)

// support tells how source n stands to a claim.
func (c *checker) support(of *claim, n int) Support {
	e := c.sources[n-1]
	out := Support{N: n}
	if of.lines != nil {
		return e.holdsCode(of, out)
	}
	ties, best := of.places(e)
	if len(e.spans) > 0 {
		out.Start, out.End = e.spans[best].Start, e.spans[best].End
	}
	out.Near = of.nearest(e)
	out.Missing = c.missing(of, e)
	out.Contrary = c.objection(of.reading, e, ties)
	enough := out.Near >= minNear || c.without == nearRule
	if !enough && !out.objects() {
		out.Foreign = c.foreign(of, e) // words cannot match; figures, codes and names have
		enough = out.Foreign
	}
	out.Holds = !out.objects() && enough
	return out
}

// objection returns what the first rule that objects to a claim says. Of the given places of
// a source those count that share most words with the claim; one of them that no rule objects to
// is enough.
func (c *checker) objection(claim *reading, e *evidence, places []int) (what string) {
	most := 0
	for _, i := range places {
		said := e.spans[i].reading
		shared := claim.shared(said)
		if shared < most || shared == most && what == "" && most > 0 {
			continue
		}
		most, what = shared, ""
		a := c.words.align(claim, said, e)
		for _, r := range rules() {
			if what == "" && a.close() >= r.close && r.name != c.without {
				what = r.objects(a)
			}
		}
	}
	return what
}

// missing lists the figures, codes and names of a claim that a source lacks.
func (c *checker) missing(of *claim, e *evidence) []string {
	var out []string
	for _, l := range of.literals {
		if c.without != literalRule && !e.has(l) && !slices.ContainsFunc(c.words.spellings[l], func(w string) bool { return containsWord(e.plain, w) }) {
			out = append(out, l)
		}
	}
	for _, t := range of.tokens {
		spelled := t.figure && t.raw != t.stem
		name := t.name && c.words.language != "de" && c.without != nameRule // in German every noun has a capital letter
		bare, _, _ := strings.Cut(strings.ReplaceAll(strings.ReplaceAll(t.raw, "-", "'"), "/", "'"), "'")
		if (spelled || name) && !e.stems[t.stem] && !containsWord(e.plain, bare) && !slices.Contains(out, bare) {
			out = append(out, bare)
		}
	}
	return out
}

// foreign reports whether a claim is in another language than a source, so that its words
// cannot be found there.
func (c *checker) foreign(of *claim, e *evidence) bool {
	return len(of.tokens) >= minForeign && c.Language != e.language && text.Language(of.said) != e.language
}

// minForeign is how many words tell of a language.
const minForeign = 4

// holdsCode tells whether a source has the lines of a block of code.
func (e *evidence) holdsCode(of *claim, out Support) Support {
	filled := normal(text.Placeholders(e.text)) // as an answer shows parameters that a site fills in
	for _, line := range of.lines {
		if !strings.Contains(e.plain, line) && !strings.Contains(filled, line) {
			out.Missing = append(out.Missing, line)
		}
	}
	out.Near, out.Holds = share(len(of.lines)-len(out.Missing), len(of.lines)), len(out.Missing) == 0
	for _, s := range e.spans {
		if len(of.lines) > 0 && strings.Contains(normal(e.text[s.Start:s.End]), of.lines[0]) {
			out.Start, out.End = s.Start, s.End
			break
		}
	}
	return out
}

// together reports how many of the sources cited are needed to support a claim that none
// supports alone; 0 if they do not support it together either.
func (c *checker) together(of *claim, cited []Support) int {
	if !c.jointly(of, cited) {
		return 0
	}
	needed := 0
	for i := range cited {
		needed += count(!c.jointly(of, slices.Delete(slices.Clone(cited), i, i+1)))
	}
	return needed
}

func (c *checker) jointly(of *claim, cited []Support) bool {
	var in []*reading
	for _, s := range cited {
		for _, l := range s.Missing { // another source must hold it
			if !slices.ContainsFunc(cited, func(o Support) bool { return !slices.Contains(o.Missing, l) }) {
				return false
			}
		}
		if s.Contrary != "" {
			return false
		}
		for _, span := range c.sources[s.N-1].spans {
			in = append(in, span.reading)
		}
	}
	return of.lines == nil && of.total > 0 && of.weight(in...)/of.total >= jointCoverage
}

// jointCoverage is the share of a sentence's weight that several sources must hold
// together: more than one alone, for they are not in one place.
const jointCoverage = 0.8

// PhraseWords is how many words in a row show that an answer used a source (X18).
const PhraseWords = 4

// SharesPhrase reports whether [PhraseWords] words in a row of chunk stand in a row in
// answer, whatever the case and punctuation: such a chunk counts as used.
func SharesPhrase(answer, chunk string) bool {
	words := func(s string) []string {
		return strings.FieldsFunc(normal(s), func(r rune) bool { return !isWordRune(r) && r != '\'' && r != '’' })
	}
	said := " " + strings.Join(words(Strip(answer)), " ") + " "
	given := words(chunk)
	for i := 0; i+PhraseWords <= len(given); i++ {
		if strings.Contains(said, " "+strings.Join(given[i:i+PhraseWords], " ")+" ") {
			return true
		}
	}
	return false
}
