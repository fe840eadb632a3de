package cite

import (
	"slices"
	"strings"

	"example.com/ragflow/internal/prompts"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// Options hold what a check gets in addition to the answer and its sources. The zero value is ready to use.
type Options struct {
	// Language of the answer (ISO 639-1); empty: it is detected.
	Language string

	without string // name of a rule to skip, to measure what it gains
}

// Kind is the kind of a sentence.
type Kind string

// The kinds of sentences.
const (
	Claim   Kind = "claim"   // states a fact, or cites a source
	Code    Kind = "code"    // a fenced block; checked only if cited
	Framing Kind = "framing" // states nothing about the documents: "In short:", a refusal, a heading
	Asking  Kind = "asking"  // asks the reader
)

// Report is the result of a check. Shares are 1 if there is nothing to count, so an empty answer has no
// fault.
type Report struct {
	Sentences []Sentence // in order, without those that are only marks
	Sources   int        // number of sources
	Cited     []int      // sources that marks name, once each, in order of first appearance
	Invalid   int        // marks of sources that do not exist

	Claims    int // claims, and blocks of code with a mark
	Grounded  int // of these, supported by any source, cited or not
	Unchecked int // of these, in another language than their source: only figures, codes and names were checked

	Precision    float64 // share of the marks whose source supports the claim
	Recall       float64 // share of the claims that cite a source that exists
	Faithfulness float64 // Grounded / Claims

	marks, right, covered int // the counts behind Precision and Recall
}

// Sentence is a sentence, list item, table row or block of code of an answer: answer[Start:End], with its
// marks.
type Sentence struct {
	Kind       Kind
	Text       string // without marks
	Start, End int    // in bytes of the answer, including marks after it
	Cited      []int  // numbers of the sources, once each
	Invalid    int    // marks of sources that do not exist

	Supported bool      // a cited source says this
	Grounded  bool      // a source says this, cited or not
	Unchecked bool      // in another language than its source: words were not compared
	Why       string    // why it is not supported; empty if it is
	Sources   []Support // one for each of Cited, in that order
	Best      Support   // the closest source; a cited one if any supports it

	right int // cited sources that support it
}

// Support is the relation of a source to a sentence.
type Support struct {
	N          int      // of [Source N]; 0: none
	Near       float64  // share of the sentence's words in the best three neighbouring sentences of the source, weighted by rarity, 0–1
	Missing    []string // figures, codes, flags and names that the source lacks
	Contrary   string   // the contradiction found; empty if none
	Foreign    bool     // it holds, but in another language: only Missing was checked
	Start, End int      // the best sentence of the source, in bytes of its text
	Holds      bool     // the source supports the sentence
	Firm       bool     // it does so with half of its words, and denies something if the sentence does
}

// objects reports whether the source contradicts the sentence or lacks a part of it.
func (s Support) objects() bool { return s.Contrary != "" || len(s.Missing) > 0 }

// checker checks texts against the same sources.
type checker struct {
	Options
	words   *lexicon
	sources []*evidence
}

func newChecker(sources []state.Source, o Options) *checker {
	c := &checker{Options: o, words: lexiconOf(o.Language)}
	for _, s := range sources {
		c.sources = append(c.sources, c.words.evidence(s))
	}
	return c
}

// Check decides for each sentence of answer whether the sources it cites support it, by rules about words,
// figures, codes, names and negations. It uses no model and is deterministic.
//
// A source supports a sentence if enough of its words, weighted by rarity, are close together in the source,
// if all its figures, dates, versions, codes, flags and names are there, and if no rule objects. Several
// sources may support it together.
//
// A sentence that its closest source contradicts is not grounded, even if other sources share words with it.
func Check(answer string, sources []state.Source, o Options) Report {
	if o.Language == "" {
		o.Language = text.Language(Strip(answer))
	}
	return newChecker(sources, o).check(answer)
}

func (c *checker) check(answer string) Report {
	r := Report{Sentences: sentences(answer, len(c.sources)), Sources: len(c.sources)}
	for i := range r.Sentences {
		s := &r.Sentences[i]
		for _, n := range s.Cited {
			r.Cited = appendNew(r.Cited, n)
		}
		r.Invalid += s.Invalid
		marked := len(s.Cited)+s.Invalid > 0
		if s.Kind == Claim && c.isFraming(s.Text, marked) {
			s.Kind = Framing
		}
		if s.Kind != Claim && (s.Kind != Code || !marked) {
			continue
		}
		s.right = c.judge(s)
		r.count(*s, len(s.Cited)+s.Invalid)
	}
	r.shares()
	return r
}

// count adds a claim with a number of marks.
func (r *Report) count(s Sentence, marks int) {
	r.Claims++
	r.marks += marks
	r.right += s.right
	r.covered += count(len(s.Cited) > 0)
	r.Grounded += count(s.Grounded)
	r.Unchecked += count(s.Unchecked)
}

func (r *Report) shares() {
	r.Precision, r.Recall, r.Faithfulness = share(r.right, r.marks), share(r.covered, r.Claims), share(r.Grounded, r.Claims)
}

// Deny overrules the rules: no source supports the sentence with an index.
func (r *Report) Deny(i int) {
	s := &r.Sentences[i]
	r.right -= s.right
	r.Grounded -= count(s.Grounded)
	r.Unchecked -= count(s.Unchecked)
	s.Supported, s.Grounded, s.Unchecked, s.Why, s.right = false, false, false, "the source does not say this", 0
	r.shares()
}

// Add adds the counts of the report of another part of the same answer.
func (r *Report) Add(o Report) {
	for _, n := range o.Cited {
		r.Cited = appendNew(r.Cited, n)
	}
	r.Sentences = append(r.Sentences, o.Sentences...)
	r.Sources, r.Invalid = o.Sources, r.Invalid+o.Invalid
	r.Claims, r.Grounded, r.Unchecked = r.Claims+o.Claims, r.Grounded+o.Grounded, r.Unchecked+o.Unchecked
	r.marks, r.right, r.covered = r.marks+o.marks, r.right+o.right, r.covered+o.covered
	r.shares()
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// share returns a/b, and 1 for 0/0.
func share(a, b int) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

// minTerms is the least number of content words of a claim without figures.
const minTerms = 2

// isFraming reports whether a sentence states nothing about the documents: it is one of the program's own
// sentences, announces what follows, or has too few words. A marked sentence must have no content word at
// all, such as "Yes."; a single word must be in no source.
func (c *checker) isFraming(said string, marked bool) bool {
	if !marked && prompts.Fixed(said) {
		return true
	}
	r := c.words.read(said)
	if len(literals(said)) > 0 || slices.ContainsFunc(r.tokens, func(t token) bool { return t.figure || t.name }) && (marked || len(r.content) >= minTerms) {
		return false
	}
	if marked {
		return len(r.content) == 0
	}
	held := slices.ContainsFunc(c.sources, func(e *evidence) bool {
		return slices.ContainsFunc(r.content, func(i int) bool { return e.stems[r.tokens[i].stem] })
	})
	return strings.HasSuffix(strings.TrimRight(said, "*_ "), ":") || len(r.content) < minTerms && !held
}

// judge compares a claim with its sources and returns how many cited ones support it.
func (c *checker) judge(s *Sentence) (right int) {
	claim := c.claim(s)
	for _, n := range s.Cited {
		s.Sources = append(s.Sources, c.support(claim, n))
	}
	for _, found := range s.Sources {
		right += count(found.Holds)
		if found.better(s.Best) {
			s.Best = found
		}
	}
	if denier := denies(s.Sources, s.Best); denier.N > 0 {
		s.Best, right = denier, 0
	}
	if right == 0 && len(s.Cited) > 1 {
		right = c.together(claim, s.Sources)
	}
	s.Supported = right > 0
	s.Grounded = s.Supported
	if !s.Supported {
		s.Why = s.Best.why()
		if len(s.Cited) == 0 {
			s.Why = "not cited"
		}
		if !s.Best.objects() || s.Best.Near < minNear {
			s.Best = c.best(claim)
			s.Grounded = s.Best.Holds && (len(s.Cited) == 0 || s.Best.Near >= minTied)
		}
	}
	s.Unchecked = s.Grounded && s.Best.Foreign
	return right
}

// best returns the source that supports a claim best, or one that contradicts it and is as close.
func (c *checker) best(of *claim) Support {
	var best Support
	all := make([]Support, len(c.sources))
	for i := range c.sources {
		all[i] = c.support(of, i+1)
		if all[i].better(best) {
			best = all[i]
		}
	}
	if denier := denies(all, best); denier.N > 0 {
		return denier
	}
	return best
}

// denies returns the source that contradicts a claim and is as close as the best supporting one; the zero
// Support if there is none.
func denies(sources []Support, best Support) Support {
	for _, s := range sources {
		if best.Holds && s.Contrary != "" && s.Near >= best.Near {
			return s
		}
	}
	return Support{}
}

func (s Support) better(than Support) bool {
	switch {
	case than.N == 0 || s.Holds != than.Holds:
		return than.N == 0 || s.Holds
	case len(s.Missing) != len(than.Missing):
		return len(s.Missing) < len(than.Missing)
	}
	return s.Near > than.Near
}

// why explains why a source does not support a sentence.
func (s Support) why() string {
	switch {
	case len(s.Missing) > 0:
		return "not in the source: " + strings.Join(s.Missing, ", ")
	case s.Contrary != "":
		return "the source says the contrary: " + s.Contrary
	}
	return "the source does not say this"
}
