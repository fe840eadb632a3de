package rank_test

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/ragflow/internal/rank"
	"example.com/ragflow/state"
)

// found makes a list of a source, best first.
func found(source string, hits ...scored) []state.Hit {
	out := make([]state.Hit, len(hits))
	for i, h := range hits {
		out[i] = state.Hit{Chunk: h.Chunk, Legs: []state.Leg{{Name: source, Rank: i + 1, Score: h.Score}}}
	}
	return out
}

// published are the weights of F04.
func published(l state.Leg) float64 {
	return map[string]float64{"dense": 0.7, "lexical": 0.3, "graph": 0}[l.Name]
}

// TestFusion holds the numbers of F03 to F06.
func TestFusion(t *testing.T) {
	dense := found("dense", scored{"a", 0.9}, scored{"b", 0.8}, scored{"c", 0.7})
	lexical := found("lexical", scored{"b", 30}, scored{"d", 20}, scored{"a", 10})
	one := found("lexical", scored{"z", 7})
	off := func(f rank.Fusion) rank.Fusion {
		f.Method, f.Threshold = rank.ByWeight, -1
		return f
	}
	for _, tt := range []struct {
		name  string
		f     rank.Fusion
		w     rank.Weight
		lists [][]state.Hit
		want  []scored
	}{
		{"weights 0.7 and 0.3", off(rank.Fusion{MultiSource: 1}), published, [][]state.Hit{dense, lexical}, []scored{{"a", 0.7}, {"b", 0.65}, {"d", 0.15}, {"c", 0}}},
		{"several sources are preferred", off(rank.Fusion{}), published, [][]state.Hit{dense, lexical}, []scored{{"a", 0.77}, {"b", 0.715}, {"d", 0.15}, {"c", 0}}},
		{"at most 1", off(rank.Fusion{}), even, [][]state.Hit{found("dense", scored{"a", 3}), found("lexical", scored{"a", 5})}, []scored{{"a", 1}}},
		{"a list of one is 1, not NaN", off(rank.Fusion{}), published, [][]state.Hit{one}, []scored{{"z", 1}}},
		{"equal scores are 1", off(rank.Fusion{}), published, [][]state.Hit{found("dense", scored{"a", 2}, scored{"b", 2})}, []scored{{"a", 1}, {"b", 1}}},
		{"the threshold of 0.5 counts a hit by the sources that hold it", rank.Fusion{Method: rank.ByWeight, MultiSource: 1}, published, [][]state.Hit{dense, lexical}, []scored{{"a", 0.7}, {"b", 0.65}, {"d", 0.15}}},
		{"a hit of the graph alone passes", rank.Fusion{Method: rank.ByWeight}, func(l state.Leg) float64 { return map[string]float64{"dense": 0.6, "graph": 0.1}[l.Name] }, [][]state.Hit{dense, found("graph", scored{"g", 1})}, []scored{{"a", 6.0 / 7}, {"b", 3.0 / 7}, {"g", 1.0 / 7}}},
		{"no weight at all", rank.Fusion{Method: rank.ByWeight, Threshold: -1}, func(state.Leg) float64 { return 0 }, [][]state.Hit{one}, []scored{{"z", 0}}},
		{"max", rank.Fusion{Method: rank.ByMax}, published, [][]state.Hit{dense, lexical}, []scored{{"a", 0.7}, {"b", 0.35}, {"d", 0.15}, {"c", 0}}},
		{"average", rank.Fusion{Method: rank.ByAverage}, published, [][]state.Hit{dense, lexical}, []scored{{"a", 0.7}, {"b", 0.65}, {"d", 0.5}, {"c", 0}}},
		{"ranks by default", rank.Fusion{}, even, [][]state.Hit{dense, lexical}, []scored{{"b", 1.0/62 + 1.0/61}, {"a", 1.0/61 + 1.0/63}, {"d", 1.0 / 62}, {"c", 1.0 / 63}}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := scores(tt.f.Fuse(rank.Merge(tt.lists...), tt.w))
			if diff := cmp.Diff(tt.want, got, cmpopts.EquateApprox(0, 1e-12)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// TestOneListKeepsItsOrder: with one leg alone, every method gives its order.
func TestOneListKeepsItsOrder(t *testing.T) {
	list := found("dense", scored{"q", 5}, scored{"b", 5}, scored{"z", 1}, scored{"a", -3}, scored{"c", -30})
	for name, fuse := range fusers() {
		var got []string
		for _, h := range fuse(rank.Merge(list), even) {
			got = append(got, h.Chunk)
		}
		if diff := cmp.Diff([]string{"q", "b", "z", "a", "c"}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestFusionCheck(t *testing.T) {
	for _, tt := range []struct {
		name string
		f    rank.Fusion
		want string
	}{
		{"zero", rank.Fusion{}, ""},
		{"all set", rank.Fusion{Method: rank.ByMax, MultiSource: 1, Threshold: -1}, ""},
		{"unknown", rank.Fusion{Method: "borda"}, `fusion "borda" is not one of reciprocal-rank-fusion, weighted, max, average`},
		{"preference", rank.Fusion{MultiSource: 0.5}, "the preference for several sources is 0.5, but must be from 1 to 10"},
		{"threshold", rank.Fusion{Threshold: math.NaN()}, "the threshold of the fusion is NaN, but must be at most 1"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got := ""
			if err := tt.f.Check(); err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}
