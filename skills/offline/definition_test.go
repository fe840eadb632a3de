package offline_test

import (
	"testing"

	"example.com/ragflow/skills/offline"
	"example.com/ragflow/state"
)

// TestGlosses asks that what a thing is comes from the entry of a glossary or the sentence
// that says so, and not from what only tells of it.
func TestGlosses(t *testing.T) {
	glossary := page("glossary", "Words", "## Words\n\n- blob\n  An object without a type.\n- bare repository\n  One without a copy of any file under control.\n- cache\n  Obsolete.\n")
	setup := page("setup", "How to set up a server", "At this time a bare repository is what a client cannot create there. Another way is to make an empty bare repository here. Initialize a bare repository first.\n")
	port := page("port", "Ports", "The port is taken when another program listens. Choose a port of your own.\n")
	for _, tt := range []struct {
		question  string
		want, not []string
		first     string
	}{
		{"What is a bare repository?", []string{"One without a copy of any file"}, []string{"Initialize"}, "glossary"},
		{"What is a blob?", []string{"An object without a type"}, []string{"repository"}, "glossary"},
	} {
		t.Run(tt.question, func(t *testing.T) {
			checkWords(t, answer(t, docs(), task(tt.question, 0.9, setup, port, glossary)).Text, tt.want, tt.not)
			sources := []state.Source{{Chunk: setup, Score: 1}, {Chunk: port, Score: 1}, {Chunk: glossary, Score: 1}}
			got, err := offline.NewReranker(docs()).Rerank(t.Context(), []state.Query{{Text: tt.question, Weight: 1}}, sources)
			if err != nil || got[0].Source != tt.first+".md" && got[0].Source != tt.first {
				t.Errorf("first %q, %v", got[0].Source, err)
			}
		})
	}
}
