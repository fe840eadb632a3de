package index

import (
	"example.com/ragflow/internal/sqlite"
)

// applicationID marks index databases: "rfix".
const applicationID = 0x72666978

// migrations is the schema, version by version. Released ones never change.
func migrations() []string {
	return []string{`
CREATE TABLE settings(
	name  TEXT PRIMARY KEY,
	value TEXT NOT NULL
) STRICT;

-- AUTOINCREMENT: the number of a collection that was removed is never given
-- again, because segments are named by it.
CREATE TABLE collections(
	id         INTEGER PRIMARY KEY AUTOINCREMENT,
	root       TEXT NOT NULL UNIQUE,     -- absolute path
	generation INTEGER NOT NULL DEFAULT 0 -- moved by every change that a search could see
) STRICT;

CREATE TABLE files(
	id         INTEGER PRIMARY KEY,
	collection INTEGER NOT NULL REFERENCES collections(id) ON DELETE CASCADE,
	source     TEXT NOT NULL,            -- path under the root, with slashes
	size       INTEGER NOT NULL,         -- bytes
	mtime      INTEGER NOT NULL,         -- nanoseconds since 1970, UTC
	hash       TEXT NOT NULL,            -- SHA-256 of the file, in hex
	title      TEXT NOT NULL,
	chunker    TEXT NOT NULL,            -- fingerprint of what made the chunks
	meta       TEXT NOT NULL,            -- JSON object: values of their kinds, or null
	error      TEXT NOT NULL,            -- why it could not be read; empty: it could
	chunks     INTEGER NOT NULL,         -- how many
	UNIQUE(collection, source)
) STRICT;

-- Rows are inserted and deleted, never updated. AUTOINCREMENT: a row that is
-- new has a greater number than every row there ever was.
CREATE TABLE chunks(
	rev        INTEGER PRIMARY KEY AUTOINCREMENT,
	collection INTEGER NOT NULL REFERENCES collections(id) ON DELETE CASCADE,
	file       INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
	id         TEXT NOT NULL,
	ordinal    INTEGER NOT NULL,
	start      INTEGER NOT NULL,
	"end"      INTEGER NOT NULL,
	start_line INTEGER NOT NULL,
	end_line   INTEGER NOT NULL,
	kind       TEXT NOT NULL,
	headings   TEXT NOT NULL,            -- JSON array of strings
	text       TEXT NOT NULL,
	hash       TEXT NOT NULL,
	UNIQUE(collection, id)
) STRICT;
CREATE INDEX chunks_by_file ON chunks(file, ordinal);

-- The inverted index of one file: see terms.go.
CREATE TABLE terms(
	file     INTEGER PRIMARY KEY REFERENCES files(id) ON DELETE CASCADE,
	analysis TEXT NOT NULL,              -- analyzer and format
	body     BLOB NOT NULL
) STRICT;
`, `
-- What made vectors: see Embedder.
CREATE TABLE embedders(
	id        INTEGER PRIMARY KEY AUTOINCREMENT,
	model     TEXT NOT NULL,
	dimension INTEGER NOT NULL,
	prefix    TEXT NOT NULL,
	tokens    INTEGER NOT NULL,
	UNIQUE(model, dimension, prefix, tokens)
) STRICT;

-- The cache of embeddings: one vector a text and embedder, whichever chunks of
-- whichever collections hold the text, and after they are gone.
CREATE TABLE vectors(
	id       INTEGER PRIMARY KEY AUTOINCREMENT,
	embedder INTEGER NOT NULL REFERENCES embedders(id) ON DELETE CASCADE,
	key      BLOB NOT NULL,              -- SHA-256 of what is embedded: see passageKey
	vector   BLOB NOT NULL,              -- of length 1; 32-bit floats, little-endian
	UNIQUE(embedder, key)
) STRICT;

ALTER TABLE collections ADD COLUMN embedder INTEGER REFERENCES embedders(id); -- of its dense leg; null: none yet
`, `
ALTER TABLE chunks ADD COLUMN lines TEXT NOT NULL DEFAULT ''; -- JSON array: lines of the file by line of the text; empty: they follow each other
`, `
ALTER TABLE files ADD COLUMN url TEXT NOT NULL DEFAULT ''; -- where the document says it is published; empty: it does not
`, `
-- The generation of its collection at which a search could last see the file change.
ALTER TABLE files ADD COLUMN version INTEGER NOT NULL DEFAULT 0;
CREATE INDEX files_by_version ON files(collection, version);

ALTER TABLE collections ADD COLUMN changed INTEGER NOT NULL DEFAULT 0; -- when the generation moved last: nanoseconds since 1970; 0: not known

-- The manifest: the tiers of each collection, as tier.go describes their files.
-- A tier holds the files whose versions are greater than since, up to generation.
CREATE TABLE tiers(
	collection INTEGER NOT NULL REFERENCES collections(id) ON DELETE CASCADE,
	since      INTEGER NOT NULL,         -- the generation of the tier before; -1: there is none
	generation INTEGER NOT NULL,
	analysis   TEXT NOT NULL,
	files      INTEGER NOT NULL,
	chunks     INTEGER NOT NULL,
	weight     INTEGER NOT NULL,         -- bytes of the terms it was merged from
	bytes      INTEGER NOT NULL,         -- of its file
	made       INTEGER NOT NULL,         -- nanoseconds since 1970
	PRIMARY KEY(collection, generation)
) STRICT, WITHOUT ROWID;

-- Files that changed or went, as long as a tier may hold them: with their terms,
-- so that a search counts as if the tier did not.
CREATE TABLE dead(
	id         INTEGER PRIMARY KEY,
	collection INTEGER NOT NULL REFERENCES collections(id) ON DELETE CASCADE,
	file       INTEGER NOT NULL,         -- id its row had
	version    INTEGER NOT NULL,         -- that it had then
	died       INTEGER NOT NULL,         -- the generation that does not have it
	body       BLOB NOT NULL
) STRICT;
CREATE INDEX dead_by_version ON dead(collection, version);
`, `
ALTER TABLE chunks ADD COLUMN page INTEGER NOT NULL DEFAULT 0; -- that it begins on, from 1; 0: the file has no pages
ALTER TABLE chunks ADD COLUMN breaks TEXT NOT NULL DEFAULT ''; -- JSON array: offsets where the pages behind it begin; empty: it lies on one
`, `
ALTER TABLE collections ADD COLUMN chunking TEXT NOT NULL DEFAULT ''; -- JSON: how its documents are cut; empty: as all others
ALTER TABLE files ADD COLUMN cut_by TEXT NOT NULL DEFAULT ''; -- chunker that cut it; empty: cut before this was noted
ALTER TABLE chunks ADD COLUMN cut TEXT NOT NULL DEFAULT ''; -- JSON: what else the chunker told; empty: nothing
`, `
-- What a file says of other documents, as it says it: what that leads to is found
-- out when it is asked for, so that a page may come after the links to it.
CREATE TABLE links(
	file INTEGER PRIMARY KEY REFERENCES files(id) ON DELETE CASCADE,
	body TEXT NOT NULL                   -- JSON object: targets in order, by relation
) STRICT;
`, `
-- The length a vector had before it was brought to 1. Of those that came before it
-- was kept it is 1, as most models give them.
ALTER TABLE vectors ADD COLUMN length REAL NOT NULL DEFAULT 1;
`, `
ALTER TABLE collections ADD COLUMN vectors TEXT NOT NULL DEFAULT 'passage'; -- what of a chunk is embedded: see VectorKinds
`, `
-- The terms of files are made of their chunks when they are needed: see fresh.go.
ALTER TABLE files ADD COLUMN terms INTEGER NOT NULL DEFAULT 0; -- how many bytes they have
UPDATE files SET terms = coalesce((SELECT length(body) FROM terms WHERE file = files.id), 0);
ALTER TABLE dead ADD COLUMN analysis TEXT NOT NULL DEFAULT ''; -- analyzer and format of body
UPDATE dead SET analysis = coalesce((SELECT analysis FROM tiers WHERE collection = dead.collection ORDER BY generation DESC LIMIT 1), '');
DROP TABLE terms;
`, `
-- What texts are packed with: see codebook.go.
CREATE TABLE codebooks(
	id    INTEGER PRIMARY KEY AUTOINCREMENT,
	words BLOB NOT NULL
) STRICT;

-- Rows are inserted and deleted, never updated. AUTOINCREMENT: a row that is
-- new has a greater number than every row there ever was. The text comes last: what
-- stands before it is read without it.
CREATE TABLE packed(
	rev        INTEGER PRIMARY KEY AUTOINCREMENT,
	collection INTEGER NOT NULL REFERENCES collections(id) ON DELETE CASCADE,
	file       INTEGER NOT NULL REFERENCES files(id) ON DELETE CASCADE,
	id         ANY NOT NULL,             -- the 16 bytes of a UUID, or text
	ordinal    INTEGER NOT NULL,
	start      INTEGER NOT NULL,
	"end"      INTEGER NOT NULL,
	start_line INTEGER NOT NULL,
	end_line   INTEGER NOT NULL,
	page       INTEGER NOT NULL,         -- that it begins on, from 1; 0: the file has no pages
	kind       TEXT NOT NULL,
	headings   TEXT NOT NULL,            -- JSON array of strings
	lines      TEXT NOT NULL,            -- JSON array: lines of the file by line of the text; empty: they follow each other
	breaks     TEXT NOT NULL,            -- JSON array: offsets where the pages behind it begin; empty: it lies on one
	cut        TEXT NOT NULL,            -- JSON: what else the chunker told; empty: nothing
	hash       ANY NOT NULL,             -- of the text: 32 bytes, or text
	book       INTEGER NOT NULL,         -- codebook of the text; 0: it is as it is
	text       ANY NOT NULL,             -- packed, or text
	UNIQUE(collection, id)
) STRICT;
INSERT INTO packed
	SELECT rev, collection, file, iif(id GLOB '[0-9a-f]*-*-*-*-*' AND lower(hex(unhex(replace(id, '-', '')))) = replace(id, '-', '')
			AND length(id) = 36 AND substr(id, 9, 1) || substr(id, 14, 1) || substr(id, 19, 1) || substr(id, 24, 1) = '----', unhex(replace(id, '-', '')), id),
		ordinal, start, "end", start_line, end_line, page, kind, headings, lines, breaks, cut,
		iif(length(hash) = 64 AND lower(hex(unhex(hash))) = hash, unhex(hash), hash), 0, text
	FROM chunks ORDER BY rev;
DELETE FROM sqlite_sequence WHERE name = 'packed';
INSERT INTO sqlite_sequence(name, seq) SELECT 'packed', seq FROM sqlite_sequence WHERE name = 'chunks';
DROP TABLE chunks;
ALTER TABLE packed RENAME TO chunks;
CREATE INDEX chunks_by_file ON chunks(file, ordinal);
`, `
-- What cut files, as it stands with a million of them.
CREATE TABLE cutters(
	id      INTEGER PRIMARY KEY,
	chunker TEXT NOT NULL,               -- fingerprint of what made the chunks
	cut_by  TEXT NOT NULL,               -- chunker that cut it; empty: there are none, or cut before this was noted
	UNIQUE(chunker, cut_by)
) STRICT;
INSERT INTO cutters(chunker, cut_by) SELECT DISTINCT chunker, cut_by FROM files ORDER BY 1, 2;

-- In place of chunker and cut_by, which are empty from now on, and of the digits of
-- hash, which holds one that is no SHA-256.
ALTER TABLE files ADD COLUMN cutter INTEGER NOT NULL DEFAULT 0;
ALTER TABLE files ADD COLUMN digest BLOB;
UPDATE files SET chunker = '', cut_by = '',
	cutter = (SELECT c.id FROM cutters c WHERE c.chunker = files.chunker AND c.cut_by = files.cut_by),
	digest = iif(length(hash) = 64 AND lower(hex(unhex(hash))) = hash, unhex(hash), NULL),
	hash = iif(length(hash) = 64 AND lower(hex(unhex(hash))) = hash, '', hash);
`}
}

// row is what a query gives, to be scanned.
type row = sqlite.Row

// each calls f for each row of a query.
func each(tx *sqlite.Tx, f func(row) error, query string, args ...any) error {
	for r := range tx.Query(query, args...) {
		if err := f(r); err != nil {
			return err
		}
	}
	return nil
}
