package index_test

import (
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"example.com/ragflow/internal/golden"
	"example.com/ragflow/internal/index"
	"example.com/ragflow/state"
)

// BenchmarkPut indexes all Docker pages into an empty index.
func BenchmarkPut(b *testing.B) {
	entries := dockerEntries(b)
	for b.Loop() {
		db, err := index.Open(b.Context(), filepath.Join(b.TempDir(), "index.db"), index.Options{})
		if err != nil {
			b.Fatal(err)
		}
		for batch := range slices.Chunk(entries, 200) {
			put(b, db, "docker", batch...)
		}
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// dockerIndex is a published index of the Docker pages in a file.
func dockerIndex(b *testing.B) string {
	b.Helper()
	path := filepath.Join(b.TempDir(), "index.db")
	db := open(b, path, index.Options{})
	put(b, db, "docker", dockerEntries(b)...)
	if err := db.Publish(b.Context(), "docker"); err != nil {
		b.Fatal(err)
	}
	return path
}

// BenchmarkPublish changes one page and publishes.
func BenchmarkPublish(b *testing.B) {
	db := open(b, dockerIndex(b), index.Options{})
	texts := []string{"one text", "another text"}
	for i := 0; b.Loop(); i++ {
		put(b, db, "docker", file("zz.md", "", texts[i%2]))
		if err := db.Publish(b.Context(), "docker"); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkOpen opens index and searcher, as a new process does.
func BenchmarkOpen(b *testing.B) {
	path := dockerIndex(b)
	for b.Loop() {
		db, err := index.Open(b.Context(), path, index.Options{})
		if err != nil {
			b.Fatal(err)
		}
		searcher(b, db, "docker")
		if err := db.Close(); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSearch asks a question of common words.
func BenchmarkSearch(b *testing.B) {
	db := open(b, dockerIndex(b), index.Options{})
	s := searcher(b, db, "docker")
	q := state.Query{Text: "How do I keep a container's data when the container is removed?"}
	b.ReportMetric(float64(s.Docs()), "chunks")
	for b.Loop() {
		if _, err := s.Search(b.Context(), q, 50); err != nil {
			b.Fatal(err)
		}
	}
}

// BenchmarkSciFactFirst asks the queries of SciFact's test set once each, of a searcher that
// was asked nothing before: 300 queries an operation.
func BenchmarkSciFactFirst(b *testing.B) {
	db := open(b, "", index.Options{})
	put(b, db, "scifact", sciFactEntries(b)...)
	searcher(b, db, "scifact")
	tested := map[string]bool{}
	eachLine(b, golden.Public(b, "beir", "scifact", "qrels", "test.tsv"), func(line []byte) {
		id, _, _ := strings.Cut(string(line), "\t")
		tested[id] = true
	})
	var queries []state.Query
	eachLine(b, golden.Public(b, "beir", "scifact", "queries.jsonl.gz"), func(line []byte) {
		v := decode[struct {
			ID   string `json:"_id"`
			Text string
		}](b, line)
		if tested[v.ID] {
			queries = append(queries, state.Query{Text: v.Text})
		}
	})
	b.ReportAllocs()
	for b.Loop() {
		s := searcher(b, db, "scifact")
		for _, q := range queries {
			if _, err := s.Search(b.Context(), q, 100); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.N*len(queries))/b.Elapsed().Seconds(), "queries/s")
}

// BenchmarkSciFact asks all queries of SciFact for ten and for a hundred passages
// each: queries a second, the first time around left out.
func BenchmarkSciFact(b *testing.B) {
	db := open(b, "", index.Options{})
	put(b, db, "scifact", sciFactEntries(b)...)
	s := searcher(b, db, "scifact")
	var queries []state.Query
	eachLine(b, golden.Public(b, "beir", "scifact", "queries.jsonl.gz"), func(line []byte) {
		queries = append(queries, state.Query{Text: decode[struct{ Text string }](b, line).Text})
	})
	for _, k := range []int{10, 100} {
		b.Run(strconv.Itoa(k), func(b *testing.B) {
			b.ReportAllocs()
			n := 0
			for b.Loop() {
				if _, err := s.Search(b.Context(), queries[n%len(queries)], k); err != nil {
					b.Fatal(err)
				}
				n++
			}
			b.ReportMetric(float64(n)/b.Elapsed().Seconds(), "queries/s")
		})
	}
}
