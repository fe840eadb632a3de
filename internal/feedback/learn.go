package feedback

import (
	"cmp"
	"math"
	"slices"

	"example.com/ragflow/internal/rank"
)

// MinSimilarity is the cosine of the words of two questions from which they are alike.
const MinSimilarity = 0.7

// Like returns the ratings of questions like one, the most similar first.
func (l *List) Like(question string) []Feedback {
	asked, alike := rank.StemVector(question), rank.AtLeast(MinSimilarity)
	similarity := map[string]float64{} // by question
	for _, f := range l.Feedback {
		similarity[f.Question] = rank.Cosine(asked, rank.StemVector(f.Question))
	}
	out := slices.DeleteFunc(slices.Clone(l.Feedback), func(f Feedback) bool { return !alike(similarity[f.Question]) })
	slices.SortStableFunc(out, func(a, b Feedback) int { return cmp.Compare(similarity[b.Question], similarity[a.Question]) })
	return out
}

const (
	learningRate = 0.05 // a rating changes a factor by at most e^0.025
	maxFactor    = 2    // and all together double or halve it at most
)

// factors learns from ratings, oldest first, by what to multiply the weight of each leg of the search: a leg that ranked
// the passages of good answers above the other legs did gets more, one that did so for bad answers gets less. Each
// factor is from 1/maxFactor to maxFactor. An answer counts once, by its last rating; one that a single leg found,
// or none, says nothing about the legs.
func factors(ratings []Feedback) map[string]float64 {
	last := map[string]int{}
	for i, f := range ratings {
		last[f.RunID] = i
	}
	sums := map[string]float64{}
	for i, f := range ratings {
		total := 0.0
		for _, credit := range f.Legs {
			total += credit
		}
		if last[f.RunID] != i || len(f.Legs) < 2 || total <= 0 {
			continue
		}
		sign := 1.0
		if f.Rating != RatingUp {
			sign = -1
		}
		for leg, credit := range f.Legs {
			sums[leg] += sign * (credit/total - 1/float64(len(f.Legs)))
		}
	}
	out := map[string]float64{}
	for leg, sum := range sums {
		out[leg] = math.Exp(min(max(learningRate*sum, -math.Log(maxFactor)), math.Log(maxFactor)))
	}
	return out
}
