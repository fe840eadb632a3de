package index

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// edits is the distance that spelling must find, straight from its definition.
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
	db := &DB{ranking: DefaultRanking(), analyzer: a}
	b := newBuilder()
	if err := b.add(analyze(a, "", []state.Chunk{{ID: "x", Text: strings.Join(words, " ")}})); err != nil {
		tb.Fatal(err)
	}
	data, err := b.finish(stamp{})
	if err != nil {
		tb.Fatal(err)
	}
	seg, err := openSegment(data)
	if err != nil {
		tb.Fatal(err)
	}
	return &Searcher{db: db, parts: []part{{root: "/", tier: &tier{segment: seg}}}, all: seg.totals, analyzer: db.analyzer}
}

// TestSimilarTwin: the walk with rows kept finds what a comparison with each
// term finds.
func TestSimilarTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	all := words(r, 4000, 5)
	all = append(all, words(r, 500, 28)...)
	s := dictionary(t, all)
	slices.Sort(all)
	all = slices.Compact(all)
	plain := func(w string) []rune {
		out := []rune(w)
		for i := range out {
			out[i] = plainLetter(out[i])
		}
		return out
	}
	for _, w := range words(r, 200, 6) {
		for most := 1; most <= 2; most++ {
			m := newSpelling(w, most)
			got := map[string]int{}
			if m != nil {
				for _, t := range s.parts[0].similar(m, nil) {
					got[t.Term] = t.Edits
				}
			}
			want := map[string]int{}
			for _, term := range all {
				if n := edits(plain(term), plain(w)); m != nil && n <= most && term[0] == w[0] {
					want[term] = n
				}
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("terms within %d edits of %q (-want +got):\n%s", most, w, d)
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
		s.Similar("kontenera", 2)
	}
	b.ReportMetric(float64(s.parts[0].terms), "terms")
}
