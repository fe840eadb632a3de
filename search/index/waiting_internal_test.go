package index

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// TestWaiting builds a segment of the same files whose postings wait to the end, and are
// given to their terms many times, at odd places; and whose terms are written in one run,
// and in many.
func TestWaiting(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	list := words(r, 300, 26)
	some := func(n int) string {
		out := make([]string, r.IntN(n))
		for i := range out {
			out[i] = list[min(r.IntN(len(list)), r.IntN(len(list)))]
		}
		return strings.Join(out, " ")
	}
	v := text.NewVocabulary(text.Multilingual())
	var files []terms
	for i := range 200 {
		chunks := make([]state.Chunk, 1+r.IntN(3))
		for k := range chunks {
			chunks[k] = state.Chunk{ID: fmt.Sprintf("%d-%d", i, k), Text: some(80)}
			if r.IntN(3) == 0 {
				chunks[k].Headings = []string{some(4)}
			}
		}
		files = append(files, analyze(v, some(6), chunks))
	}
	build := func(waiting, run int) []byte {
		b := newBuilder()
		b.mostWaits, b.leastRun = waiting, run
		for _, f := range files {
			if err := b.add(f); err != nil {
				t.Fatal(err)
			}
		}
		out, err := b.finish(stamp{database: "a"})
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	want := build(maxWaiting, leastRun)
	for _, waiting := range []int{0, 97, 5000, maxWaiting} {
		for _, run := range []int{blockTerms, 2 * blockTerms, leastRun} {
			if got := build(waiting, run); !bytes.Equal(got, want) {
				t.Errorf("with %d postings waiting at most, and runs of %d terms, the segment has other bytes", waiting, run)
			}
		}
	}
}
