//go:build !race

// The race detector adds allocations of its own and makes pools forget.

package ragflow_test

import (
	"runtime"
	"testing"

	"example.com/ragflow"
)

// TestTurnCosts gates what a turn may cost, in things that no busy machine
// changes: allocations, SQL statements and calls of models.
func TestTurnCosts(t *testing.T) {
	const (
		mostAllocs     = 10_200
		mostStatements = 95
	)
	a := open(t, ragflow.Config{Docs: []string{library(t)}, DataDir: t.TempDir()})
	indexed(t, a)
	ask(t, a, "t", "How often should I water a basil plant?")
	turns := 0
	before := ragflow.Statements(a)
	allocs := testing.AllocsPerRun(10, func() {
		r := ask(t, a, "t", questions[turns%len(questions)])
		turns++
		if r.Usage != (ragflow.Usage{}) {
			t.Errorf("an offline turn used %+v of a model", r.Usage)
		}
	})
	after := ragflow.Statements(a)
	statements := float64(after-before) / float64(turns)
	t.Logf("a turn: %.0f allocations, %.0f statements", allocs, statements)
	if allocs > mostAllocs || statements > mostStatements {
		t.Errorf("a turn makes %.0f allocations and %.0f statements, want at most %d and %d", allocs, statements, mostAllocs, mostStatements)
	}
}

// TestCostOfARecord holds how many allocations a record takes, from its text to the
// published index, and how many of their bytes. Both are given a little room: what is
// allocated at once for all depends on the number of processors.
func TestCostOfARecord(t *testing.T) {
	const n = 3000
	a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: t.TempDir(), ForgetThreads: true})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	var all []ragflow.Record
	for r, err := range madeRecords(n) {
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	report, err := a.IndexRecords(t.Context(), "made", n, records(all, nil))
	if err != nil {
		t.Fatal(err)
	}
	runtime.ReadMemStats(&after)
	if report.Added != n {
		t.Errorf("%d records added, want %d", report.Added, n)
	}
	for _, tt := range []struct {
		what      string
		got, most float64
	}{
		{"allocations", float64(after.Mallocs-before.Mallocs) / n, 72},
		{"bytes allocated", float64(after.TotalAlloc-before.TotalAlloc) / n, 11_000},
	} {
		t.Logf("a record takes %.1f %s", tt.got, tt.what)
		if tt.got > tt.most {
			t.Errorf("a record takes %.1f %s, more than %.0f", tt.got, tt.what, tt.most)
		}
	}
}
