package phrase_test

import (
	"fmt"
	"testing"

	"example.com/ragflow/phrase"
)

func TestEverySituationInEveryLanguage(t *testing.T) {
	for s := phrase.NoDocuments; s <= phrase.NothingEarlier; s++ {
		seen := map[string]bool{}
		for _, lang := range phrase.Languages() {
			got := phrase.Say(s, lang)
			if got == "" || seen[got] {
				t.Errorf("Say(%d, %q) = %q: empty or the same as in another language", s, lang, got)
			}
			seen[got] = true
		}
	}
	if got := phrase.Say(phrase.NothingEarlier+1, phrase.English); got != "" {
		t.Errorf("a situation is missing from this test: %q", got)
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
