package cite

import (
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// checker is one check under way. It takes a source apart when it is first
// asked about.
type checker struct {
	options Options
	given   []state.Source
	sources []*evidence // nil where not taken apart yet
	counted bool        // the frequencies of terms in the sources are known

	// Terms have small numbers. What is known of a term stands at its number.
	ids      map[string]int
	idf      []float64 // 0: not known yet
	holds    []int     // spans of all sources that hold it
	seen     []int     // stamp of the last count that met it
	weight   []float64 // in the claim at hand; 0 elsewhere
	spans    int       // of all sources
	stamp    int
	tokens   []text.Token // of analyzed
	analyzed string
	words    []word    // of one call of denied
	tally    []int     // by term; 0 outside of similarity
	alone    []float64 // of one call of near
	last     reading
}

// reading is what a sentence of the answer holds.
type reading struct {
	said     string
	plain    string // normalised
	words    []word // of plain
	literals []string
	names    []string
}

// read reads a sentence of the answer. That it states a fact and what it states
// is asked one after the other, so the last one is kept.
func (c *checker) read(said string) reading {
	if c.last.said != said || said == "" {
		c.last = reading{said: said, plain: normal(said)}
		c.last.words = wordsOf(c.last.plain)
		c.last.literals, c.last.names = literals(said, c.last.words, c.options.Language)
	}
	return c.last
}

// evidence is a source taken apart.
type evidence struct {
	text    string
	plain   string // normalised: title, headings and text
	words   []word // of plain
	spans   []span
	about   []int           // terms of title and headings
	endings []string        // all terms, sorted, to find other forms of a word
	lang    string          // of the text; empty until needed
	figures map[string]bool // numbers of plain, also without marks that group digits; nil until needed
}

// span is a sentence of a source.
type span struct {
	text.Span
	terms []int
	heads []int // terms that a negation denies
	quiet bool  // holds no negation
}

// claim is a sentence of the answer taken apart.
type claim struct {
	reading
	terms   []int     // each once
	weights []float64 // of terms
	total   float64   // of weights
	counts  []int     // of terms
	forms   []string  // of terms, as the analyzer writes them
	heads   []int
	quiet   bool
	lines   []string // of a block of code; nil otherwise
}

func (c *checker) analyzer() text.Analyzer {
	if c.options.Stats != nil {
		return c.options.Stats.Analyzer()
	}
	return text.For(c.options.Language)
}

// analyze returns the terms of s that are no function words of the answer's
// language. The slice is good until the next call.
func (c *checker) analyze(s string) []text.Token {
	if s == c.analyzed && s != "" {
		return c.tokens
	}
	c.analyzed, c.tokens = s, c.analyzer().Append(c.tokens[:0], s)
	if c.options.Language != "en" { // the analyzer of English knows its function words
		c.tokens = slices.DeleteFunc(c.tokens, func(t text.Token) bool {
			return text.StopWord(c.options.Language, strings.ToLower(s[t.Start:t.End]))
		})
	}
	return c.tokens
}

func (c *checker) id(term string) int {
	if id, ok := c.ids[term]; ok {
		return id
	}
	if c.ids == nil {
		c.ids = map[string]int{}
	}
	id := len(c.idf)
	c.ids[term] = id
	c.idf, c.holds, c.seen, c.weight = append(c.idf, 0), append(c.holds, 0), append(c.seen, 0), append(c.weight, 0)
	return id
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
	forms := map[string]bool{}
	for _, t := range c.analyze(about) {
		e.about = append(e.about, c.id(t.Term))
		forms[t.Term] = true
	}
	spans := text.Sentences(src.Text)
	e.spans = make([]span, 0, len(spans))
	for _, s := range spans {
		raw := src.Text[s.Start:s.End]
		tokens := c.analyze(raw)
		one := span{Span: s, terms: make([]int, 0, len(tokens))}
		c.stamp++
		for _, t := range tokens {
			id := c.id(t.Term)
			forms[t.Term] = true
			one.terms = append(one.terms, id)
			if c.seen[id] != c.stamp {
				c.seen[id] = c.stamp
				c.holds[id]++
			}
		}
		one.heads, one.quiet = c.denied(raw, tokens)
		e.spans = append(e.spans, one)
		c.spans++
	}
	e.endings = make([]string, 0, len(forms))
	for f := range forms {
		e.endings = append(e.endings, f)
	}
	slices.Sort(e.endings)
	return e
}

// claim takes a sentence apart.
func (c *checker) claim(s *Sentence) claim {
	if s.Kind == Code {
		return claim{reading: reading{said: s.Text}, lines: codeLines(s.Text)}
	}
	out := claim{reading: c.read(s.Text)}
	tokens := c.analyze(s.Text)
	out.heads, out.quiet = c.denied(s.Text, tokens)
	n := len(tokens)
	out.terms, out.counts, out.forms, out.weights = make([]int, 0, n), make([]int, 0, n), make([]string, 0, n), make([]float64, 0, n)
	for _, t := range tokens {
		id := c.id(t.Term)
		if i := slices.Index(out.terms, id); i >= 0 {
			out.counts[i]++
			continue
		}
		out.terms, out.counts, out.forms = append(out.terms, id), append(out.counts, 1), append(out.forms, strings.Clone(t.Term))
	}
	for i, id := range out.terms {
		w := c.rarity(out.forms[i], id)
		out.weights = append(out.weights, w)
		out.total += w
	}
	return out
}

// rarity is the weight of a term: its inverse document frequency as BM25 has
// it, over the chunks of the index or, where nothing is known of an index, over
// the sentences of all sources.
func (c *checker) rarity(term string, id int) float64 {
	if c.idf[id] != 0 {
		return c.idf[id]
	}
	var docs, holding int
	if c.options.Stats != nil {
		docs, holding = c.options.Stats.Docs(), c.options.Stats.DocFreq(term)
	} else {
		if !c.counted {
			c.counted = true
			for n := range c.sources {
				c.evidence(n + 1)
			}
		}
		docs, holding = c.spans, c.holds[id]
	}
	docs = max(docs, holding)
	c.idf[id] = math.Log(1 + (float64(docs)-float64(holding)+0.5)/(float64(holding)+0.5))
	return c.idf[id]
}

// normal is a text in which figures, codes and names are looked up: cleaned as
// quotes are, in lower case, without the backslashes of Markdown.
func normal(s string) string {
	var plain strings.Builder
	plain.Grow(len(s))
	last := byte(' ')
	for i := range len(s) {
		c := s[i]
		switch {
		case c >= utf8.RuneSelf || c < ' ' && c != '\n' && c != '\t' && c != '\r' || c == 0x7f:
			return strings.ToLower(strings.ReplaceAll(text.Clean(s), `\`, ""))
		case c == '\\' || c <= ' ' && last == ' ':
		case c <= ' ':
			last = ' '
			plain.WriteByte(last)
		case 'A' <= c && c <= 'Z':
			last = c | 0x20
			plain.WriteByte(last)
		default:
			last = c
			plain.WriteByte(last)
		}
	}
	return strings.TrimSuffix(plain.String(), " ")
}

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
