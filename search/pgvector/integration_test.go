package pgvector_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/search"
	"example.com/ragflow/search/pgvector"
	"example.com/ragflow/search/searchtest"
	"example.com/ragflow/state"
)

var schemas atomic.Int64

// address returns an address on the server that scripts/servers/pgvector starts, with a
// schema of its own.
func address(tb testing.TB) string {
	tb.Helper()
	server := os.Getenv("RAGFLOW_TEST_PGVECTOR")
	if server == "" {
		tb.Skip("no PostgreSQL with the extension vector: run scripts/servers/pgvector start, and set the variable it writes")
	}
	return fmt.Sprintf("%s&search_path=test%d_%d", server, time.Now().UnixNano(), schemas.Add(1))
}

func open(tb testing.TB, address string) search.Backend {
	tb.Helper()
	db, err := pgvector.Open(tb.Context(), address, "")
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := db.Close(); err != nil {
			tb.Error(err)
		}
	})
	return db
}

// TestIntegrationBackend runs the checks of every index on this one.
func TestIntegrationBackend(t *testing.T) {
	searchtest.Test(t, func(t *testing.T) search.Backend {
		t.Helper()
		return open(t, address(t))
	})
}

func page(source string, texts ...string) search.Entry {
	e := search.Entry{File: search.File{Source: source, Title: source, Hash: "hash"}}
	for i, text := range texts {
		e.Chunks = append(e.Chunks, state.Chunk{ID: fmt.Sprintf("%s#%d", source, i), Ordinal: i, Text: text, End: len(text)})
	}
	return e
}

// find returns the chunks that a search by words finds, best first.
func find(t *testing.T, db search.Backend, query string, k int) (out []state.Hit) {
	t.Helper()
	s, err := db.Snapshot(t.Context(), "/docs")
	if err != nil {
		t.Fatal(err)
	}
	out, err = s.SearchWords(t.Context(), state.Query{Text: query, Weight: 1}, k)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// TestIntegrationScores compares scores with those of the embedded index, whose passages have
// no headings, and whose files have neither titles nor words in their names, so that the length of a passage is that of
// its text.
func TestIntegrationScores(t *testing.T) {
	local, err := index.Open(t.Context(), "", index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer local.Close()
	db := open(t, address(t))
	var entries []search.Entry
	for i := range 40 {
		e := search.Entry{File: search.File{Source: strings.Repeat("-", i+1)}}
		for c := range i%4 + 1 {
			text := strings.Repeat("basil ", i%3) + strings.Repeat("thyme ", c) + strings.Repeat("water ", i%7) + fmt.Sprint("number", i)
			e.Chunks = append(e.Chunks, state.Chunk{ID: fmt.Sprintf("%02d#%d", i, c), Ordinal: c, Text: text, End: len(text)})
		}
		entries = append(entries, e)
	}
	for _, b := range []search.Backend{db, local} {
		if err := b.Put(t.Context(), "/docs", entries); err != nil {
			t.Fatal(err)
		}
	}
	for _, query := range []string{"basil", "thyme water", "basil thyme number7"} {
		want, got := find(t, local, query, 200), find(t, db, query, 200)
		if len(got) != len(want) || len(got) == 0 {
			t.Errorf("%s: %d hits, want %d", query, len(got), len(want))
			continue
		}
		scores := map[string]float64{}
		for _, h := range want {
			scores[h.Chunk] = h.Score
		}
		for _, h := range got {
			if d := h.Score - scores[h.Chunk]; d > 0.02 || d < -0.02 {
				t.Errorf("%s: %s has %.4f, in the embedded index %.4f", query, h.Chunk, h.Score, scores[h.Chunk])
			}
		}
	}
}

// TestIntegrationOddText puts and searches texts that PostgreSQL cannot hold as they are.
func TestIntegrationOddText(t *testing.T) {
	where := address(t)
	db := open(t, where)
	odd := "basil \"quoted\" \\ \x00 \x01 \xff\xfe \U000E0041 \u200d bottom"
	e := page("a.md", odd)
	e.File.Source, e.File.Title = "a\xff.md", "Title \x00\xff"
	if err := db.Put(t.Context(), "/docs", []search.Entry{e}); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{odd, "basil\n\t\x00", "'); DROP TABLE chunks; -- basil"} {
		if got := find(t, db, query, 5); len(got) != 1 {
			t.Errorf("%q finds %v", query, got)
		}
	}
	s, err := open(t, where).Snapshot(t.Context(), "/docs")
	if err != nil {
		t.Fatal(err)
	}
	chunks, err := s.Chunks(t.Context(), []string{"a.md#0"})
	if err != nil || len(chunks) != 1 || chunks[0].Text != odd || chunks[0].Source != "a\xff.md" {
		t.Errorf("chunks %+v, %v", chunks, err)
	}
}

// TestIntegrationInterrupted stops puts at different moments: all of a batch is there, or
// nothing of it.
func TestIntegrationInterrupted(t *testing.T) {
	where := address(t)
	var texts, more []string
	for i := range 400 {
		texts, more = append(texts, fmt.Sprint("basil ", i)), append(more, fmt.Sprint("thyme ", i))
	}
	if err := open(t, where).Put(t.Context(), "/docs", []search.Entry{page("a.md", texts...)}); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(20+60*i)*time.Millisecond)
		err := open(t, where).Put(ctx, "/docs", []search.Entry{page("a.md", more...), page("b.md", more...)})
		cancel()
		db := open(t, where)
		old, put := len(find(t, db, "basil", 2000)), len(find(t, db, "thyme", 2000))
		before, after := old == 400 && put == 0 && err != nil, old == 0 && put == 800
		if !before && !after {
			t.Errorf("%v: %d old and %d new chunks are found", err, old, put)
		}
		if err == nil {
			break
		}
	}
}

// TestIntegrationFirstPuts: servers that index at the same time make the tables once.
func TestIntegrationFirstPuts(t *testing.T) {
	for range 10 {
		where := address(t)
		var group sync.WaitGroup
		for i := range 8 {
			db := open(t, where)
			group.Go(func() {
				if err := db.Put(t.Context(), fmt.Sprint("/docs", i), []search.Entry{page("a.md", "basil")}); err != nil {
					t.Error(err)
				}
			})
		}
		group.Wait()
	}
}

// TestIntegrationLongVectors embeds with models whose vectors have an index of half the bits,
// or none.
func TestIntegrationLongVectors(t *testing.T) {
	for _, dimension := range []int{1536, 3072, 5000} {
		db := open(t, address(t))
		if err := db.Put(t.Context(), "/docs", []search.Entry{page("a.md", "one", "two", "three")}); err != nil {
			t.Fatal(err)
		}
		spec := search.VectorSpec{Model: "m"}
		made := func(n int) []float32 {
			v := make([]float32, dimension)
			v[n], v[dimension-1] = 1, 0.1
			return v
		}
		if _, err := db.Embed(t.Context(), spec, []string{"/docs"}, search.EmbedOptions{Embed: func(_ context.Context, texts []string) ([][]float32, error) {
			out := make([][]float32, len(texts))
			for i, text := range texts {
				out[i] = made(len(text) % 7)
			}
			return out, nil
		}}); err != nil {
			t.Fatal(err)
		}
		s, err := db.Snapshot(t.Context(), "/docs")
		if err != nil {
			t.Fatal(err)
		}
		v, err := s.Vectors(t.Context(), spec)
		if err != nil {
			t.Fatal(err)
		}
		hits, err := v.Search(t.Context(), made(len("a.md\nthree")%7), 1, 0.9)
		if err != nil || len(hits) != 1 || hits[0].Chunk != "a.md#2" {
			t.Errorf("%d dimensions: %v, %v", dimension, hits, err)
		}
	}
}

// TestIntegrationErrors checks what a person is told.
func TestIntegrationErrors(t *testing.T) {
	where := address(t)
	u, err := url.Parse(where)
	if err != nil {
		t.Fatal(err)
	}
	change := func(f func(*url.URL)) string {
		c := *u
		f(&c)
		return c.String()
	}
	for _, tt := range []struct {
		address string
		want    error
	}{
		{change(func(c *url.URL) { c.User = url.UserPassword("ragflow", "wrong-secret") }), pgvector.ErrDenied},
		{change(func(c *url.URL) { c.Path = "/nowhere" }), pgvector.ErrDenied},
		{change(func(c *url.URL) { c.Host = "127.0.0.1:1" }), pgvector.ErrDown},
	} {
		_, err := pgvector.Open(t.Context(), tt.address, "")
		if !errors.Is(err, tt.want) || strings.Contains(err.Error(), "wrong-secret") {
			t.Errorf("%v, want %v", err, tt.want)
		}
	}
	if err := open(t, where).SetChunking(t.Context(), "/docs", "note"); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, bad := range []string{"http://x", "postgres://h/db?password=x", "postgres://h/db?search_path=a,b", "postgres://u:secret@h/db?sslmode=odd"} {
		if err := pgvector.CheckAddress(bad); err == nil || strings.Contains(err.Error(), "secret") {
			names = append(names, bad)
		}
	}
	if slices.Compact(names) != nil {
		t.Errorf("accepted, or said too much of: %q", names)
	}
}
