package index

import (
	"testing"

	"example.com/ragflow/text"
)

// TestSlips: the dictionary holds "convers", which is far from the word as it
// was typed.
func TestSlips(t *testing.T) {
	s := dictionaryBy(t, text.For("en"), []string{"conversation", "configuration", "water"})
	for _, row := range []struct{ word, want string }{
		{"conversatoin", "convers"},   // swapped
		{"configuraion", "configur"},  // left out
		{"conversatiion", "convers"},  // put in
		{"configuratiom", "configur"}, // replaced
		{"xonversation", ""},          // the first letter stays
		{"conversaitno", ""},          // two edits
		{"watre", ""},                 // short words are compared with the dictionary alone
	} {
		got := ""
		for _, f := range s.slips(row.word) {
			got += f.Term
		}
		if got != row.want {
			t.Errorf("slips(%q) = %q, want %q", row.word, got, row.want)
		}
	}
}
