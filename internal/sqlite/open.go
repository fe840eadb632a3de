package sqlite

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// open opens the file for what is asked, or can be had.
func (db *DB) open(ctx context.Context, o Options) error {
	write := o.Access != ReadOnly
	err := db.locate(write)
	if err == nil && (write || !db.inFile) {
		err = db.openToWrite(ctx, o)
	}
	switch {
	case !db.inFile, o.Access == ReadWrite:
		return err
	case o.Access == ReadIfNeeded && (err == nil || !cannotWrite(db.explain(err))):
		return err
	case o.Access == ReadOnly && err != nil:
		return err
	}
	return db.openToRead(ctx, o)
}

// cannotWrite tells a file or folder that may only be read from other trouble.
func cannotWrite(err error) bool {
	return errors.Is(err, ErrReadOnly) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// openToWrite opens the connection that writes.
func (db *DB) openToWrite(ctx context.Context, o Options) error {
	cn, err := db.prepare(ctx, o)
	if err != nil {
		return err
	}
	db.writer = &writer{db: db, cn: cn, counters: map[string]*int64{}}
	return nil
}

// memoryName names a new database in memory. The name is no secret.
func memoryName() string {
	return fmt.Sprintf("file:/ragflow-%d-%d?vfs=memdb", os.Getpid(), rand.Uint64())
}

// locate finds out what to open, and, to write it, creates folder and file with
// rights for their owner only; SQLite gives its side files the rights of the file.
func (db *DB) locate(create bool) error {
	if db.path == "" || db.path == ":memory:" {
		db.dsn = memoryName()
		return nil
	}
	abs, err := filepath.Abs(db.path)
	if err != nil {
		return err
	}
	if strings.ContainsRune(abs, 0) {
		return errors.New("path holds a NUL character")
	}
	p := filepath.ToSlash(abs)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // C:/… becomes file:///C:/…
	}
	if create {
		if err := os.MkdirAll(filepath.Dir(abs), 0o700); err != nil {
			return err
		}
	}
	db.dsn = (&url.URL{Scheme: "file", Path: p}).String()
	db.file, db.inFile = abs, true
	info, err := os.Stat(abs)
	switch {
	case err == nil && !info.Mode().IsRegular():
		return errors.New("not a regular file")
	case err == nil || !create:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	f, err := os.OpenFile(abs, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) { // another process was first
		return nil
	}
	if err != nil {
		return err
	}
	return f.Close()
}

// prepare opens a connection that writes and migrates, waiting for other
// processes that do the same.
func (db *DB) prepare(ctx context.Context, o Options) (*conn, error) {
	var cn *conn
	err := db.retry(ctx, func() error {
		var err error
		if cn, err = db.connect(ctx, false); err != nil {
			return err
		}
		if err = db.migrate(ctx, cn, o); err != nil {
			cn.rollback(ctx)
			cn.close()
		}
		return err
	})
	if err != nil {
		return nil, err
	}
	return cn, nil
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
	var err error
	db.anchor, err = db.prepare(ctx, o) // a database in memory ends with its last connection
	return err
}

// tryToRead makes dsn the one to open, and reads the version of the schema.
func (db *DB) tryToRead(ctx context.Context, dsn string, o Options) error {
	db.dsn = dsn
	return db.retry(ctx, func() error {
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
}
