//go:build !race

// The race detector adds allocations of its own and makes pools forget.

package cite_test

import (
	"testing"

	"example.com/ragflow/skills/cite"
)

// TestCheckAllocations bounds the work of a check of 30 sentences over six
// chunks, whatever the machine.
func TestCheckAllocations(t *testing.T) {
	answer, sources := long()
	if r := cite.Check(answer, sources, cite.Options{Language: "en"}); r.Claims != 30 || r.Faithfulness != 1 {
		t.Fatalf("the answer has %d claims, faithfulness %v", r.Claims, r.Faithfulness)
	}
	const most = 3600
	if got := testing.AllocsPerRun(5, func() { cite.Check(answer, sources, cite.Options{Language: "en"}) }); got > most {
		t.Errorf("a check allocates %v times, want at most %d", got, most)
	}
}
