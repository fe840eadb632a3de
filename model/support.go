package model

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"

	"example.com/ragflow/cite"
	"example.com/ragflow/state"
	"example.com/ragflow/text"
)

// supported is the share of a statement's terms that a sentence must hold for a
// mark to be set that the model left out.
const supported = 0.6

// minTerms is how many terms a statement needs to be told from others.
const minTerms = 3

// termsKept is how many words of an answer later turns may lean on.
const termsKept = 8

// attribute builds a citation for each mark of an answer: the sentence of the
// source that holds most of the statement before the mark. An answer without
// any valid mark gets them, where a sentence of a source plainly supports a
// statement. Marks of sources that do not exist stay, for the node to count.
func attribute(a text.Analyzer, answer string, sources []state.Source) (string, []state.Citation, error) {
	passages := make([]passage, len(sources))
	for i, s := range sources {
		passages[i] = newPassage(a, s.Text)
	}
	if len(cite.Validate(answer, len(sources)).Cited) == 0 {
		answer = mark(a, answer, passages)
	}
	var picks []cite.Pick
	support := func(marks string, words map[string]bool) {
		for _, n := range cite.Validate(marks, len(sources)).Cited {
			span := passages[n-1].best(words).Span
			picks = append(picks, cite.Pick{N: n, Start: span.Start, End: span.End})
		}
	}
	var words map[string]bool
	for _, statement := range text.Sentences(answer) {
		// Marks behind a full stop belong to the statement before it.
		behind, sentence := leadingMarks(answer[statement.Start:statement.End])
		support(behind, words)
		words = termSet(a, cite.Strip(sentence))
		support(sentence, words)
	}
	citations, err := cite.Build(sources, picks...)
	return answer, citations, err
}

// leadingMarks splits off the marks that a sentence begins with.
func leadingMarks(sentence string) (marks, rest string) {
	at := 0
	for {
		end := strings.IndexByte(sentence[at:], ']')
		if end < 0 || strings.TrimSpace(cite.Strip(sentence[at:at+end+1])) != "" {
			return sentence[:at], sentence[at:]
		}
		at += end + 1
	}
}

// mark adds the marks of sentences that support a statement plainly.
func mark(a text.Analyzer, answer string, passages []passage) string {
	var out strings.Builder
	at := 0
	for _, statement := range text.Sentences(answer) {
		sentence := answer[statement.Start:statement.End]
		words := termSet(a, cite.Strip(sentence))
		if len(words) < minTerms || strings.HasPrefix(strings.TrimSpace(sentence), "```") {
			continue
		}
		best, source := 0.0, 0
		for i, p := range passages {
			if m := p.best(words); m.share > best {
				best, source = m.share, i+1
			}
		}
		if best >= supported {
			out.WriteString(answer[at:statement.End] + " " + cite.Marker(source))
			at = statement.End
		}
	}
	out.WriteString(answer[at:])
	return out.String()
}

// passage is a source taken apart.
type passage struct {
	spans []text.Span
	terms []map[string]bool // of each span
}

func newPassage(a text.Analyzer, s string) passage {
	p := passage{spans: text.Sentences(s)}
	for _, span := range p.spans {
		p.terms = append(p.terms, termSet(a, s[span.Start:span.End]))
	}
	return p
}

// support is how well a span of a passage supports a statement.
type support struct {
	text.Span         // zero for the whole passage: no span holds any of its terms
	share     float64 // of the statement's terms that the span holds
}

// best is the span that holds most of words, the first of equals.
func (p passage) best(words map[string]bool) support {
	var found support
	most := 0
	for i, terms := range p.terms {
		n := 0
		for w := range words {
			if terms[w] {
				n++
			}
		}
		if n > most {
			most, found.Span = n, p.spans[i]
		}
	}
	found.share = float64(most) / float64(max(1, len(words)))
	return found
}

func termSet(a text.Analyzer, s string) map[string]bool {
	set := map[string]bool{}
	for _, t := range a.Analyze(s) {
		set[t.Term] = true
	}
	return set
}

// telling returns the words of an answer that tell most about it: the rarest in
// the documents first.
func (a *Answerer) telling(answer string) []string {
	type candidate struct {
		word   string
		weight float64
	}
	var found []candidate
	at := map[string]int{}
	docs := float64(a.stats.Docs())
	for _, t := range a.stats.Analyzer().Analyze(answer) {
		word := strings.ToLower(answer[t.Start:t.End])
		freq := a.stats.DocFreq(t.Term)
		if freq == 0 || !strings.ContainsFunc(word, unicode.IsLetter) {
			continue
		}
		idf := math.Log(1 + (docs-float64(freq)+0.5)/(float64(freq)+0.5))
		i, ok := at[t.Term]
		if !ok {
			at[t.Term] = len(found)
			found = append(found, candidate{word, idf})
		} else if found[i].weight < 3*idf {
			found[i].weight += idf
		}
	}
	slices.SortStableFunc(found, func(a, b candidate) int { return cmp.Compare(b.weight, a.weight) })
	var out []string
	for _, c := range found[:min(len(found), termsKept)] {
		out = append(out, c.word)
	}
	return out
}
