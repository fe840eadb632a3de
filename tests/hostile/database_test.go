package hostile_test

import (
	"context"
	"database/sql"
	"encoding/binary"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	_ "modernc.org/sqlite" // prepares files, independent of the program's driver

	"example.com/ragflow"
	"example.com/ragflow/internal/sqlite"
)

// endless is a view with infinitely many rows.
const endless = ` AS WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT `

// TestHostileDatabase opens databases of every kind with a changed schema. Each is refused before a row is
// read, and no byte of it changes.
func TestHostileDatabase(t *testing.T) {
	crafted := map[string]map[string]string{
		"index.db": {
			"view for a table":   `DROP TABLE segments; CREATE VIEW segments(name, value)` + endless + `i, 'x' FROM n`,
			"trigger":            `CREATE TRIGGER t AFTER INSERT ON files BEGIN DELETE FROM chunks; END`,
			"instead-of trigger": `CREATE VIEW v AS SELECT 1 AS a; CREATE TRIGGER t INSTEAD OF INSERT ON v BEGIN DELETE FROM chunks; END`,
			"computed column":    `ALTER TABLE files ADD COLUMN x BLOB AS (zeroblob(1000000000))`,
			"default":            `ALTER TABLE files ADD COLUMN x INTEGER DEFAULT (1)`,
			"index":              `CREATE INDEX i ON files(abs(-9223372036854775808 + size))`,
			"virtual table":      `CREATE VIRTUAL TABLE v USING fts5(a)`,
			"missing table":      `DROP TABLE segments`,
		},
		"threads.db": {
			"view for a table": `DROP TABLE meta; CREATE VIEW meta(key, value)` + endless + `i, 'x' FROM n`,
			"trigger":          `CREATE TRIGGER t AFTER INSERT ON commits BEGIN DELETE FROM deltas; END`,
			"other check":      `PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = replace(sql, 'head     INTEGER', 'head     INTEGER CHECK(abs(head) > 0)') WHERE name = 'threads'`,
		},
	}
	for file, changes := range crafted {
		for what, change := range changes {
			t.Run(file+", "+what, func(t *testing.T) {
				path := filepath.Join(prepared(t), file)
				execute(t, path, change)
				before, err := os.ReadFile(path)
				if err != nil {
					t.Fatal(err)
				}
				for _, readOnly := range []bool{false, true} {
					err := openAndRead(t, filepath.Dir(path), readOnly)
					if !errors.Is(err, sqlite.ErrForeign) {
						t.Errorf("read only %v: err = %v, want ErrForeign", readOnly, err)
					}
				}
				if after, err := os.ReadFile(path); err != nil || string(after) != string(before) {
					t.Errorf("the file changed, %v", err)
				}
			})
		}
	}
}

// TestHostileViews adds views that the program does not read: they have no effect.
func TestHostileViews(t *testing.T) {
	dir := prepared(t)
	for _, file := range []string{"index.db", "threads.db"} {
		execute(t, filepath.Join(dir, file), `CREATE VIEW harmless`+endless+`i FROM n`)
	}
	for _, readOnly := range []bool{true, false} {
		if err := openAndRead(t, dir, readOnly); err != nil {
			t.Errorf("read only %v: %v", readOnly, err)
		}
	}
}

// TestHostilePages gives a table a cyclic tree of pages, so that a small file seems to have endless rows. A
// read ends with an error, because it yields more rows than the file has bytes, or with its context.
func TestHostilePages(t *testing.T) {
	if testing.Short() {
		t.Skip("one page after the other")
	}
	path := filepath.Join(t.TempDir(), "a.db")
	options := sqlite.Options{Migrations: []string{`CREATE TABLE jots(id INTEGER PRIMARY KEY, body TEXT NOT NULL) STRICT`}, ApplicationID: 7}
	db, err := sqlite.Open(t.Context(), path, options)
	if err != nil {
		t.Fatal(err)
	}
	if err := db.Write(t.Context(), func(tx *sqlite.Tx) error {
		return tx.Do(`WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 3000) INSERT INTO jots SELECT i, hex(zeroblob(400)) FROM n`)
	}); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
	loop(t, path)
	if db, err = sqlite.Open(t.Context(), path, options); err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows := 0
	err = db.Read(t.Context(), func(tx *sqlite.Tx) error {
		for row := range tx.Query(`SELECT id FROM jots`) {
			var id int
			if err := row.Scan(&id); err != nil {
				return err
			}
			rows++
		}
		return nil
	})
	if !errors.Is(err, sqlite.ErrDamaged) {
		t.Errorf("after %d rows: err = %v, want ErrDamaged", rows, err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	err = db.Read(ctx, func(tx *sqlite.Tx) error {
		var n int
		return tx.QueryRow(`SELECT count(body) FROM jots`).Scan(&n)
	})
	if err == nil {
		t.Error("all rows of an endless tree were counted")
	}
}

// loop inserts three interior pages between the root of a table and its leaves: all children of the first are
// the second, all children of the second the third.
func loop(t *testing.T, path string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	const interior, root = 5, 2
	size := int(binary.BigEndian.Uint16(data[16:]))
	page := func(n int) []byte { return data[(n-1)*size : n*size] }
	large := 0
	for n := 1 + root; n <= len(data)/size; n++ {
		if page(n)[0] == interior {
			large = n
			break
		}
	}
	if large == 0 || page(root)[0] != interior {
		t.Fatal("the tree of the table is not two levels high")
	}
	last := len(data)/size + 3
	for range 3 {
		data = append(data, page(large)...)
	}
	redirect := func(n, to int) {
		p := page(n)
		for i := range int(binary.BigEndian.Uint16(p[3:])) {
			cell := binary.BigEndian.Uint16(p[12+2*i:])
			binary.BigEndian.PutUint32(p[cell:], uint32(to))
		}
		binary.BigEndian.PutUint32(p[8:], uint32(to))
	}
	redirect(root, last-2)
	redirect(last-2, last-1)
	redirect(last-1, last)
	binary.BigEndian.PutUint32(data[28:], uint32(last)) // number of pages
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
}

// prepared returns a data folder with an index of one document and one thread.
func prepared(t *testing.T) string {
	t.Helper()
	docs, dir := t.TempDir(), t.TempDir()
	if err := os.WriteFile(filepath.Join(docs, "a.md"), []byte("# Valve\n\nThe valve opens at 7 bar.\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: dir, Docs: []string{docs}})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := a.Ask(t.Context(), ragflow.Question{Text: "When does the valve open?", Thread: "t"}); err != nil {
		t.Fatal(err)
	}
	if err := a.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// openAndRead opens the databases of a data folder and reads from both.
func openAndRead(t *testing.T, dir string, readOnly bool) error {
	t.Helper()
	a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: dir, ReadOnly: readOnly})
	if err != nil {
		return err
	}
	_, err = a.Threads().Thread(t.Context(), "t")
	_, other := a.Search(t.Context(), "valve", ragflow.SearchOptions{})
	return errors.Join(err, other, a.Close())
}

// execute runs SQL on a file, without the program's settings.
func execute(t *testing.T, path, statements string) {
	t.Helper()
	db, err := sql.Open("sqlite", path)
	if err != nil {
		t.Fatal(err)
	}
	db.SetMaxOpenConns(1)
	if _, err := db.ExecContext(t.Context(), statements); err != nil {
		t.Fatal(err)
	}
	if _, err := db.ExecContext(t.Context(), `PRAGMA wal_checkpoint(TRUNCATE)`); err != nil {
		t.Fatal(err)
	}
	if err := db.Close(); err != nil {
		t.Fatal(err)
	}
}
