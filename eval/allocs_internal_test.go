//go:build !race

// The race detector adds allocations of its own.

package eval

import "testing"

// TestAllocationsOfALine holds what a line of a corpus takes: its three strings.
func TestAllocationsOfALine(t *testing.T) {
	line := []byte(`{"_id": "d1", "title": "A \"title\" of some words", "text": "Some text,\nlonger than the memory of a stack.", "metadata": {}}`)
	var r lineReader
	allocs := testing.AllocsPerRun(100, func() {
		if _, _, _, err := r.decode(line, corpusExample); err != nil {
			t.Fatal(err)
		}
	})
	if allocs > 3 {
		t.Errorf("a line takes %.0f allocations, more than 3", allocs)
	}
}
