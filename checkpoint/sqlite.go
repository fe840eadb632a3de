package checkpoint

import (
	"context"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"regexp"
	"strings"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sqlite"
)

// SQLite is a Store in one file. It is safe for concurrent use, and several
// processes may have the same file open.
type SQLite struct {
	db    *sqlite.DB
	clock func() time.Time
	path  string // as given; for messages
	names names

	holdings holdings
	sealer   *sealer // nil: nothing is sealed
}

// Open opens or creates the store at path; ":memory:" or "" gives one that
// lives until Close. A damaged file, one of a newer version or of another
// program is refused with an error that names it, and left as it is; so is one
// whose key is missing or wrong, with a [*KeyError].
func Open(ctx context.Context, path string, o Options) (*SQLite, error) {
	if o.Clock == nil {
		o.Clock = time.Now
	}
	db, err := sqlite.Open(ctx, path, sqlite.Options{
		Migrations: migrations(), ApplicationID: applicationID, Durability: o.Durability, Access: o.Access,
	})
	if err != nil {
		return nil, err
	}
	s := &SQLite{db: db, clock: o.Clock, path: path}
	if err := s.unlock(ctx, o.Keys); err != nil {
		return nil, errors.Join(err, db.Close())
	}
	if db.ReadOnly() {
		return s, nil // views are for other tools; none of ours needs them
	}
	if err := s.makeViews(ctx, o.Views); err != nil {
		return nil, errors.Join(fmt.Errorf("open store %s: %w", path, err), db.Close())
	}
	return s, nil
}

// makeViews brings the views to the given texts. Views hold no data, so they
// are not migrated but made anew.
func (s *SQLite) makeViews(ctx context.Context, views []string) error {
	for _, v := range views {
		if !createView.MatchString(v) {
			return fmt.Errorf("not a CREATE VIEW statement: %q", v)
		}
	}
	views = append([]string{logView()}, views...)
	sum := sha256.Sum256([]byte(strings.Join(views, "\x00")))
	want := hex.EncodeToString(sum[:])
	current := func(tx *sqlite.Tx) (bool, error) {
		var got string
		err := tx.QueryRow(`SELECT value FROM meta WHERE key = 'views'`).Scan(&got)
		if errors.Is(err, sql.ErrNoRows) {
			err = nil
		}
		return got == want, err
	}
	var done bool
	err := s.db.Read(ctx, func(tx *sqlite.Tx) (err error) {
		done, err = current(tx)
		return err
	})
	if err != nil || done {
		return err
	}
	return s.db.Write(ctx, func(tx *sqlite.Tx) error {
		if done, err := current(tx); err != nil || done { // another process was first
			return err
		}
		if err := dropViews(tx); err != nil {
			return err
		}
		for _, v := range views {
			if _, err := tx.Exec(v); err != nil {
				return fmt.Errorf("make view: %w", err)
			}
		}
		_, err := tx.Exec(`INSERT INTO meta VALUES('views', ?) ON CONFLICT DO UPDATE SET value = excluded.value`, want)
		return err
	})
}

var createView = regexp.MustCompile(`(?i)^\s*CREATE\s+VIEW\s`)

func dropViews(tx *sqlite.Tx) error {
	var drop []string
	for row := range tx.Query(`SELECT name FROM sqlite_schema WHERE type = 'view'`) {
		var name string
		if err := row.Scan(&name); err != nil {
			return err
		}
		drop = append(drop, `DROP VIEW "`+strings.ReplaceAll(name, `"`, `""`)+`"`)
	}
	for _, d := range drop {
		if _, err := tx.Exec(d); err != nil {
			return err
		}
	}
	return nil
}

// Close finishes the writes that were begun and closes the file.
func (s *SQLite) Close() error { return s.db.Close() }

// Flush moves what the write-ahead log holds into the file itself, as far as
// readers and other processes let it. Nothing is less durable before it; the
// file alone is then complete, for example to be copied.
func (s *SQLite) Flush(ctx context.Context) error { return s.db.Checkpoint(ctx) }

// ReadOnly reports whether the file was opened for reading only.
func (s *SQLite) ReadOnly() bool { return s.db.ReadOnly() }

// Counters tell what the store did since it was opened, for tests and
// diagnostics.
func (s *SQLite) Counters() sqlite.Counters { return s.db.Counters() }

// micros is the time as the store keeps it.
func (s *SQLite) micros() int64 { return s.clock().UnixMicro() }

// notFound says which thread, commit or run there is not.
func notFound(format string, args ...any) error {
	return fmt.Errorf(format+": %w", append(args, graph.ErrNotFound)...)
}

func superseded(l graph.Lease) error {
	return fmt.Errorf("thread %q, lease %d of %s: %w", l.Thread, l.Token, l.Owner, graph.ErrSuperseded)
}

func conflict(thread string, head, parent graph.CommitID) error {
	return fmt.Errorf("thread %q: %w: it is commit %d, not %d", thread, graph.ErrConflict, head, parent)
}
