package search_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

func TestEachTermOfNames(t *testing.T) {
	t.Parallel()
	titles := func(title, source, text string) (out []string) {
		search.EachTerm(search.Multilingual(), title, source, []state.Chunk{{Text: text}}, func(_ int, in search.Field, term string) {
			if in == search.InTitle {
				out = append(out, term)
			}
		})
		slices.Sort(out)
		return out
	}
	for _, c := range []struct {
		name, source, text string
		want               []string
	}{
		{"words that the text lacks", "offers/nordwind.pdf", "Delivery in May.", []string{"enquiri", "nordwind", "offer"}},
		{"a folder that the text names", "drivers/syslog.md", "This driver writes.", []string{"enquiri", "syslog"}},
		{"no folder", "Enquiry.md", "A text.", []string{"enquiri"}},
	} {
		if diff := cmp.Diff(c.want, titles("Enquiry", c.source, c.text)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

// TestEachTermOfCompounds: n-grams of long words are terms only in languages with compounds, and say
// where they stand, but not in which field.
func TestEachTermOfCompounds(t *testing.T) {
	t.Parallel()
	ngrams := func(text string) (out []string) {
		search.EachTerm(search.Multilingual(), "Reisebericht", "a.md", []state.Chunk{{Text: text}}, func(chunk int, in search.Field, term string) {
			if in == search.InNGrams {
				out = append(out, fmt.Sprint(chunk, term))
			}
		})
		return out
	}
	german := ngrams("Der Kostenplan ist nicht für das Haus, und er wird auch nicht für die Stadt gemacht.")
	for _, want := range []string{"-1*reis", "-1*rich", "0*kost", "0*plan", "0*gema"} {
		if !slices.Contains(german, want) {
			t.Errorf("no n-gram %s in %q", want, german)
		}
	}
	if slices.Contains(german, "0*haus") || slices.Contains(german, "0*stad") {
		t.Errorf("short words have n-grams: %q", german)
	}
	if english := ngrams("The development of the application is not for the house, and it is not made for this town."); english != nil {
		t.Errorf("English words have n-grams: %q", english)
	}
}
