package rank_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/rank"
)

// pair gives two texts whose cosine is c: one is the term x alone, the other
// points to x by c.
func pair(c float64) []rank.Vector {
	weigh := func(term string) float64 {
		if term == "y" {
			return math.Sqrt(1 - c*c)
		}
		return c
	}
	return []rank.Vector{rank.NewVector([]string{"x"}, weigh), rank.NewVector([]string{"y", "x"}, weigh)}
}

// TestDistinctBoundaries checks F07 and F08: 0.85 stays in the context and 0.851 is dropped; 0.95 is dropped
// in fusion.
func TestDistinctBoundaries(t *testing.T) {
	for _, tt := range []struct {
		name   string
		cosine float64
		cut    rank.Cut
		want   []int
	}{
		{"context keeps 0.85", 0.85, rank.Above(0.85), []int{0, 1}},
		{"context drops 0.851", 0.851, rank.Above(0.85), []int{0}},
		{"fusion keeps 0.949", 0.949, rank.AtLeast(0.95), []int{0, 1}},
		{"fusion drops 0.95", 0.95, rank.AtLeast(0.95), []int{0}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			texts := pair(tt.cosine)
			if got := rank.Cosine(texts[0], texts[1]); math.Abs(got-tt.cosine) > 1e-12 {
				t.Fatalf("cosine %v, want %v", got, tt.cosine)
			}
			if diff := cmp.Diff(tt.want, rank.Distinct(texts, tt.cut)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDistinct(t *testing.T) {
	var texts []rank.Vector
	for _, s := range []string{
		"volumes keep data",
		"data volumes keep", // the same words
		"networks connect containers",
		"",
		"", // empty texts are like nothing
		"networks connect containers",
	} {
		texts = append(texts, rank.NewVector(strings.Fields(s), nil))
	}
	want := []int{0, 2, 3, 4}
	if diff := cmp.Diff(want, rank.Distinct(texts, rank.AtLeast(0.95))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestDistinctTwin compares with cosines alone, over texts that share from none to
// nearly all of many words.
func TestDistinctTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	var texts []rank.Vector
	for range 300 {
		var words []string
		topic, common := r.IntN(8), 25*r.IntN(5)
		for i := range 1 + r.IntN(200) {
			from := topic
			if r.IntN(100) > common {
				from = 100 + len(texts)
			}
			words = append(words, strconv.Itoa(from*1000+i%150))
		}
		texts = append(texts, rank.NewVector(words, nil))
	}
	for _, at := range []float64{0.1, 0.5, 0.85, 0.95} {
		cut := rank.Above(at)
		var want []int
		for i, v := range texts {
			if !slices.ContainsFunc(want, func(k int) bool { return cut(rank.Cosine(texts[k], v)) }) {
				want = append(want, i)
			}
		}
		if len(want) == len(texts) {
			t.Errorf("above %v: no text is like another", at)
		}
		if diff := cmp.Diff(want, rank.Distinct(texts, cut)); diff != "" {
			t.Errorf("above %v (-want +got):\n%s", at, diff)
		}
	}
}

// TestCosineTwin compares with maps.
func TestCosineTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	words := strings.Fields("a b c d e f g h")
	idf := func(term string) float64 { return float64(term[0]-'a') / 3 }
	count := func(terms []string) (map[string]float64, float64) {
		tf, square := map[string]float64{}, 0.0
		for _, w := range terms {
			tf[w] += idf(w)
		}
		for _, v := range tf {
			square += v * v
		}
		return tf, math.Sqrt(square)
	}
	for range 500 {
		var a, b []string
		for range r.IntN(10) {
			a = append(a, words[r.IntN(len(words))])
			b = append(b, words[r.IntN(len(words))])
		}
		ta, na := count(a)
		tb, nb := count(b)
		want := 0.0
		for w, v := range ta {
			want += v * tb[w]
		}
		if na*nb > 0 {
			want /= na * nb
		}
		got := rank.Cosine(rank.NewVector(a, idf), rank.NewVector(b, idf))
		if math.Abs(got-want) > 1e-12 {
			t.Fatalf("cosine of %v and %v is %v, want %v", a, b, got, want)
		}
	}
}

// TestMMR is K04: lambda 1 is the order of relevance, and the first pick is the
// most relevant.
func TestMMR(t *testing.T) {
	relevance := []float64{0.9, 0.8, 0.7, 0.8}
	similarity := func(i, j int) float64 {
		if i+j == 1 { // 0 and 1 say the same
			return 1
		}
		return 0
	}
	for _, tt := range []struct {
		name   string
		lambda float64
		k      int
		want   []int
	}{
		{"relevance alone", 1, 10, []int{0, 1, 3, 2}},
		{"balanced", 0.5, 10, []int{0, 3, 2, 1}},
		{"cut", 0.5, 2, []int{0, 3}},
		{"none wanted", 0.5, 0, []int{}},
		{"a negative number of picks", 0.5, -1, []int{}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if diff := cmp.Diff(tt.want, rank.MMR(relevance, similarity, tt.lambda, tt.k)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestTextVector(t *testing.T) {
	for _, tt := range []struct {
		name, a, b string
		want       float64
	}{
		{"same words", "Volumes keep data.", "data KEEP, volumes", 1},
		{"half of the words", "keep data", "keep volumes", 0.5},
		{"diacritics count", "Übung", "Ubung", 0},
		{"a repeated word counts twice", "a a b", "a b", 3 / math.Sqrt(10)},
		{"letters without spaces, in pairs", "東京都", "京都府", 1 / 3.0},
		{"nothing", "", "", 0},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := rank.Cosine(rank.TextVector(tt.a), rank.TextVector(tt.b)); math.Abs(got-tt.want) > 1e-9 {
				t.Errorf("cosine of %q and %q is %v, want %v", tt.a, tt.b, got, tt.want)
			}
		})
	}
}
