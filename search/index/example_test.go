package index_test

import (
	"context"
	"errors"
	"fmt"

	"example.com/ragflow/search/index"
	"example.com/ragflow/state"
)

func Example() {
	if err := example(context.Background()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// volumes.md (lexical 1): A volume keeps data when the container is removed.
}

// Who needs no more than ids and scores asks for those, in memory that is used again.
func ExampleSearcher_AppendFound() {
	ctx := context.Background()
	db, err := index.Open(ctx, "", index.Options{})
	if err != nil {
		fmt.Println(err)
		return
	}
	defer db.Close()
	err = db.Put(ctx, "/docs", []index.Entry{{
		File:   index.File{Source: "volumes.md", Title: "Volumes"},
		Chunks: []state.Chunk{{ID: "v", Text: "A volume keeps data."}, {ID: "w", Ordinal: 1, Text: "It outlives its container."}},
	}})
	if err != nil {
		fmt.Println(err)
		return
	}
	searcher, err := db.Searcher(ctx, "/docs")
	if err != nil {
		fmt.Println(err)
		return
	}
	var found []index.Found
	for _, query := range []string{"keep data", "a container"} {
		if found, err = searcher.AppendFound(ctx, found[:0], state.Query{Text: query}, 3); err != nil {
			fmt.Println(err)
			return
		}
		for _, f := range found {
			fmt.Printf("%s: %s %.2f\n", query, f.Chunk, f.Score)
		}
	}
	// Output:
	// keep data: v 1.86
	// a container: w 1.04
}

func example(ctx context.Context) (err error) {
	db, err := index.Open(ctx, "", index.Options{}) // in memory; give a path to keep it
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, db.Close()) }()

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
