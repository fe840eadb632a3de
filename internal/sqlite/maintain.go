package sqlite

import (
	"context"
	"errors"
	"fmt"
)

// Check looks through the whole file for damage and for references to rows
// that do not exist, and returns what it finds, at most 100 lines. An error
// means that it could not look.
func (db *DB) Check(ctx context.Context) ([]string, error) {
	var found []string
	err := db.Read(ctx, func(tx *Tx) error {
		found = nil
		for _, query := range []string{
			`PRAGMA integrity_check(100)`,
			`SELECT 'row ' || coalesce("rowid", '?') || ' of ' || "table" || ' refers to a row of ' || "parent" || ' that does not exist'
				FROM pragma_foreign_key_check LIMIT 100`,
		} {
			if err := collect(tx, query, &found); err != nil {
				return err
			}
		}
		return nil
	})
	if errors.Is(err, ErrDamaged) { // so broken that it cannot be looked through
		return append(found, err.Error()), nil
	}
	return found, err
}

func collect(tx *Tx, query string, to *[]string) error {
	for row := range tx.Query(query) {
		var line string
		if err := row.Scan(&line); err != nil {
			return err
		}
		if line != "ok" {
			*to = append(*to, line)
		}
	}
	return nil
}

// Vacuum writes the file anew without what was deleted from it, and gives the
// room back to the disk. It needs as much free room as the file takes, and
// waits until no other process writes to the file, or until ctx ends.
func (db *DB) Vacuum(ctx context.Context) error {
	if db.readOnly {
		return fmt.Errorf("vacuum: %w", db.denied(errOpenedToRead))
	}
	cn, err := db.connect(ctx, false)
	if err != nil {
		return db.explain(err)
	}
	defer cn.close()
	if err := db.retry(ctx, func() error { return cn.exec(ctx, "VACUUM") }); err != nil {
		return fmt.Errorf("vacuum: %w", db.explain(err))
	}
	return db.Checkpoint(ctx)
}

// CopyTo writes the database as it is at one moment, without free room, into the
// file at path, which must be empty or not be there. Writers go on meanwhile. The
// copy is whole when CopyTo returns nil; it is not forced to the disk.
func (db *DB) CopyTo(ctx context.Context, path string) error {
	if !db.inFile {
		return errors.New("copy: the database is in memory only")
	}
	cn, err := db.connect(ctx, false)
	if err != nil {
		return db.explain(err)
	}
	defer cn.close()
	return db.retry(ctx, func() error { return db.explain(cn.once(ctx, "VACUUM INTO ?", path)) })
}

// Checkpoint moves what the write-ahead log holds into the file and truncates
// the log. Where readers or other processes stand in the way, it does what it
// can; that is not an error.
func (db *DB) Checkpoint(ctx context.Context) error {
	if !db.inFile || db.readOnly {
		return nil
	}
	cn, err := db.connect(ctx, false)
	if err != nil {
		return db.explain(err)
	}
	defer cn.close()
	var blocked, frames, moved int
	err = newTx(ctx, cn).QueryRow("PRAGMA wal_checkpoint(TRUNCATE)").Scan(&blocked, &frames, &moved)
	if busy(err) {
		return nil
	}
	return db.explain(err)
}
