package cite

import (
	"math"
	"slices"
	"strings"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// evidence is a source taken apart.
type evidence struct {
	text     string
	plain    string   // title, headings and text, normalised
	about    *reading // title and headings
	spans    []span
	stems    map[string]bool // of title, headings and text
	language string          // of the text
}

// span is a sentence of a source.
type span struct {
	text.Span
	*reading
}

// languageBytes is how much of a source tells its language.
const languageBytes = 1000

func (l *lexicon) evidence(src state.Source) *evidence {
	about := src.Title + "\n" + strings.Join(src.Headings, "\n") + "\n"
	e := &evidence{text: src.Text, plain: normal(about + src.Text), about: l.read(about), stems: map[string]bool{}}
	e.language = text.Language(e.text[:min(len(e.text), languageBytes)])
	for stem := range e.about.counts {
		e.stems[stem] = true
	}
	for _, s := range text.Sentences(src.Text) {
		one := span{s, l.read(src.Text[s.Start:s.End])}
		for stem := range one.counts {
			e.stems[stem] = true
		}
		e.spans = append(e.spans, one)
	}
	return e
}

// claim is a sentence of the answer taken apart.
type claim struct {
	*reading
	said     string
	literals []string           // see [literals]
	weights  map[string]float64 // of the stems of content words: how rare they are in the sources
	total    float64            // of weights
	lines    []string           // of a block of code; nil otherwise
}

// claim takes a sentence of the answer apart.
func (c *checker) claim(s *Sentence) *claim {
	if s.Kind == Code {
		return &claim{said: s.Text, reading: &reading{}, lines: codeLines(s.Text)}
	}
	out := &claim{said: s.Text, reading: c.words.read(s.Text), literals: literals(s.Text), weights: map[string]float64{}}
	for _, i := range out.content {
		stem := out.tokens[i].stem
		out.weights[stem] = c.rarity(stem)
	}
	out.total = out.weight(out.reading)
	return out
}

// rarity is the weight of a stem: its inverse document frequency as BM25 has it, over the
// sentences of all sources.
func (c *checker) rarity(stem string) float64 {
	all, holding := 0, 0
	for _, e := range c.sources {
		all += len(e.spans)
		for _, s := range e.spans {
			if s.has(stem) {
				holding++
			}
		}
	}
	return math.Log(1 + (float64(all-holding)+0.5)/(float64(holding)+0.5))
}

// weight returns the weight of those content words of a claim that some sentences hold,
// each word once.
func (of *claim) weight(in ...*reading) float64 {
	sum := 0.0
	for k, i := range of.content {
		stem := of.tokens[i].stem
		first := !slices.ContainsFunc(of.content[:k], func(j int) bool { return of.tokens[j].stem == stem })
		if first && slices.ContainsFunc(in, func(r *reading) bool { return r.has(stem) }) {
			sum += of.weights[stem]
		}
	}
	return sum
}

// window is how many neighbouring sentences of a source may say one sentence of an
// answer together.
const window = 3

// nearest returns the largest share of a claim's weight that neighbouring sentences of a
// source hold, with title and headings.
func (of *claim) nearest(e *evidence) float64 {
	if of.total == 0 {
		return 0
	}
	most := of.weight(e.about)
	for i := range e.spans {
		in := []*reading{e.about}
		for _, s := range e.spans[i:min(i+window, len(e.spans))] {
			in = append(in, s.reading)
		}
		most = max(most, of.weight(in...))
	}
	return most / of.total
}

// places returns the sentences of a source that hold most of the weight of a claim, or
// about as much; title and headings count for each. Of these, best is the first of those that hold
// most.
func (of *claim) places(e *evidence) (ties []int, best int) {
	weights := make([]float64, len(e.spans))
	for i, s := range e.spans {
		weights[i] = of.weight(e.about, s.reading)
		if weights[i] > weights[best]+1e-9 {
			best = i
		}
	}
	for i, w := range weights {
		if w >= tiedShare*weights[best] {
			ties = append(ties, i)
		}
	}
	return ties, best
}

// tiedShare is the share of the best weight from which on a sentence counts as the place
// of a claim, too.
const tiedShare = 0.9

// normal is a text in which figures, codes and names are looked up: cleaned as quotes
// are, in lower case, without the backslashes of Markdown.
func normal(s string) string { return strings.ToLower(strings.ReplaceAll(text.Clean(s), `\`, "")) }

// codeLines returns the lines of a fenced block without its fences, each normalised.
func codeLines(block string) []string {
	lines := []string{}
	for line := range strings.Lines(block) {
		if line = normal(line); line != "" && !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "~~~") {
			lines = append(lines, line)
		}
	}
	return lines
}
