package sqlite_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"example.com/ragflow/internal/sqlite"
)

const jots = `CREATE TABLE jots(body TEXT NOT NULL) STRICT`

func countJots(t *testing.T, db *sqlite.DB) (n int) {
	t.Helper()
	if err := db.Read(t.Context(), func(tx *sqlite.Tx) error {
		return tx.QueryRow(`SELECT count(*) FROM jots`).Scan(&n)
	}); err != nil {
		t.Fatal(err)
	}
	return n
}

func jot(t *testing.T, db *sqlite.DB) error {
	t.Helper()
	return db.Write(t.Context(), func(tx *sqlite.Tx) error {
		_, err := tx.Exec(`INSERT INTO jots VALUES('x')`)
		return err
	})
}

func openJots(t *testing.T, path string, access sqlite.Access) *sqlite.DB {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Migrations: []string{jots}, Access: access})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = db.Close() })
	return db
}

func TestReadOnly(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.db")
	writer := openJots(t, path, sqlite.ReadIfNeeded)
	if writer.ReadOnly() {
		t.Fatal("a file that can be written was opened for reading only")
	}
	if err := jot(t, writer); err != nil {
		t.Fatal(err)
	}
	reader := openJots(t, path, sqlite.ReadOnly) // while the row is only in the log
	if !reader.ReadOnly() || countJots(t, reader) != 1 {
		t.Errorf("read only %v, %d rows, want true and 1", reader.ReadOnly(), countJots(t, reader))
	}
	if err := jot(t, writer); err != nil || countJots(t, reader) != 2 {
		t.Errorf("beside a writer: %d rows, want 2, %v", countJots(t, reader), err)
	}
	for what, err := range map[string]error{"write": jot(t, reader), "vacuum": reader.Vacuum(t.Context())} {
		if !errors.Is(err, sqlite.ErrReadOnly) {
			t.Errorf("%s: %v, want ErrReadOnly", what, err)
		}
	}
	if err := errors.Join(reader.Close(), reader.Close(), writer.Close()); err != nil {
		t.Error(err)
	}
}

func TestReadOnlyMissing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.db")
	db := openJots(t, path, sqlite.ReadOnly)
	if countJots(t, db) != 0 || !errors.Is(jot(t, db), sqlite.ErrReadOnly) {
		t.Error("a file that is missing is not an empty database that cannot be written")
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("reading made the file: %v", err)
	}
}

func TestReadOnlyOldSchema(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.db")
	if err := openJots(t, path, sqlite.ReadWrite).Close(); err != nil {
		t.Fatal(err)
	}
	_, err := sqlite.Open(t.Context(), path, sqlite.Options{Migrations: []string{jots, jots}, Access: sqlite.ReadOnly})
	if !errors.Is(err, sqlite.ErrReadOnly) {
		t.Errorf("got %v, want ErrReadOnly", err)
	}
}

func TestReadOnlyFolder(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "notes.db")
	writer := openJots(t, path, sqlite.ReadWrite)
	if err := errors.Join(jot(t, writer), writer.Close()); err != nil {
		t.Fatal(err)
	}
	lock(t, dir)
	if _, err := sqlite.Open(t.Context(), path, sqlite.Options{Migrations: []string{jots}}); !errors.Is(err, sqlite.ErrReadOnly) {
		t.Errorf("for writing: %v, want ErrReadOnly", err)
	}
	db := openJots(t, path, sqlite.ReadIfNeeded)
	if !db.ReadOnly() || countJots(t, db) != 1 {
		t.Errorf("read only %v, %d rows, want true and 1", db.ReadOnly(), countJots(t, db))
	}
	if db := openJots(t, filepath.Join(dir, "other.db"), sqlite.ReadIfNeeded); !db.ReadOnly() || countJots(t, db) != 0 {
		t.Error("a file that cannot be made is not an empty database")
	}
}

// TestReadOnlyStrandedLog opens a file whose log cannot be read, because the shared-memory file cannot be
// made.
func TestReadOnlyStrandedLog(t *testing.T) {
	path := filepath.Join(t.TempDir(), "notes.db")
	writer := openJots(t, path, sqlite.ReadWrite)
	if err := jot(t, writer); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, end := range []string{"", "-wal"} {
		data, err := os.ReadFile(path + end)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "notes.db"+end), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	lock(t, dir)
	db, err := sqlite.Open(t.Context(), filepath.Join(dir, "notes.db"), sqlite.Options{Migrations: []string{jots}, Access: sqlite.ReadIfNeeded})
	if err == nil {
		defer db.Close()
		if countJots(t, db) != 1 { // some systems can read the log nevertheless
			t.Errorf("%d rows, want 1", countJots(t, db))
		}
	} else if !errors.Is(err, sqlite.ErrReadOnly) {
		t.Errorf("got %v, want ErrReadOnly", err)
	}
}

// lock removes write permission from a folder and its files. It skips the test if the system ignores
// permissions, as for root.
func lock(t *testing.T, dir string) {
	t.Helper()
	entries, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if err := os.Chmod(filepath.Join(dir, e.Name()), 0o400); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.Chmod(dir, 0o500); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.Chmod(dir, 0o700) })
	if f, err := os.CreateTemp(dir, "probe-*"); err == nil {
		_ = f.Close()
		t.Skip("this system lets us write where permissions say no")
	}
}
