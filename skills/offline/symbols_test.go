package offline_test

import (
	"testing"

	"example.com/ragflow/skills/offline"
	"example.com/ragflow/state"
)

// TestSymbols finds what is said of a sign, which no word of the index is.
func TestSymbols(t *testing.T) {
	operators := page("operators", "Operators", "Operators combine operands. Each operator of the language does one thing, and the table shows what an operator can do.")
	shortcut := page("shortcut", "Errors", "## A shortcut\n\nThe operator `?` behind a value returns early where the value is an error.\n\nIs it slow? No.\n")
	strings := page("strings", "Strings", "A string is text. A string owns what it holds. A slice `&str` borrows text from somebody.")
	for _, tt := range []struct {
		question string
		chunks   []state.Chunk
		want     string
	}{
		{"What does the ? operator do?", []state.Chunk{operators, shortcut}, "returns early"},
		{"What does `?` do?", []state.Chunk{operators, shortcut}, "returns early"},
		{"What is a &str string?", []state.Chunk{strings}, "borrows text"},
	} {
		t.Run(tt.question, func(t *testing.T) {
			in := task(tt.question, 0.9, tt.chunks...)
			ranked, err := offline.NewReranker(library(tt.chunks)).Rerank(t.Context(), in.Queries, in.Sources)
			if err != nil {
				t.Fatal(err)
			}
			if last := tt.chunks[len(tt.chunks)-1]; ranked[0].ID != last.ID {
				t.Errorf("%s stands first, want %s", ranked[0].ID, last.ID)
			}
			checkWords(t, answer(t, library(tt.chunks), in).Text, []string{tt.want}, nil)
		})
	}
}
