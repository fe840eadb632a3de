package search_test

import (
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
