package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// Durability says what a commit survives.
type Durability int

// The levels of durability.
const (
	// ProcessCrash keeps every commit when the process dies at any point. When
	// the machine loses power the last commits may be lost, without damage.
	ProcessCrash Durability = iota
	// PowerLoss keeps every commit when the machine loses power, too: each
	// transaction is forced to the disk before Write returns. Writes that wait
	// at the same time share one transaction, so that many writers pay for it
	// together.
	PowerLoss
)

// Options say how to open a database. The zero value opens a file without a
// schema.
type Options struct {
	// Migrations bring the schema from version to version: the first from an
	// empty file to version 1, and so on. Each runs once, in a transaction of
	// its own. Those that were released must never change.
	Migrations []string
	// ApplicationID marks the files of one kind, so that another kind is
	// refused instead of misread. Zero: not marked, not looked at.
	ApplicationID int32
	// Durability of commits.
	Durability Durability
	// Access says whether a file that cannot be written is an error.
	Access Access
	// Readers is how many reads run side by side. Zero: the number of CPUs, at
	// least 4.
	Readers int
}

// Counters tell what a DB did since it was opened.
type Counters struct {
	Statements int64 // statements run by callbacks and by the package itself
	Commits    int64 // transactions that wrote
	Writes     int64 // callbacks saved; greater than Commits where they were grouped
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	path    string // as given; for messages
	file    string // its absolute path; empty in memory
	dsn     string
	pool    *sql.DB
	readers chan *conn // idle ones; nil stands for one that was not opened yet
	queue   chan *request
	lead    chan *writer // holds the writer while nobody serves
	closing chan struct{}
	stopped chan struct{} // the writer has ended
	once    sync.Once
	inFile  bool
	synced  bool // commits are forced to the disk

	readOnly bool  // opened for reading only; there is no writer
	anchor   *conn // keeps a database in memory where there is no writer that does

	statements, commits, writes atomic.Int64
}

// Open opens or creates the database at path, together with its folder. The
// path ":memory:", or an empty one, gives a private database in memory that
// ends with Close. Errors that can be told apart: [DamagedError], [NewerError],
// [ForeignError]. ctx bounds opening only, including the wait for another
// process that is just migrating.
func Open(ctx context.Context, path string, o Options) (*DB, error) {
	if o.Durability != ProcessCrash && o.Durability != PowerLoss {
		return nil, fmt.Errorf("open database %s: unknown durability %d", path, o.Durability)
	}
	if err := o.Access.check(); err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, err)
	}
	if o.Readers <= 0 {
		o.Readers = max(4, runtime.GOMAXPROCS(0))
	}
	db := &DB{
		path:    path,
		readers: make(chan *conn, o.Readers),
		queue:   make(chan *request, maxGroup),
		lead:    make(chan *writer, 1),
		closing: make(chan struct{}),
		stopped: make(chan struct{}),
		synced:  o.Durability == PowerLoss,
	}
	if err := db.open(ctx, o); err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, db.explain(err))
	}
	for range o.Readers {
		db.readers <- nil
	}
	return db, nil
}

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
	if err = db.openToRead(ctx, o); err == nil {
		close(db.stopped) // there is no writer
	}
	return err
}

// cannotWrite tells a file or folder that may only be read from other trouble.
func cannotWrite(err error) bool {
	return errors.Is(err, ErrReadOnly) || errors.Is(err, fs.ErrPermission) || errors.Is(err, syscall.EROFS)
}

// openToWrite opens the pool and lays the writer out.
func (db *DB) openToWrite(ctx context.Context, o Options) error {
	w, err := db.openPrepared(ctx, o)
	if err != nil {
		return err
	}
	db.lead <- w
	return nil
}

// openPrepared opens the pool and makes the writer.
func (db *DB) openPrepared(ctx context.Context, o Options) (*writer, error) {
	pool, err := openPool(db.dsn)
	if err != nil {
		return nil, err
	}
	db.pool = pool
	w, err := db.prepare(ctx, o)
	if err != nil {
		return nil, errors.Join(err, pool.Close())
	}
	return w, nil
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

// prepare opens the writer's connection and migrates, waiting for other
// processes that do the same.
func (db *DB) prepare(ctx context.Context, o Options) (*writer, error) {
	var cn *conn
	err := retry(ctx, func() error {
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
	return &writer{db: db, cn: cn}, nil
}

// Read runs fn in a transaction that sees the database as it was when it began
// and cannot change it. When ctx ends, a statement of QueryRow is interrupted,
// and one of Query ends at its next row.
func (db *DB) Read(ctx context.Context, fn func(*Tx) error) error {
	return retry(ctx, func() error { return db.explain(db.read(ctx, fn)) })
}

func (db *DB) read(ctx context.Context, fn func(*Tx) error) error {
	select {
	case <-db.closing: // looked at first: select picks at random
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	default:
	}
	var cn *conn
	select {
	case cn = <-db.readers:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-db.closing:
		return ErrClosed
	}
	defer func() { db.readers <- cn }()
	if cn == nil {
		fresh, err := db.connect(ctx, true)
		if err != nil {
			return err
		}
		cn = fresh
	}
	defer func() { // set before BEGIN, which may succeed and yet report that ctx ended
		if !cn.rollback(ctx) {
			cn.close()
			cn = nil
		}
	}()
	if err := cn.control(ctx, "BEGIN"); err != nil {
		return err
	}
	tx := newTx(ctx, cn)
	// BEGIN alone takes no snapshot; the first look at the file does.
	var one int
	if err := tx.QueryRow("SELECT 1 FROM sqlite_schema LIMIT 1").Scan(&one); err != nil && !errors.Is(err, sql.ErrNoRows) {
		return err
	}
	return call(fn, tx)
}

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
	rows, err := tx.Query(query)
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var line string
		if err := rows.Scan(&line); err != nil {
			return err
		}
		if line != "ok" {
			*to = append(*to, line)
		}
	}
	return rows.Err()
}

// Vacuum writes the file anew without what was deleted from it, and gives the
// room back to the disk. It needs as much free room as the file takes, and
// waits until no other process uses the file, or until ctx ends.
func (db *DB) Vacuum(ctx context.Context) error {
	if db.readOnly {
		return fmt.Errorf("vacuum: %w", db.denied(errOpenedToRead))
	}
	cn, err := db.connect(ctx, false)
	if err != nil {
		return db.explain(err)
	}
	defer cn.close()
	if err := retry(ctx, func() error { return cn.exec(ctx, "VACUUM") }); err != nil {
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
	return retry(ctx, func() error {
		_, err := cn.c.ExecContext(ctx, "VACUUM INTO ?", path)
		return db.explain(err)
	})
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
	err = cn.c.QueryRowContext(ctx, "PRAGMA wal_checkpoint(TRUNCATE)").Scan(&blocked, &frames, &moved)
	if busy(err) {
		return nil
	}
	return db.explain(err)
}

// Counters returns what the DB did so far.
func (db *DB) Counters() Counters {
	return Counters{Statements: db.statements.Load(), Commits: db.commits.Load(), Writes: db.writes.Load()}
}

// Close finishes the writes that were begun, waits for reads under way, empties
// the write-ahead log and closes the file. Closing twice is not an error.
func (db *DB) Close() error {
	var err error
	db.once.Do(func() {
		close(db.closing)
		if !db.readOnly {
			(<-db.lead).drain()
		}
		for range cap(db.readers) {
			if cn := <-db.readers; cn != nil {
				cn.close()
			}
		}
		if db.anchor != nil {
			db.anchor.close()
		}
		err = errors.Join(db.Checkpoint(context.Background()), db.pool.Close())
	})
	return err
}

// retry calls f until it succeeds, fails for another reason than a lock that
// someone else holds, or ctx ends.
func retry(ctx context.Context, f func() error) error {
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := f()
		if err == nil || !busy(err) {
			return err
		}
		timer := time.NewTimer(pause/2 + rand.N(pause))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return fmt.Errorf("waiting for another process that uses the database: %w", context.Cause(ctx))
		}
	}
}
