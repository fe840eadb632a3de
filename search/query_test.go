package search_test

import (
	"slices"
	"strings"
	"testing"

	"example.com/ragflow/search"
)

func TestParseQuery(t *testing.T) {
	tests := []struct{ in, text, phrases, without string }{
		{"plain words", "plain words", "", ""},
		{`keep "named volume" data`, "keep named volume data", "named volume", ""},
		{`“named volume” and «bridge network»`, "named volume and bridge network", "named volume|bridge network", ""},
		{"volume -network", "volume", "", "network"},
		{`volume -"bridge network" data`, "volume data", "", "bridge network"},
		{"docker run -it --rm a-b", "docker run -it --rm a-b", "", ""},
		{"-network", "-network", "", ""},
		{`an "open quote`, `an "open quote`, "", ""},
		{`nothing in "" or "?"`, `nothing in "" or "?"`, "", ""},
		{"state-of-the-art -x-ray", "state-of-the-art", "", "x-ray"},
	}
	for _, tt := range tests {
		q := search.ParseQuery(tt.in)
		got := [3]string{q.Text, strings.Join(q.Phrases, "|"), strings.Join(q.Without, "|")}
		if want := [3]string{tt.text, tt.phrases, tt.without}; got != want {
			t.Errorf("%s: %q, want %q", tt.in, got, want)
		}
	}
}

// FuzzParseQuery: whatever is typed, the words, phrases and exclusions that are
// made of it come from it, and what is read twice is read alike.
func FuzzParseQuery(f *testing.F) {
	for _, s := range []string{`keep "named volume" -swarm`, `-"a b" “c d” «e»`, `"open`, `-- - "" -""`, "\xff \"\xfe\" -\u00e9"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		q := search.ParseQuery(s)
		for _, part := range slices.Concat(q.Phrases, q.Without) {
			if strings.TrimSpace(part) == "" || !strings.Contains(s, part) {
				t.Fatalf("%q gives %q", s, part)
			}
		}
		if again := search.ParseQuery(s); again.Text != q.Text || !slices.Equal(again.Phrases, q.Phrases) || !slices.Equal(again.Without, q.Without) {
			t.Fatalf("%q is read in two ways", s)
		}
		if s != "" && q.Text == "" && len(q.Phrases)+len(q.Without) == 0 && strings.TrimSpace(s) != "" {
			t.Fatalf("nothing is left of %q", s)
		}
	})
}
