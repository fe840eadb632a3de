package phrase_test

import (
	"fmt"
	"testing"

	"example.com/ragflow/phrase"
)

func TestEverySituationInEveryLanguage(t *testing.T) {
	for s := phrase.NoDocuments; s <= phrase.LinesFollow; s++ {
		seen := map[string]bool{}
		for _, lang := range phrase.Languages() {
			got := phrase.Say(s, lang)
			if !phrase.Fixed(got) && len(got) > 5 {
				t.Errorf("Fixed(%q) = false", got)
			}
			if got == "" || seen[got] {
				t.Errorf("Say(%d, %q) = %q: empty or the same as in another language", s, lang, got)
			}
			seen[got] = true
		}
	}
	if got := phrase.Say(phrase.LinesFollow+1, phrase.English); got != "" {
		t.Errorf("a situation is missing from this test: %q", got)
	}
}

func TestFixed(t *testing.T) {
	for _, tt := range []struct {
		sentence string
		want     bool
	}{
		{"Ask me something about your documents.", true},
		{"Theo tài liệu của bạn:", true},
		{phrase.More(12, "vi"), true},
		{"From your documents: volumes outlive containers.", false},
		{"", false},
		{"a", false},
	} {
		if got := phrase.Fixed(tt.sentence); got != tt.want {
			t.Errorf("Fixed(%q) = %v, want %v", tt.sentence, got, tt.want)
		}
	}
}

func ExampleSay() {
	fmt.Println(phrase.Say(phrase.NoDocuments, "en"))
	fmt.Println(phrase.Say(phrase.Closest, "pl"))
	fmt.Println(phrase.Say(phrase.SourcesHeader, "unknown"))
	// Output:
	// No relevant documents found for your query.
	// Najbliższa informacja:
	// Sources
}
