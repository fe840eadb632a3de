package offline_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/state"
)

// TestRecords quotes of a box of facts the rows that are asked for, behind the sentence
// that says more.
func TestRecords(t *testing.T) {
	d := []state.Chunk{page("nordwind", "Nordwind", "| Nordwind Corporation | |\n| --- | --- |\n| Type | Public |\n| Founders | Ada Hill and Tom Reed |\n| Headquarters | Pier 4, Oslo |\n\n"+
		"Nordwind Corporation is a shipping company. Its ships carry timber.\n\nNordwind was founded by Ada Hill and Tom Reed in 1975.")}
	for _, tt := range []struct{ name, question, want string }{
		{"a definition", "What is Nordwind?", "Nordwind Corporation is a shipping company. [Source 1] Its ships carry timber. [Source 1] " +
			"Nordwind was founded by Ada Hill and Tom Reed in 1975. [Source 1]"},
		{"a detail", "Who founded Nordwind?", "Nordwind was founded by Ada Hill and Tom Reed in 1975. [Source 1]"},
		{"only the box says it", "Where are the headquarters?", "- Headquarters — Pier 4, Oslo [Source 1]"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := answer(t, d, task(tt.question, 0.9, d[0]))
			if diff := cmp.Diff("From your documents:\n\n"+tt.want, got.Text); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}
