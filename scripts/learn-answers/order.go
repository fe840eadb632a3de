package main

import (
	"context"
	"fmt"
	"math"
	"slices"

	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/llm"
	"example.com/ragflow/meaning"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// orderedQuestions is the number of questions of a set from which the order is learnt.
const orderedQuestions = 50

// cosineUnit scales cosines, which differ by hundredths, to about the range of log odds.
const cosineUnit = 20

// learnOrder learns what a passage gains in log odds for each unit of its cosine with the question, beside those by
// words. It prints that of all sets and, for each set, how often the first passage is right by words, and by words and
// meaning as learnt from the others.
func learnOrder(ctx context.Context, sets []set) error {
	examples := map[string][]example{}
	var names []string
	for _, s := range sets {
		for i, q := range s.questions {
			if i%(len(s.questions)/orderedQuestions+1) != 0 {
				continue
			}
			e, err := ordered(ctx, s, q)
			if err != nil {
				return err
			}
			if slices.Contains(e.right, true) {
				examples[s.name] = append(examples[s.name], e)
			}
		}
		names = append(names, s.name)
	}
	learn := func(without string) float64 {
		var from []example
		for _, name := range names {
			for _, e := range examples[name] {
				if e.weight = 1 / float64(len(examples[name])); name != without {
					from = append(from, e)
				}
			}
		}
		w := logit(from, 2, 0)
		return cosineUnit * w[1] / w[0]
	}
	for _, name := range names {
		factor := learn(name)
		first := func(factor float64) (right int) {
			for _, e := range examples[name] {
				best := 0
				for i, f := range e.features {
					if f[0]+factor/cosineUnit*f[1] > e.features[best][0]+factor/cosineUnit*e.features[best][1] {
						best = i
					}
				}
				if e.right[best] {
					right++
				}
			}
			return right
		}
		fmt.Printf("%s: %d questions, first right by words %d, with meaning %d, by the factor %.1f of the others\n", name, len(examples[name]), first(0), first(factor), factor)
	}
	fmt.Printf("factor %.1f\n", learn(""))
	return nil
}

// ordered returns the candidates of a question with the log odds by words and the cosine.
func ordered(ctx context.Context, s set, q question) (out example, err error) {
	found, err := chunksFor(ctx, s, q, false)
	if err != nil || len(found) == 0 {
		return out, err
	}
	found, err = offline.New(s.searcher, 0).Reranker.Rerank(ctx, []state.Query{{Text: q.text, Weight: 1, Attempt: 1}}, found)
	if err != nil {
		return out, err
	}
	model, err := meaning.Open()
	if err != nil {
		return out, err
	}
	asked, err := model.Embed(ctx, []string{q.text}, llm.Query)
	if err != nil {
		return out, err
	}
	texts := make([]string, len(found))
	for i, c := range found {
		texts[i] = search.Passage(c.Chunk)
	}
	vectors, err := model.Embed(ctx, texts, llm.Passage)
	if err != nil {
		return out, err
	}
	for i, c := range found {
		near := 0.0
		for k, x := range vectors.Vectors[i] {
			near += float64(x) * float64(asked.Vectors[0][k])
		}
		out.features = append(out.features, []float64{math.Log(c.Score), cosineUnit * near})
		out.right = append(out.right, q.gold(c.Chunk))
	}
	return out, nil
}
