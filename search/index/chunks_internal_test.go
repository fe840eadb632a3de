package index

import (
	"encoding/json"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/state"
)

// TestHeadings: headings come out as they went in, by whichever way they are read.
func TestHeadings(t *testing.T) {
	for _, want := range [][]string{
		nil,
		{},
		{""},
		{"", ""},
		{"One"},
		{"One", "Two words", "Три"},
		{`"`, `","`, `a","b`, `\`, `\","`},
		{"a <b> & c", "line\nbreak", "[", `]`, ","},
	} {
		data, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, headingsOf(t, string(data))); d != "" {
			t.Errorf("%s: (-want +got)\n%s", data, d)
		}
	}
	for _, array := range []string{`["a", "b"]`, ` ["a"]`, `[ "a" ]`, `["a" ]`} { // as others write them
		var want []string
		if err := json.Unmarshal([]byte(array), &want); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(want, headingsOf(t, array)); d != "" {
			t.Errorf("%s: (-want +got)\n%s", array, d)
		}
	}
}

func headingsOf(t *testing.T, array string) []string {
	t.Helper()
	var c state.Chunk
	if err := (&chunkScan{headings: array, meta: "null"}).decode(&c); err != nil {
		t.Fatal(err)
	}
	return c.Headings
}
