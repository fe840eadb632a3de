package offline

import (
	"math"
	"strings"

	"example.com/ragflow/state"
)

// The growth of a query by a dictionary (Q13, W2): a query with other words
// weighs at most so many times what was asked, and each of them at most a share
// of a word that was asked.
const (
	synonymGrowth = 1.5
	conceptGrowth = 2.0
	synonymWeight = 0.3
	conceptWeight = 0.15
)

// Expansions are the other words that are searched for besides a question, in
// order; those of the person come before those built in.
func (r *Rewriter) Expansions(question string) []Expansion { return r.words.Expand(question) }

// Boosts are what expansions add to a query for question. A word weighs less
// where there are so many that the query would outgrow what was asked.
func (r *Rewriter) Boosts(question string, expansions []Expansion) []state.Boost {
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
