package cite

import (
	"math"
	"slices"
	"strings"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// checker is one check under way. It takes a source apart when it is first
// asked about.
type checker struct {
	options Options
	given   []state.Source
	sources []*evidence    // nil where not taken apart yet
	spans   int            // of the sources taken apart
	holds   map[string]int // of these, those that hold a term
}

// reading is what a sentence of the answer holds.
type reading struct {
	said     string
	plain    string // normalised
	words    []word // of plain
	literals []string
	names    []string
}

func (c *checker) read(said string) reading {
	out := reading{said: said, plain: normal(said)}
	out.words = wordsOf(out.plain)
	out.literals, out.names = literals(said, out.words, c.options.Language)
	return out
}

// evidence is a source taken apart.
type evidence struct {
	text     string
	plain    string // normalised: title, headings and text
	words    []word // of plain
	spans    []span
	about    []string        // terms of title and headings
	forms    []string        // all terms, sorted, to find other forms of a word
	lang     string          // of the text; empty until needed
	wordings []wording       // of the spans; nil until needed
	figures  map[string]bool // numbers of plain, also without marks that group digits; nil until needed
}

// span is a sentence of a source.
type span struct {
	text.Span
	terms []string
}

// claim is a sentence of the answer taken apart.
type claim struct {
	reading
	terms   []string // each once
	weights []float64
	counts  []int
	total   float64        // of weights
	index   map[string]int // of terms
	wording wording
	lines   []string // of a block of code; nil otherwise
}

// analyze returns the terms of s that are no function words of the answer's
// language.
func (c *checker) analyze(s string) []text.Token {
	analyzer := text.For(c.options.Language)
	if c.options.Stats != nil {
		analyzer = c.options.Stats.Analyzer()
	}
	return slices.DeleteFunc(analyzer.Analyze(s), func(t text.Token) bool {
		return text.StopWord(c.options.Language, strings.ToLower(s[t.Start:t.End]))
	})
}

// evidence returns source n taken apart.
func (c *checker) evidence(n int) *evidence {
	if e := c.sources[n-1]; e != nil {
		return e
	}
	src := c.given[n-1]
	e := &evidence{text: src.Text}
	c.sources[n-1] = e
	about := src.Title + "\n" + strings.Join(src.Headings, "\n") + "\n"
	e.plain = normal(about + src.Text)
	e.words = wordsOf(e.plain)
	for _, t := range c.analyze(about) {
		e.about = append(e.about, t.Term)
	}
	e.forms = slices.Clone(e.about)
	for _, s := range text.Sentences(src.Text) {
		raw := src.Text[s.Start:s.End]
		tokens := c.analyze(raw)
		one := span{Span: s}
		for _, t := range tokens {
			if !slices.Contains(one.terms, t.Term) {
				c.holds[t.Term]++
			}
			one.terms = append(one.terms, t.Term)
		}
		e.forms = append(e.forms, one.terms...)
		e.spans = append(e.spans, one)
		c.spans++
	}
	slices.Sort(e.forms)
	e.forms = slices.Compact(e.forms)
	return e
}

// claim takes a sentence apart.
func (c *checker) claim(s *Sentence) claim {
	if s.Kind == Code {
		return claim{reading: reading{said: s.Text}, lines: codeLines(s.Text)}
	}
	out := claim{reading: c.read(s.Text), index: map[string]int{}}
	tokens := c.analyze(s.Text)
	out.wording = wordingOf(c.options.Language, s.Text)
	for _, t := range tokens {
		if i, ok := out.index[t.Term]; ok {
			out.counts[i]++
			continue
		}
		out.index[t.Term] = len(out.terms)
		weight := c.rarity(t.Term)
		out.terms, out.counts, out.weights = append(out.terms, t.Term), append(out.counts, 1), append(out.weights, weight)
		out.total += weight
	}
	return out
}

// rarity is the weight of a term: its inverse document frequency as BM25 has
// it, over the chunks of the index or, where nothing is known of an index, over
// the sentences of all sources.
func (c *checker) rarity(term string) float64 {
	var docs, holding int
	if c.options.Stats != nil {
		docs, holding = c.options.Stats.Docs(), c.options.Stats.DocFreq(term)
	} else {
		for n := range c.sources {
			c.evidence(n + 1)
		}
		docs, holding = c.spans, c.holds[term]
	}
	docs = max(docs, holding)
	return math.Log(1 + (float64(docs)-float64(holding)+0.5)/(float64(holding)+0.5))
}

// normal is a text in which figures, codes and names are looked up: cleaned as
// quotes are, in lower case, without the backslashes of Markdown.
func normal(s string) string { return strings.ToLower(strings.ReplaceAll(text.Clean(s), `\`, "")) }

// codeLines are the lines of a fenced block, without its fences, each
// normalised.
func codeLines(block string) []string {
	lines := []string{}
	for line := range strings.Lines(block) {
		if line = normal(line); line != "" && !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "~~~") {
			lines = append(lines, line)
		}
	}
	return lines
}
