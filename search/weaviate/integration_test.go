package weaviate_test

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/weaviate/weaviate/entities/models"
	"golang.org/x/sync/errgroup"

	"example.com/ragflow/search"
	"example.com/ragflow/search/searchtest"
	"example.com/ragflow/search/weaviate"
	"example.com/ragflow/state"
)

var names atomic.Int64

// address returns an address on the server that scripts/servers/weaviate starts, with a
// prefix of its own.
func address(tb testing.TB) string {
	tb.Helper()
	server := os.Getenv("RAGFLOW_TEST_WEAVIATE")
	if server == "" {
		tb.Skip("no Weaviate: run scripts/servers/weaviate start, and set the variable it writes")
	}
	host, query, _ := strings.Cut(server, "?")
	return fmt.Sprintf("%s/Test%d_%d?%s", host, time.Now().UnixNano(), names.Add(1), query)
}

func open(tb testing.TB, address string) search.Backend {
	tb.Helper()
	db, err := weaviate.Open(tb.Context(), address, weaviate.Options{})
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
func find(t *testing.T, db search.Backend, query string, k int) (out []string) {
	t.Helper()
	s, err := db.Snapshot(t.Context(), "/docs")
	if err != nil {
		t.Fatal(err)
	}
	hits, err := s.SearchWords(t.Context(), state.Query{Text: query, Weight: 1}, k)
	if err != nil {
		t.Fatal(err)
	}
	for _, h := range hits {
		out = append(out, h.Chunk)
	}
	return out
}

// TestIntegrationOddText puts and searches texts that neither GraphQL nor gRPC can hold as
// they are.
func TestIntegrationOddText(t *testing.T) {
	where := address(t)
	db := open(t, where)
	odd := "basil \"quoted\" \\ {path} \x01 \xff\xfe \U000E0041 \u200d \u2028 bottom"
	if err := db.Put(t.Context(), "/docs", []search.Entry{page("a\xff.md", odd)}); err != nil {
		t.Fatal(err)
	}
	for _, query := range []string{odd, "basil\n\t\x00", `"}){basil`, "basil 日本語 tìm kiếm"} {
		if got := find(t, db, query, 5); len(got) != 1 {
			t.Errorf("%q finds %q", query, got)
		}
	}
	again := open(t, where)
	s, err := again.Snapshot(t.Context(), "/docs")
	if err != nil {
		t.Fatal(err)
	}
	chunks, err := s.Chunks(t.Context(), find(t, again, "basil", 1))
	if err != nil || len(chunks) != 1 || chunks[0].Text != odd || chunks[0].Source != "a\xff.md" {
		t.Errorf("chunks %+v, %v", chunks, err)
	}
}

// TestIntegrationInterrupted stops puts at different moments. The results then is a file as
// it was before or after; the next put mends the rest, and nothing is there twice.
func TestIntegrationInterrupted(t *testing.T) {
	where := address(t)
	var texts, more []string
	for i := range 900 {
		texts, more = append(texts, fmt.Sprint("basil ", i)), append(more, fmt.Sprint("thyme ", i))
	}
	if err := open(t, where).Put(t.Context(), "/docs", []search.Entry{page("a.md", texts...)}); err != nil {
		t.Fatal(err)
	}
	for i := range 6 {
		ctx, cancel := context.WithTimeout(t.Context(), time.Duration(30+120*i)*time.Millisecond)
		err := open(t, where).Put(ctx, "/docs", []search.Entry{page("a.md", more...), page(fmt.Sprint("new", i), more...)})
		cancel()
		if err == nil {
			break
		}
		old, put := len(find(t, open(t, where), "basil", 2000)), len(find(t, open(t, where), "thyme", 5000))
		if put%900 != 0 {
			t.Errorf("after an interruption %d old and %d new chunks are found", old, put)
		}
	}
	db := open(t, where)
	files, err := db.Files(t.Context(), "/docs")
	if err != nil {
		t.Fatal(err)
	}
	for source := range files {
		if source != "a.md" {
			if err := db.Delete(t.Context(), "/docs", source); err != nil {
				t.Fatal(err)
			}
		}
	}
	if err := db.Put(t.Context(), "/docs", []search.Entry{page("a.md", more...)}); err != nil {
		t.Fatal(err)
	}
	if n := len(find(t, db, "basil thyme", 9000)); n != 900 {
		t.Errorf("%d chunks in the end, want 900", n)
	}
}

// TestIntegrationManyChunks replaces and deletes a file with more chunks than the server
// returns or deletes at once.
func TestIntegrationManyChunks(t *testing.T) {
	if testing.Short() {
		t.Skip("10,100 chunks take a while")
	}
	db := open(t, address(t))
	var texts []string
	for i := range 10_100 {
		texts = append(texts, fmt.Sprint("basil ", i))
	}
	for _, change := range [][]string{texts, {"thyme"}, texts} {
		if err := db.Put(t.Context(), "/docs", []search.Entry{page("a.md", change...)}); err != nil {
			t.Fatal(err)
		}
		if found := find(t, db, "thyme", 5); (len(found) == 1) != (len(change) == 1) {
			t.Errorf("%d chunks: thyme finds %q", len(change), found)
		}
	}
	if err := db.Delete(t.Context(), "/docs", "a.md"); err != nil {
		t.Fatal(err)
	}
	if err := db.Put(t.Context(), "/docs", []search.Entry{page("b.md", "basil")}); err != nil {
		t.Fatal(err)
	}
	if found := find(t, db, "basil", 5); len(found) != 1 {
		t.Errorf("after the deletion basil finds %q", found)
	}
}

// TestIntegrationErrors checks what a person is told.
func TestIntegrationErrors(t *testing.T) {
	where := address(t)
	db := open(t, where)
	if err := db.Put(t.Context(), "/docs", []search.Entry{page("a.md", "basil", "thyme")}); err != nil {
		t.Fatal(err)
	}
	sizes := 1
	_, err := db.Embed(t.Context(), search.VectorSpec{Model: "m"}, []string{"/docs"}, search.EmbedOptions{Batch: 1, Workers: 1, Embed: func(context.Context, []string) ([][]float32, error) {
		return [][]float32{make([]float32, 2)}, nil
	}})
	if err == nil || !strings.Contains(err.Error(), "zero") {
		t.Errorf("a vector without direction: %v", err)
	}
	_, err = db.Embed(t.Context(), search.VectorSpec{Model: "m"}, []string{"/docs"}, search.EmbedOptions{Batch: 1, Workers: 1, Embed: func(context.Context, []string) ([][]float32, error) {
		sizes++
		return [][]float32{slices.Repeat([]float32{1}, sizes)}, nil
	}})
	if _, ok := errors.AsType[*search.DimensionError](err); !ok {
		t.Errorf("vectors of two lengths: %v", err)
	}
	u, err := url.Parse(where)
	if err != nil {
		t.Fatal(err)
	}
	class := &models.Class{Class: strings.Trim(u.Path, "/") + "OldRoot", Description: "ragflow/0 plain"}
	if err := raw(t, where).Schema().ClassCreator().WithClass(class).Do(t.Context()); err != nil {
		t.Fatal(err)
	}
	u.Path += "Old"
	if _, err := weaviate.Open(t.Context(), u.String(), weaviate.Options{}); !errors.Is(err, weaviate.ErrVersion) {
		t.Errorf("another version: %v", err)
	}
}

// TestIntegrationFirstUse: several processes may begin on a server that has nothing, at the same moment.
func TestIntegrationFirstUse(t *testing.T) {
	for range 5 {
		where := address(t)
		var all errgroup.Group
		for i := range 8 {
			db := open(t, where)
			all.Go(func() error {
				time.Sleep(time.Duration(i) * 20 * time.Millisecond) // while the classes are made
				root := fmt.Sprintf("/docs/%d", i)
				if err := db.Put(t.Context(), root, []search.Entry{page("a.md", "basil")}); err != nil {
					return err
				}
				_, err := db.Files(t.Context(), root)
				return err
			})
		}
		if err := all.Wait(); err != nil {
			t.Error(err)
		}
	}
}
