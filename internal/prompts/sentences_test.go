package prompts_test

import (
	"fmt"
	"testing"

	"example.com/ragflow/internal/prompts"
)

func TestEverySituationInEveryLanguage(t *testing.T) {
	for s := prompts.NoDocuments; s <= prompts.MoreLines; s++ {
		seen := map[string]bool{}
		for _, lang := range append(prompts.Languages(), "de") {
			got := prompts.Say(s, lang)
			if !prompts.Fixed(got) && len(got) > 5 {
				t.Errorf("Fixed(%q) = false", got)
			}
			if got == "" || seen[got] {
				t.Errorf("Say(%d, %q) = %q: empty or the same as in another language", s, lang, got)
			}
			seen[got] = true
		}
	}
	if got := prompts.Say(prompts.MoreLines+1, prompts.English); got != "" {
		t.Errorf("a situation is missing from this test: %q", got)
	}
}

func TestFixed(t *testing.T) {
	for _, tt := range []struct {
		sentence string
		want     bool
	}{
		{"Ask me something about your documents.", true},
		{"Tài liệu của bạn trả lời như sau:", true},
		{prompts.More(12, "vi"), true},
		{"This answers it, from your documents: volumes outlive containers.", false},
		{"", false},
		{"a", false},
	} {
		if got := prompts.Fixed(tt.sentence); got != tt.want {
			t.Errorf("Fixed(%q) = %v, want %v", tt.sentence, got, tt.want)
		}
	}
}

func ExampleSay() {
	fmt.Println(prompts.Say(prompts.NoDocuments, "en"))
	fmt.Println(prompts.Say(prompts.Closest, "pl"))
	fmt.Println(prompts.Say(prompts.SourcesHeader, "unknown"))
	// Output:
	// No relevant documents found for your query.
	// Najbliższe fragmenty:
	// Sources
}

func TestPages(t *testing.T) {
	for _, tt := range []struct {
		from, to              int
		label, language, want string
	}{
		{0, 0, "", "en", ""},
		{12, 12, "", "en", "page 12"},
		{12, 13, "12–13", "pl", "str. 12–13"},
		{6, 6, "iv", "en", "page iv (sheet 6)"},
		{6, 7, "iv–v", "en", "pages iv–v (sheets 6–7)"},
		{6, 7, "iv–v", "pl", "str. iv–v (arkusze 6–7)"},
		{6, 6, "A-3", "vi", "trang A-3 (tờ 6)"},
	} {
		if got := prompts.Pages(tt.from, tt.to, tt.label, tt.language); got != tt.want {
			t.Errorf("Pages(%d, %d, %q, %s) = %q, want %q", tt.from, tt.to, tt.label, tt.language, got, tt.want)
		}
	}
}
