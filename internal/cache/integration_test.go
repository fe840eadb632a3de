package cache_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"net/url"
	"os"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	_ "github.com/jackc/pgx/v5/stdlib" // the driver "pgx"

	"example.com/ragflow/internal/cache"
)

// newSchema makes an empty schema on a real server.
func newSchema(t *testing.T) cache.Place {
	t.Helper()
	address := os.Getenv("RAGFLOW_TEST_POSTGRES")
	if address == "" {
		t.Skip("no PostgreSQL: run scripts/servers/postgres start, and set the variable it writes")
	}
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal("RAGFLOW_TEST_POSTGRES is no URL")
	}
	name := fmt.Sprintf("cache_%d_%d", os.Getpid(), time.Now().UnixNano())
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	run(t, address, "CREATE SCHEMA "+name)
	t.Cleanup(func() { run(t, address, "DROP SCHEMA "+name+" CASCADE") })
	return cache.Place{Postgres: func(context.Context) (*sql.DB, error) { return sql.Open("pgx", u.String()) }}
}

func run(t *testing.T, address, statement string) {
	t.Helper()
	db, err := sql.Open("pgx", address)
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	if _, err := db.ExecContext(context.WithoutCancel(t.Context()), statement); err != nil {
		t.Fatal(err)
	}
}

func TestIntegrationPostgres(t *testing.T) {
	for name, test := range conformance {
		t.Run(name, func(t *testing.T) { test(t, newSchema) })
	}
}

// TestIntegrationServers: what one server keeps, the others find, also if all begin at once.
func TestIntegrationServers(t *testing.T) {
	place := newSchema(t)
	const servers = 8
	var caches []*cache.Cache
	var group sync.WaitGroup
	var told safeBuffer
	for i := range servers {
		c := cache.Open(place, cache.Options{Logger: slog.New(slog.NewTextHandler(&told, nil))})
		t.Cleanup(c.Close)
		caches = append(caches, c)
		group.Go(func() { put(t, c, strconv.Itoa(i), "by one") })
	}
	group.Wait()
	for _, c := range caches {
		if got := names(t, c, "0", "1", "2", "3", "4", "5", "6", "7"); got != "0 1 2 3 4 5 6 7" {
			t.Errorf("found %q", got)
		}
	}
	if told.String() != "" {
		t.Errorf("told %s", told.String())
	}
}

// TestIntegrationStandstill: a server that does not answer delays one question by a second, is left alone for a while
// and used again. A question whose asker leaves is no failure of the server.
func TestIntegrationStandstill(t *testing.T) {
	place, at := newSchema(t), newClock()
	var told safeBuffer
	c := cache.Open(place, cache.Options{Clock: at.Now, Logger: slog.New(slog.NewTextHandler(&told, nil))})
	defer c.Close()
	put(t, c, "a", "kept")
	left, leave := context.WithCancel(t.Context())
	leave()
	if _, ok := c.Get(left, c.Key("a")); ok || names(t, c, "a") != "a" {
		t.Errorf("found for one who left: %v, and it is not used for another", ok)
	}
	db, err := place.Postgres(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	for outage := range 2 {
		lock, err := db.BeginTx(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := lock.ExecContext(t.Context(), "LOCK TABLE cache_entries"); err != nil {
			t.Fatal(err)
		}
		begun := time.Now()
		for range 10 {
			if put(t, c, "b", "lost"); names(t, c, "a") != "" {
				t.Error("found in a locked table")
			}
		}
		if took := time.Since(begun); took > 10*time.Second {
			t.Errorf("20 requests took %v", took)
		}
		if err := lock.Rollback(); err != nil {
			t.Fatal(err)
		}
		at.now = at.now.Add(time.Minute)
		if got := names(t, c, "a", "b"); got != "a" {
			t.Errorf("after outage %d: %q", outage, got)
		}
	}
	if text := told.String(); strings.Count(text, "\n") != 1 || !strings.Contains(text, "while its database fails") {
		t.Errorf("told %s", text)
	}
}

// TestUnreachable: without its server a cache has no values and says so once, without the password.
func TestUnreachable(t *testing.T) {
	var told safeBuffer
	place := cache.Place{Postgres: func(context.Context) (*sql.DB, error) {
		return sql.Open("pgx", "postgres://ann:planted-password@127.0.0.1:1/none?sslmode=disable")
	}}
	c := cache.Open(place, cache.Options{Logger: slog.New(slog.NewTextHandler(&told, nil))})
	for range 3 {
		if put(t, c, "a", "b"); names(t, c, "a") != "" {
			t.Error("it has a value")
		}
		c.Count(t.Context(), cache.Miss, cache.Key{})
	}
	c.Close()
	if text := told.String(); strings.Count(text, "\n") != 1 || strings.Contains(text, "planted-password") {
		t.Errorf("told %s", text)
	}
}

// safeBuffer is a buffer for several goroutines.
type safeBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (s *safeBuffer) Write(p []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.Write(p)
}

func (s *safeBuffer) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.b.String()
}
