package weaviate_test

import (
	"context"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/go-openapi/strfmt"
	client "github.com/weaviate/weaviate-go-client/v4/weaviate"
	"github.com/weaviate/weaviate-go-client/v4/weaviate/graphql"
	"github.com/weaviate/weaviate-go-client/v4/weaviate/grpc"
	"github.com/weaviate/weaviate/entities/models"

	"example.com/ragflow/search"
	"example.com/ragflow/search/index"
	"example.com/ragflow/search/remote"
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

// BenchmarkIntegrationImport compares a batch of files with the same objects and with bare
// texts, sent by the bare client. Each round of the bare client has new ids.
func BenchmarkIntegrationImport(b *testing.B) {
	where := address(b)
	local, err := index.Open(b.Context(), "", index.Options{})
	if err != nil {
		b.Fatal(err)
	}
	store, err := weaviate.Open(b.Context(), where, weaviate.Options{})
	if err != nil {
		b.Fatal(err)
	}
	sent := &kept{Store: store}
	db := remote.New(sent, local)
	b.Cleanup(func() { _ = db.Close() })
	n := 0
	b.Run("put", func(b *testing.B) {
		for b.Loop() {
			entries := make([]search.Entry, benchFiles)
			for i := range entries {
				n++
				entries[i] = search.Entry{File: search.File{Source: strconv.Itoa(n), Title: "Title " + strconv.Itoa(n)}}
				for c := range benchChunks {
					entries[i].Chunks = append(entries[i].Chunks, state.Chunk{ID: fmt.Sprint(n, "#", c), Ordinal: c, Text: words(n*benchChunks + c)})
				}
			}
			sent.files, sent.chunks = nil, nil
			if err := db.Put(b.Context(), "/bench", entries); err != nil {
				b.Fatal(err)
			}
		}
		b.ReportMetric(float64(b.N*benchFiles*benchChunks)/b.Elapsed().Seconds(), "chunks/s")
	})
	c := raw(b, where)
	u, _ := url.Parse(where)
	prefix := strings.Trim(u.Path, "/")
	bare := func(name string, batch []*models.Object) {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				for list := range slices.Chunk(batch, 200) {
					for _, o := range list {
						n++
						o.ID = strfmt.UUID(fmt.Sprintf("00000000-0000-0000-0000-%012d", n))
					}
					if _, err := c.Batch().ObjectsBatcher().WithObjects(list...).Do(b.Context()); err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.N*benchFiles*benchChunks)/b.Elapsed().Seconds(), "chunks/s")
		})
	}
	var same, texts []*models.Object
	for _, f := range sent.files {
		same = append(same, &models.Object{Class: prefix + "File", Properties: map[string]any{
			"root": f.Root, "source": f.Source, "data": string(f.Data), "version": f.Version, "chunks": f.Chunks, "terms": f.Terms,
		}})
	}
	for _, o := range sent.chunks {
		same = append(same, &models.Object{Class: prefix + "Chunk", Properties: map[string]any{
			"root": o.Root, "file": o.File, "chunk": o.Public, "version": o.Version, "ordinal": o.Ordinal, "source": o.Source, "title": o.Title,
			"headings": o.Headings, "text": o.Text, "hash": o.Hash, "terms": o.Terms, "data": string(o.Data),
		}})
		texts = append(texts, &models.Object{Class: prefix + "Raw", Properties: map[string]any{"text": o.Text}})
	}
	bare("same objects", same)
	bare("texts", texts)
}

// BenchmarkIntegrationSearch compares a search by words with a bare request for ten objects.
func BenchmarkIntegrationSearch(b *testing.B) {
	where := address(b)
	db := open(b, where)
	for batch := range 10 {
		entries := make([]search.Entry, 100)
		for i := range entries {
			n := batch*len(entries) + i
			entries[i] = search.Entry{File: search.File{Source: strconv.Itoa(n)}}
			for c := range 10 {
				entries[i].Chunks = append(entries[i].Chunks, state.Chunk{ID: fmt.Sprint(n, "#", c), Ordinal: c, Text: words(10*n + c)})
			}
		}
		if err := db.Put(b.Context(), "/bench", entries); err != nil {
			b.Fatal(err)
		}
	}
	s, err := db.Snapshot(b.Context(), "/bench")
	if err != nil {
		b.Fatal(err)
	}
	question := "word17 word404 word3001"
	b.Run("words", func(b *testing.B) {
		for b.Loop() {
			if hits, err := s.SearchWords(b.Context(), state.Query{Text: question, Weight: 1}, 10); err != nil || len(hits) == 0 {
				b.Fatal(len(hits), err)
			}
		}
	})
	b.Run("raw", func(b *testing.B) {
		c := raw(b, where)
		u, _ := url.Parse(where)
		for b.Loop() {
			r, err := c.GraphQL().Get().WithClassName(strings.Trim(u.Path, "/") + "Chunk").WithLimit(10).
				WithBM25(c.GraphQL().Bm25ArgBuilder().WithQuery(question).WithProperties("terms")).
				WithFields(graphql.Field{Name: "chunk"}).Do(b.Context())
			if err != nil || len(r.Errors) > 0 {
				b.Fatal(err, r)
			}
		}
	})
}
