package ragflow_test

import (
	"errors"
	"slices"
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

func TestDropCollection(t *testing.T) {
	dir := t.TempDir()
	for _, name := range []string{"one", "two"} {
		a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: dir, Collection: name})
		if err != nil {
			t.Fatal(err)
		}
		if err := a.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if err := ingest.DropCollection(dir, "one"); err != nil {
		t.Fatal(err)
	}
	if got, err := ingest.Collections(dir); err != nil || !slices.Equal(got, []string{"two"}) {
		t.Errorf("left: %v, %v", got, err)
	}
	if err := ingest.DropCollection(dir, "one"); !errors.Is(err, ingest.ErrNoCollection) {
		t.Errorf("dropped twice: %v", err)
	}
}
