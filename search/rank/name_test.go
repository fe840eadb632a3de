package rank_test

import (
	"math"
	"testing"

	"example.com/ragflow/search/rank"
)

// TestJaroWinkler holds the examples of Winkler's papers.
func TestJaroWinkler(t *testing.T) {
	for _, tt := range []struct {
		a, b string
		want float64
	}{
		{"MARTHA", "MARHTA", 0.961},
		{"DWAYNE", "DUANE", 0.840},
		{"DIXON", "DICKSONX", 0.813},
		{"SHACKLEFORD", "SHACKELFORD", 0.982},
		{"volume", "volume", 1},
		{"", "", 1},
		{"a", "", 0},
		{"abc", "xyz", 0},
		{"ł", "ł", 1},
		{"a", "b", 0},
		{"ab", "ba", 0},
	} {
		for _, p := range [][2]string{{tt.a, tt.b}, {tt.b, tt.a}} {
			if got := rank.JaroWinkler(p[0], p[1]); math.Abs(got-tt.want) > 0.0006 {
				t.Errorf("JaroWinkler(%q, %q) = %.4f, want %.3f", p[0], p[1], got, tt.want)
			}
		}
	}
}
