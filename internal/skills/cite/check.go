package cite

import (
	"slices"
	"strings"

	"example.com/ragflow/prompts"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// Options say what a check knows besides the answer and its sources. The zero
// Options are ready to use.
type Options struct {
	// Language of the answer (ISO 639-1); empty lets the check find out.
	Language string
	// Denied are sentences, without marks, that count as said by no source whatever the
	// rules find: a better reader has looked.
	Denied []string

	without string // a rule that is not asked, for the table of what each rule gains
}

// isDenied reports whether a sentence is among the denied ones, also with a word of doubt
// that [Repair] has put before its stop.
func (o Options) isDenied(sentence string) bool {
	return slices.ContainsFunc(o.Denied, func(d string) bool { return strings.HasPrefix(sentence, strings.TrimRight(d, ".!。")) })
}

// Kind is what a sentence of an answer is.
type Kind string

// The kinds of sentences.
const (
	Claim   Kind = "claim"   // states a fact, or cites a source
	Code    Kind = "code"    // a fenced block; checked where it is cited
	Framing Kind = "framing" // says nothing about the documents: "In short:", a refusal, a heading
	Asking  Kind = "asking"  // a question back
)

// Report is what a check found. Its shares are 1 if there was nothing to get wrong, so
// an empty answer is without fault.
type Report struct {
	Sentences []Sentence // in order; without those that hold nothing but marks
	Sources   int        // given to check against
	Cited     []int      // numbers of the sources that marks name, each once, in order of first appearance
	Invalid   int        // marks of sources that do not exist

	Claims    int // claims, and blocks of code with a mark
	Grounded  int // of these, said by some source, cited or not
	Unchecked int // of these, in another language than their sources: figures, codes and names were checked only

	Precision    float64 // share of the marks whose source supports the claim
	Recall       float64 // share of the claims that cite a source that exists
	Faithfulness float64 // Grounded / Claims
}

// Sentence is one sentence of an answer, one list item, table row or block of code:
// answer[Start:End], with the marks that belong to it.
type Sentence struct {
	Kind       Kind
	Text       string // what is said, without marks
	Start, End int    // in bytes of the answer, marks behind it included
	Cited      []int  // sources named, each once
	Invalid    int    // marks of sources that do not exist

	Supported bool      // the sources cited say this
	Grounded  bool      // a source says this, cited or not
	Unchecked bool      // in another language than its source
	Why       string    // why it is not supported; empty if it is
	Sources   []Support // how each source cited stands to it, in the order of Cited
	Best      Support   // of the source that says it best: one cited if one of those does
}

// Support tells how a source stands to a sentence.
type Support struct {
	N          int      // of [Source N]; 0: none
	Near       float64  // share of the sentence's words that the best three neighbouring sentences of the source hold, weighted by rarity, 0–1
	Missing    []string // figures, codes, flags and names of the sentence that the source lacks
	Contrary   string   // what contradicts; empty if nothing does
	Foreign    bool     // it holds, but is in another language: only Missing could be looked at
	Start, End int      // the best sentence of the source, in bytes of its text
	Holds      bool     // the verdict
}

// objects reports whether a source says something else than the sentence.
func (s Support) objects() bool { return s.Contrary != "" || len(s.Missing) > 0 }

// checker is one check under way.
type checker struct {
	Options
	words   *lexicon
	sources []*evidence
}

// Check finds out of each sentence of answer whether the sources that it cites say it, by
// rules about words, figures, codes, names and negations. It asks no model, and gives the same
// report for the same input.
//
// A source supports a sentence if it holds enough of its words, weighted by how rare they
// are, close together, and all of its figures, dates, versions, codes, flags and names, and no
// rule objects. Several sources may support it together.
//
// A sentence that the nearest of its sources speaks against is not grounded, whatever
// words other sources share with it.
func Check(answer string, sources []state.Source, o Options) Report {
	if o.Language == "" {
		o.Language = text.Language(Strip(answer))
	}
	c := &checker{Options: o, words: lexiconOf(o.Language)}
	for _, s := range sources {
		c.sources = append(c.sources, c.words.evidence(s))
	}
	r := Report{Sentences: sentences(answer, len(sources)), Sources: len(sources)}
	marks, right, covered := 0, 0, 0
	for i := range r.Sentences {
		s := &r.Sentences[i]
		for _, n := range s.Cited {
			r.Cited = appendNew(r.Cited, n)
		}
		r.Invalid += s.Invalid
		marked := len(s.Cited)+s.Invalid > 0
		if s.Kind == Claim && c.frames(s.Text, marked) {
			s.Kind = Framing
		}
		if s.Kind != Claim && (s.Kind != Code || !marked) {
			continue
		}
		right += c.judge(s)
		marks += len(s.Cited) + s.Invalid
		r.Claims++
		covered += count(len(s.Cited) > 0)
		r.Grounded += count(s.Grounded)
		r.Unchecked += count(s.Unchecked)
	}
	r.Precision, r.Recall, r.Faithfulness = share(right, marks), share(covered, r.Claims), share(r.Grounded, r.Claims)
	return r
}

func count(is bool) int {
	if is {
		return 1
	}
	return 0
}

// share is a/b, and 1 for 0/0.
func share(a, b int) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

// minTerms is how many content words a sentence without figures needs to state a fact.
const minTerms = 2

// frames reports whether a sentence says nothing about the documents: it is one of the
// program's own, announces what follows, or has hardly a word in it. One with a mark does so only
// if there is nothing in it to look up: "Yes.". A single word does so only if no source holds it.
func (c *checker) frames(said string, marked bool) bool {
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

// judge fills in what a claim's sources say to it. It returns how many of the sources cited
// support it.
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
	if s.Grounded && c.isDenied(s.Text) {
		s.Supported, s.Grounded, s.Why, right = false, false, "the source does not say this", 0
	}
	s.Unchecked = s.Grounded && s.Best.Foreign
	return right
}

// best is the source that supports a claim best, or speaks against it from as near.
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

// denies returns the source that speaks against a claim from as near as the best one
// supports it; the zero Support if none does.
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

// why says what keeps a source from supporting a sentence.
func (s Support) why() string {
	switch {
	case len(s.Missing) > 0:
		return "not in the source: " + strings.Join(s.Missing, ", ")
	case s.Contrary != "":
		return "the source says the contrary: " + s.Contrary
	}
	return "the source does not say this"
}
