package index_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/search/index"
	"example.com/ragflow/state"
)

// shown writes hits one a line: score, chunk, and what led to it.
func shown(hits []state.Hit) string {
	var b strings.Builder
	for _, h := range hits {
		l := h.Legs[0]
		fmt.Fprintf(&b, "%.4g %s", h.Score, h.Chunk)
		if l.Linked() {
			way := " → " + l.Relation
			if l.Reverse {
				way = " ← " + l.Relation
			}
			fmt.Fprintf(&b, "%s %s %d×%.4g", way, l.Via, l.Rank, l.Share)
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
	db := open(t, "", index.Options{})
	entries := []index.Entry{
		linked("a.md", "A", "LINKS_TO x.md", "LINKS_TO b.md", "DEPENDS_ON d1.md"), linked("b.md", "B", "LINKS_TO x.md"),
		linked("c.md", "C"), linked("d.md", "D"), linked("e.md", "E", "LINKS_TO y.md"), linked("f.md", "F", "LINKS_TO z.md"),
		linked("x.md", "X", "LINKS_TO x2.md"), linked("x2.md", "X2"), linked("y.md", "Y"), linked("z.md", "Z"), linked("to-c.md", "To C", "CITES c.md"),
		linked("d1.md", "D1", "DEPENDS_ON d2.md"), linked("d2.md", "D2", "DEPENDS_ON d3.md"), linked("d3.md", "D3", "DEPENDS_ON d4.md"), linked("d4.md", "D4"),
	}
	y := file("y.md", "Y", "the first", "the needle")
	y.Links = entries[8].Links
	entries[8] = y
	put(t, db, "/docs", entries...)
	s, err := db.Searcher(t.Context(), "/docs")
	if err != nil {
		t.Fatal(err)
	}
	six := parents("a.md", 10.0, "b.md", 8.0, "c.md", 6.0, "d.md", 4.0, "e.md", 3.0, "f.md", 2.0)
	for _, tt := range []struct {
		name string
		hits []state.Hit
		e    index.Expansion
		want string
	}{
		{"five are expanded, half the score, in order again", six, index.Expansion{}, `
10 a.md#0
8 b.md#0
6 c.md#0
5 d1.md#0 → DEPENDS_ON a.md 1×0.5
5 x.md#0 → LINKS_TO a.md 2×0.5
4 d.md#0
3 e.md#0
3 to-c.md#0 ← CITES c.md 3×0.5
2.5 d2.md#0 → DEPENDS_ON d1.md 4×0.25
2 f.md#0
1.5 y.md#1 → LINKS_TO e.md 5×0.5
1.25 d3.md#0 → DEPENDS_ON d2.md 6×0.125
`},
		{"as many as the limit", six, index.Expansion{Limit: 2}, `
10 a.md#0
8 b.md#0
6 c.md#0
5 d1.md#0 → DEPENDS_ON a.md 1×0.5
5 x.md#0 → LINKS_TO a.md 2×0.5
4 d.md#0
3 e.md#0
2 f.md#0
`},
		{"the best only, two hops", six[:2], index.Expansion{Top: 1, Hops: 2, Limit: 10}, `
10 a.md#0
8 b.md#0
5 d1.md#0 → DEPENDS_ON a.md 1×0.5
5 x.md#0 → LINKS_TO a.md 2×0.5
2.5 d2.md#0 → DEPENDS_ON d1.md 3×0.25
2.5 x2.md#0 → LINKS_TO x.md 4×0.25
1.25 d3.md#0 → DEPENDS_ON d2.md 5×0.125
`},
		{"another damping", parents("e.md", 10.0), index.Expansion{Damping: 0.9}, `
10 e.md#0
9 y.md#1 → LINKS_TO e.md 1×0.9
`},
		{"a score of 0 leads nowhere", parents("e.md", 0.0), index.Expansion{}, "\n0 e.md#0\n"},
		{"no links", parents("d.md", 1.0), index.Expansion{}, "\n1 d.md#0\n"},
		{"no hits", nil, index.Expansion{}, "\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := s.Expand(t.Context(), state.Query{Text: "needle", Weight: 1}, tt.hits, tt.e)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(tt.want, "\n"+shown(got)); d != "" {
				t.Error(d)
			}
		})
	}
	for _, bad := range []index.Expansion{{Hops: 4}, {Hops: -1}, {Damping: 1.5}, {Damping: -1}, {Top: -1}, {Limit: -1}} {
		if _, err := s.Expand(t.Context(), state.Query{Text: "x"}, six, bad); err == nil {
			t.Errorf("%+v is taken", bad)
		}
	}
}

// TestChainBehindOtherLink: a page that another relation reaches first still goes on
// with its DEPENDS_ON chain.
func TestChainBehindOtherLink(t *testing.T) {
	db := open(t, "", index.Options{})
	put(t, db, "/docs", linked("a.md", "A", "CITES b.md", "DEPENDS_ON b.md"), linked("b.md", "B", "DEPENDS_ON c.md"), linked("c.md", "C"))
	_, found, err := searcher(t, db, "/docs").RelatedTo(t.Context(), "a.md", 1)
	if err != nil || len(found) != 2 || found[1].Source != "c.md" || found[1].Hops != 2 {
		t.Errorf("related %+v, %v; want b.md, and c.md over 2 hops", found, err)
	}
}

// TestWay tells over which links an expansion came to a document, hop by hop, as they
// were written.
func TestWay(t *testing.T) {
	db := open(t, "", index.Options{})
	put(t, db, "/docs", linked("a.md", "A", "DEPENDS_ON d1.md", "LINKS_TO b.md"), linked("b.md", "B"), linked("c.md", "C", "CITES ./a.md"),
		linked("d1.md", "D1", "DEPENDS_ON d2"), linked("d2.md", "D2", "LINKS_TO e.md"), linked("e.md", "E"))
	s, err := db.Searcher(t.Context(), "/docs")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, to string
		hops     int
		want     []index.LinkStep
		from     string
	}{
		{"one hop", "b.md#0", 1, []index.LinkStep{{Hop: 1, From: "a.md", To: "b.md", Relation: "LINKS_TO", Target: "b.md", Score: 4}}, "a.md"},
		{"against the link", "c.md#0", 1, []index.LinkStep{{Hop: 1, From: "a.md", To: "c.md", Relation: "CITES", Reverse: true, Target: "./a.md", Score: 4}}, "a.md"},
		{"a dependency of a dependency", "d2.md#0", 1, []index.LinkStep{
			{Hop: 1, From: "a.md", To: "d1.md", Relation: "DEPENDS_ON", Target: "d1.md", Score: 4},
			{Hop: 2, From: "d1.md", To: "d2.md", Relation: "DEPENDS_ON", Target: "d2", Score: 2},
		}, "a.md"},
		{"too far", "e.md#0", 1, nil, "a.md"},
		{"three hops", "e.md#0", 3, []index.LinkStep{
			{Hop: 1, From: "a.md", To: "d1.md", Relation: "DEPENDS_ON", Target: "d1.md", Score: 4},
			{Hop: 2, From: "d1.md", To: "d2.md", Relation: "DEPENDS_ON", Target: "d2", Score: 2},
			{Hop: 3, From: "d2.md", To: "e.md", Relation: "LINKS_TO", Target: "e.md", Score: 1},
		}, "a.md"},
		{"itself", "a.md#0", 1, nil, "a.md"},
		{"no such passage", "nowhere", 1, nil, "a.md"},
		{"from no such document", "b.md#0", 1, nil, "nowhere.md"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := s.Way(t.Context(), tt.from, 8, tt.to, index.Expansion{Hops: tt.hops})
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Errorf("way (-want +got):\n%s", diff)
			}
		})
	}
	if _, err := s.Way(t.Context(), "a.md", 8, "b.md#0", index.Expansion{Hops: 4}); err == nil {
		t.Error("4 hops are taken")
	}
}

// TestExplainName tells which of its names finds a document.
func TestExplainName(t *testing.T) {
	db := open(t, "", index.Options{})
	tagged := linked("t.md", "Tagged")
	tagged.File.Meta = map[string]string{"tags": "storage, backup"}
	put(t, db, "/docs", linked("guide/back-up.md", "Saving volumes", "LINKS_TO t.md"), tagged)
	s, err := db.Searcher(t.Context(), "/docs")
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		query, chunk string
		want         *index.NameExplanation
	}{
		{"saving volumes", "guide/back-up.md#0", &index.NameExplanation{Source: "guide/back-up.md", Title: "Saving volumes", In: "title", Likeness: 1, Links: 1}},
		{"Back up", "guide/back-up.md#0", &index.NameExplanation{Source: "guide/back-up.md", Title: "Saving volumes", In: "file", Likeness: 1, Links: 1}},
		{"networks", "guide/back-up.md#0", nil},
		{"", "guide/back-up.md#0", nil},
		{"saving volumes", "nowhere", nil},
	} {
		got, err := s.ExplainName(t.Context(), state.Query{Text: tt.query}, tt.chunk)
		if diff := cmp.Diff(tt.want, got); diff != "" || err != nil {
			t.Errorf("%q: %v, (-want +got):\n%s", tt.query, err, diff)
		}
	}
	got, err := s.ExplainName(t.Context(), state.Query{Text: "storage"}, "t.md#0")
	if err != nil || got == nil || got.In != "tags" {
		t.Errorf("by a tag: %+v, %v", got, err)
	}
}

// TestExpandWithin: a filter counts for what links lead to (W8), links across it are
// followed, and pages that went are not found.
func TestExpandWithin(t *testing.T) {
	db := open(t, "", index.Options{})
	a := linked("a.md", "A", "LINKS_TO b.md")
	b, c := linked("b.md", "B", "LINKS_TO c.md"), linked("c.md", "C")
	a.File.Meta, c.File.Meta = map[string]string{"kind": "guide"}, map[string]string{"kind": "guide"}
	put(t, db, "/docs", a, b, c)
	find := func(f state.Filter) string {
		t.Helper()
		s, err := db.Searcher(t.Context(), "/docs")
		if err == nil {
			s, err = s.Only(f)
		}
		if err != nil {
			t.Fatal(err)
		}
		hits, err := s.Expand(t.Context(), state.Query{Text: "x"}, parents("a.md", 1.0), index.Expansion{Hops: 2, Limit: 10})
		if err != nil {
			t.Fatal(err)
		}
		return shown(hits)
	}
	if got, want := find(state.Filter{}), "1 a.md#0\n0.5 b.md#0 → LINKS_TO a.md 1×0.5\n0.25 c.md#0 → LINKS_TO b.md 2×0.25\n"; got != want {
		t.Errorf("got %s", got)
	}
	guides := state.Filter{Must: []state.Condition{{Key: "kind", Op: state.OpIs, Values: []string{"guide"}}}}
	if got, want := find(guides), "1 a.md#0\n0.25 c.md#0 → LINKS_TO b.md 1×0.25\n"; got != want {
		t.Errorf("within the filter, got %s", got)
	}
	if err := db.Delete(t.Context(), "/docs", "c.md"); err != nil {
		t.Fatal(err)
	}
	if got, want := find(state.Filter{}), "1 a.md#0\n0.5 b.md#0 → LINKS_TO a.md 1×0.5\n"; got != want {
		t.Errorf("after a page went, got %s", got)
	}
}

// TestRelatedAreFew is T05: of what a page is only related to, the ten that fit best.
func TestRelatedAreFew(t *testing.T) {
	db := open(t, "", index.Options{})
	hub := linked("hub.md", "Hub")
	for i := range 40 {
		source := fmt.Sprintf("r%02d.md", i)
		hub.Links = append(hub.Links, state.Link{Relation: state.RelatedTo, Target: source})
		put(t, db, "/docs", file(source, source, "filler"+strings.Repeat(" needle", i)))
	}
	put(t, db, "/docs", hub)
	s, err := db.Searcher(t.Context(), "/docs")
	if err != nil {
		t.Fatal(err)
	}
	hits, err := s.Expand(t.Context(), state.Query{Text: "needle"}, parents("hub.md", 1.0), index.Expansion{Limit: 100})
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
	db := open(t, "", index.Options{})
	tagged := linked("tagged.md", "Something else")
	tagged.File.Meta = map[string]string{"tags": "storage, volumes"}
	described := linked("described.md", "Other")
	described.File.Meta = map[string]string{"description": "All about Volumes."}
	put(t, db, "/docs",
		linked("volumes.md", "Volumes"), linked("more-volumes.md", "More on volumes"), tagged, described, linked("networks.md", "Networks"),
		linked("one/twins.md", "Twins"), linked("two/twins.md", "Twins"), linked("fan.md", "Fan", "LINKS_TO two/twins.md"))
	s, err := db.Searcher(t.Context(), "/docs")
	if err != nil {
		t.Fatal(err)
	}
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
			if h.Legs[0].Name != index.LegGraph || h.Legs[0].Rank != i+1 || h.Score <= 0 || h.Score > 1 || i > 0 && h.Score > hits[i-1].Score {
				t.Errorf("%q: hit %d is %+v", tt.query, i, h)
			}
		}
		if d := cmp.Diff(tt.want, strings.Join(got, " ")); d != "" {
			t.Errorf("%q: %s", tt.query, d)
		}
	}
	var many []index.Entry
	for i := range 80 {
		many = append(many, linked(fmt.Sprintf("part%02d.md", i), "Chapter"))
	}
	put(t, db, "/many", many...)
	if s, err = db.Searcher(t.Context(), "/docs", "/many"); err != nil {
		t.Fatal(err)
	}
	if hits, err := s.SearchNames(t.Context(), state.Query{Text: "chapter"}, 1000); err != nil || len(hits) != index.MostNamed {
		t.Errorf("%d hits, %v; want %d", len(hits), err, index.MostNamed)
	}
}
