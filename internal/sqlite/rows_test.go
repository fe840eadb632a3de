package sqlite_test

import (
	"database/sql"
	"errors"
	"math"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/sqlite"
)

type (
	id    int64
	label string
)

// Values come into variables of every kind that fits, and those that do not fit
// are refused instead of changed.
func TestScan(t *testing.T) {
	db := open(t, "")
	tests := []struct {
		name, sql string
		to        any
		want      any // nil: an error
	}{
		{"integer", `1`, new(int64), int64(1)},
		{"int", `-7`, new(int), -7},
		{"small integer", `127`, new(int8), int8(127)},
		{"integer too large", `128`, new(int8), nil},
		{"negative into unsigned", `-1`, new(uint64), nil},
		{"named integer", `42`, new(id), id(42)},
		{"integer into text", `42`, new(string), "42"},
		{"integer into real", `3`, new(float64), 3.0},
		{"real", `0.1`, new(float64), 0.1},
		{"real into integer", `0.5`, new(int), nil},
		{"true", `1`, new(bool), true},
		{"no truth", `2`, new(bool), nil},
		{"text", `'cô gái'`, new(string), "cô gái"},
		{"named text", `'x'`, new(label), label("x")},
		{"digits into integer", `'12'`, new(int64), int64(12)},
		{"text into integer", `'12a'`, new(int64), nil},
		{"text into bytes", `'ab'`, new([]byte), []byte("ab")},
		{"bytes", `x'0001ff'`, new([]byte), []byte{0, 1, 255}},
		{"bytes into text", `x'6162'`, new(string), "ab"},
		{"raw bytes", `x'6162'`, new(sql.RawBytes), sql.RawBytes("ab")},
		{"NULL into integer", `NULL`, new(int64), nil},
		{"NULL into text", `NULL`, new(string), nil},
		{"NULL into bytes", `NULL`, new([]byte), []byte(nil)},
		{"NULL into nullable", `NULL`, new(sql.NullInt64), sql.NullInt64{}},
		{"nullable", `5`, new(sql.NullInt64), sql.NullInt64{Int64: 5, Valid: true}},
		{"anything", `9223372036854775807`, new(any), any(int64(math.MaxInt64))},
		{"pointer", `5`, new(*int), new(5)},
		{"NULL into pointer", `NULL`, new(*int), (*int)(nil)},
		{"no variable", `1`, 1, nil},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			err := db.Read(t.Context(), func(tx *sqlite.Tx) error { return tx.QueryRow(`SELECT ` + tt.sql).Scan(tt.to) })
			if tt.want == nil {
				if err == nil {
					t.Error("no error")
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(tt.want, deref(tt.to)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func deref(p any) any {
	switch p := p.(type) {
	case *int64:
		return *p
	case *int:
		return *p
	case *int8:
		return *p
	case *id:
		return *p
	case *string:
		return *p
	case *label:
		return *p
	case *float64:
		return *p
	case *bool:
		return *p
	case *[]byte:
		return *p
	case *sql.RawBytes:
		return *p
	case *sql.NullInt64:
		return *p
	case *any:
		return *p
	case **int:
		return *p
	}
	return p
}

// A statement gets as many arguments as it asks for, and a row as many variables
// as it has columns.
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
		{"too few for a row", func(tx *sqlite.Tx) error { return tx.QueryRow(`SELECT ?, ?`, 1).Scan(&a, &b) }},
		{"too few variables", func(tx *sqlite.Tx) error { return tx.QueryRow(`SELECT 1, 2`).Scan(&a) }},
		{"too many variables", func(tx *sqlite.Tx) error { return tx.QueryRow(`SELECT 1`).Scan(&a, &b) }},
		{"what SQL does not know", func(tx *sqlite.Tx) error {
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

// Do changes rows as Exec does, and fails as it does.
func TestDo(t *testing.T) {
	db := open(t, "")
	if err := db.Write(t.Context(), func(tx *sqlite.Tx) error {
		return tx.Do(`INSERT INTO notes(id, body) VALUES(?, ?), (?, ?)`, 7, "a", 8, "b")
	}); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"a", "b"}, bodies(t, db)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for name, do := range map[string]func(*sqlite.Tx) error{
		"same id":           func(tx *sqlite.Tx) error { return tx.Do(`INSERT INTO notes(id, body) VALUES(?, ?)`, 7, "c") },
		"too few arguments": func(tx *sqlite.Tx) error { return tx.Do(`INSERT INTO notes(id, body) VALUES(?, ?)`, 9) },
		"no such table":     func(tx *sqlite.Tx) error { return tx.Do(`DELETE FROM nothing`) },
	} {
		if err := db.Write(t.Context(), do); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// Query goes through the rows of one text within itself, and leaves its statement
// fit for use whether a loop ends, is broken or panics.
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

// A counter is shared by the callbacks of one transaction, and asked for anew in
// the next: also after a group was broken up, whose first try counts for nothing.
func TestCounter(t *testing.T) {
	db := open(t, "")
	next := func(tx *sqlite.Tx) error {
		n, err := tx.Counter(`SELECT coalesce(max(id), 0) FROM notes`)
		if err != nil {
			return err
		}
		*n++
		return tx.Do(`INSERT INTO notes(id, body) VALUES(?1, 'note ' || ?1)`, *n)
	}
	var all sync.WaitGroup
	for i := range 200 {
		all.Go(func() {
			err := db.Write(t.Context(), func(tx *sqlite.Tx) error {
				if err := errors.Join(next(tx), next(tx)); err != nil || i%10 != 0 {
					return err
				}
				return errors.New("not saved")
			})
			if (err != nil) != (i%10 == 0) {
				t.Errorf("write %d: %v", i, err)
			}
		})
	}
	all.Wait()
	var last int
	if err := db.Read(t.Context(), func(tx *sqlite.Tx) error { return tx.QueryRow(`SELECT max(id) FROM notes`).Scan(&last) }); err != nil {
		t.Fatal(err)
	}
	if got := len(bodies(t, db)); got != 360 || last != 360 {
		t.Errorf("%d notes, the last has number %d; want 360 without a gap", got, last)
	}
}
