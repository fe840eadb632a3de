package index

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"example.com/ragflow/internal/text"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// edits is the distance that must be found, straight from its definition.
func edits(a, b []rune) int {
	d := make([][]int, len(a)+1)
	for i := range d {
		d[i] = make([]int, len(b)+1)
		d[i][0] = i
	}
	for j := range b {
		d[0][j+1] = j + 1
	}
	for i := range a {
		for j := range b {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			d[i+1][j+1] = min(d[i][j+1]+1, d[i+1][j]+1, d[i][j]+cost)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				d[i+1][j+1] = min(d[i+1][j+1], d[i-1][j-1]+1)
			}
		}
	}
	return d[len(a)][len(b)]
}

// words makes random words that share beginnings.
func words(r *rand.Rand, n, letters int) []string {
	out := make([]string, n)
	for i := range out {
		b := []rune{rune('a' + r.IntN(3))}
		for range 2 + r.IntN(9) {
			b = append(b, []rune("abcdefghijklmnopqrstuvwxyzéł")[r.IntN(letters)])
		}
		out[i] = string(b)
	}
	return out
}

func dictionary(tb testing.TB, words []string) *Searcher {
	tb.Helper()
	return dictionaryBy(tb, text.For(""), words)
}

func dictionaryBy(tb testing.TB, a text.Analyzer, words []string) *Searcher {
	tb.Helper()
	b := newBuilder()
	b.add(segmentFile{}, analyze(a, "", "", []state.Chunk{{ID: "x", Text: strings.Join(words, " ")}}))
	seg, err := b.finish()
	if err != nil {
		tb.Fatal(err)
	}
	s := &Searcher{ranking: search.DefaultRanking(), analyzer: a}
	s.add(&snapshot{root: "/", all: seg.Totals}, []part{{root: "/", segment: seg}})
	return s.ready()
}

// TestDistance compares the distance, as far as it is asked for, with its definition.
func TestDistance(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	all := append(words(r, 300, 5), words(r, 100, 28)...)
	for _, a := range all {
		for _, b := range all {
			x, y := plainLetters(nil, []byte(a)), plainLetters(nil, []byte(b))
			if len(y) > len(x)+2 {
				continue
			}
			for most := 1; most <= 2; most++ {
				if got, want := distance(x, y, most), edits(x, y); got != want && (got <= most || want <= most) {
					t.Fatalf("%q and %q: %d edits, want %d", a, b, got, want)
				}
			}
		}
	}
}

// BenchmarkSimilar looks for a word that is misspelled in a million terms.
func BenchmarkSimilar(b *testing.B) {
	r := rand.New(rand.NewPCG(3, 4))
	all := make([]string, 1_000_000)
	for i := range all {
		var w strings.Builder
		for range 3 + r.IntN(3) {
			fmt.Fprintf(&w, "%c%c", "bcdfghjklmnprstvwz"[r.IntN(18)], "aeiou"[r.IntN(5)])
		}
		all[i] = w.String()
	}
	s := dictionary(b, all)
	for b.Loop() {
		s.similar("kontenera", 2)
	}
	b.ReportMetric(float64(len(s.parts[0].NameEnd)), "terms")
}
