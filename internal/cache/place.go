package cache

import (
	"context"
	"database/sql"

	"example.com/ragflow/internal/sqlite"
)

// Place is where a cache keeps its values.
type Place struct {
	Path string // of a file; ":memory:" keeps them in memory
	// Postgres opens a PostgreSQL database, to be used instead of a file.
	Postgres func(context.Context) (*sql.DB, error)
}

func (p Place) open(ctx context.Context, readOnly bool) (database, error) {
	if p.Postgres != nil {
		return openServer(ctx, p.Postgres, readOnly)
	}
	return openFile(ctx, p.Path, readOnly)
}

// applicationID marks the files of this package ("rfCa").
const applicationID = 0x72664361

const fileSchema = `
CREATE TABLE cache_entries(
	key   BLOB PRIMARY KEY,
	near  BLOB,             -- of values that are alike; null: none
	run   TEXT NOT NULL,    -- that made it
	made  INTEGER NOT NULL, -- microseconds since 1970
	used  INTEGER NOT NULL, -- when it was last returned, or made
	bytes INTEGER NOT NULL,
	body  BLOB NOT NULL
) STRICT;
CREATE INDEX cache_entries_near ON cache_entries(near, made) WHERE near IS NOT NULL;
CREATE INDEX cache_entries_run ON cache_entries(run);
CREATE INDEX cache_entries_used ON cache_entries(used, key, bytes, made);
CREATE TABLE cache_counts(outcome TEXT PRIMARY KEY, n INTEGER NOT NULL) STRICT;`

// file is a database in a file.
type file struct{ db *sqlite.DB }

func openFile(ctx context.Context, path string, readOnly bool) (database, error) {
	o := sqlite.Options{Migrations: []string{fileSchema}, ApplicationID: applicationID, Patience: patience, Erase: true}
	if readOnly {
		o.Access = sqlite.ReadOnly
	}
	db, err := sqlite.Open(ctx, path, o)
	if err != nil {
		return nil, err
	}
	return file{db}, nil
}

func (f file) read(ctx context.Context, statement string, args []any, restart func(), each func(scan func(...any) error) error) error {
	return f.db.Read(ctx, func(tx *sqlite.Tx) error {
		restart()
		for row := range tx.Query(statement, args...) {
			if err := each(row.Scan); err != nil {
				return err
			}
		}
		return nil
	})
}

func (f file) write(ctx context.Context, change func(statementFunc) error) error {
	ctx, cancel := context.WithTimeout(ctx, slowest)
	defer cancel()
	return f.db.Write(ctx, func(tx *sqlite.Tx) error { return change(tx.Do) })
}

func (f file) remove(ctx context.Context, statement string, args ...any) error {
	deleted := int64(0)
	err := f.db.Write(ctx, func(tx *sqlite.Tx) error {
		r, err := tx.Exec(statement, args...)
		if err == nil {
			deleted, err = r.RowsAffected()
		}
		return err
	})
	if err == nil && deleted > 0 {
		err = f.db.Checkpoint(ctx) // the write-ahead log has what was deleted
	}
	return err
}

func (f file) close() { _ = f.db.Close() } // what was written is committed
