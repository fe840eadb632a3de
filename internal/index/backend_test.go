package index_test

import (
	"testing"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/search"
	"example.com/ragflow/search/searchtest"
)

// TestBackend runs the checks of every index on this one.
func TestBackend(t *testing.T) {
	searchtest.Test(t, func(t *testing.T) search.Backend { return open(t, "", index.Options{}) })
}
