package offline

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"slices"
	"strings"

	"example.com/ragflow/state"
)

// Reader compares texts by their meaning. Implementations are safe for concurrent use.
type Reader interface {
	// Near returns the cosine of the question and each passage, from -1 to 1.
	Near(ctx context.Context, question string, passages []state.Source) ([]float64, error)
}

// nearOdds is what a passage gains in log odds for each unit of its cosine, beside the log odds by words. It was
// learnt on 552 questions: those of eval/field that may be read, and those of scripts/learn-answers order without
// ALQAC. These alone give 56, with ALQAC 41. docs/answers-ablation.md says what it gains.
const nearOdds = 70

// ByMeaning orders the first read candidates, as [Reranker.Rerank] returned them, by words and meaning. A question that
// continues an earlier one is read behind it.
func ByMeaning(ctx context.Context, r Reader, queries []state.Query, candidates []state.Source, read int) ([]state.Source, error) {
	out, q := slices.Clone(candidates), variants(queries)[0]
	first := out[:min(len(out), read)]
	if len(first) < 2 {
		return out, nil
	}
	near, err := r.Near(ctx, strings.TrimSpace(q.Topic+" "+q.Text), first)
	if err != nil {
		return nil, fmt.Errorf("compare by meaning: %w", err)
	}
	odds, kept := make([]float64, len(first)), 0.0
	for i, s := range first {
		kept += s.Score
		odds[i] = math.Log(max(s.Score, math.SmallestNonzeroFloat64)) + nearOdds*near[i]
	}
	for i, p := range chances(odds) {
		first[i].Score = p * kept
	}
	slices.SortStableFunc(first, func(a, b state.Source) int { return cmp.Compare(b.Score, a.Score) })
	return out, nil
}
