package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
)

// open opens the file with the requested access or, if allowed, read-only.
func (db *DB) open(ctx context.Context) error {
	access := db.options.Access
	location, err := db.locate(access != ReadOnly)
	if err == nil && (access != ReadOnly || db.file == "") {
		err = db.openToWrite(ctx, location)
	}
	unwritable := errors.Is(db.explain(err), ErrReadOnly) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
	switch {
	case db.file == "", access == ReadWrite, access == ReadIfNeeded && !unwritable, access == ReadOnly && err != nil:
		return err
	}
	return db.openToRead(ctx, location)
}

// use makes location the database that connections open.
func (db *DB) use(location string) (err error) {
	if db.pool != nil {
		_ = db.pool.Close()
	}
	separator := "?"
	if strings.Contains(location, "?") {
		separator = "&"
	}
	// A connection has one owner, so SQLite need not lock it. Each driver ignores the
	// parameter of the other: mattn/go-sqlite3 cannot set the defensive mode.
	db.pool, err = sql.Open(driverName, location+separator+"_mutex=no&_defensive=1")
	if err == nil {
		db.pool.SetMaxIdleConns(-1)
	}
	return err
}

// locate returns what to open as a URI. To write, it creates folder and file with
// rights for their owner only; SQLite gives its side files the rights of the file.
func (db *DB) locate(create bool) (string, error) {
	if db.path == "" || db.path == ":memory:" {
		return memoryName(), nil
	}
	abs, err := filepath.Abs(db.path)
	if err != nil {
		return "", err
	}
	db.file = abs
	if strings.ContainsRune(abs, 0) {
		return "", errors.New("path contains a NUL character")
	}
	if create {
		if err := os.MkdirAll(filepath.Dir(abs), 0o700); err != nil {
			return "", err
		}
		f, err := os.OpenFile(abs, os.O_RDWR|os.O_CREATE|os.O_EXCL, 0o600)
		switch {
		case err == nil:
			err = f.Close()
		case errors.Is(err, fs.ErrExist):
			err = nil
		}
		if err != nil {
			return "", err
		}
	}
	if info, err := os.Lstat(abs); err == nil && !info.Mode().IsRegular() {
		return "", errors.New("not a regular file")
	}
	p := filepath.ToSlash(abs)
	if !strings.HasPrefix(p, "/") {
		p = "/" + p // C:/… becomes file:///C:/…
	}
	return (&url.URL{Scheme: "file", Path: p}).String(), nil
}

// memoryName names a new database in memory.
func memoryName() string {
	return fmt.Sprintf("file:/ragflow-%d-%d?vfs=memdb", os.Getpid(), rand.Uint64())
}

func (db *DB) openToWrite(ctx context.Context, location string) error {
	cn, err := db.prepare(ctx, location)
	if err != nil {
		return err
	}
	var seen os.FileInfo
	if db.file != "" {
		if seen, err = os.Stat(db.file); err != nil {
			cn.close()
			return err
		}
	}
	db.raw, db.writer = location+immutable, &writer{db: db, cn: cn, seen: seen, turn: make(chan struct{}, 1)}
	return nil
}

// prepare opens a connection that writes and migrates the file. It waits for
// other processes that do the same.
func (db *DB) prepare(ctx context.Context, location string) (cn *conn, err error) {
	if err := db.use(location); err != nil {
		return nil, err
	}
	err = db.retry(ctx, func() error {
		if cn, err = db.connect(ctx, false); err != nil {
			return err
		}
		if err = db.migrate(ctx, cn); err != nil {
			cn.rollback()
			cn.close()
		}
		return err
	})
	return cn, err
}

// immutable makes a URI open the file alone, without its log and without locks.
const immutable = "?mode=ro&immutable=1"

// openToRead opens the file for reading only. In WAL mode SQLite needs two files
// beside the database. If they are missing and cannot be made, the log is empty
// and the file alone is the whole database, so it is opened as immutable. A file
// that does not exist and cannot be made is an empty database.
func (db *DB) openToRead(ctx context.Context, location string) error {
	if _, err := os.Stat(db.file); errors.Is(err, fs.ErrNotExist) {
		db.file = ""
		cn, err := db.prepare(ctx, memoryName())
		if err == nil {
			db.idle <- cn // a database in memory ends with its last connection
		}
		return err
	}
	err := db.tryToRead(ctx, location+"?mode=ro")
	if code := codeOf(err) & 0xff; err == nil || code != codeCantOpen && code != codeReadOnly {
		return err
	}
	if log, statErr := os.Stat(db.file + "-wal"); statErr == nil && log.Size() > 0 {
		return db.readOnlyError("its write-ahead log cannot be read without writing beside it: copy the folder to where it can be written, and open the copy")
	}
	return db.tryToRead(ctx, location+immutable)
}

// tryToRead opens location and checks the version of the schema.
func (db *DB) tryToRead(ctx context.Context, location string) error {
	if err := db.use(location); err != nil {
		return err
	}
	return db.retry(ctx, func() error {
		cn, err := db.connect(ctx, true)
		if err != nil {
			return err
		}
		defer cn.close()
		version, err := db.version(ctx, cn)
		if err == nil && version < len(db.options.Migrations) {
			err = db.readOnlyError("it has an older schema that must be migrated: open it once where it can be written")
		}
		return err
	})
}

// checkSchema returns an error that matches [ErrForeign] unless the tables, indexes and triggers are exactly
// those of the first migrations. Otherwise a prepared file could replace a table by a view or a trigger, or a
// column by a computed one. Other views may exist: this program reads none.
func (db *DB) checkSchema(ctx context.Context, cn *conn, version int) error {
	if db.file == "" || version == 0 || db.options.ApplicationID == 0 {
		return nil
	}
	want, err := schemaOf(ctx, db.options.Migrations[:version])
	if err != nil {
		return err
	}
	got, err := readSchema(&Tx{ctx, cn}, len(want))
	if err == nil && !slices.Equal(got, want) {
		err = &Error{db.path, ErrForeign, errors.New("it has other tables, indexes or triggers than this version makes: if an earlier one made it, move it away")}
	}
	return err
}

// schemas caches the results of schemaOf by the joined texts of migrations.
var schemas sync.Map //nolint:gochecknoglobals // a cache of what constant texts give

// schemaOf returns the schema that migrations create.
func schemaOf(ctx context.Context, migrations []string) ([]string, error) {
	key := strings.Join(migrations, "\x00")
	if known, ok := schemas.Load(key); ok {
		return known.([]string), nil
	}
	db, err := Open(ctx, "", Options{Migrations: migrations})
	if err != nil {
		return nil, err
	}
	var made []string
	err = db.Read(ctx, func(tx *Tx) (err error) {
		made, err = readSchema(tx, math.MaxInt)
		return err
	})
	if err = errors.Join(err, db.Close()); err == nil {
		schemas.Store(key, made)
	}
	return made, err
}

// readSchema returns the objects of the schema, except views and the statistics of the query planner, and at
// most one more than limit.
func readSchema(tx *Tx, limit int) (out []string, err error) {
	for row := range tx.Query(`SELECT type, name, tbl_name, coalesce(sql, '') FROM sqlite_schema
		WHERE type <> 'view' AND name NOT LIKE 'sqlite\_stat%' ESCAPE '\'`) {
		var kind, name, table, text string
		if err := row.Scan(&kind, &name, &table, &text); err != nil {
			return nil, err
		}
		if out = append(out, strings.Join([]string{kind, name, table, text}, "\x00")); len(out) > limit {
			break
		}
	}
	slices.Sort(out)
	return out, nil
}

// migrate updates the file to the newest version, or does not change it.
func (db *DB) migrate(ctx context.Context, cn *conn) error {
	// Check before changing anything: a foreign file stays as it is.
	version, err := db.version(ctx, cn)
	if err != nil {
		return err
	}
	if _, err := cn.sc.ExecContext(ctx, "PRAGMA journal_mode = WAL"); err != nil {
		return err
	}
	if version == len(db.options.Migrations) {
		return nil
	}
	if err := cn.do("BEGIN IMMEDIATE"); err != nil {
		return err
	}
	// Another process may have migrated while this one waited.
	if version, err = db.version(ctx, cn); err != nil {
		return err
	}
	for ; version < len(db.options.Migrations); version++ {
		step := fmt.Sprintf("%s; PRAGMA user_version = %d; PRAGMA application_id = %d",
			db.options.Migrations[version], version+1, db.options.ApplicationID)
		if _, err := cn.sc.ExecContext(ctx, step); err != nil {
			return fmt.Errorf("migrate to schema %d: %w", version+1, err)
		}
	}
	return cn.do("COMMIT")
}

// version returns the schema version of the file, 0 for an empty one, and checks its
// schema.
func (db *DB) version(ctx context.Context, cn *conn) (int, error) {
	var version, tables int
	var id int32
	err := (&Tx{ctx, cn}).QueryRow(`SELECT user_version, application_id, (SELECT count(*) FROM sqlite_schema)
		FROM pragma_user_version, pragma_application_id`).Scan(&version, &id, &tables)
	want, known := db.options.ApplicationID, len(db.options.Migrations)
	switch {
	case err != nil:
		return 0, err
	case want != 0 && id != want && (tables > 0 || version > 0):
		return 0, &Error{db.path, ErrForeign, fmt.Errorf("application id %#x, want %#x", id, want)}
	case version < 0 || version > known:
		return 0, &Error{db.path, ErrNewer, fmt.Errorf("schema %d, this one knows %d", version, known)}
	}
	return version, db.checkSchema(ctx, cn, version)
}
