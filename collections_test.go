package ragflow_test

import (
	"errors"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/ingest"
)

func TestCollectionName(t *testing.T) {
	dir := t.TempDir()
	if _, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: dir, Collection: "../x"}); !errors.Is(err, ingest.ErrCollectionName) {
		t.Errorf("open: %v", err)
	}
}
