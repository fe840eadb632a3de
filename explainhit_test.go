package ragflow_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow"
	"example.com/ragflow/search/index"
)

// TestExplainHitOfHiddenParent: how links led to a passage is told also where the hit
// they led from has left the list, being a near-duplicate of a better one.
func TestExplainHitOfHiddenParent(t *testing.T) {
	const said = "# Cabinet\n\nThe cabinet keeps all the papers of the house in nine drawers, sorted by year and by name of the sender."
	a := open(t, ragflow.Config{
		Given: []ragflow.Given{
			{Name: "cabinet.md", Data: []byte(said)},
			{Name: "copy.md", Data: []byte("---\nrelated: keys.md\n---\n" + said)},
			{Name: "keys.md", Data: []byte("# Keys\n\nThey hang behind a door.")},
		},
		Retrieval: ragflow.Retrieval{Hops: 1},
	})
	indexed(t, a)
	const query = "which cabinet keeps papers"
	r := searchLeg(t, a, query, 10, "")
	at := slices.IndexFunc(r.Hits, func(h ragflow.SearchHit) bool { return h.Source == "keys.md" })
	hidden := !slices.ContainsFunc(r.Hits, func(h ragflow.SearchHit) bool { return h.Source == "copy.md" })
	if at < 0 || !hidden {
		t.Fatalf("hits %+v, want keys.md, and copy.md left out", r.Hits)
	}
	x, err := a.ExplainHit(t.Context(), query, r.Hits[at].ChunkID)
	if err != nil {
		t.Fatal(err)
	}
	score := r.Hits[at].Score
	want := &ragflow.LinkedHit{From: "copy.md", Score: 2 * score, Damping: index.DefaultDamping, Steps: []index.LinkStep{
		{Hop: 1, From: "copy.md", To: "keys.md", Relation: "RELATED_TO", Target: "keys.md", Score: score},
	}}
	if diff := cmp.Diff(want, x.Found.Link); diff != "" {
		t.Errorf("link (-want +got):\n%s", diff)
	}
}
