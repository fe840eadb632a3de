package ragflow_test

import (
	"iter"
	"math/rand/v2"
	"runtime"
	"strconv"
	"strings"
	"testing"

	"example.com/ragflow"
)

// madeRecords are n records of about 170 words, some longer than a chunk.
func madeRecords(n int) iter.Seq2[ragflow.Record, error] {
	return func(yield func(ragflow.Record, error) bool) {
		r := rand.New(rand.NewPCG(1, 2))
		words := func(n int) string {
			var out strings.Builder
			for i := range n {
				out.WriteString("word" + strconv.Itoa(int(1/(r.Float64()+0.0001))))
				out.WriteString([]string{" ", " ", " ", ", ", ". "}[r.IntN(5)])
				if i%20 == 19 {
					out.WriteString("The ")
				}
			}
			return out.String()
		}
		for i := range n {
			if !yield(ragflow.Record{ID: strconv.Itoa(i), Title: words(8), Text: words(50 + r.IntN(250))}, nil) {
				return
			}
		}
	}
}

// TestCostOfARecord holds how many allocations a record takes, from its text to the
// published index, and how many of their bytes. Both are given a little room: what is
// allocated at once for all depends on the number of processors.
func TestCostOfARecord(t *testing.T) {
	if testing.Short() {
		t.Skip("counts allocations; the race detector, which runs with -short, adds its own")
	}
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
		{"allocations", float64(after.Mallocs-before.Mallocs) / n, 75},
		{"bytes allocated", float64(after.TotalAlloc-before.TotalAlloc) / n, 11_000},
	} {
		t.Logf("a record takes %.1f %s", tt.got, tt.what)
		if tt.got > tt.most {
			t.Errorf("a record takes %.1f %s, more than %.0f", tt.got, tt.what, tt.most)
		}
	}
}

// BenchmarkIndexRecords is the making of an index of 2,000 records, as a corpus of JSON
// lines is indexed.
func BenchmarkIndexRecords(b *testing.B) {
	const n = 2000
	b.ReportAllocs()
	for b.Loop() {
		a, err := ragflow.Open(b.Context(), ragflow.Config{DataDir: b.TempDir(), ForgetThreads: true})
		if err != nil {
			b.Fatal(err)
		}
		if _, err := a.IndexRecords(b.Context(), "made", n, madeRecords(n)); err != nil {
			b.Fatal(err)
		}
		if err := a.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "records/s")
}
