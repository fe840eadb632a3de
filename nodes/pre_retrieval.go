package nodes

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/state"
)

// PreRetrieval returns the node that plans the turn: its language, its route
// and one to [MaxQueries] queries, and up to maxAdded of transforms. The first query is
// always the question as asked. Empty queries and queries beyond the limit are dropped.
func PreRetrieval(r Rewriter) Node {
	return func(ctx context.Context, s state.State) (state.Update, error) {
		plan, err := r.Rewrite(ctx, s.Turn.Query, s.Memory())
		if err != nil {
			return state.Update{}, fmt.Errorf("rewrite the question: %w", err)
		}
		queries := checkQueries(s.Turn.Query, plan.Queries, MaxQueries+min(plan.Added, maxAdded))
		if plan.Route == "" {
			plan.Route = state.RouteSearch
		}
		noteBy(ctx, r)
		graph.Note(ctx, "language", plan.Language)
		graph.Note(ctx, "route", plan.Route)
		graph.Note(ctx, "standalone", strconv.FormatBool(plan.Standalone))
		for i, q := range queries {
			noteQuery(ctx, i, q)
		}
		return state.Update{Language: &plan.Language, Route: &plan.Route, Queries: &queries}, nil
	}
}

// checkQueries puts the question as asked first and returns at most limit
// non-empty queries.
func checkQueries(raw string, planned []state.Query, limit int) []state.Query {
	out := make([]state.Query, 0, limit)
	for _, q := range planned {
		q.Text = strings.TrimSpace(q.Text)
		if q.Text == "" || q.Weight < 0 {
			continue
		}
		q.Attempt = 1
		out = append(out, q)
	}
	if len(out) == 0 || out[0].Text != raw {
		out = slices.Insert(out, 0, state.Query{Text: raw, Weight: 1, Why: "raw turn", Attempt: 1})
	}
	return out[:min(len(out), limit)]
}

// noteQuery notes the text, weight, boosts and reason of a query.
func noteQuery(ctx context.Context, i int, q state.Query) {
	value := fmt.Sprintf("%s (weight %.2f; %s)", oneLine(withBoosts(q)), q.Weight, oneLine(q.Why))
	graph.Note(ctx, "query "+strconv.Itoa(i+1), value)
	if len(q.Cited) > 0 {
		graph.Note(ctx, fmt.Sprintf("query %d cited earlier", i+1), fmt.Sprintf("%d passages are candidates", len(q.Cited)))
	}
	if len(q.QuoteEnds) > 0 {
		graph.Note(ctx, fmt.Sprintf("query %d quoted earlier", i+1), fmt.Sprintf("%d passages continue after their quotes", len(q.QuoteEnds)))
	}
}

// withBoosts formats a query with its boosts and their weights.
func withBoosts(q state.Query) string {
	parts := []string{q.Text}
	for _, b := range q.Boosts {
		parts = append(parts, fmt.Sprintf("(%s)^%.2f", b.Text, b.Weight))
	}
	return strings.Join(parts, " ")
}

func noteBy(ctx context.Context, skill any) {
	if m := madeBy(skill); m != "" {
		graph.Note(ctx, "by", m)
	}
}
