package sqlite_test

import (
	"database/sql"
	"errors"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/sqlite"
)

func TestCounts(t *testing.T) {
	db := open(t, "")
	var a, b int
	for _, tt := range []struct {
		name string
		do   func(*sqlite.Tx) error
	}{
		{"too few arguments", func(tx *sqlite.Tx) error {
			_, err := tx.Exec(`INSERT INTO notes(id, body) VALUES(?, ?)`, 1)
			return err
		}},
		{"Do: too few arguments", func(tx *sqlite.Tx) error { return tx.Do(`INSERT INTO notes(id, body) VALUES(?, ?)`, 1) }},
		{"Do: no such table", func(tx *sqlite.Tx) error { return tx.Do(`DELETE FROM nothing`) }},
		{"too few for a row", func(tx *sqlite.Tx) error { return tx.QueryRow(`SELECT ?, ?`, 1).Scan(&a, &b) }},
		{"too few variables", func(tx *sqlite.Tx) error { return tx.QueryRow(`SELECT 1, 2`).Scan(&a) }},
		{"too many variables", func(tx *sqlite.Tx) error { return tx.QueryRow(`SELECT 1`).Scan(&a, &b) }},
		{"unknown type of argument", func(tx *sqlite.Tx) error {
			_, err := tx.Exec(`INSERT INTO notes(body) VALUES(?)`, struct{}{})
			return err
		}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := db.Write(t.Context(), tt.do); err == nil {
				t.Error("no error")
			}
		})
	}
	err := db.Read(t.Context(), func(tx *sqlite.Tx) error { return tx.QueryRow(`SELECT 1 WHERE false`).Scan(&a) })
	if !errors.Is(err, sql.ErrNoRows) {
		t.Errorf("no row: %v", err)
	}
}

// The same text may be run again while its rows are ranged over. Its statement can
// be used again whether a loop ends, breaks or panics.
func TestQueryWithinItself(t *testing.T) {
	db := open(t, "")
	for _, body := range []string{"a", "b", "c"} {
		if err := db.Write(t.Context(), add(body)); err != nil {
			t.Fatal(err)
		}
	}
	const all = `SELECT body FROM notes ORDER BY id`
	each := func(tx *sqlite.Tx, f func(body string)) error {
		for r := range tx.Query(all) {
			var body string
			if err := r.Scan(&body); err != nil {
				return err
			}
			f(body)
		}
		return nil
	}
	var pairs []string
	if err := db.Read(t.Context(), func(tx *sqlite.Tx) error {
		for range tx.Query(all) {
			break
		}
		return each(tx, func(a string) {
			var first string
			if err := tx.QueryRow(all).Scan(&first); err != nil || first != "a" {
				t.Errorf("within the rows: %q, %v", first, err)
			}
			if err := each(tx, func(b string) { pairs = append(pairs, a+b) }); err != nil {
				t.Error(err)
			}
		})
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"aa", "ab", "ac", "ba", "bb", "bc", "ca", "cb", "cc"}, pairs); diff != "" {
		t.Errorf("pairs (-want +got):\n%s", diff)
	}
	if err := db.Read(t.Context(), func(tx *sqlite.Tx) error {
		return each(tx, func(string) { panic("in the middle") })
	}); err == nil {
		t.Error("a panic gave no error")
	}
	if diff := cmp.Diff([]string{"a", "b", "c"}, bodies(t, db)); diff != "" {
		t.Errorf("after a panic (-want +got):\n%s", diff)
	}
}
