package index_test

import (
	"context"
	"errors"
	"fmt"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

func Example() {
	if err := example(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// volumes.md (lexical 1): A volume keeps data when the container is removed.
}

func example(ctx context.Context) (err error) {
	db, err := index.Open(ctx, "", index.Options{}) // in memory; give a path to keep it
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()

	err = db.Put(ctx, "/docs", []search.Entry{
		{
			File:   search.File{Source: "volumes.md", Title: "Volumes"},
			Chunks: []state.Chunk{{ID: "v", Text: "A volume keeps data when the container is removed."}},
		},
		{
			File:   search.File{Source: "networks.md", Title: "Networks"},
			Chunks: []state.Chunk{{ID: "n", Text: "A network connects containers."}},
		},
	})
	if err != nil {
		return err
	}
	searcher, err := db.Searcher(ctx, "/docs")
	if err != nil {
		return err
	}
	hits, err := searcher.Search(ctx, state.Query{Text: "How do I keep data?"}, 3)
	if err != nil {
		return err
	}
	for _, h := range hits {
		chunks, err := searcher.Chunks(ctx, []string{h.Chunk})
		if err != nil {
			return err
		}
		fmt.Printf("%s (%s %d): %s\n", chunks[0].Source, h.Legs[0].Name, h.Legs[0].Rank, chunks[0].Text)
	}
	return nil
}
