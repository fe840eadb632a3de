package search_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/rank"
	"example.com/ragflow/search"
)

// The settings of a fusion apply even if no method is set.
func TestFusionInForce(t *testing.T) {
	for _, tt := range []struct {
		name      string
		set, want search.Fusion
	}{
		{"nothing", search.Fusion{}, search.Fusion{Method: rank.ByWeight, MultiSource: 1, Threshold: -1}},
		{"threshold", search.Fusion{Threshold: 0.6}, search.Fusion{Method: rank.ByWeight, MultiSource: 1, Threshold: 0.6}},
		{"several sources", search.Fusion{MultiSource: 1.2}, search.Fusion{Method: rank.ByWeight, MultiSource: 1.2, Threshold: -1}},
		{"method", search.Fusion{Method: rank.ByWeight}, search.Fusion{Method: rank.ByWeight}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, err := search.Options{Retrieval: search.Retrieval{Fusion: tt.set}}.WithDefaults()
			if diff := cmp.Diff(tt.want, o.Retrieval.Fusion); diff != "" || err != nil {
				t.Errorf("(-want +got, error %v):\n%s", err, diff)
			}
		})
	}
}
