package index

import (
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// TestVerify damages an index in one way at a time, and expects a report of it.
func TestVerify(t *testing.T) {
	run := func(statement string) func(*testing.T, *DB) {
		return func(t *testing.T, db *DB) {
			t.Helper()
			if err := db.sql.Write(t.Context(), func(tx *sqlite.Tx) error {
				_, err := tx.Exec(statement)
				return err
			}); err != nil {
				t.Fatal(err)
			}
		}
	}
	for _, tt := range []struct {
		name   string
		damage func(*testing.T, *DB)
		want   string // empty: no finding
	}{
		{"nothing", func(*testing.T, *DB) {}, ""},
		{"text", run(`UPDATE chunks SET text = 'other' WHERE ordinal = 0`), "not what its hash says"},
		{"chunk gone", run(`DELETE FROM chunks WHERE ordinal = 1`), "1 chunks, not the 2"},
		{"order", run(`UPDATE chunks SET ordinal = 7 WHERE ordinal = 1`), "is at place 1"},
		{"file in no segment", run(`UPDATE files SET version = 0`), "0 segments hold it, not 1"},
		{"vectors cut", func(t *testing.T, db *DB) {
			t.Helper()
			run(`INSERT INTO embedders(id, model, dimension, prefix, tokens) VALUES(1, 'm', 2, '', 400)`)(t, db)
			run(`INSERT INTO vectors(embedder, key, vector) VALUES(1, x'00', x'0000803f00000000'), (1, x'01', x'0000803f')`)(t, db)
		}, "1 vectors of another length than their embedder makes"},
		{"segment", run(`UPDATE segments SET body = x'00'`), "segment"},
		{"segment gone", run(`DELETE FROM segments`), ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			db := filled(t)
			tt.damage(t, db)
			found, err := db.Verify(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			var all []string
			for _, f := range found {
				all = append(all, f.Source+": "+f.What)
			}
			if got := strings.Join(all, "\n"); (tt.want == "") != (got == "") || !strings.Contains(got, tt.want) {
				t.Errorf("got %q, want %q", got, tt.want)
			}
		})
	}
}

// filled is an index in a file with one document of two chunks.
func filled(t *testing.T) *DB {
	t.Helper()
	db, err := Open(t.Context(), filepath.Join(t.TempDir(), "index.db"), Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := db.Close(); err != nil {
			t.Error(err)
		}
	})
	entry := search.Entry{File: search.File{Source: "a.html", Hash: "h", Title: "A"}, Chunks: []state.Chunk{
		{ID: "1", Source: "a.html", Text: "first words", End: 11, StartLine: 3, EndLine: 3, Lines: []int{3}, Headings: []string{}},
		{ID: "2", Source: "a.html", Text: "second words", Start: 12, End: 24, StartLine: 9, EndLine: 9, Ordinal: 1, Headings: []string{}},
	}}
	if err := db.Put(t.Context(), "/docs", []search.Entry{entry}); err != nil {
		t.Fatal(err)
	}
	if err := db.Publish(t.Context(), "/docs"); err != nil {
		t.Fatal(err)
	}
	return db
}

// TestFail asks that a failure is noted, and that what was read before stays,
// with its lines.
func TestFail(t *testing.T) {
	ctx := t.Context()
	db := filled(t)
	if err := db.Fail(ctx, "/docs", search.File{Source: "a.html", Error: "no rights"}, search.File{Source: "new.md", Error: "no rights"}); err != nil {
		t.Fatal(err)
	}
	files, err := db.Files(ctx, "/docs")
	if err != nil {
		t.Fatal(err)
	}
	if a, b := files["a.html"], files["new.md"]; a.Error != "no rights" || a.Chunks != 2 || a.Hash != "h" || b.Error != "no rights" || b.Chunks != 0 {
		t.Errorf("got %+v, %+v", a, b)
	}
	if found, err := db.Verify(ctx); err != nil || len(found) != 0 {
		t.Errorf("findings %v, %v", found, err)
	}
	s, err := db.Searcher(ctx, "/docs")
	if err != nil {
		t.Fatal(err)
	}
	ids := []string{}
	if err := db.sql.Read(ctx, func(tx *sqlite.Tx) (err error) {
		ids, err = collect(tx, func(r row, id *string) error { return r.Scan(id) },
			`SELECT c.id FROM chunks c JOIN files f ON f.id = c.file WHERE f.source = 'a.html' ORDER BY c.ordinal`)
		return err
	}); err != nil {
		t.Fatal(err)
	}
	chunks, err := s.Chunks(ctx, ids)
	if err != nil {
		t.Fatal(err)
	}
	if len(chunks) != 2 || len(chunks[0].Lines) != 1 || chunks[0].Lines[0] != 3 || chunks[1].Lines != nil {
		t.Errorf("got %+v", chunks)
	}
	stats, err := db.Stats(ctx)
	list, listErr := db.Collections(ctx)
	if err != nil || listErr != nil || len(list) != 1 || list[0].Changed.IsZero() || stats.Bytes == 0 {
		t.Errorf("stats %+v, %v; collections %+v, %v", stats, err, list, listErr)
	}
}
