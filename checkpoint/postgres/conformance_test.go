package postgres_test

import (
	"context"
	"fmt"
	"net/url"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/ragflow/checkpoint/postgres"
	"example.com/ragflow/graph"
	"example.com/ragflow/graph/graphtest"
	"example.com/ragflow/threads"
)

// server returns the URL of a real server. Tests skip without one.
func server(tb testing.TB) string {
	tb.Helper()
	address := os.Getenv("RAGFLOW_TEST_POSTGRES")
	if address == "" {
		tb.Skip("needs a PostgreSQL server: scripts/servers/postgres start ENV_FILE, then . ENV_FILE")
	}
	return address
}

// schema returns the URL of a schema of its own, which is dropped at the end.
func schema(tb testing.TB) string {
	tb.Helper()
	u, err := url.Parse(server(tb))
	if err != nil {
		tb.Fatal("RAGFLOW_TEST_POSTGRES is no URL")
	}
	name := fmt.Sprintf("test_%d_%d", os.Getpid(), time.Now().UnixNano())
	tb.Cleanup(func() { run(tb, u.String(), `DROP SCHEMA IF EXISTS `+name+` CASCADE`) })
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	return u.String()
}

// run executes SQL beside the store.
func run(tb testing.TB, address, sql string) {
	tb.Helper()
	ctx := context.WithoutCancel(tb.Context())
	conn, err := pgx.Connect(ctx, address)
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = conn.Close(ctx) }()
	if _, err := conn.Exec(ctx, sql); err != nil {
		tb.Fatal(err)
	}
}

func open(tb testing.TB, address string) *postgres.Store {
	tb.Helper()
	s, err := postgres.Open(tb.Context(), address, postgres.Options{Texts: graphtest.Texts})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// The folder that the suite gives to each clause becomes the name of a schema.
func TestStoreIntegration(t *testing.T) {
	server(t)
	schemas := map[string]string{}
	graphtest.RunPersistent(t, func(t *testing.T, dir string) graph.Store {
		t.Helper()
		if schemas[dir] == "" {
			schemas[dir] = schema(t)
		}
		return open(t, schemas[dir])
	})
}

// TestOpenAtOnceIntegration: servers that begin at the same time make the tables once.
func TestOpenAtOnceIntegration(t *testing.T) {
	for range 20 {
		address := schema(t)
		var group sync.WaitGroup
		for range 8 {
			group.Go(func() {
				s, err := postgres.Open(t.Context(), address, postgres.Options{Texts: graphtest.Texts})
				if err == nil {
					err = s.Close()
				}
				if err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
	}
}

var _ threads.Store = (*postgres.Store)(nil)
