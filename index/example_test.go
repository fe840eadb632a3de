package index_test

import (
	"context"
	"fmt"
	"log"

	"example.com/ragflow/index"
	"example.com/ragflow/state"
)

func Example() {
	ctx := context.Background()
	db, err := index.Open(ctx, "", index.Options{}) // in memory; give a path to keep it
	if err != nil {
		log.Fatal(err)
	}
	defer db.Close()

	err = db.Put(ctx, "/docs", []index.Entry{
		{
			File:   index.File{Source: "volumes.md", Title: "Volumes"},
			Chunks: []state.Chunk{{ID: "v", Text: "A volume keeps data when the container is removed."}},
		},
		{
			File:   index.File{Source: "networks.md", Title: "Networks"},
			Chunks: []state.Chunk{{ID: "n", Text: "A network connects containers."}},
		},
	})
	if err != nil {
		log.Fatal(err)
	}
	searcher, err := db.Searcher(ctx, "/docs")
	if err != nil {
		log.Fatal(err)
	}
	hits, err := searcher.Search(ctx, state.Query{Text: "How do I keep data?"}, 3)
	if err != nil {
		log.Fatal(err)
	}
	for _, h := range hits {
		chunks, err := searcher.Chunks(ctx, []string{h.Chunk})
		if err != nil {
			log.Fatal(err)
		}
		fmt.Printf("%s (%s %d): %s\n", chunks[0].Source, h.Legs[0].Name, h.Legs[0].Rank, chunks[0].Text)
	}
	// Output:
	// volumes.md (lexical 1): A volume keeps data when the container is removed.
}
