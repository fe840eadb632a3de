package sqlite

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"sync"
	"sync/atomic"
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
	// Patience is how long others may hold a lock that is waited for, until that
	// is a [LockedError]: one that was stopped in the middle of a write would be
	// waited for without end. Zero: [DefaultPatience].
	Patience time.Duration
}

// DefaultPatience is longer than any one transaction of a healthy process takes.
const DefaultPatience = 2 * time.Minute

// Counters tell what a DB did since it was opened.
type Counters struct {
	Statements int64 // statements run by callbacks and by the package itself
	Commits    int64 // transactions that wrote
	Writes     int64 // callbacks saved; greater than Commits where they were grouped
}

// DB is an open database. It is safe for concurrent use.
type DB struct {
	path    string        // as given; for messages
	wait    time.Duration // for a lock that others hold
	file    string        // its absolute path; empty in memory
	dsn     string
	readers chan struct{} // one for each connection that may be taken for reading
	idle    stack         // those of them that are open; the last used is taken first: it knows the schema and the pages
	closing chan struct{}
	once    sync.Once
	inFile  bool
	synced  bool // commits are forced to the disk

	writer   *writer // nil where the database was opened for reading only
	readOnly bool
	anchor   *conn // keeps a database in memory where there is no writer that does

	statements, commits, writes atomic.Int64
}

// Open opens or creates the database at path, together with its folder. The
// path ":memory:", or an empty one, gives a private database in memory that
// ends with Close. Errors that can be told apart: [DamagedError], [NewerError],
// [ForeignError], [LockedError]. ctx bounds opening only, including the wait for another
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
	if o.Patience <= 0 {
		o.Patience = DefaultPatience
	}
	db := &DB{
		path:    path,
		wait:    o.Patience,
		readers: make(chan struct{}, o.Readers),
		closing: make(chan struct{}),
		synced:  o.Durability == PowerLoss,
	}
	if err := db.open(ctx, o); err != nil {
		return nil, fmt.Errorf("open database %s: %w", path, db.explain(err))
	}
	for range o.Readers {
		db.readers <- struct{}{}
	}
	return db, nil
}

// Read runs fn in a transaction that sees the database as it was when it began
// and cannot change it. When ctx ends, a statement of QueryRow is interrupted,
// and one of Query ends at its next row.
func (db *DB) Read(ctx context.Context, fn func(*Tx) error) error {
	return db.retry(ctx, func() error {
		return db.explain(db.read(ctx, func(cn *conn) error { return cn.snapshot(ctx, fn) }))
	})
}

// ReadOnce is Read for a callback that runs one statement, and others only while
// it goes through the rows of that one. That sees the database at one moment by itself:
// a transaction around it would be three more statements.
func (db *DB) ReadOnce(ctx context.Context, fn func(*Tx) error) error {
	return db.retry(ctx, func() error {
		return db.explain(db.read(ctx, func(cn *conn) error { return call(fn, newTx(ctx, cn)) }))
	})
}

// read lends a connection.
func (db *DB) read(ctx context.Context, fn func(*conn) error) error {
	select {
	case <-db.closing: // looked at first: select picks at random
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	default:
	}
	select {
	case <-db.readers:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-db.closing:
		return ErrClosed
	}
	cn := db.idle.pop()
	defer func() {
		db.idle.push(cn)
		db.readers <- struct{}{}
	}()
	if cn == nil {
		fresh, err := db.connect(ctx, true)
		if err != nil {
			return err
		}
		cn = fresh
	}
	err := fn(cn)
	if cn.broken {
		cn.close()
		cn = nil
	}
	return err
}

// snapshot runs fn in a transaction for reading.
func (cn *conn) snapshot(ctx context.Context, fn func(*Tx) error) error {
	defer func() { cn.broken = !cn.rollback(ctx) }()
	// BEGIN waits for nothing; with ctx, drivers would start a goroutine for it.
	if err := cn.control(context.WithoutCancel(ctx), "BEGIN"); err != nil {
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
		if db.writer != nil {
			db.writer.close()
		}
		for range cap(db.readers) {
			<-db.readers
		}
		for cn := db.idle.pop(); cn != nil; cn = db.idle.pop() {
			cn.close()
		}
		if db.anchor != nil {
			db.anchor.close()
		}
		err = db.Checkpoint(context.Background())
	})
	return err
}

// retry calls f until it succeeds, fails for another reason than a lock that
// someone else holds, was held up for longer than is waited, or ctx ends.
func (db *DB) retry(ctx context.Context, f func() error) error {
	var since time.Time
	for pause := time.Millisecond; ; pause = min(2*pause, 50*time.Millisecond) {
		err := f()
		if err == nil || !busy(err) {
			return err
		}
		if since.IsZero() {
			since = time.Now()
		} else if time.Since(since) >= db.wait {
			return &LockedError{Path: db.path, Waited: db.wait, Err: err}
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
