package cache_test

import (
	"bytes"
	"context"
	"database/sql"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ragflow/internal/cache"
	"example.com/ragflow/internal/seal"
	"example.com/ragflow/internal/sqlite"
)

// clock is a time that a test sets.
type clock struct{ now time.Time }

func (c *clock) Now() time.Time { return c.now }

func newClock() *clock { return &clock{time.Date(2025, 1, 2, 3, 4, 5, 0, time.UTC)} }

func put(t *testing.T, c *cache.Cache, name, body string) {
	t.Helper()
	c.Put(t.Context(), cache.Value{Key: c.Key(name), Near: c.Key("near", name[:1]), Run: "run " + name, Body: []byte(body)})
}

// names returns which of some names have a value.
func names(t *testing.T, c *cache.Cache, all ...string) string {
	t.Helper()
	return strings.Join(slices.DeleteFunc(all, func(name string) bool {
		_, ok := c.Get(t.Context(), c.Key(name))
		return !ok
	}), " ")
}

// conformance are the tests of a cache at any place. newPlace makes an empty one.
var conformance = map[string]func(t *testing.T, newPlace func(*testing.T) cache.Place){
	"values": testValues, "least recently used": testLeastRecentlyUsed, "flood": testFlood, "sealed": testSealed,
}

func TestFile(t *testing.T) {
	for name, test := range conformance {
		t.Run(name, func(t *testing.T) { test(t, newFile) })
	}
}

func newFile(t *testing.T) cache.Place {
	t.Helper()
	return cache.Place{Path: filepath.Join(t.TempDir(), "cache.db")}
}

func stats(t *testing.T, p cache.Place) cache.Stats {
	t.Helper()
	s, err := cache.Read(t.Context(), p)
	if err != nil {
		t.Error(err)
	}
	return s
}

func testValues(t *testing.T, newPlace func(*testing.T) cache.Place) {
	place, at := newPlace(t), newClock()
	if s := stats(t, place); s != (cache.Stats{}) {
		t.Errorf("before the first use: %+v", s)
	}
	o := cache.Options{Clock: at.Now, TTL: time.Hour}
	c := cache.Open(place, o)
	put(t, c, "a1", "first")
	at.now = at.now.Add(30 * time.Minute)
	put(t, c, "a2", "second")
	put(t, c, "b1", "third")
	put(t, c, "b1", "fourth")
	c.Forget(t.Context(), "run none")
	c.Count(t.Context(), cache.Hit, c.Key("a1"))
	c.Count(t.Context(), cache.Miss, cache.Key{})
	c.Close()
	if put(t, c, "c1", "after Close"); names(t, c, "a1") != "" {
		t.Error("a closed cache has values")
	}
	c = cache.Open(place, o) // as the next process does
	defer c.Close()
	if got := names(t, c, "a1", "a2", "b1", "c1", "a"); got != "a1 a2 b1" {
		t.Errorf("got %q", got)
	}
	v, _ := c.Get(t.Context(), c.Key("b1"))
	if string(v.Body) != "fourth" || v.Run != "run b1" || !v.Made.Equal(at.now) || v.Key != c.Key("b1") {
		t.Errorf("%+v", v)
	}
	near := c.Near(t.Context(), c.Key("near", "a"))
	if len(near) != 2 || string(near[0].Body) != "second" || string(near[1].Body) != "first" {
		t.Errorf("%+v", near)
	}
	c.Forget(t.Context(), "run b1")
	at.now = at.now.Add(30 * time.Minute) // the hour of a1 is over
	if got := names(t, c, "a1", "a2", "b1"); got != "a2" {
		t.Errorf("an hour later: %q", got)
	}
	if s := stats(t, place); s.Values != 2 || s.Hits != 1 || s.Misses != 1 {
		t.Errorf("%+v", s)
	}
	put(t, c, "d1", "deletes what is too old")
	if s := stats(t, place); s.Values != 2 {
		t.Errorf("%+v", s)
	}
	at.now = at.now.Add(-3 * time.Hour) // the clock was set back
	if got := names(t, c, "a2", "d1"); got != "" {
		t.Errorf("from the future: %q", got)
	}
}

// TestParts: what is written together does not change the key, but where a part ends does.
func TestParts(t *testing.T) {
	c := cache.Open(cache.Place{Path: ":memory:"}, cache.Options{})
	if c.Key("ab", "c") == c.Key("a", "bc") || c.Key("a") == c.Key("a", "") {
		t.Error("keys do not tell parts apart")
	}
}

// testLeastRecentlyUsed: the values that were used last stay, in the order of their use.
func testLeastRecentlyUsed(t *testing.T, newPlace func(*testing.T) cache.Place) {
	at := newClock()
	c := cache.Open(newPlace(t), cache.Options{Clock: at.Now, MaxBytes: 160_000})
	defer c.Close()
	body := strings.Repeat("x", 29_700) // five fit, and more only until the next look
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		put(t, c, name, body)
		at.now = at.now.Add(time.Second)
	}
	c.Count(t.Context(), cache.Hit, c.Key("a"))
	for _, name := range []string{"f", "g"} {
		at.now = at.now.Add(time.Second)
		put(t, c, name, body)
	}
	if got := names(t, c, "a", "b", "c", "d", "e", "f", "g"); got != "a d e f g" && got != "a e f g" {
		t.Errorf("left: %q", got)
	}
	put(t, c, "h", strings.Repeat("x", 200_000))
	if got := names(t, c, "a", "f", "g", "h"); got != "a f g" {
		t.Errorf("after one that is larger than the cache: %q", got)
	}
}

// testFlood: a cache stays bounded under any number of distinct values from several sides.
func testFlood(t *testing.T, newPlace func(*testing.T) cache.Place) {
	const maxBytes = 1 << 20
	place := newPlace(t)
	var sides sync.WaitGroup
	for side := range 4 {
		c := cache.Open(place, cache.Options{MaxBytes: maxBytes})
		defer c.Close()
		for worker := range 2 {
			sides.Go(func() {
				for i := range 100 {
					name := fmt.Sprint(side, worker, i)
					c.Put(t.Context(), cache.Value{Key: c.Key(name), Run: name, Body: []byte(strings.Repeat(name, 4000))})
					c.Get(t.Context(), c.Key(name))
					c.Count(t.Context(), cache.Miss, c.Key(name))
				}
			})
		}
	}
	sides.Wait()
	if s := stats(t, place); s.Bytes > 2*maxBytes || s.Bytes < maxBytes/4 { // each side looks once it has added a sixteenth
		t.Errorf("%+v", s)
	}
	if info, err := os.Stat(place.Path); place.Path != "" && (err != nil || info.Size() > 4*maxBytes) {
		t.Errorf("%v, %v", info, err)
	}
}

// TestUnusable: a cache whose file cannot be used has no values, and tells it once.
func TestUnusable(t *testing.T) {
	for name, tt := range map[string]struct {
		keys   *seal.Keys
		broken func(path string) error
	}{
		"damaged":        {broken: func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("no database", 1000)), 0o600) }},
		"another's file": {broken: foreign},
		"a folder":       {broken: func(path string) error { return os.Mkdir(path, 0o700) }},
		"no key":         {keys: &seal.Keys{Current: "k"}, broken: func(string) error { return nil }},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "cache.db")
			if err := tt.broken(path); err != nil {
				t.Fatal(err)
			}
			var told bytes.Buffer
			c := cache.Open(cache.Place{Path: path}, cache.Options{Keys: tt.keys, Logger: slog.New(slog.NewTextHandler(&told, nil))})
			for range 3 {
				if put(t, c, "a", "b"); names(t, c, "a") != "" {
					t.Error("it has a value")
				}
				c.Count(t.Context(), cache.Miss, cache.Key{})
				c.Forget(t.Context(), "run")
			}
			if c.Close(); strings.Count(told.String(), "\n") != 1 {
				t.Errorf("told %q", told.String())
			}
		})
	}
}

// foreign makes the database of another program.
func foreign(path string) error {
	db, err := sqlite.Open(context.Background(), path, sqlite.Options{Migrations: []string{"CREATE TABLE entries(key);"}, ApplicationID: 7})
	if err == nil {
		err = db.Close()
	}
	return err
}

// TestLocked: while another program holds the file, values are found and a new one is given up soon.
func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "cache.db")
	c := cache.Open(cache.Place{Path: path}, cache.Options{})
	defer c.Close()
	put(t, c, "a", "b")
	db, err := sql.Open(sqliteDriver(), "file:"+path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	other, err := db.Conn(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := other.ExecContext(t.Context(), "BEGIN IMMEDIATE"); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	put(t, c, "c", "d")
	if got := names(t, c, "a", "c"); got != "a" || time.Since(begun) > 20*time.Second {
		t.Errorf("while it is locked: %q after %v", got, time.Since(begun))
	}
	if _, err := other.ExecContext(t.Context(), "ROLLBACK"); err != nil {
		t.Fatal(err)
	}
	if err := other.Close(); err != nil {
		t.Fatal(err)
	}
	if put(t, c, "c", "d"); names(t, c, "a", "c") != "a c" {
		t.Error("it is not used again")
	}
}

// sqliteDriver is the name of the driver for SQLite that the build has.
func sqliteDriver() string {
	drivers := sql.Drivers()
	return drivers[slices.IndexFunc(drivers, func(name string) bool { return strings.HasPrefix(name, "sqlite") })]
}

// testSealed: the values have no plain text, and are found with their key only.
func testSealed(t *testing.T, newPlace func(*testing.T) cache.Place) {
	place := newPlace(t)
	keys := func(fill byte) *seal.Keys {
		return &seal.Keys{Current: "k", Key: func(string) ([]byte, error) { return bytes.Repeat([]byte{fill}, seal.KeyBytes), nil }}
	}
	plain := cache.Open(place, cache.Options{})
	put(t, plain, "a", "a secret of old")
	plain.Close()
	for _, tt := range []struct {
		keys *seal.Keys
		want string
	}{{keys(1), ""}, {keys(1), "a"}, {keys(2), ""}, {nil, ""}} {
		c := cache.Open(place, cache.Options{Keys: tt.keys})
		if got := names(t, c, "a"); got != tt.want {
			t.Errorf("%+v: %q, want %q", tt.keys, got, tt.want)
		}
		if tt.keys != nil {
			put(t, c, "a", "a secret")
		}
		c.Close()
	}
	if s := stats(t, place); s.Values != 2 {
		t.Errorf("%+v, and the plain value is not gone", s)
	}
	if text, err := os.ReadFile(place.Path); place.Path != "" && (err != nil || bytes.Contains(text, []byte("secret"))) {
		t.Errorf("the file has plain text: %v", err)
	}
}

// TestLookUp reports how long values of the size of an answer take to be found among a thousand.
func TestLookUp(t *testing.T) {
	c := cache.Open(cache.Place{Path: filepath.Join(t.TempDir(), "cache.db")}, cache.Options{})
	defer c.Close()
	const values = 1000
	body := strings.Repeat("a long answer ", 2000)
	for i := range values {
		put(t, c, fmt.Sprintf("%d question", i), body)
	}
	var took []time.Duration
	for i := range 5 * values {
		begun := time.Now()
		v, ok := c.Get(t.Context(), c.Key(fmt.Sprintf("%d question", i%values)))
		if took = append(took, time.Since(begun)); !ok || len(v.Body) != len(body) {
			t.Fatalf("%d: %d bytes", i, len(v.Body))
		}
	}
	slices.Sort(took)
	t.Logf("p50 %v, p99 %v", took[len(took)/2], took[len(took)*99/100])
}
