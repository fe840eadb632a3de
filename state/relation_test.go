package state_test

import (
	"strings"
	"testing"

	"example.com/ragflow/state"
)

// TestRelations is T05: twenty kinds and more, by their names in any style.
func TestRelations(t *testing.T) {
	known := state.Relations()
	if len(known) < 20 {
		t.Errorf("%d kinds", len(known))
	}
	for _, r := range append(known, "IMPLEMENTS", "DEPENDS_ON", "REQUIRES", "COMPATIBLE_WITH", "SIMILAR_TO", "EVOLVED_FROM", "VALIDATES", "USES", "RELATED_TO") {
		if got, ok := state.ParseRelation(strings.ToLower(strings.ReplaceAll(r, "_", "-"))); got != r || !ok {
			t.Errorf("%s is read as %s, %t", r, got, ok)
		}
	}
	for name, want := range map[string]bool{"related docs": true, "See_Also": true, "befriends": false} {
		if got, ok := state.ParseRelation(name); got != state.RelatedTo || ok != want {
			t.Errorf("%s is read as %s, %t", name, got, ok)
		}
	}
}
