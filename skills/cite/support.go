package cite

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/ragflow/prompts"
	"example.com/ragflow/search/text"
)

// window is how many neighbouring sentences of a source may say one sentence
// of an answer together.
const window = 3

// minTerms is how many terms a sentence without figures needs to state a fact.
const minTerms = 2

// frames reports whether a sentence says nothing about the documents: it is one
// of the program's own, announces what follows, or has hardly a word in it. One
// with a mark does so only where there is nothing in it to look up: "Yes.". A single
// word does so only where no source holds it.
func (c *checker) frames(said string, marked bool) bool {
	if !marked && prompts.Fixed(said) {
		return true
	}
	holds := c.read(said)
	if len(holds.literals) > 0 {
		return false
	}
	if marked {
		return len(holds.names) == 0 && len(c.analyze(said)) == 0
	}
	terms := c.analyze(said)
	return strings.HasSuffix(strings.TrimRight(said, "*_ "), ":") || len(terms) < minTerms && !c.anyHolds(terms)
}

// anyHolds reports whether a source holds one of the terms.
func (c *checker) anyHolds(terms []text.Token) bool {
	for n := range c.sources {
		forms := c.evidence(n + 1).forms
		if slices.ContainsFunc(terms, func(t text.Token) bool { _, found := slices.BinarySearch(forms, t.Term); return found }) {
			return true
		}
	}
	return false
}

// support tells how source n stands to a claim.
func (c *checker) support(of claim, n int) Support {
	e := c.evidence(n)
	out := Support{N: n}
	if of.lines != nil {
		return e.holdsCode(of, out)
	}
	best, covered := near(of, e)
	if len(e.spans) > 0 {
		out.Start, out.End = e.spans[best.single].Start, e.spans[best.single].End
		out.Similarity = similarity(of, e.spans[best.from:best.to])
	}
	if of.total > 0 {
		out.Coverage, out.Near = covered/of.total, best.weight/of.total
	}
	out.Phrase = sharesPhrase(of.words, e.words, PhraseWords)
	out.Missing = e.missing(of)
	out.Contrary = c.contrary(of, e, best.tied)
	enough := out.Coverage >= minCoverage && out.Near >= minNear
	if !enough && out.Similarity <= SimilarityCut && len(out.Missing) == 0 && out.Contrary == "" {
		out.Foreign = c.foreign(of, n) // words cannot match; figures, codes and names have
		enough = out.Foreign
	}
	out.Holds = len(out.Missing) == 0 && out.Contrary == "" && (enough || out.Similarity > SimilarityCut)
	return out
}

// nearest is the part of a source that says most of a claim.
type nearest struct {
	single   int     // the span that does alone
	from, to int     // of the window that does
	weight   float64 // of the claim's terms in the window
	tied     []int   // spans that do about as well as the single one
}

// near finds the part of a source that holds most of the claim's weight, and
// how much of it the whole source holds. Title and headings count for either.
func near(of claim, e *evidence) (best nearest, covered float64) {
	met := make([]bool, len(of.terms))
	about := of.meet(met, e.about)
	titled := slices.Clone(met)
	alone := make([]float64, len(e.spans))
	most := 0.0
	for from := range e.spans {
		copy(met, titled)
		weight := about
		for to := from; to < min(from+window, len(e.spans)); to++ {
			weight += of.meet(met, e.spans[to].terms)
			if to == from {
				alone[from] = weight
			}
			if weight > best.weight+1e-9 {
				best.from, best.to, best.weight = from, to+1, weight
			}
		}
		if alone[from] > most+1e-9 {
			most, best.single = alone[from], from
		}
	}
	for i, w := range alone {
		if w >= tiedShare*most {
			best.tied = append(best.tied, i)
		}
	}
	best.weight = max(best.weight, about)

	copy(met, titled)
	covered = about
	for _, s := range e.spans {
		covered += of.meet(met, s.terms)
	}
	for i, term := range of.terms {
		if !met[i] && e.hasForm(term) {
			covered += inflectedShare * of.weights[i]
		}
	}
	return best, covered
}

// tiedShare is the share of the best weight with which a span counts as the
// place of a claim, too.
const tiedShare = 0.9

// inflectedShare is what another form of a word counts: "kontenera" for
// "kontenery". Stemmers exist for few languages; the common beginning of two
// long words serves for all that inflect at the end.
const inflectedShare = 0.8

// meet returns the weight of those terms of the claim that are not met yet, and
// marks them.
func (of claim) meet(met []bool, terms []string) float64 {
	weight := 0.0
	for _, term := range terms {
		if i, ok := of.index[term]; ok && !met[i] {
			met[i] = true
			weight += of.weights[i]
		}
	}
	return weight
}

// hasForm reports whether a source has a term that begins as this one does and
// is about as long.
func (e *evidence) hasForm(term string) bool {
	n := utf8.RuneCountInString(term)
	if n < 5 {
		return false
	}
	stem := text.First(term, max(4, (n*7+9)/10))
	for i, _ := slices.BinarySearch(e.forms, stem); i < len(e.forms) && strings.HasPrefix(e.forms[i], stem); i++ {
		if d := utf8.RuneCountInString(e.forms[i]) - n; -3 <= d && d <= 3 {
			return true
		}
	}
	return false
}

// similarity is the cosine of the term counts of a claim and some spans.
func similarity(of claim, spans []span) float64 {
	counts := map[string]int{}
	for _, s := range spans {
		for _, term := range s.terms {
			counts[term]++
		}
	}
	dot, a, b := 0, 0, 0
	for i, term := range of.terms {
		dot += of.counts[i] * counts[term]
		a += of.counts[i] * of.counts[i]
	}
	for _, n := range counts {
		b += n * n
	}
	if a == 0 || b == 0 {
		return 0
	}
	return float64(dot) / math.Sqrt(float64(a)*float64(b))
}

// missing lists the figures, codes and names of a claim that a source lacks.
func (e *evidence) missing(of claim) []string {
	var out []string
	for _, l := range of.literals {
		if !e.has(l) {
			out = append(out, l)
		}
	}
	for _, name := range of.names {
		if !containsWord(e.plain, name) && !e.hasForm(name) {
			out = append(out, name)
		}
	}
	return out
}

// foreign reports whether a claim is in another language than source n, so that
// its words cannot be found there.
func (c *checker) foreign(of claim, n int) bool {
	e := c.evidence(n)
	if e.lang == "" {
		e.lang = text.Language(e.text[:min(len(e.text), languageBytes)])
	}
	return len(of.words) >= minForeign && c.options.Language != e.lang && text.Language(of.said) != e.lang
}

// languageBytes is how much of a source tells its language.
const languageBytes = 1000

// minForeign is how many words tell of a language.
const minForeign = 4

// holdsCode tells whether a source has the lines of a block of code.
func (e *evidence) holdsCode(of claim, out Support) Support {
	has := 0
	filled := e.plain // as an answer shows parameters that a site fills in
	if strings.Contains(e.plain, "{{") {
		filled = normal(text.Placeholders(e.text))
	}
	for _, line := range of.lines {
		if strings.Contains(e.plain, line) || strings.Contains(filled, line) {
			has++
		} else {
			out.Missing = append(out.Missing, line)
		}
	}
	out.Coverage = share(has, len(of.lines))
	out.Near, out.Holds = out.Coverage, has == len(of.lines)
	for _, s := range e.spans {
		if len(of.lines) > 0 && strings.Contains(normal(e.text[s.Start:s.End]), of.lines[0]) {
			out.Start, out.End = s.Start, s.End
			break
		}
	}
	return out
}

// together reports how many of the sources cited are needed to support a claim
// that none supports alone; 0 where they do not support it together either.
func (c *checker) together(of claim, cited []int) int {
	if !c.jointly(of, cited) {
		return 0
	}
	needed := 0
	for i := range cited {
		rest := slices.Delete(slices.Clone(cited), i, i+1)
		if !c.jointly(of, rest) {
			needed++
		}
	}
	return needed
}

func (c *checker) jointly(of claim, cited []int) bool {
	met := make([]bool, len(of.terms))
	weight := 0.0
	missing := slices.Concat(of.literals, of.names)
	for _, n := range cited {
		e := c.evidence(n)
		found := c.support(of, n)
		if found.Contrary != "" {
			return false
		}
		missing = slices.DeleteFunc(missing, func(l string) bool { return !slices.Contains(found.Missing, l) })
		for _, s := range e.spans {
			weight += of.meet(met, s.terms)
		}
	}
	return of.lines == nil && len(missing) == 0 && of.total > 0 && weight/of.total >= jointCoverage
}

// jointCoverage is the share of a sentence's weight that several sources must
// hold together: more than one alone, for they are not in one place.
const jointCoverage = 0.8
