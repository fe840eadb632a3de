package index_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/search/index"
	"example.com/ragflow/state"
)

// TestParticles asks that a verb with its particle finds the noun that both make,
// and that other words beside each other do not.
func TestParticles(t *testing.T) {
	db := open(t, "", index.Options{})
	for source, text := range map[string]string{
		"backup.md": "A backup is a copy that is kept elsewhere.",
		"login.md":  "The login asks for a name.",
		"other.md":  "Single digit references to groups, rows and their like.",
	} {
		put(t, db, "/docs", file(source, "", text))
	}
	s := searcher(t, db, "/docs")
	for _, tt := range []struct {
		query string
		want  []string
	}{
		{"How do I back up?", []string{"backup.md"}},
		{"backing up", []string{"backup.md"}},
		{"back it up", []string{"backup.md"}},
		{"How do I log in?", []string{"login.md"}},
		{"He went back, up he came", []string{}},
		{"up back", []string{}},
		{"up", []string{}},
		{"back-up", []string{"backup.md"}},
		{"back", []string{}},
		{"back and up", []string{}},
	} {
		got := sources(t, s, state.Query{Text: tt.query, Weight: 1})
		if d := cmp.Diff(tt.want, slices.Compact(got)); d != "" {
			t.Errorf("%s: %s", tt.query, d)
		}
	}
}
