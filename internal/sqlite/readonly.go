package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"os"
)

// Access says what a database is opened for.
type Access int

// The kinds of access.
const (
	// ReadWrite opens for reading and writing; a file or folder that cannot be
	// written is an error that matches [ErrReadOnly].
	ReadWrite Access = iota
	// ReadIfNeeded opens for reading and writing, and where file or folder
	// cannot be written, for reading only.
	ReadIfNeeded
	// ReadOnly opens for reading only, whatever could be done.
	ReadOnly
)

var (
	errOpenedToRead = errors.New("it was opened for reading only")
	errStrandedLog  = errors.New("its write-ahead log cannot be read without writing beside it: copy the folder to where it can be written, and open the copy")
	errOldSchema    = errors.New("it is of an older version of this program and must be brought up to date: open it once where it can be written")
)

// ReadOnly reports whether the database was opened for reading only. Every
// Write then fails with an error that matches [ErrReadOnly].
func (db *DB) ReadOnly() bool { return db.readOnly }

// denied is the error of what a database opened for reading only cannot do.
func (db *DB) denied(why error) error {
	return &DiskError{Path: db.path, Kind: ErrReadOnly, Err: why}
}

// openToRead opens the file for reading only. SQLite reads a file in WAL mode by
// way of two files beside it. Where they are missing and cannot be made, there is
// nothing in the log either, and the file alone is the whole database: then it is
// opened as one that nobody changes. A file that is not there, in a folder where
// it cannot be made, is an empty database.
func (db *DB) openToRead(ctx context.Context, o Options) error {
	db.readOnly = true
	if _, err := os.Stat(db.file); errors.Is(err, os.ErrNotExist) {
		return db.openEmpty(ctx, o)
	}
	location := db.dsn
	err := db.tryToRead(ctx, location+"?mode=ro", o)
	if err == nil || codeOf(err)&0xff != codeCantOpen && codeOf(err)&0xff != codeReadOnly {
		return err
	}
	if log, statErr := os.Stat(db.file + "-wal"); statErr == nil && log.Size() > 0 {
		return db.denied(errStrandedLog)
	}
	return db.tryToRead(ctx, location+"?mode=ro&immutable=1", o)
}

// openEmpty opens an empty database in memory in place of the file.
func (db *DB) openEmpty(ctx context.Context, o Options) error {
	db.dsn, db.inFile = memoryName(), false
	w, err := db.openPrepared(ctx, o)
	if err != nil {
		return err
	}
	db.anchor = w.cn // a database in memory ends with its last connection
	return nil
}

// tryToRead opens the pool and reads the version of the schema.
func (db *DB) tryToRead(ctx context.Context, dsn string, o Options) error {
	pool, err := openPool(dsn)
	if err != nil {
		return err
	}
	db.pool = pool
	err = retry(ctx, func() error {
		cn, err := db.connect(ctx, true)
		if err != nil {
			return err
		}
		defer cn.close()
		version, err := db.version(ctx, cn, o)
		if err == nil && version < len(o.Migrations) {
			err = db.denied(errOldSchema)
		}
		return err
	})
	if err != nil {
		return errors.Join(err, pool.Close())
	}
	return nil
}

// openPool opens a pool that keeps no idle connections: they are kept in
// readers, with their statements.
func openPool(dsn string) (*sql.DB, error) {
	pool, err := sql.Open(driverName, dsn)
	if err != nil {
		return nil, err
	}
	pool.SetMaxIdleConns(0)
	return pool, nil
}

// check refuses an access that there is not.
func (a Access) check() error {
	if a < ReadWrite || a > ReadOnly {
		return fmt.Errorf("unknown access %d", a)
	}
	return nil
}
