package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
)

// Check reads the whole file and returns the damage and the references to missing
// rows that it finds, at most 200 lines. An error means that it could not read.
func (db *DB) Check(ctx context.Context) ([]string, error) {
	var found []string
	err := db.Read(ctx, func(tx *Tx) error {
		found = nil
		for _, query := range []string{
			`PRAGMA integrity_check(100)`,
			`SELECT 'row ' || coalesce("rowid", '?') || ' of ' || "table" || ' refers to a row of ' || "parent" || ' that does not exist'
				FROM pragma_foreign_key_check LIMIT 100`,
		} {
			for row := range tx.Query(query) {
				var line string
				if err := row.Scan(&line); err != nil {
					return err
				}
				if line != "ok" {
					found = append(found, line)
				}
			}
		}
		return nil
	})
	if errors.Is(err, ErrDamaged) { // too broken to be read to its end
		return append(found, err.Error()), nil
	}
	return found, err
}

// inspect returns an error that matches [ErrDamaged] or [ErrForeign] if the file is not a complete database
// of this kind: its first page is wrong, or pages at its end are missing. A process that dies while it moves
// the log leaves such a file too, but then file and log together are complete. Overwritten pages after the
// first are not noticed.
func (db *DB) inspect(ctx context.Context) error {
	if err := db.explain(db.inspectFile(ctx)); !errors.Is(err, ErrDamaged) {
		return err
	}
	return db.alone(ctx, func(cn *conn) error {
		var found string
		if err := (&Tx{ctx, cn}).QueryRow("PRAGMA quick_check(1)").Scan(&found); err != nil || found == "ok" {
			return err
		}
		return &Error{db.path, ErrDamaged, errors.New(found)}
	})
}

// inspectFile inspects the file without its log.
func (db *DB) inspectFile(ctx context.Context) error {
	pool, err := sql.Open(driverName, db.raw)
	if err != nil {
		return err
	}
	defer func() { _ = pool.Close() }()
	sc, err := pool.Conn(ctx)
	if err != nil {
		return err
	}
	cn := newConn(db, sc)
	defer cn.close()
	_, err = db.version(ctx, cn)
	return err
}

// alone runs f on a separate connection, outside a transaction.
func (db *DB) alone(ctx context.Context, f func(*conn) error) error {
	return db.retry(ctx, func() error {
		cn, err := db.connect(ctx, false)
		if err == nil {
			defer cn.close()
			err = f(cn)
		}
		return db.explain(err)
	})
}

// Vacuum rewrites the file without its free pages and gives them back to the
// disk. It needs as much free space as the file takes, and waits until no other
// process writes to the file, or until ctx ends.
func (db *DB) Vacuum(ctx context.Context) error {
	if db.ReadOnly() {
		return fmt.Errorf("vacuum: %w", db.readOnlyError("it was opened for reading only"))
	}
	if err := db.alone(ctx, func(cn *conn) error { return cn.do("VACUUM") }); err != nil {
		return fmt.Errorf("vacuum: %w", err)
	}
	return db.Checkpoint(ctx)
}

// CopyTo writes a consistent copy of the database, including the write-ahead log, to the
// file at path, which must be empty or not exist. Writers are not blocked. The copy is not forced to the disk.
func (db *DB) CopyTo(ctx context.Context, path string) error {
	return db.alone(ctx, func(cn *conn) error {
		_, err := cn.sc.ExecContext(ctx, "VACUUM INTO ?", path)
		return err
	})
}

// WriteFrom runs fn in a transaction that also sees the database at path, as the
// schema "source", and commits it if fn returns nil. Foreign keys are not checked.
func (db *DB) WriteFrom(ctx context.Context, path string, fn func(*Tx) error) error {
	if db.ReadOnly() {
		return db.readOnlyError("it was opened for reading only")
	}
	return db.alone(ctx, func(cn *conn) error {
		if _, err := cn.sc.ExecContext(ctx, "PRAGMA foreign_keys = OFF"); err != nil {
			return err
		}
		if _, err := cn.sc.ExecContext(ctx, "ATTACH ? AS source", path); err != nil {
			return err
		}
		if err := cn.do("BEGIN IMMEDIATE"); err != nil {
			return err
		}
		err := call(fn, &Tx{ctx, cn})
		if err == nil {
			err = cn.do("COMMIT")
		}
		if err != nil {
			cn.rollback()
		}
		return err
	})
}

// Checkpoint moves the write-ahead log into the file and truncates the log. If
// readers or other processes block it, it moves as much as it can; that is not an
// error.
func (db *DB) Checkpoint(ctx context.Context) error {
	if db.file == "" || db.ReadOnly() {
		return nil
	}
	cn, err := db.connect(ctx, false)
	if err != nil {
		return db.explain(err)
	}
	defer cn.close()
	var blocked, frames, moved int
	err = (&Tx{ctx, cn}).QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&blocked, &frames, &moved)
	if isBusy(err) {
		return nil
	}
	return db.explain(err)
}
