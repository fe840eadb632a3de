//go:build !race

// The race detector adds allocations of its own and makes pools forget.

package index

import (
	"testing"
)

// TestProbeAllocations: a search in clusters works in memory that is there.
func TestProbeAllocations(t *testing.T) {
	const most = 3 // 1 when it was written
	v := clumps(4000, 96, 12, 0.5)
	if _, err := v.cluster(t.Context()); err != nil {
		t.Fatal(err)
	}
	got := testing.AllocsPerRun(50, func() {
		if _, err := v.approximate(t.Context(), v.row(7), measure{}, 20, v.near.probe, 0, all); err != nil {
			t.Fatal(err)
		}
	})
	t.Logf("%v allocations", got)
	if got > most {
		t.Errorf("one search allocates %v times; want at most %d", got, most)
	}
}
