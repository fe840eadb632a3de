package index

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/search/text"
)

// TestSlips: the dictionary holds "refriger", which is far from the word as it
// was typed.
func TestSlips(t *testing.T) {
	words := []string{"refrigeration", "configuration", "water"}
	one, many := dictionaryBy(t, text.For("en"), words), dictionaryBy(t, text.Multilingual(), words)
	for _, row := range []struct{ word, want string }{
		{"refrigeratoin", "refriger"},  // swapped
		{"configuraion", "configur"},   // left out
		{"refrigeratiion", "refriger"}, // put in
		{"configuratiom", "configur"},  // replaced
		{"xefrigeration", ""},          // the first letter stays
		{"refrigeraitno", ""},          // two edits
		{"watre", ""},                  // short words are compared with the dictionary alone
	} {
		var want []SimilarTerm
		if row.want != "" {
			want = []SimilarTerm{{row.want, 1, 1}}
		}
		for name, s := range map[string]*Searcher{"English": one, "any language": many} {
			if diff := cmp.Diff(want, s.slips(row.word)); diff != "" {
				t.Errorf("%s: slips(%q) (-want +got):\n%s", name, row.word, diff)
			}
		}
	}
}
