package agent

import (
	"context"

	"example.com/ragflow/state"
)

// Retriever finds passages.
type Retriever interface {
	// Retrieve returns the passages that fit a query best, the best first.
	Retrieve(ctx context.Context, query string) ([]state.Source, error)
}

// Search makes a tool of a retriever. The model may cite what it finds as [Source N], where N counts
// State.Sources from 1.
func Search(name, description string, r Retriever) Tool {
	type query struct {
		Query string `json:"query" jsonschema:"what to look for, in words that the documents may use"`
	}
	return Func(name, description, func(ctx context.Context, q query) (Result, error) {
		found, err := r.Retrieve(ctx, q.Query)
		if err == nil && len(found) == 0 {
			return Result{Text: "Nothing was found. Try other words."}, nil
		}
		return Result{Sources: found}, err
	})
}
