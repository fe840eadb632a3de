// Package index is the embedded search index. SQLite holds the documents; immutable segments
// make searches fast.
//
// # Smallest use
//
//	db, err := index.Open(ctx, "index.db", index.Options{})
//	err = db.Put(ctx, "/home/ann/docs", []search.Entry{{File: file, Chunks: chunks}})
//	err = db.Publish(ctx, "/home/ann/docs")
//	s, err := db.Searcher(ctx, "/home/ann/docs")
//	hits, err := s.Search(ctx, state.Query{Text: "keep data"}, 10)
//	chunks, err := s.Chunks(ctx, ids)
//
// # Rules
//
//   - A collection is the indexed content of one root, an absolute path. Several roots are
//     searched as one: document frequencies are counted over all of them, also if they are in
//     several databases.
//   - Put, Touch and Delete are durable when they return. Killing the process loses nothing of
//     that, and leaves nothing half done.
//   - A [Searcher] sees one moment while writers continue. Chunks that changed or were deleted
//     since are missing from [Searcher.Chunks].
//   - The same files and the same query give the same hits with the same scores, whatever the
//     history of the index. Equal scores are ordered by root, source and position.
//
// # How it works
//
// SQLite (schema.go) is the only source of truth: collections, files, chunks and vectors. Every
// change increments the generation of its collection. Rows of chunks are never updated; a
// changed chunk gets a row with a greater number, so a snapshot knows which rows it may show.
//
// A segment (segment.go) is the inverted index of the files that changed last between two
// generations: a row of the table segments, with a checksum. publish.go decides when segments
// are made and merged; snapshot.go combines them with an index in memory of the files that are
// not published. A file in a segment that changed or was deleted since has a tombstone in the
// table dead, by which its terms are subtracted from the statistics. A segment that is damaged
// or of another analyzer is rebuilt.
//
// The score is BM25 over the fields of the chunk and of its whole document: see
// [search.Ranking]. There is one search algorithm, MaxScore over blocks (maxscore.go).
//
// [DB.Embed] makes vectors. They are stored by embedder and by the hash of the text, so a text
// is embedded once, in whichever file it is. [Searcher.Vectors] loads those of a snapshot;
// [Vectors.Search] compares the query with each of them.
package index
