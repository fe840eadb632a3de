package rank_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/rank"
	"example.com/ragflow/state"
)

// TestCuts checks F07 and F08: 0.85 stays in the context and 0.851 is dropped; 0.95 is dropped
// in fusion. Rounding errors do not count.
func TestCuts(t *testing.T) {
	for _, tt := range []struct {
		name       string
		similarity float64
		cut        rank.Cut
		want       bool
	}{
		{"context keeps 0.85", 0.85 + 1e-12, rank.Above(0.85), false},
		{"context drops 0.851", 0.851, rank.Above(0.85), true},
		{"fusion keeps 0.949", 0.949, rank.AtLeast(0.95), false},
		{"fusion drops 0.95", 0.95 - 1e-12, rank.AtLeast(0.95), true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.cut(tt.similarity); got != tt.want {
				t.Errorf("a duplicate at %v: %v, want %v", tt.similarity, got, tt.want)
			}
		})
	}
}

// TestRepeats: a reply that quotes a mail, and a version of a document, repeat nothing.
func TestRepeats(t *testing.T) {
	const (
		mail    = "The fitting moves from the week of 9 June to the week of 23 June, because the glass arrives later than promised."
		reply   = "Tuesday suits me better.\n\n> " + mail + "\n"
		thanks  = "Thank you.\n\n> " + mail + "\n"
		version = "The fitting moves from the week of 9 June to the week of 30 June, because the glass arrives later than promised."
	)
	for _, tt := range []struct {
		name, a, b, from string
		want             bool
	}{
		{"a copy", mail, mail, "b.eml", true},
		{"a reply", mail, reply, "b.eml", false},
		{"two replies", thanks, reply, "b.eml", false},
		{"the same reply", reply, reply, "b.eml", true},
		{"another number", mail, version, "b.eml", false},
		{"another number in one file", mail, version, "a.eml", true},
		{"another text", mail, "The rent rises.", "b.eml", false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b := state.Chunk{Source: "a.eml", Text: tt.a}, state.Chunk{Source: tt.from, Text: tt.b}
			similarity := rank.Cosine(rank.TextVector(tt.a), rank.TextVector(tt.b))
			if got := rank.Repeats(&a, &b, similarity, rank.Above(0.85)); got != tt.want {
				t.Errorf("repeats at %.2f: %v, want %v", similarity, got, tt.want)
			}
		})
	}
}

// TestCosineTwin compares with maps.
func TestCosineTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	words := strings.Fields("a b c d e f g h")
	count := func(terms []string) (map[string]float64, float64) {
		tf, square := map[string]float64{}, 0.0
		for _, w := range terms {
			tf[w]++
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
		got := rank.Cosine(rank.NewVector(a), rank.NewVector(b))
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
