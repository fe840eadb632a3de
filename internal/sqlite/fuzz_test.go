package sqlite_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/ragflow/internal/sqlite"
)

// FuzzDatabase opens and reads a file with changed bytes: both end, with rows or an error.
func FuzzDatabase(f *testing.F) {
	options := sqlite.Options{Migrations: []string{`CREATE TABLE jots(id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT`}, ApplicationID: 7}
	path := filepath.Join(f.TempDir(), "a.db")
	db, err := sqlite.Open(f.Context(), path, options)
	if err == nil {
		err = db.Write(f.Context(), func(tx *sqlite.Tx) error {
			return tx.Do(`INSERT INTO jots(body) VALUES ('one'), (hex(zeroblob(6000)))`)
		})
	}
	if err == nil {
		err = db.Close()
	}
	if err != nil {
		f.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(16, []byte{0, 1})                      // size of a page
	f.Add(28, []byte{0xff, 0xff, 0xff, 0xff})    // pages
	f.Add(100, []byte{5, 0, 0, 0, 0xff})         // the schema's page
	f.Add(4096+8, []byte("\xff\xff\xff\xff"))    // cells
	f.Add(0, []byte("no database"))              // the head
	f.Add(8192, []byte("\x00\x00\x00\x03loops")) // overflow page
	f.Fuzz(func(t *testing.T, at int, change []byte) {
		data := append([]byte{}, whole...)
		if at < 0 || at >= len(data) {
			t.Skip()
		}
		copy(data[at:], change)
		path := filepath.Join(t.TempDir(), "a.db")
		if err := os.WriteFile(path, data, 0o600); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
		defer cancel()
		db, err := sqlite.Open(ctx, path, options)
		if err != nil {
			return
		}
		_ = db.Read(ctx, func(tx *sqlite.Tx) error { // rows or an error: both are fine
			for row := range tx.Query(`SELECT id, body FROM jots`) {
				var id int
				var body string
				if err := row.Scan(&id, &body); err != nil {
					return err
				}
			}
			return nil
		})
		_ = db.Close()
		if ctx.Err() != nil {
			t.Errorf("reading does not end")
		}
	})
}
