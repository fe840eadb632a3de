package weaviate_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/go-openapi/strfmt"
	client "github.com/weaviate/weaviate-go-client/v4/weaviate"
	"github.com/weaviate/weaviate-go-client/v4/weaviate/grpc"
	"github.com/weaviate/weaviate/entities/models"

	"example.com/ragflow/internal/remote"
	"example.com/ragflow/search"
	"example.com/ragflow/search/weaviate"
	"example.com/ragflow/state"
)

// words makes the text of a chunk: about 60 words of a vocabulary of 5,000.
func words(n int) string {
	var out strings.Builder
	for i := range 60 {
		fmt.Fprintf(&out, "word%d ", (n*7919+i*i*31+n*i)%5000)
	}
	return out.String()
}

// raw returns the bare client for the server at an address.
func raw(tb testing.TB, address string) *client.Client {
	tb.Helper()
	u, err := url.Parse(address)
	if err != nil {
		tb.Fatal(err)
	}
	c := client.Config{Scheme: "http", Host: u.Host}
	if port := u.Query().Get("grpc"); port != "" {
		c.GrpcConfig = &grpc.Config{Host: u.Hostname() + ":" + port}
	}
	out, err := client.NewClient(c)
	if err != nil {
		tb.Fatal(err)
	}
	return out
}

const benchFiles, benchChunks = 64, 16 // of a batch

// kept is a store that also keeps what is put.
type kept struct {
	remote.Store
	files  []remote.File
	chunks []remote.Chunk
}

func (k *kept) PutFiles(ctx context.Context, files []remote.File) error {
	k.files = append(k.files, files...)
	return k.Store.PutFiles(ctx, files)
}

func (k *kept) PutChunks(ctx context.Context, chunks []remote.Chunk) error {
	k.chunks = append(k.chunks, chunks...)
	return k.Store.PutChunks(ctx, chunks)
}

// medians runs some functions in turn, n rounds after one that does not count, and returns the
// median of each.
func medians(tb testing.TB, n int, run ...func()) []time.Duration {
	tb.Helper()
	took := make([][]time.Duration, len(run))
	for round := range n + 1 {
		for i, f := range run {
			began := time.Now()
			if f(); round > 0 {
				took[i] = append(took[i], time.Since(began))
			}
		}
	}
	out := make([]time.Duration, len(run))
	for i, list := range took {
		slices.Sort(list)
		out[i] = list[len(list)/2]
	}
	return out
}

// TestIntegrationCostOfImport compares a batch of files with the same objects and with bare
// texts, sent by the bare client with new ids, in turn.
func TestIntegrationCostOfImport(t *testing.T) {
	where := address(t)
	store, err := weaviate.OpenStore(t.Context(), where)
	if err != nil {
		t.Fatal(err)
	}
	sent := &kept{Store: store}
	db := remote.New(sent)
	t.Cleanup(func() { _ = db.Close() })
	n := 0
	put := func() {
		entries := make([]search.Entry, benchFiles)
		for i := range entries {
			n++
			entries[i] = search.Entry{File: search.File{Source: strconv.Itoa(n), Title: "Title " + strconv.Itoa(n)}}
			for c := range benchChunks {
				entries[i].Chunks = append(entries[i].Chunks, state.Chunk{ID: fmt.Sprint(n, "#", c), Ordinal: c, Text: words(n*benchChunks + c)})
			}
		}
		sent.files, sent.chunks = nil, nil
		if err := db.Put(t.Context(), "/bench", entries); err != nil {
			t.Fatal(err)
		}
	}
	c := raw(t, where)
	u, _ := url.Parse(where)
	prefix := strings.Trim(u.Path, "/")
	bare := func(class string, properties func(remote.Chunk) map[string]any) func() {
		return func() {
			var batch []*models.Object
			add := func(class string, properties map[string]any) {
				n++
				id := strfmt.UUID(fmt.Sprintf("00000000-0000-0000-0000-%012d", n))
				batch = append(batch, &models.Object{Class: prefix + class, ID: id, Properties: properties})
			}
			if class == "Chunk" {
				for _, f := range sent.files {
					add("File", map[string]any{"root": f.Root, "source": f.Source, "data": string(f.Data), "version": f.Version, "chunks": f.Chunks, "terms": f.Terms})
				}
			}
			for _, o := range sent.chunks {
				add(class, properties(o))
			}
			for list := range slices.Chunk(batch, 200) {
				if _, err := c.Batch().ObjectsBatcher().WithObjects(list...).Do(t.Context()); err != nil {
					t.Fatal(err)
				}
			}
		}
	}
	same := bare("Chunk", func(o remote.Chunk) map[string]any {
		return map[string]any{
			"root": o.Root, "file": o.File, "chunk": o.Public, "version": o.Version, "ordinal": o.Ordinal, "source": o.Source, "title": o.Title,
			"headings": o.Headings, "text": o.Text, "hash": o.Hash, "terms": o.Terms, "data": string(o.Data),
		}
	})
	texts := bare("Raw", func(o remote.Chunk) map[string]any { return map[string]any{"text": o.Text} })
	took := medians(t, 9, put, same, texts)
	t.Logf("%d chunks in %s; bare client %s with the same objects (%.2f of its speed), %s with texts alone (%.2f)", benchFiles*benchChunks,
		took[0], took[1], took[1].Seconds()/took[0].Seconds(), took[2], took[2].Seconds()/took[0].Seconds())
}

// TestIntegrationCostOfSearch compares a search by words with bare requests, in turn: the same
// one, and one for ten objects.
func TestIntegrationCostOfSearch(t *testing.T) {
	where := address(t)
	db := open(t, where)
	for batch := range 10 {
		entries := make([]search.Entry, 100)
		for i := range entries {
			n := batch*len(entries) + i
			entries[i] = search.Entry{File: search.File{Source: strconv.Itoa(n)}}
			for c := range 10 {
				entries[i].Chunks = append(entries[i].Chunks, state.Chunk{ID: fmt.Sprint(n, "#", c), Ordinal: c, Text: words(10*n + c)})
			}
		}
		if err := db.Put(t.Context(), "/bench", entries); err != nil {
			t.Fatal(err)
		}
	}
	if err := db.Publish(t.Context(), "/bench"); err != nil { // waits until the server has written
		t.Fatal(err)
	}
	s, err := db.Snapshot(t.Context(), "/bench")
	if err != nil {
		t.Fatal(err)
	}
	const question = "word17 word404 word3001"
	search := func() {
		if hits, err := s.SearchWords(t.Context(), state.Query{Text: question, Weight: 1}, 10); err != nil || len(hits) == 0 {
			t.Fatal(len(hits), err)
		}
	}
	c := raw(t, where)
	u, _ := url.Parse(where)
	class := func(name string, most int, fields string) string {
		return fmt.Sprintf(`%s%s(limit:%d bm25:{query:%q properties:["terms"]}){%s _additional{id score}}`,
			strings.Trim(u.Path, "/"), name, most, strings.Repeat(question+" ", 10), fields)
	}
	bare := func(query string) func() {
		return func() {
			if r, err := c.GraphQL().Raw().WithQuery("{Get{" + query + "}}").Do(t.Context()); err != nil || len(r.Errors) > 0 {
				t.Fatal(err, r)
			}
		}
	}
	took := medians(t, 51, search, bare(class("Chunk", 90, "root file chunk version ordinal")+class("File", 90, "")), bare(class("Chunk", 10, "chunk")))
	t.Logf("search %s; bare client %s for the same request, %s for ten chunks", took[0], took[1], took[2])
}
