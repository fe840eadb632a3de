package index

import (
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// TestMigratedIndex: an index of the schema before tiers is found whole, and
// follows changes.
func TestMigratedIndex(t *testing.T) {
	ctx, path := t.Context(), filepath.Join(t.TempDir(), "index.db")
	analyzer := text.For("en")
	old, err := sqlite.Open(ctx, path, sqlite.Options{Migrations: migrations()[:4], ApplicationID: applicationID})
	if err != nil {
		t.Fatal(err)
	}
	a := []state.Chunk{{ID: "a", Text: "volumes keep data"}}
	const uuid = "d6d8515b-68ce-5717-bf69-ed38c7d52679"
	const digest = "9c56cc51b374c3ba189210d5b6d4bf57790d351c96c47c02190ecf1e430635ab"
	b := []state.Chunk{{ID: uuid, Text: "volumes and networks"}}
	if err := old.Write(ctx, func(tx *sqlite.Tx) error {
		for _, statement := range []string{
			`INSERT INTO settings VALUES('id', 'OLD')`,
			`INSERT INTO collections(id, root, generation) VALUES(1, '/docs', 7)`,
			`INSERT INTO files VALUES(1, 1, 'a.md', 1, 1, 'h', '', '', 'null', '', 1, ''), (2, 1, 'b.md', 1, 1, '` + digest + `', '', 'chunk/4 size=512', 'null', '', 1, '')`,
			`INSERT INTO chunks(rev, collection, file, id, ordinal, start, "end", start_line, end_line, kind, headings, text, hash) VALUES
				(40, 1, 1, 'gone', 9, 0, 17, 1, 1, '', '[]', 'gone', '')`,
			`DELETE FROM chunks`,
			`INSERT INTO chunks(collection, file, id, ordinal, start, "end", start_line, end_line, kind, headings, text, hash) VALUES
				(1, 1, 'a', 0, 0, 17, 1, 1, '', '[]', 'volumes keep data', '6b4f2ad97eba0d2b7ee5bf3a2b1bb28d16fd1a5a2ec3c6f8f3d1ef0cc4b5b9f2'),
				(1, 2, '` + uuid + `', 0, 0, 20, 1, 1, '', '[]', 'volumes and networks', '')`,
		} {
			if _, err := tx.Exec(statement); err != nil {
				return err
			}
		}
		_, _ = a, b
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := old.Close(); err != nil {
		t.Fatal(err)
	}
	db, err := Open(ctx, path, Options{Analyzer: analyzer})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	}()
	found := func() string {
		t.Helper()
		s, err := db.Searcher(ctx, "/docs")
		if err != nil {
			t.Fatal(err)
		}
		hits, err := s.Search(ctx, state.Query{Text: "volumes"}, 10)
		if err != nil {
			t.Fatal(err)
		}
		var ids strings.Builder
		for _, h := range hits {
			ids.WriteString(h.Chunk + " ")
		}
		return ids.String()
	}
	files, err := db.Files(ctx, "/docs")
	if err != nil {
		t.Fatal(err)
	}
	if got := files["a.md"]; got.Hash != "h" || got.Chunker != "" {
		t.Errorf("hash %q, chunker %q of a.md", got.Hash, got.Chunker)
	}
	if got := files["b.md"]; got.Hash != digest || got.Chunker != "chunk/4 size=512" {
		t.Errorf("hash %q, chunker %q of b.md", got.Hash, got.Chunker)
	}
	if got := count(t, db, `SELECT count(*) FROM files WHERE length(digest) = 32 AND hash = '' AND chunker = ''`); got != 1 {
		t.Errorf("%d hashes are kept as bytes, not 1", got)
	}
	if got := found(); got != uuid+" a " {
		t.Errorf("found %q", got)
	}
	if err := db.Put(ctx, "/docs", []Entry{{File: File{Source: "a.md"}, Chunks: []state.Chunk{{ID: "a", Text: "other words"}}}}); err != nil {
		t.Fatal(err)
	}
	if got := found(); got != uuid+" " {
		t.Errorf("after a change, found %q", got)
	}
	if got := count(t, db, `SELECT max(rev) FROM chunks`); got <= 42 {
		t.Errorf("a new row has the number %d, which one may have had that is gone", got)
	}
	if got := count(t, db, `SELECT count(*) FROM chunks WHERE typeof(id) = 'blob' AND length(id) = 16`); got != 1 {
		t.Errorf("%d ids are kept as bytes, not 1", got)
	}
	if got, err := db.verifyTiers(ctx, "/docs"); err != nil || len(got) > 0 {
		t.Errorf("verify: %v, %v", got, err)
	}
}
