package search_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/rank"
	"example.com/ragflow/search"
)

// What a person sets of the fusion counts, also where no method is set.
func TestFusionInForce(t *testing.T) {
	for _, tt := range []struct {
		name      string
		set, want rank.Fusion
	}{
		{"nothing", rank.Fusion{}, rank.Fusion{Method: rank.ByWeight, MultiSource: 1, Threshold: -1}},
		{"threshold", rank.Fusion{Threshold: 0.6}, rank.Fusion{Method: rank.ByWeight, MultiSource: 1, Threshold: 0.6}},
		{"several sources", rank.Fusion{MultiSource: 1.2}, rank.Fusion{Method: rank.ByWeight, MultiSource: 1.2, Threshold: -1}},
		{"method", rank.Fusion{Method: rank.ByWeight}, rank.Fusion{Method: rank.ByWeight}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			o, err := search.Options{Retrieval: search.Retrieval{Fusion: tt.set}}.WithDefaults()
			if diff := cmp.Diff(tt.want, o.Retrieval.Fusion); diff != "" || err != nil {
				t.Errorf("(-want +got, error %v):\n%s", err, diff)
			}
		})
	}
}
