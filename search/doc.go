// Package search finds the chunks that fit a query. It asks the legs of an index
// side by side (by words, by vectors, by names and relations), fuses their lists into
// one, and can put the best hits into a better order.
//
//	snapshot, err := backend.Snapshot(ctx, "/home/ann/docs")
//	engine, err := search.New(ctx, snapshot, search.Options{})
//	found, err := engine.Search(ctx, state.Query{Text: "rotate logs", Weight: 1}, 10)
//
// [Backend] is what an index must do. Package internal/index is the embedded one, and
// package search/searchtest checks any other. [Union] searches several indexes as one.
package search
