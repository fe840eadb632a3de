package index_test

import (
	"context"
	"fmt"
	"strings"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// A model turns texts into vectors; here, how often they speak of cats and dogs.
func ExampleDB_Embed() {
	model := func(_ context.Context, texts []string) ([][]float32, error) {
		var out [][]float32
		for _, t := range texts {
			out = append(out, []float32{float32(strings.Count(t, "cat")), float32(strings.Count(t, "dog"))})
		}
		return out, nil
	}
	ctx := context.Background()
	db, err := index.Open(ctx, "", index.Options{})
	if err != nil {
		panic(err)
	}
	defer db.Close()
	err = db.Put(ctx, "/pets", []search.Entry{{
		File: search.File{Source: "pets.md"},
		Chunks: []state.Chunk{
			{ID: "1", Text: "cat and dog", Ordinal: 0}, {ID: "2", Text: "a dog, and its dog", Ordinal: 1},
		},
	}})
	if err != nil {
		panic(err)
	}
	e := search.VectorSpec{Model: "pets"}
	for range 2 { // the second time there is nothing to do
		report, err := db.Embed(ctx, e, []string{"/pets"}, search.EmbedOptions{Embed: model})
		if err != nil {
			panic(err)
		}
		fmt.Printf("%d texts embedded by %s\n", report.Embedded, report.Embedder)
	}

	s, err := db.Searcher(ctx, "/pets")
	if err != nil {
		panic(err)
	}
	v, err := s.Vectors(ctx, e)
	if err != nil {
		panic(err)
	}
	hits, err := v.Search(ctx, []float32{0, 1}, 10, search.MinCosine)
	if err != nil {
		panic(err)
	}
	for _, h := range hits {
		fmt.Printf("chunk %s: %.2f\n", h.Chunk, h.Score)
	}
	// Output:
	// 2 texts embedded by pets (2 dimensions)
	// 0 texts embedded by pets (2 dimensions)
	// chunk 2: 1.00
	// chunk 1: 0.71
}
