package offline

import (
	"math"
	"strings"

	"example.com/ragflow/state"
)

// Expansion of queries is known with two factors, 1.5 for synonyms and 2.0 for
// concepts, and with the rule that an added word weighs at most 0.3 of one that was asked. Both
// hold here, because a factor bounds what the query as a whole grows to: so many times its own
// weight, however many words share that.
const (
	synonymGrowth = 1.5  // with synonyms and abbreviations, at most
	conceptGrowth = 2.0  // with concepts too, at most
	synonymWeight = 0.3  // of a synonym, at most
	conceptWeight = 0.15 // of a concept, at most: it says something else
)

// Expansions are the other words that are searched for besides a question, in
// order: what the dictionaries say, the person's own before ours, then everyday words. There are
// at most 20 in all.
func (r *Rewriter) Expansions(question string) []Expansion {
	out := r.words.Expand(question)
	n := 0
	for _, x := range out {
		n += len(x.Others)
	}
	for _, x := range r.lex.everyday(question) {
		if x.Others = x.Others[:min(len(x.Others), maxExpanded-n)]; len(x.Others) > 0 {
			n += len(x.Others)
			out = append(out, x)
		}
	}
	return out
}

// Boosts are what expansions add to a query for question. A word weighs less
// where there are so many that the query would outgrow what was asked.
func (r *Rewriter) Boosts(question string, expansions []Expansion) []state.Boost {
	if len(expansions) == 0 {
		return nil
	}
	var same, near []string
	for _, x := range expansions {
		if x.Kind == Concepts {
			near = append(near, x.Others...)
		} else {
			same = append(same, x.Others...)
		}
	}
	asked := float64(max(1, len(r.lex.set(question))))
	var out []state.Boost
	for _, b := range []struct {
		words        []string
		most, budget float64
	}{{same, synonymWeight, synonymGrowth - 1}, {near, conceptWeight, conceptGrowth - synonymGrowth}} {
		if len(b.words) == 0 {
			continue
		}
		words := strings.Join(b.words, "; ")
		weight := min(b.most, b.budget*asked/float64(max(1, len(r.lex.set(words)))))
		out = append(out, state.Boost{Text: words, Weight: math.Round(weight*1000) / 1000})
	}
	return out
}
