package index_test

import (
	"testing"

	"example.com/ragflow/search/index"
)

// TestBeside finds the neighbours of a chunk in its document, also where two folders hold
// the same one, and of the newest version of it.
func TestBeside(t *testing.T) {
	db := open(t, "", index.Options{})
	put(t, db, "/docs", file("a.md", "A", "apple", "pear", "plum"), file("b.md", "B", "four"))
	put(t, db, "/more", file("a.md", "A", "apple", "pear", "plum"))
	put(t, db, "/docs", file("a.md", "A", "apple", "cherry"))
	s := searcher(t, db, "/docs", "/more")
	other := search(t, s, "pear")[0]
	for _, tt := range []struct {
		id   string
		away int
		want string
	}{
		{"a.md#0", 1, "a.md#1"},
		{"a.md#1", -1, "a.md#0"},
		{"a.md#0", -1, ""},
		{"a.md#1", 1, ""},
		{"b.md#0", 1, ""},
		{"unknown", 1, ""},
		{other, 1, "a.md#2"},
		{other, -1, search(t, s, "apple")[1]},
	} {
		got, ok := s.Beside(tt.id, tt.away)
		if got != tt.want || ok != (tt.want != "") {
			t.Errorf("Beside(%q, %d) = %q, %t; want %q", tt.id, tt.away, got, ok, tt.want)
		}
	}
}
