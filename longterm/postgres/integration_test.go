package postgres_test

import (
	"fmt"
	"net/url"
	"os"
	"strings"
	"testing"
	"time"

	"example.com/ragflow/longterm"
	"example.com/ragflow/longterm/longtermtest"
	"example.com/ragflow/longterm/postgres"
)

// TestIntegrationStore runs the checks of every store on a real server, in a schema of its own.
func TestIntegrationStore(t *testing.T) {
	server := os.Getenv("RAGFLOW_TEST_POSTGRES")
	if server == "" {
		t.Skip("no PostgreSQL: run scripts/servers/postgres start, and set the variable it writes")
	}
	schemas := 0
	longtermtest.Test(t, func(t *testing.T, o longterm.Options) *longterm.Store {
		t.Helper()
		schemas++
		name := fmt.Sprintf("longterm_%d_%d_%d", os.Getpid(), time.Now().UnixNano(), schemas)
		u, err := url.Parse(server)
		if err != nil {
			t.Fatal("RAGFLOW_TEST_POSTGRES is no URL")
		}
		q := u.Query()
		q.Set("search_path", name)
		u.RawQuery = q.Encode()
		s, err := postgres.Open(t.Context(), u.String(), o)
		if err != nil {
			t.Fatal(err)
		}
		return s
	})
}

func TestAddressIsNotShown(t *testing.T) {
	_, err := postgres.Open(t.Context(), "postgres://ann:planted-password@[::1", longterm.Options{})
	if err == nil || strings.Contains(err.Error(), "planted-password") {
		t.Errorf("got %v", err)
	}
}
