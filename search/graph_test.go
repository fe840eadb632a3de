package search_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// shown writes hits one a line: score, chunk, and what led to it.
func shown(hits []state.Hit) string {
	var b strings.Builder
	for _, h := range hits {
		l := h.Legs[0]
		fmt.Fprintf(&b, "%.4g %s", h.Score, h.Chunk)
		if l.Linked() {
			fmt.Fprintf(&b, " → %s %s %d×%.4g", l.Relation, l.Via, l.Rank, l.Share)
		}
		b.WriteByte('\n')
	}
	return b.String()
}

// parents are hits as a search gives them, by file and score.
func parents(scores ...any) (hits []state.Hit) {
	for i := 0; i < len(scores); i += 2 {
		score := scores[i+1].(float64)
		hits = append(hits, state.Hit{Chunk: scores[i].(string) + "#0", Score: score, Legs: []state.Leg{{Name: "lexical", Rank: i/2 + 1, Score: score}}})
	}
	return hits
}

// TestExpand is R04 and T05: the golden rankings.
func TestExpand(t *testing.T) {
	db := open(t)
	entries := []search.Entry{
		linked("a.md", "A", "CITES x.md", "CITES b.md", "DEPENDS_ON d1.md"), linked("b.md", "B", "CITES x.md"),
		linked("c.md", "C"), linked("d.md", "D"), linked("e.md", "E", "CITES y.md"), linked("f.md", "F", "CITES z.md"),
		linked("x.md", "X", "CITES x2.md"), linked("x2.md", "X2"), linked("y.md", "Y"), linked("z.md", "Z"), linked("to-c.md", "To C", "CITES c.md"),
		linked("d1.md", "D1", "DEPENDS_ON d2.md"), linked("d2.md", "D2", "DEPENDS_ON d3.md"), linked("d3.md", "D3", "DEPENDS_ON d4.md"), linked("d4.md", "D4"),
	}
	y := file("y.md", "Y", "the first", "the needle")
	entries[8] = y
	put(t, db, "/docs", entries...)
	s := engineOf(t, snapshotOf(t, db, "/docs"), search.Options{})
	six := parents("a.md", 10.0, "b.md", 8.0, "c.md", 6.0, "d.md", 4.0, "e.md", 3.0, "f.md", 2.0)
	for _, tt := range []struct {
		name  string
		hits  []state.Hit
		limit int
		want  string
	}{
		{"five are expanded, half the score, in order again", six, 100, `
10 a.md#0
8 b.md#0
6 c.md#0
5 d1.md#0 → DEPENDS_ON a.md 1×0.5
5 x.md#0 → CITES a.md 2×0.5
4 d.md#0
3 e.md#0
2.5 d2.md#0 → DEPENDS_ON d1.md 3×0.25
2 f.md#0
1.5 y.md#1 → CITES e.md 4×0.5
1.25 d3.md#0 → DEPENDS_ON d2.md 5×0.125
`},
		{"as many as the limit", six, 2, `
10 a.md#0
8 b.md#0
6 c.md#0
5 d1.md#0 → DEPENDS_ON a.md 1×0.5
5 x.md#0 → CITES a.md 2×0.5
4 d.md#0
3 e.md#0
2 f.md#0
`},
		{"a score of 0 leads nowhere", parents("e.md", 0.0), 100, "\n0 e.md#0\n"},
		{"no relations", parents("d.md", 1.0), 100, "\n1 d.md#0\n"},
		{"no hits", nil, 100, "\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := s.Expand(t.Context(), state.Query{Text: "needle", Weight: 1}, tt.hits, 1, tt.limit)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, "\n"+shown(got)); d != "" {
				t.Error(d)
			}
		})
	}
}

// TestExpandWithin: a filter applies to documents that relations lead to (W8), relations are
// followed across those it leaves out, and deleted documents are not found.
func TestExpandWithin(t *testing.T) {
	db := open(t)
	a := linked("a.md", "A", "CITES b.md")
	b, c := linked("b.md", "B", "CITES c.md"), linked("c.md", "C")
	a.File.Metadata["kind"], c.File.Metadata["kind"] = "guide", "guide"
	put(t, db, "/docs", a, b, c)
	find := func(f state.Filter) string {
		t.Helper()
		s, err := engineOf(t, snapshotOf(t, db, "/docs"), search.Options{}).Narrowed(t.Context(), f)
		if err != nil {
			t.Fatal(err)
		}
		hits, err := s.Expand(t.Context(), state.Query{Text: "x"}, parents("a.md", 1.0), 2, 10)
		if err != nil {
			t.Fatal(err)
		}
		return shown(hits)
	}
	if got, want := find(state.Filter{}), "1 a.md#0\n0.5 b.md#0 → CITES a.md 1×0.5\n0.25 c.md#0 → CITES b.md 2×0.25\n"; got != want {
		t.Errorf("got %s", got)
	}
	guides := state.Filter{Must: []state.Condition{{Key: "kind", Op: state.OpIs, Values: []string{"guide"}}}}
	if got, want := find(guides), "1 a.md#0\n0.25 c.md#0 → CITES b.md 1×0.25\n"; got != want {
		t.Errorf("within the filter, got %s", got)
	}
	if err := db.Delete(t.Context(), "/docs", "c.md"); err != nil {
		t.Fatal(err)
	}
	if got, want := find(state.Filter{}), "1 a.md#0\n0.5 b.md#0 → CITES a.md 1×0.5\n"; got != want {
		t.Errorf("after a page went, got %s", got)
	}
}

// TestRelatedAreFew is T05: of what a page is only related to, the ten that fit best.
func TestRelatedAreFew(t *testing.T) {
	db := open(t)
	hub := linked("hub.md", "Hub")
	for i := range 40 {
		source := fmt.Sprintf("r%02d.md", i)
		names, _ := hub.File.Metadata["related_docs"].([]any)
		hub.File.Metadata["related_docs"] = append(names, source)
		put(t, db, "/docs", file(source, source, "filler"+strings.Repeat(" needle", i)))
	}
	put(t, db, "/docs", hub)
	s := engineOf(t, snapshotOf(t, db, "/docs"), search.Options{})
	hits, err := s.Expand(t.Context(), state.Query{Text: "needle"}, parents("hub.md", 1.0), 1, 100)
	if err != nil {
		t.Fatal(err)
	}
	if len(hits) != 11 {
		t.Fatalf("%d hits:\n%s", len(hits), shown(hits))
	}
	for _, h := range hits[1:] {
		if h.Chunk < "r25" {
			t.Errorf("%s is among those that fit best", h.Chunk)
		}
	}
}

// TestSearchNames is T04: the exact name first, ties by connections.
func TestSearchNames(t *testing.T) {
	db := open(t)
	tagged := linked("tagged.md", "Something else")
	tagged.File.Metadata["tags"] = "storage, volumes"
	described := linked("described.md", "Other")
	described.File.Metadata["description"] = "All about Volumes."
	put(t, db, "/docs",
		linked("volumes.md", "Volumes"), linked("more-volumes.md", "More on volumes"), tagged, described, linked("networks.md", "Networks"),
		linked("one/twins.md", "Twins"), linked("two/twins.md", "Twins"), linked("fan.md", "Fan", "CITES two/twins.md"))
	s := engineOf(t, snapshotOf(t, db, "/docs"), search.Options{})
	for _, tt := range []struct{ query, want string }{
		{"VOLUMES", "volumes.md more-volumes.md described.md tagged.md"},
		{"twins", "two/twins.md one/twins.md"},
		{"How do I list networks?", "networks.md"},
		{"nothing of that", ""},
		{"?", ""},
	} {
		hits, err := s.SearchNames(t.Context(), state.Query{Text: tt.query}, 10)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for i, h := range hits {
			got = append(got, strings.TrimSuffix(h.Chunk, "#0"))
			if h.Legs[0].Name != search.LegGraph || h.Legs[0].Rank != i+1 || h.Score <= 0 || h.Score > 1 || i > 0 && h.Score > hits[i-1].Score {
				t.Errorf("%q: hit %d is %+v", tt.query, i, h)
			}
		}
		if d := cmp.Diff(tt.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%q: %s", tt.query, d)
		}
	}
	var many []search.Entry
	for i := range 80 {
		many = append(many, linked(fmt.Sprintf("part%02d.md", i), "Chapter"))
	}
	put(t, db, "/many", many...)
	s = engineOf(t, snapshotOf(t, db, "/docs", "/many"), search.Options{})
	if hits, err := s.SearchNames(t.Context(), state.Query{Text: "chapter"}, 1000); err != nil || len(hits) != 50 {
		t.Errorf("%d hits, %v; want 50", len(hits), err)
	}
}
