package offline

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"example.com/ragflow/state"
)

// Relevance feedback by RM3 (Lavrenko and Croft 2001; Abdul-Jaleel et al. 2004).
const (
	feedbackTerms  = 10  // words that a refined query borrows
	originalWeight = 0.8 // of the question in the mixture; the rest is that of the borrowed words
	commonShare    = 0.1 // of all chunks: words in more of them are not borrowed…
	commonFloor    = 20  // …in an index of at least so many
)

// refine makes the query of the retry: the strongest one mixed with the words
// that are likeliest in the best chunks, the chunks weighed by their rank. nil
// where they offer nothing new.
func (l lexicon) refine(queries []state.Query, best []state.Chunk) *state.Query {
	q := strongest(queries)
	own := l.question(q)
	known := set{}
	for _, t := range own {
		known[t.term] = struct{}{}
	}
	type candidate struct {
		word  string
		share float64
	}
	var found []*candidate
	byTerm := map[string]*candidate{}
	for i, c := range best {
		tokens := l.bag(c.Text).words
		for _, t := range tokens {
			word := strings.ToLower(c.Text[t.Start:t.End])
			if known.has(t.Term) || functionWord("en", word) || askingWord(word) || !hasLetter(word) || l.everywhere(t.Term) {
				continue
			}
			w := byTerm[t.Term]
			if w == nil {
				w = &candidate{word: word}
				byTerm[t.Term] = w
				found = append(found, w)
			}
			w.share += 1 / float64(len(tokens)) / float64(i+1) // P(word|chunk) · weight of the chunk
		}
	}
	if len(found) == 0 {
		return nil
	}
	slices.SortStableFunc(found, func(a, b *candidate) int { return cmp.Compare(b.share, a.share) })
	found = found[:min(len(found), feedbackTerms)]
	sum := 0.0
	for _, w := range found {
		sum += w.share
	}
	// A word of the question weighs 1 in the search and originalWeight / len(own)
	// in the mixture.
	unit := float64(len(own)) / originalWeight
	refined := state.Query{
		Text: q.Text, Boosts: slices.Clone(q.Boosts), Weight: q.Weight,
		Why: "with the words that the best passages share (RM3)", Attempt: 2,
	}
	for _, w := range found {
		weight := math.Round(unit*(1-originalWeight)*w.share/sum*1000) / 1000
		if weight > 0 {
			refined.Boosts = append(refined.Boosts, state.Boost{Text: w.word, Weight: weight})
		}
	}
	return &refined
}

// everywhere reports whether a word stands in so many chunks that it says
// nothing.
func (l lexicon) everywhere(term string) bool {
	n := l.stats.Docs()
	return n >= commonFloor && float64(l.docFreq(term)) > commonShare*float64(n)
}
