package checkpoint

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/internal/stored"
)

// Archive is a thread out of its store.
type Archive = stored.Archive

// Finding is a damage that Verify found.
type Finding = stored.Finding

// Durability selects the failures that a commit survives.
type Durability = sqlite.Durability

// Access selects how a file is opened.
type Access = sqlite.Access

// Counters count what a store did since it was opened, for tests and diagnostics.
type Counters = sqlite.Counters

// The levels of durability and the kinds of access.
const (
	ProcessCrash = sqlite.ProcessCrash // every commit survives the death of the process; a power failure may lose the last ones
	PowerLoss    = sqlite.PowerLoss    // every commit is forced to the disk, and survives a power failure too
	ReadWrite    = sqlite.ReadWrite    // a file or folder that cannot be written is an error that matches [ErrReadOnly]
	ReadIfNeeded = sqlite.ReadIfNeeded // reading only if the file or folder cannot be written
	ReadOnly     = sqlite.ReadOnly     // every write fails with [ErrReadOnly]
)

// Failures of a file; match them with errors.Is. The operation that failed has
// changed nothing.
var (
	ErrClosed   = sqlite.ErrClosed   // the store was closed
	ErrDamaged  = sqlite.ErrDamaged  // the file is not a valid database
	ErrFull     = sqlite.ErrFull     // the disk is full
	ErrIO       = sqlite.ErrIO       // the disk cannot be read or written
	ErrReadOnly = sqlite.ErrReadOnly // the file or folder cannot be written
	ErrLocked   = sqlite.ErrLocked   // another process holds the file for minutes
	ErrGone     = sqlite.ErrGone     // the file was deleted or replaced
	ErrNewer    = sqlite.ErrNewer    // the file was written by a newer version
	ErrForeign  = sqlite.ErrForeign  // the file holds other data
)

// Options configure a store. The zero value works.
type Options struct {
	// Views are CREATE VIEW statements over the view log and the tables, so that
	// other tools can read the content of bodies. They are recreated when a text changes.
	Views []string
	// Texts returns the title that an update gives its thread, and the text that the thread is found by; see
	// [graph.ThreadQuery]. It gets the body of an update of the root. Nil: threads have only the titles of Describe.
	Texts func(update []byte) (title, text string)
	// Durability of commits.
	Durability Durability
	// Access decides whether a read-only file is an error.
	Access Access
	// Keys encrypt the store; see the package comment. An encrypted store opens
	// only with its keys. Nil: no encryption.
	Keys *Keyring
	// Clock is the time source for leases and for commits without a time. Nil: time.Now.
	Clock func() time.Time
}

// SQLite is a [graph.Store] in one file. It is safe for concurrent use, and
// several processes may have the same file open.
type SQLite struct {
	db     *sqlite.DB
	clock  func() time.Time
	path   string  // as given, for messages
	sealer *sealer // nil: nothing is encrypted
	cache  cache
	owner  string // of leases that name none
	texts  stored.Texts
}

var (
	_ graph.Store  = (*SQLite)(nil)
	_ graph.Copier = (*SQLite)(nil)
	_ graph.Pruner = (*SQLite)(nil)
	_ graph.Lister = (*SQLite)(nil)
)

// Open opens or creates the store at path; ":memory:" or "" gives one in memory
// that ends with Close. The file is refused and left unchanged if it is damaged
// ([ErrDamaged]), newer ([ErrNewer]), of another program ([ErrForeign]), or if its key
// is missing or wrong ([ErrKey]).
func Open(ctx context.Context, path string, o Options) (*SQLite, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	db, err := openFile(ctx, path, o.Durability, o.Access)
	if err != nil {
		return nil, err
	}
	s := &SQLite{db: db, clock: o.Clock, path: path, owner: ProcessOwner(), texts: o.Texts}
	if err := s.unlock(ctx, o.Keys); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if db.ReadOnly() {
		return s, nil // views are for other tools
	}
	if err := s.makeViews(ctx, append([]string{logView()}, o.Views...)); err != nil {
		return nil, errors.Join(fmt.Errorf("open store %s: %w", path, err), db.Close())
	}
	return s, nil
}

// openFile opens the database of a store, without its keys and views.
func openFile(ctx context.Context, path string, d Durability, a Access) (*sqlite.DB, error) {
	return sqlite.Open(ctx, path, sqlite.Options{
		Migrations: migrations(), ApplicationID: applicationID, Erase: true,
		Durability: d, Access: a,
	})
}

var createView = regexp.MustCompile(`(?i)^\s*CREATE\s+VIEW\s`)

// makeViews replaces all views if their texts have changed.
func (s *SQLite) makeViews(ctx context.Context, views []string) error {
	for _, v := range views {
		if !createView.MatchString(v) {
			return fmt.Errorf("not a CREATE VIEW statement: %q", v)
		}
	}
	want, made := fmt.Sprintf("%x", sha256.Sum256([]byte(strings.Join(views, "\x00")))), []string(nil)
	err := s.db.Read(ctx, func(tx *sqlite.Tx) (err error) {
		made, err = column[string](tx, `SELECT CAST(value AS TEXT) FROM meta WHERE key = ?`, viewsKey)
		return err
	})
	if err != nil || slices.Equal(made, []string{want}) {
		return err
	}
	return s.db.Write(ctx, func(tx *sqlite.Tx) error {
		old, err := column[string](tx, `SELECT 'DROP VIEW "' || replace(name, '"', '""') || '"' FROM sqlite_schema WHERE type = 'view'`)
		if err != nil {
			return err
		}
		for _, statement := range append(old, views...) {
			if err := tx.Do(statement); err != nil {
				return fmt.Errorf("make view: %w", err)
			}
		}
		return putMeta(tx, viewsKey, want)
	})
}

// column returns the only column of a query.
func column[T any](tx *sqlite.Tx, query string, args ...any) ([]T, error) {
	var out []T
	for row := range tx.Query(query, args...) {
		var v T
		if err := row.Scan(&v); err != nil {
			return nil, err
		}
		out = append(out, v)
	}
	return out, nil
}

func putMeta(tx *sqlite.Tx, key string, value any) error {
	return tx.Do(`INSERT INTO meta VALUES(?, ?) ON CONFLICT DO UPDATE SET value = excluded.value`, key, value)
}

// Close finishes the writes that were begun and closes the file.
func (s *SQLite) Close() error { return s.db.Close() }

// Flush moves the write-ahead log into the file itself, as far as readers and
// other processes allow.
func (s *SQLite) Flush(ctx context.Context) error { return s.db.Checkpoint(ctx) }

// Vacuum rewrites the file without free space. It needs as much space on the disk
// as the file takes, and blocks writers meanwhile.
func (s *SQLite) Vacuum(ctx context.Context) error { return s.db.Vacuum(ctx) }

// ReadOnly reports whether the file was opened for reading only.
func (s *SQLite) ReadOnly() bool { return s.db.ReadOnly() }

// Counters returns the counters of the store.
func (s *SQLite) Counters() Counters { return s.db.Counters() }

// now is the time in microseconds since 1970.
func (s *SQLite) now() int64 { return s.clock().UnixMicro() }
