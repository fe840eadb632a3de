package rank_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/rank"
	"example.com/ragflow/state"
)

// ranking makes the hits of one list; scores fall from 10 by 1.
func ranking(name string, query int, chunks ...string) []state.Hit {
	var hits []state.Hit
	for i, c := range chunks {
		score := 10 - float64(i)
		hits = append(hits, state.Hit{
			Chunk: c, Score: score,
			Legs: []state.Leg{{Name: name, Query: query, Rank: i + 1, Score: score}},
		})
	}
	return hits
}

type scored struct {
	Chunk string
	Score float64
}

func scores(hits []state.Hit) []scored {
	var out []scored
	for _, h := range hits {
		out = append(out, scored{h.Chunk, h.Score})
	}
	return out
}

// lastBit forgives the rounding between a constant sum and one made at run time.
var lastBit = cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) < 1e-16 })

// TestRRF holds the numbers of F01 and F02: 1/(60+rank), times the weight.
func TestRRF(t *testing.T) {
	lexical := ranking("lexical", 0, "a", "b", "c")
	dense := ranking("dense", 0, "c", "a")
	other := ranking("lexical", 1, "d")
	alpha := func(a float64) rank.Weight {
		return func(l state.Leg) float64 {
			if l.Name == "dense" {
				return a
			}
			return 1 - a
		}
	}
	for _, tt := range []struct {
		name  string
		lists [][]state.Hit
		w     rank.Weight
		want  []scored
	}{
		{"nothing", nil, even, nil},
		{"one list", [][]state.Hit{lexical}, even, []scored{{"a", 1.0 / 61}, {"b", 1.0 / 62}, {"c", 1.0 / 63}}},
		{"two lists", [][]state.Hit{lexical, dense}, even, []scored{{"a", 1.0/62 + 1.0/61}, {"c", 1.0/61 + 1.0/63}, {"b", 1.0 / 62}}},
		{"alpha one half keeps the plain order", [][]state.Hit{lexical, dense}, alpha(0.5), []scored{{"a", 0.5/62 + 0.5/61}, {"c", 0.5/61 + 0.5/63}, {"b", 0.5 / 62}}},
		{"alpha one is the dense list", [][]state.Hit{lexical, dense}, alpha(1), []scored{{"c", 1.0 / 61}, {"a", 1.0 / 62}, {"b", 0}}},
		{"best ranks break ties by chunk", [][]state.Hit{lexical, other}, even, []scored{{"a", 1.0 / 61}, {"d", 1.0 / 61}, {"b", 1.0 / 62}, {"c", 1.0 / 63}}},
		{"the same list twice counts once", [][]state.Hit{lexical, lexical}, even, []scored{{"a", 1.0 / 61}, {"b", 1.0 / 62}, {"c", 1.0 / 63}}},
		{
			"weights below zero and NaN are zero",
			[][]state.Hit{lexical, dense},
			func(l state.Leg) float64 {
				if l.Name == "dense" {
					return math.NaN()
				}
				return -1
			},
			[]scored{{"a", 0}, {"c", 0}, {"b", 0}},
		},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := scores(rank.RRF(rank.Merge(tt.lists...), tt.w))
			if diff := cmp.Diff(tt.want, got, lastBit); diff != "" {
				t.Errorf("RRF (-want +got):\n%s", diff)
			}
		})
	}
}

// TestMergeKeepsProvenance is F09: the same chunk from three queries appears
// once, with all its provenance.
func TestMergeKeepsProvenance(t *testing.T) {
	got := rank.Merge(ranking("lexical", 2, "x"), ranking("lexical", 0, "y", "x"), ranking("lexical", 1, "x"))
	want := []state.Hit{
		{Chunk: "x", Legs: []state.Leg{
			{Name: "lexical", Query: 0, Rank: 2, Score: 9},
			{Name: "lexical", Query: 1, Rank: 1, Score: 10},
			{Name: "lexical", Query: 2, Rank: 1, Score: 10},
		}},
		{Chunk: "y", Legs: []state.Leg{{Name: "lexical", Query: 0, Rank: 1, Score: 10}}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestFuseAgain fuses two attempts one after the other and all at once.
func TestFuseAgain(t *testing.T) {
	first, second, refined := ranking("lexical", 0, "a", "b"), ranking("lexical", 1, "c", "a"), ranking("lexical", 2, "b", "d")
	for name, fuse := range fusers() {
		attempt1 := fuse(rank.Merge(first, second), even)
		got := fuse(rank.Merge(attempt1, refined), even)
		want := fuse(rank.Merge(first, second, refined), even)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func fusers() map[string]rank.Fuser {
	out := map[string]rank.Fuser{}
	for _, m := range rank.Methods() {
		out[m] = rank.Fusion{Method: m, Threshold: -1}.Fuse
	}
	return out
}

// randomLists makes up to 6 lists of distinct chunks.
func randomLists(r *rand.Rand) [][]state.Hit {
	lists := make([][]state.Hit, 1+r.IntN(6))
	for q := range lists {
		perm := r.Perm(12)[:r.IntN(12)]
		score := r.Float64() * 20
		for i, c := range perm {
			lists[q] = append(lists[q], state.Hit{
				Chunk: fmt.Sprintf("c%02d", c),
				Legs:  []state.Leg{{Name: []string{"lexical", "dense"}[q%2], Query: q / 2, Rank: i + 1, Score: score}},
			})
			score *= r.Float64()
		}
	}
	return lists
}

// TestListOrderDoesNotMatter: any order of the lists gives the same bits.
func TestListOrderDoesNotMatter(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for round := range 300 {
		lists := randomLists(r)
		for name, fuse := range fusers() {
			want := fuse(rank.Merge(lists...), even)
			shuffled := slices.Clone(lists)
			r.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
			hits := rank.Merge(shuffled...)
			r.Shuffle(len(hits), func(i, j int) { hits[i], hits[j] = hits[j], hits[i] })
			if diff := cmp.Diff(want, fuse(hits, even)); diff != "" {
				t.Fatalf("round %d, %s (-want +got):\n%s", round, name, diff)
			}
		}
	}
}

// TestRRFTwin compares with the textbook: loop over lists, add up in a map.
func TestRRFTwin(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	w := func(l state.Leg) float64 { return 1 / float64(1+l.Query) }
	for round := range 300 {
		lists := randomLists(r)
		sums := map[string]float64{}
		for _, hits := range lists {
			for i, h := range hits {
				sums[h.Chunk] += w(h.Legs[0]) * (1 / float64(60+i+1))
			}
		}
		got := rank.RRF(rank.Merge(lists...), w)
		if len(got) != len(sums) {
			t.Fatalf("round %d: %d hits, want %d", round, len(got), len(sums))
		}
		for i, h := range got {
			if math.Abs(h.Score-sums[h.Chunk]) > 1e-12 {
				t.Errorf("round %d: %s scores %v, want %v", round, h.Chunk, h.Score, sums[h.Chunk])
			}
			if i > 0 && h.Score > got[i-1].Score {
				t.Errorf("round %d: hit %d scores more than the one before", round, i)
			}
		}
	}
}

func TestInputIsLeftAlone(t *testing.T) {
	hits := []state.Hit{
		{Chunk: "b", Score: 1, Legs: []state.Leg{{Query: 1, Rank: 2}, {Query: 0, Rank: 9}}},
		{Chunk: "a", Score: 1, Legs: []state.Leg{{Query: 0, Rank: 1}}},
	}
	before := fmt.Sprintf("%+v", hits)
	for _, fuse := range fusers() {
		fuse(hits, even)
	}
	rank.Merge(hits, hits)
	if after := fmt.Sprintf("%+v", hits); after != before {
		t.Errorf("got %s\nwant %s", after, before)
	}
}
