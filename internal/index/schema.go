package index

import "example.com/ragflow/internal/sqlite"

// applicationID marks index databases: "rfi5".
const applicationID = 0x72666935

// migrations is the schema, version by version. Its text, with comments, is compared with that of a file. What it says
// of vectors was so once: see vectorbytes.go.
func migrations() []string {
	return []string{`
-- Embedders of vectors.
CREATE TABLE embedders(
	id        INTEGER PRIMARY KEY AUTOINCREMENT,
	model     TEXT NOT NULL,
	dimension INTEGER NOT NULL,
	prefix    TEXT NOT NULL,
	tokens    INTEGER NOT NULL,
	UNIQUE(model, dimension, prefix, tokens)
) STRICT;

-- The cache of embeddings: one vector for each text and embedder, shared by all chunks of
-- all collections, and kept after their deletion.
CREATE TABLE vectors(
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	embedder INTEGER NOT NULL REFERENCES embedders(id) ON DELETE CASCADE,
	key      BLOB NOT NULL,              -- as chunks.passage
	vector   BLOB NOT NULL,              -- of length 1; 32-bit floats, little-endian
	UNIQUE(embedder, key)
) STRICT;

-- AUTOINCREMENT: the number of a removed collection is never given again, because
-- processes keep segments by it.
CREATE TABLE collections(
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	root       TEXT NOT NULL UNIQUE,     -- absolute path
	generation INTEGER NOT NULL DEFAULT 0, -- moved by every change that a search could see
	changed    INTEGER NOT NULL DEFAULT 0, -- when the generation moved last: nanoseconds since 1970; 0: not known
	chunking   TEXT NOT NULL DEFAULT '', -- JSON: how its documents are cut; empty: as all others
	embedder   INTEGER REFERENCES embedders(id) -- of its dense leg; null: none yet
) STRICT;

CREATE TABLE files(
	id         INTEGER PRIMARY KEY,
	collection INTEGER NOT NULL REFERENCES collections(id) ON DELETE CASCADE,
	version    INTEGER NOT NULL DEFAULT 0, -- the generation of its collection at which a search could last see it change
	source     TEXT NOT NULL,            -- path under the root, with slashes
	size       INTEGER NOT NULL,         -- bytes
	mtime      INTEGER NOT NULL,         -- nanoseconds since 1970, UTC
	hash       TEXT NOT NULL,            -- SHA-256 of the file, in hex
	title      TEXT NOT NULL,
	chunker    TEXT NOT NULL,            -- fingerprint of what made the chunks
	cut_by     TEXT NOT NULL DEFAULT '', -- chunker that cut it; empty: there are no chunks
	meta       TEXT NOT NULL,            -- JSON object: values of their kinds, or null
	url        TEXT NOT NULL DEFAULT '', -- where the document says it is published; empty: it does not
	error      TEXT NOT NULL,            -- why it could not be read; empty: it could
	chunks     INTEGER NOT NULL,         -- how many
	weight     INTEGER NOT NULL DEFAULT 0, -- about how many bytes its terms take
	UNIQUE(collection, source)
) STRICT;
CREATE INDEX files_by_version ON files(collection, version);

-- Rows are inserted and deleted, never updated. AUTOINCREMENT: a row that is
-- new has a greater number than every row there ever was. The text comes last: what
-- stands before it is read without it.
CREATE TABLE chunks(
	rev        INTEGER PRIMARY KEY AUTOINCREMENT,
	collection INTEGER NOT NULL REFERENCES collections(id) ON DELETE CASCADE,
	file       INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
	id         TEXT NOT NULL,
	ordinal    INTEGER NOT NULL,
	place      TEXT NOT NULL,            -- JSON: where it is in the file and what the chunker noted; see chunkPlace
	headings   TEXT NOT NULL,            -- JSON array of strings, or null
	hash       TEXT NOT NULL,            -- SHA-256 of the text, in hex
	passage    BLOB NOT NULL,            -- SHA-256 of search.Passage: title, headings and text
	text       TEXT NOT NULL,
	UNIQUE(collection, id)
) STRICT;
CREATE INDEX chunks_by_file ON chunks(file, ordinal);

-- Tombstones: files that changed or went, as long as a segment may hold them, so that a
-- search counts as if it did not.
CREATE TABLE dead(
	id         INTEGER PRIMARY KEY,
	collection INTEGER NOT NULL REFERENCES collections(id) ON DELETE CASCADE,
	file       INTEGER NOT NULL,         -- id its row had
	version    INTEGER NOT NULL,         -- that it had then
	died       INTEGER NOT NULL,         -- the generation that does not have it
	weight     INTEGER NOT NULL          -- that it had then
) STRICT;
CREATE INDEX dead_by_version ON dead(collection, version);

-- A segment holds the files whose versions are greater than since, up to generation. It can be
-- made again of the texts.
CREATE TABLE segments(
	collection INTEGER NOT NULL REFERENCES collections(id) ON DELETE CASCADE,
	since      INTEGER NOT NULL,         -- the generation of the segment before; -1: there is none
	generation INTEGER NOT NULL,
	analysis   TEXT NOT NULL,            -- analyzer and format
	weight     INTEGER NOT NULL,         -- of its files
	body       BLOB NOT NULL,            -- see segment.go
	PRIMARY KEY(collection, generation)
) STRICT;
`}
}

// row is a row of a query, to be scanned.
type row = sqlite.Row

// collect returns the scanned rows of a query.
func collect[T any](tx *sqlite.Tx, scan func(r row, to *T) error, query string, args ...any) (out []T, err error) {
	err = each(tx, func(r row) error {
		var one T
		err := scan(r, &one)
		out = append(out, one)
		return err
	}, query, args...)
	return out, err
}

// each calls f for each row of a query.
func each(tx *sqlite.Tx, f func(row) error, query string, args ...any) error {
	for r := range tx.Query(query, args...) {
		if err := f(r); err != nil {
			return err
		}
	}
	return nil
}
