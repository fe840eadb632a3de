package model

import (
	"cmp"
	"math"
	"slices"
	"strings"
	"unicode"
)

// termsKept is how many words of an answer later turns may lean on.
const termsKept = 8

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
