package weaviate_test

import (
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ragflow/search"
	"example.com/ragflow/search/index"
	"example.com/ragflow/search/searchtest"
	"example.com/ragflow/search/weaviate"
)

var names atomic.Int64 //nolint:gochecknoglobals // each test has classes of its own

// address returns an address on the server that scripts/servers/weaviate starts, with a
// prefix of its own.
func address(t *testing.T) string {
	t.Helper()
	server := os.Getenv("RAGFLOW_TEST_WEAVIATE")
	if server == "" {
		t.Skip("no Weaviate: run scripts/servers/weaviate start, and set the variable it writes")
	}
	host, query, _ := strings.Cut(server, "?")
	return fmt.Sprintf("%s/Test%d_%d?%s", host, time.Now().UnixNano(), names.Add(1), query)
}

func open(t *testing.T, address string) *weaviate.DB {
	t.Helper()
	local, err := index.Open(t.Context(), "", index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	db, err := weaviate.Open(t.Context(), address, weaviate.Options{Catalogue: local})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	return db
}

// TestIntegrationBackend runs the checks of every index on this one.
func TestIntegrationBackend(t *testing.T) {
	searchtest.Test(t, func(t *testing.T) search.Backend { return open(t, address(t)) })
}
