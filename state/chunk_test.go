package state_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/state"
)

// TestPageLabel checks the numbers that the pages of a chunk bear, also those of a part of it.
func TestPageLabel(t *testing.T) {
	c := state.Chunk{Text: "one two six", Start: 100, End: 111, Page: 3, Breaks: []int{104, 108}, PageLabels: []string{"iii", "iv", "1"}}
	part := c.Part(4, 11)
	if d := cmp.Diff([]string{"iv", "1"}, part.PageLabels); d != "" || part.Page != 4 {
		t.Errorf("part of page %d: %s", part.Page, d)
	}
	for _, tt := range []struct {
		name       string
		chunk      state.Chunk
		start, end int
		want       string
	}{
		{"first", c, 100, 104, "iii"},
		{"two pages", c, 102, 106, "iii–iv"},
		{"last", c, 108, 111, "1"},
		{"part", part, 104, 111, "iv–1"},
		{"no labels", state.Chunk{Page: 3}, 0, 5, ""},
	} {
		if got := tt.chunk.PageLabel(tt.start, tt.end); got != tt.want {
			t.Errorf("%s: label %q, want %q", tt.name, got, tt.want)
		}
	}
}
