package nodes

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/state"
)

// Reasons for a skipped node, as traces show them.
const (
	SkippedNoDocs     = "Skipped (no docs)"
	SkippedRetryLimit = "Skipped (retry limit reached, passing to post_retrieval)"
)

// CheckAndRefine returns the node that grades the best gradedChunks passages. The
// grader gets [FeedbackChunks], so that it can compare and refine. If a reranking model
// read the passages, its score is a part of the grade.
// If the score of the first visit is below threshold and the grader has a refined
// query, the query is added and [AfterCheck] routes back to retrieval.
//
// The second visit calls no model, and its trace lists no score. The grader free, which costs nothing,
// grades the hits of both attempts, so that the answer can abstain. free may be g.
func CheckAndRefine(s Searcher, g, free Grader, threshold float64) Node {
	return func(ctx context.Context, st state.State) (state.Update, error) {
		if len(st.Turn.Hits) == 0 {
			graph.Skip(ctx, SkippedNoDocs)
			return state.Update{Grade: &state.Grade{}}, nil
		}
		last := st.Turn.Attempts >= maxAttempts
		grader := g // g serves all turns, so it is not overwritten
		if last {
			graph.Skip(ctx, SkippedRetryLimit)
			grader = free
		}
		best, err := gradedSources(ctx, s, st.Turn)
		if err != nil {
			return state.Update{}, err
		}
		grade, err := grader.Grade(ctx, st.Turn.Queries, best)
		if err != nil {
			return state.Update{}, fmt.Errorf("grade: %w", err)
		}
		if math.IsNaN(grade.Score) {
			return state.Update{}, errors.New("grade: the score is not a number")
		}
		grade.Score = min(max(grade.Score, 0), 1)
		grade = certain(grade, st.Turn.Ranking.Judged)
		if last || grade.Score >= threshold {
			grade.Refined = nil
		}
		noteGrade(ctx, grader, grade, best, st.Turn.Query, !last)
		update := state.Update{Grade: &grade}
		if grade.Refined != nil {
			refined := *grade.Refined
			refined.Attempt = st.Turn.Attempts + 1
			queries := append(slices.Clone(st.Turn.Queries), refined)
			update.Queries = &queries
		}
		return update, nil
	}
}

// AfterCheck is the route after check_and_refine: retrieval if that node added a refined
// query for a second attempt, else post_retrieval.
func AfterCheck(st state.State) string {
	if t := st.Turn; t.Attempts > 0 && t.Attempts < maxAttempts && len(pending(st)) > 0 {
		return RetrievalID
	}
	return PostRetrievalID
}

func noteGrade(ctx context.Context, g Grader, grade state.Grade, best []state.Source, query string, scored bool) {
	best = best[:min(len(best), gradedChunks)]
	places := make([]string, len(best))
	for i, c := range best {
		places[i] = place(c.Chunk)
	}
	if grade.By != "" {
		graph.Note(ctx, "by", grade.By)
	} else {
		noteBy(ctx, g)
	}
	graph.Note(ctx, "graded", strings.Join(places, ", "))
	if scored {
		graph.Note(ctx, "SCORE", fmt.Sprintf("%.2f", grade.Score))
	}
	refined := oneLine(query)
	if grade.Refined != nil { // is searched for next, so it is noted whole
		refined = strings.Join(strings.Fields(withBoosts(*grade.Refined)), " ")
	}
	graph.Note(ctx, "REFINED", refined)
	if grade.Why != "" {
		graph.Note(ctx, "why", oneLine(grade.Why))
	}
}
