// Package index keeps the searchable corpus: what files and chunks there are,
// and a fielded BM25 over them.
//
// # Smallest use
//
//	db, err := index.Open(ctx, "index.db", index.Options{})
//	err = db.Put(ctx, "/home/ann/docs", []index.Entry{{File: file, Chunks: chunks}})
//	err = db.Publish(ctx, "/home/ann/docs", nil)
//	s, err := db.Searcher(ctx, "/home/ann/docs")
//	hits, err := s.Search(ctx, state.Query{Text: "keep data"}, 10)
//	chunks, err := s.Chunks(ctx, ids)
//
// # Rules
//
//   - A collection is all that was indexed of one root, an absolute path. Several
//     roots are searched as one: terms weigh by how rare they are in their union.
//   - Put, Touch and Delete are saved when they return. A process that is killed
//     loses nothing of that, and leaves nothing half done.
//   - Publish makes many changes quick to search. They are found without it, too: a
//     [Searcher] indexes in memory what was not published.
//   - A [Searcher] answers from one moment while writers go on. Chunks
//     that changed or went since are left out by [Searcher.Chunks].
//   - The same files and the same query give the same hits in the same order,
//     however the index came to hold them. Equal scores are ordered by root,
//     source and place in the document.
//
// # How it works
//
// The SQLite file is the only truth. It holds collections (root, generation),
// files and chunks: see schema.go. Every change of a collection moves its generation. Rows
// of chunks are never updated: a chunk that changed gets a new row with a greater number, so
// a snapshot knows which rows it may show.
//
// A collection is searched in tiers. Each tier is a segment: the inverted index of the
// files whose last change lies between two generations. Its terms are made of the chunks
// when it is merged. A tier is one immutable file in a folder beside the database
// (index.db.segments/<collection>-<from>-<generation>.seg), stamped with the database, the
// generations and the analyzer, and checksummed. It is written under another name and then
// renamed. The table tiers is the manifest. What changed since is merged in memory by each
// [Searcher] until it is worth a tier. Tiers are merged so that each is several times as
// heavy as the next. A file in a tier that changed or went since is skipped, and its terms,
// which the table dead keeps until then, are subtracted from the statistics. So hits and
// scores are to the last bit those of an index made in one go. A tier that is missing or
// damaged is built again. See publish.go for when, tier.go and segment.go for the formats.
//
// Scoring is BM25F over the chunk (text, heading path, title of its document)
// plus a share of the BM25F of its whole document: a passage counts for more
// where the page around it is about the question too. See [Ranking]. There is one search
// algorithm, MaxScore with the maxima of blocks: see maxscore.go.
//
// An index.db of an earlier version is refused with [ErrEarlier]. The caller builds it
// again from the documents.
//
// # Links
//
// The table links keeps what each file says of others, as it says it: a path, an
// address, a title. Links are resolved whenever they are read (linknames.go), so that
// pages come and go in any order.
//
// # Vectors
//
// [DB.Embed] gives chunks vectors, which a model makes of title, headings and
// text. The same database stores them by embedder and by the hash of that
// text, so a text is embedded once, wherever it stands and however often it
// comes and goes. They are kept at length 1. A collection has the vectors of one
// [Embedder]; those of another are made beside them and change over in one
// transaction. A chunk has one vector.
//
// [Searcher.Vectors] has the vectors of a snapshot in memory, read from a file
// beside each segment (<collection>-<from>-<generation>-<embedder>.vec) that is derived
// like it; see vecsegment.go. [Vectors.Search] compares the query with each of them.
package index
