package cite

import (
	"slices"
	"strings"

	"example.com/ragflow/internal/text"
)

// minNear is the least share of a sentence's weight in three neighbouring sentences of a source. It was
// chosen on the statements of testdata, with the counts of all sets in view.
const minNear = 0.25

// minTied is the least share for tying a claim to a source that it did not cite.
const minTied = 0.5

// Rules about the source as a whole.
const (
	nearRule    = "near"    // enough of the words are close together
	literalRule = "literal" // all figures, codes and flags are there
	nameRule    = "name"    // all names are there
)

// support returns the relation of source n to a claim.
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
		out.Foreign = c.foreign(of, e) // words cannot match, but figures, codes and names do
		enough = out.Foreign
	}
	out.Holds = !out.objects() && enough
	out.Firm = out.Holds && out.Near >= minTied && c.deniesAlike(of, e, ties)
	return out
}

// deniesAlike reports whether a source denies something at the places of a claim that does so. If the negations of its
// language are not known, the source must have the words of the claim as a sentence.
func (c *checker) deniesAlike(of *claim, e *evidence, places []int) bool {
	if c.words.negations == nil || c.words.language != e.language {
		return slices.ContainsFunc(e.spans, func(s span) bool {
			return slices.EqualFunc(s.tokens, of.tokens, func(a, b token) bool { return a.raw == b.raw })
		})
	}
	return len(of.denials) == 0 || slices.ContainsFunc(places, func(i int) bool { return len(e.spans[i].denials) > 0 })
}

// objection returns the first contradiction that a rule finds. Of the given places of a source, those that
// share most words with the claim are compared; one without a contradiction is enough.
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

// missing returns the figures, codes and names of a claim that a source lacks.
func (c *checker) missing(of *claim, e *evidence) []string {
	var out []string
	for _, l := range of.literals {
		if c.without != literalRule && !e.has(l) && !slices.ContainsFunc(c.words.spellings[l], func(w string) bool { return containsWord(e.plain, w) }) {
			out = append(out, l)
		}
	}
	for _, t := range of.tokens {
		spelled := t.figure && t.raw != t.stem
		name := t.name && c.words.language != "de" && c.without != nameRule // all German nouns are capitalized
		bare, _, _ := strings.Cut(strings.ReplaceAll(strings.ReplaceAll(t.raw, "-", "'"), "/", "'"), "'")
		if (spelled || name) && !e.stems[t.stem] && !containsWord(e.plain, bare) && !slices.Contains(out, bare) {
			out = append(out, bare)
		}
	}
	return out
}

// foreign reports whether a claim is in another language than a source, so that words cannot be compared.
func (c *checker) foreign(of *claim, e *evidence) bool {
	return len(of.tokens) >= minForeign && c.Language != e.language && text.Language(of.said) != e.language
}

// minForeign is the least number of words for detecting the language.
const minForeign = 4

// holdsCode compares the lines of a block of code with a source.
func (e *evidence) holdsCode(of *claim, out Support) Support {
	filled := normal(text.Placeholders(e.text)) // placeholders as an answer writes them
	for _, line := range of.lines {
		if !strings.Contains(e.plain, line) && !strings.Contains(filled, line) {
			out.Missing = append(out.Missing, line)
		}
	}
	out.Near, out.Holds = share(len(of.lines)-len(out.Missing), len(of.lines)), len(out.Missing) == 0
	out.Firm = out.Holds
	for _, s := range e.spans {
		if len(of.lines) > 0 && strings.Contains(normal(e.text[s.Start:s.End]), of.lines[0]) {
			out.Start, out.End = s.Start, s.End
			break
		}
	}
	return out
}

// together returns how many of the cited sources are needed to support a claim that none supports alone; 0 if
// they do not support it together.
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

// jointCoverage is the share of a sentence's weight that several sources must contain together. It is larger
// than for one source, because the words are in several places.
const jointCoverage = 0.8

// PhraseWords is the number of consecutive words that show that an answer used a source (X18).
const PhraseWords = 4

// SharesPhrase reports whether answer contains [PhraseWords] consecutive words of chunk, ignoring case and
// punctuation: such a chunk counts as used.
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
