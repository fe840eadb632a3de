package cite

import (
	"slices"
	"strings"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// Stats is what a check asks the index about words.
type Stats interface {
	Analyzer() text.Analyzer
	Docs() int               // chunks in the index
	DocFreq(term string) int // chunks that hold a term, as the index writes it
}

// Options say what a check knows besides the answer and its sources. The zero
// Options are ready to use.
type Options struct {
	// Stats tells how rare words are; nil counts them in the sources themselves.
	Stats Stats
	// Language of the answer (ISO 639-1); empty lets the check find out.
	Language string
	// Denied are sentences, without marks, that no source says whatever the rules find:
	// somebody who reads better than they do has looked.
	Denied []string
}

// denies reports whether a sentence is among the denied ones, also with a word of doubt
// that [Repair] has put before its stop.
func (o Options) denies(sentence string) bool {
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

// Report is what a check found. Its shares are 1 where there was nothing to
// get wrong, so an empty answer is without fault.
type Report struct {
	Sentences []Sentence // in order; without those that hold nothing but marks
	Sources   int        // given to check against
	Cited     []int      // numbers of sources that marks name, each once, in order of first appearance
	Invalid   int        // marks of sources that do not exist

	Claims    int // claims, and blocks of code with a mark
	Covered   int // of these, with at least one mark of a source that exists
	Supported int // of these, said by the sources they cite
	Grounded  int // of these, said by some source, cited or not
	Unchecked int // of these, in another language than their sources: figures, codes and names were checked only
	Marks     int // pairs of a claim and a source it cites, and the invalid marks
	Right     int // of these, where the source is one that supports the claim

	Precision    float64 // Right / Marks
	Recall       float64 // Covered / Claims
	Faithfulness float64 // Grounded / Claims
}

// Sentence is one sentence of an answer, one list item, table row or block of
// code: answer[Start:End], with the marks that belong to it.
type Sentence struct {
	Kind       Kind
	Text       string // what is said, without marks
	Start, End int    // in bytes of the answer, marks behind it included
	Cited      []int  // sources named, each once
	Invalid    int    // marks of sources that do not exist

	// Supported says that the sources cited say this; Grounded that a source
	// does, cited or not.
	Supported, Grounded bool
	Unchecked           bool      // in another language than its source
	Right               int       // of the sources cited, those that support it
	Why                 string    // why it is not supported; empty where it is
	Sources             []Support // how each source cited stands to it, in the order of Cited
	Best                Support   // of the source that says it best: one cited where one of those does
}

// Support tells how a source stands to a sentence.
type Support struct {
	N          int      // of [Source N]; 0: none
	Coverage   float64  // share of the sentence's terms that the source holds, weighted by rarity, 0–1
	Near       float64  // the same within the best three neighbouring sentences of the source
	Similarity float64  // cosine of the term counts of sentence and the best sentences, 0–1
	Phrase     bool     // four words in a row stand in the source
	Missing    []string // figures, codes, flags and names of the sentence that the source lacks
	Contrary   string   // what contradicts: a negation, an opposite word, another figure in its place; empty where nothing does
	Foreign    bool     // it holds, but is in another language: only Missing could be looked at
	Start, End int      // the best sentence of the source, in bytes of its text
	Holds      bool     // the verdict
}

// The cut-offs of the verdict. They were chosen on the statements of testdata, with the
// counts of all sets in view.
const (
	minCoverage = 0.35 // of a sentence's weight in the source
	minNear     = 0.35 // of it in three neighbouring sentences
	// SimilarityCut is the similarity from which on a sentence counts as said by
	// a source whatever words it lacks (X17).
	SimilarityCut = 0.75
	// PhraseWords is how many words in a row tie a sentence to a source (X18).
	PhraseWords = 4
)

// Check tells of each sentence of answer whether the sources it cites say it,
// by rules alone: rare words, figures, codes, names, negation. It asks no
// model, changes nothing and gives the same report for the same input.
//
// A sentence is supported by a source that holds enough of its words, weighted
// by how rare they are, close together, all of its figures, dates, versions,
// codes, flags and names, and that does not say the contrary. Several sources
// may support it together.
func Check(answer string, sources []state.Source, o Options) Report {
	if o.Language == "" {
		o.Language = text.Language(Strip(answer))
	}
	c := &checker{options: o, sources: make([]*evidence, len(sources)), given: sources, holds: map[string]int{}}
	r := Report{Sentences: sentences(answer, len(sources)), Sources: len(sources)}
	for i := range r.Sentences {
		s := &r.Sentences[i]
		for _, n := range s.Cited {
			r.Cited = appendNew(r.Cited, n)
		}
		r.Invalid += s.Invalid
		if s.Kind == Claim && c.frames(s.Text, len(s.Cited)+s.Invalid > 0) {
			s.Kind = Framing
		}
		if s.Kind == Claim || s.Kind == Code && len(s.Cited)+s.Invalid > 0 {
			c.judge(s)
			r.count(s)
		}
	}
	r.Precision = share(r.Right, r.Marks)
	r.Recall = share(r.Covered, r.Claims)
	r.Faithfulness = share(r.Grounded, r.Claims)
	return r
}

func (r *Report) count(s *Sentence) {
	r.Claims++
	r.Marks += len(s.Cited) + s.Invalid
	r.Right += s.Right
	if len(s.Cited) > 0 {
		r.Covered++
	}
	for _, of := range []struct {
		is bool
		n  *int
	}{{s.Supported, &r.Supported}, {s.Grounded, &r.Grounded}, {s.Unchecked, &r.Unchecked}} {
		if of.is {
			*of.n++
		}
	}
}

// share is a/b, and 1 for 0/0.
func share(a, b int) float64 {
	if b == 0 {
		return 1
	}
	return float64(a) / float64(b)
}

// judge fills in what a claim's sources say to it.
func (c *checker) judge(s *Sentence) {
	claim := c.claim(s)
	for _, n := range s.Cited {
		found := c.support(claim, n)
		s.Sources = append(s.Sources, found)
		if found.Holds {
			s.Right++
		}
		if found.better(s.Best) {
			s.Best = found
		}
	}
	s.Supported = s.Right > 0
	if !s.Supported && len(s.Cited) > 1 {
		s.Right = c.together(claim, s.Cited)
		s.Supported = s.Right > 0
	}
	s.Grounded = s.Supported
	if !s.Supported {
		cited := s.Best
		s.Best = c.best(claim, s.Sources)
		s.Grounded = s.Best.Holds
		if len(s.Cited) == 0 {
			s.Why = "not cited"
		} else {
			s.Why = cited.why()
		}
	}
	if s.Grounded && c.options.denies(s.Text) {
		s.Supported, s.Grounded, s.Right, s.Why = false, false, 0, "the source does not say this"
	}
	s.Unchecked = s.Grounded && s.Best.Foreign
}

// best is the source that supports a claim best, whether it does or not.
// known is what is known of some sources already.
func (c *checker) best(of claim, known []Support) Support {
	var best Support
	for n := 1; n <= len(c.sources); n++ {
		var found Support
		if i := slices.IndexFunc(known, func(s Support) bool { return s.N == n }); i >= 0 {
			found = known[i]
		} else {
			found = c.support(of, n)
		}
		if found.better(best) {
			best = found
		}
	}
	return best
}

func (s Support) better(than Support) bool {
	switch {
	case than.N == 0 || s.Holds != than.Holds:
		return than.N == 0 || s.Holds
	case len(s.Missing) != len(than.Missing):
		return len(s.Missing) < len(than.Missing)
	}
	return s.Near+s.Coverage > than.Near+than.Coverage
}

// why says what keeps a source from supporting a sentence.
func (s Support) why() string {
	switch {
	case s.N == 0:
		return "no such source"
	case len(s.Missing) > 0:
		return "not in the source: " + strings.Join(s.Missing, ", ")
	case s.Contrary != "":
		return "the source says the contrary: " + s.Contrary
	}
	return "the source does not say this"
}
