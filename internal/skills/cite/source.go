package cite

import (
	"math"
	"slices"
	"strings"

	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// evidence is a source split into sentences.
type evidence struct {
	text     string
	plain    string   // normalized title, headings and text
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

// languageBytes is the length of the text used to detect the language.
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

// claim is a sentence of the answer, prepared for the rules.
type claim struct {
	*reading
	said     string
	literals []string           // see [literals]
	weights  map[string]float64 // rarity in the sources, by stem of content word
	total    float64            // of weights
	lines    []string           // of a block of code; nil for a sentence
}

// claim prepares a sentence of the answer.
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

// rarity returns the weight of a stem: BM25's inverse document frequency, over the sentences of all sources.
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

// weight returns the total weight of the claim's content words that are in one of the sentences, each word
// once.
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

// window is the number of neighbouring sentences of a source that may support a claim together.
const window = 3

// nearest returns the largest share of a claim's weight in neighbouring sentences of a source, with title and
// headings.
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

// places returns the sentences of a source with the largest weight of a claim, or nearly so, title and
// headings included; best is the first of the largest.
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

// tiedShare is the share of the best weight that a sentence needs to count as a place of the claim.
const tiedShare = 0.9

// normal returns a text for comparing figures, codes and names: cleaned as quotes are, in lower case, without
// the backslashes of Markdown.
func normal(s string) string { return strings.ToLower(strings.ReplaceAll(text.Clean(s), `\`, "")) }

// codeLines returns the normalized lines of a fenced block, without its fences.
func codeLines(block string) []string {
	lines := []string{}
	for line := range strings.Lines(block) {
		if line = normal(line); line != "" && !strings.HasPrefix(line, "```") && !strings.HasPrefix(line, "~~~") {
			lines = append(lines, line)
		}
	}
	return lines
}
