package ragflow_test

import (
	"errors"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/ingest"
)

func TestCollectionNames(t *testing.T) {
	dir := t.TempDir()
	for name, ok := range map[string]bool{
		"handbook": true, "2024-notes_b": true, "a": true, strings.Repeat("a", 64): true,
		"": false, "Handbook": false, "../x": false, "a/b": false, "-a": false, ".a": false, "ż": false, "a b": false,
		"con": false, "lpt1": false, strings.Repeat("a", 65): false,
	} {
		if err := ingest.CheckCollection(name); (err == nil) != ok || !ok && !errors.Is(err, ingest.ErrCollectionName) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: dir, Collection: "../x"}); !errors.Is(err, ingest.ErrCollectionName) {
		t.Errorf("open: %v", err)
	}
}
