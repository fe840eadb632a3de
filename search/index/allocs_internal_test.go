//go:build !race

// The race detector adds allocations of its own and makes pools forget.

package index

import (
	"math/rand/v2"
	"path/filepath"
	"testing"

	"example.com/ragflow/internal/memo"
	"example.com/ragflow/state"
)

// TestChunksAllocations: reading passages that nobody read before is one statement, and
// takes some thirty allocations each, most of them the driver's, for the columns of a row.
func TestChunksAllocations(t *testing.T) {
	const (
		n    = 10
		most = 36 * n // 29 when it was written, 34 without cgo
	)
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	if err := db.Put(t.Context(), "/docs", large(rand.New(rand.NewPCG(1, 2)), "a", 4*n)); err != nil {
		t.Fatal(err)
	}
	s, err := db.Searcher(t.Context(), "/docs")
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]string, n)
	for i := range ids {
		ids[i] = s.parts[0].id(3 * i)
	}
	var statements int64
	got := testing.AllocsPerRun(20, func() {
		s.chunks = memo.New[string, *state.Chunk](n) // forgets what was read
		before := db.sql.Counters().Statements
		if chunks, err := s.Chunks(t.Context(), ids); err != nil || len(chunks) != n {
			t.Fatal(len(chunks), err)
		}
		statements = db.sql.Counters().Statements - before
	})
	t.Logf("%v allocations, %d statements", got, statements)
	if got > most || statements != 1 {
		t.Errorf("%d passages take %v allocations and %d statements; want at most %d and 1", n, got, statements, most)
	}
}

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
