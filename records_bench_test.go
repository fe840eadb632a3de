package ragflow_test

import (
	"iter"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/ingest"
)

// madeRecords are n records of about 170 words, some longer than a chunk.
func madeRecords(n int) iter.Seq2[ingest.Record, error] {
	return func(yield func(ingest.Record, error) bool) {
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
			if !yield(ingest.Record{ID: strconv.Itoa(i), Title: words(8), Text: words(50 + r.IntN(250))}, nil) {
				return
			}
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
		if _, err := a.Library().PutRecords(b.Context(), "made", n, madeRecords(n)); err != nil {
			b.Fatal(err)
		}
		if err := a.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(n*b.N)/b.Elapsed().Seconds(), "records/s")
}
