package search_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// TestObserver: each search and each list is told once, with its leg, its result and the context that it works with.
func TestObserver(t *testing.T) {
	t.Parallel()
	db := open(t)
	put(t, db, "docs", file("leave.md", "Leave", "Everyone has 28 days of leave."))
	var got []string
	ended := func(hits []state.Hit, err error) { got = append(got, fmt.Sprint(len(hits), " ", err)) }
	e := engineOf(t, snapshotOf(t, db, "docs"), search.Options{Source: "docs", Observer: func(ctx context.Context, q state.Query, leg, source string) (context.Context, func([]state.Hit, error)) {
		got = append(got, source+" "+leg+" "+q.Text)
		return ctx, ended
	}})
	q := state.Query{Text: "leave", Weight: 1}
	if _, err := e.Search(t.Context(), q, 3); err != nil {
		t.Fatal(err)
	}
	if _, err := e.List(t.Context(), state.Query{Text: "parking", Weight: 1}, search.Request{Leg: search.LegLexical}); err != nil {
		t.Fatal(err)
	}
	if _, err := e.List(t.Context(), q, search.Request{Leg: "smell"}); err == nil {
		t.Error("a leg that there is not is no error")
	}
	want := []string{"docs hybrid leave", "1 <nil>", "docs lexical parking", "0 <nil>", "docs smell leave"}
	if len(got) != 6 || !slices.Equal(got[:5], want) {
		t.Errorf("%q, want %q and an error", got, want)
	}
}
