package ragflow_test

import (
	"context"
	"database/sql"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"example.com/ragflow"
	"example.com/ragflow/search"
	"example.com/ragflow/search/pgvector"
)

// TestIntegrationSharedCache: servers with a data folder each share answers if they share the index, until it changes.
func TestIntegrationSharedCache(t *testing.T) {
	server := os.Getenv("RAGFLOW_TEST_PGVECTOR")
	if server == "" {
		t.Skip("no PostgreSQL with the extension vector: run scripts/servers/pgvector start, and set the variable it writes")
	}
	name := fmt.Sprintf("shared%d", time.Now().UnixNano())
	address := server + "&search_path=" + name
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(t.Context(), "CREATE SCHEMA "+name); err != nil {
		t.Fatal(err)
	}
	docs := library(t)
	old := time.Now().Add(-time.Hour) // the next server to look at a file that has just changed notes that it is as it was
	for _, pattern := range []string{"*", "*/*"} {
		files, err := filepath.Glob(filepath.Join(docs, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range files {
			if err := os.Chtimes(f, old, old); err != nil {
				t.Fatal(err)
			}
		}
	}
	open := func(index bool) *ragflow.Assistant {
		config := cached(ragflow.Config{Docs: []string{docs}, DataDir: t.TempDir()})
		config.Cache.Database = func(context.Context) (*sql.DB, error) { return sql.Open("pgx", address) }
		if index {
			config.Index = func(ctx context.Context, collection string) (search.Backend, error) {
				return pgvector.Open(ctx, address, collection)
			}
		}
		t.Cleanup(func() {
			if _, err := os.Stat(filepath.Join(config.DataDir, "cache.db")); err == nil {
				t.Error("answers are kept in a file, too")
			}
		})
		return open(t, config)
	}
	const question = "How often should I water a basil plant?"
	here, there := open(true), open(true)
	first := ask(t, here, "", question)
	again := ask(t, there, "", question)
	if first.Cached != nil || again.Cached == nil || again.Cached.Run != first.RunID {
		t.Fatalf("%+v, then %+v", first.Cached, again.Cached)
	}
	if d := sameAnswer(first, again); d != "" {
		t.Error(d)
	}
	if r := ask(t, open(false), "", question); r.Cached != nil {
		t.Error("an answer from another index is from the cache")
	}
	write(t, filepath.Join(docs, "new.md"), "# Basil\n\nWater a basil plant every hour.\n")
	for _, a := range []*ragflow.Assistant{here, there} {
		if _, err := a.Library().Sync(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	if r := ask(t, there, "", question); r.Cached != nil {
		t.Error("the documents changed, and the answer is from the cache")
	}
}
