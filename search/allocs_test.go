//go:build !race

// The race detector makes pools forget, which changes how much is allocated.

package search_test

import (
	"context"
	"testing"

	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// TestNoObserver: a search without an observer allocates no more for it.
func TestNoObserver(t *testing.T) {
	db := open(t)
	put(t, db, "docs", file("leave.md", "Leave", "Everyone has 28 days of leave."))
	e := engineOf(t, snapshotOf(t, db, "docs"), search.Options{})
	ctx, q := t.Context(), state.Query{Text: "leave", Weight: 1}
	search := func(find func(context.Context, state.Query, int) (search.Found, error)) float64 {
		return testing.AllocsPerRun(100, func() {
			if _, err := find(ctx, q, 3); err != nil {
				t.Fatal(err)
			}
		})
	}
	if with, without := search(e.Search), search(e.SearchUnobserved); with != without {
		t.Errorf("%v allocations, and %v without the place for an observer", with, without)
	}
}
