package cache

import (
	"context"
	"database/sql"
	"errors"
	"time"
)

const serverSchema = `
CREATE UNLOGGED TABLE IF NOT EXISTS cache_entries(
	key bytea PRIMARY KEY, near bytea, run text NOT NULL, made bigint NOT NULL, used bigint NOT NULL, bytes bigint NOT NULL, body bytea NOT NULL
);
CREATE INDEX IF NOT EXISTS cache_entries_near ON cache_entries(near, made) WHERE near IS NOT NULL;
CREATE INDEX IF NOT EXISTS cache_entries_run ON cache_entries(run);
CREATE INDEX IF NOT EXISTS cache_entries_used ON cache_entries(used, key, bytes, made);
CREATE UNLOGGED TABLE IF NOT EXISTS cache_counts(outcome text PRIMARY KEY, n bigint NOT NULL);`

// server is a database of a PostgreSQL server, in the first schema of the search path. A crash of the server empties the
// tables, because they are not logged.
type server struct{ db *sql.DB }

// errNoTables is the error of opening a database without a cache to read it.
var errNoTables = errors.New("the database has no cache")

func openServer(ctx context.Context, open func(context.Context) (*sql.DB, error), readOnly bool) (database, error) {
	db, err := open(ctx)
	if err != nil {
		return nil, err
	}
	db.SetMaxOpenConns(4)
	db.SetConnMaxIdleTime(time.Minute)
	s := server{db}
	if readOnly {
		made := false
		err = s.read(ctx, `SELECT to_regclass('cache_counts') IS NOT NULL`, nil, func() {}, func(scan func(...any) error) error { return scan(&made) })
		if err == nil && !made {
			err = errNoTables
		}
	} else {
		err = s.write(ctx, func(do statementFunc) error { return do(serverSchema) })
	}
	if err != nil {
		return nil, errors.Join(err, db.Close())
	}
	return s, nil
}

func (s server) read(ctx context.Context, statement string, args []any, _ func(), each func(scan func(...any) error) error) error {
	ctx, cancel := context.WithTimeout(ctx, slowest)
	defer cancel()
	rows, err := s.db.QueryContext(ctx, statement, args...)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		if err := each(rows.Scan); err != nil {
			return err
		}
	}
	return rows.Err()
}

// write waits for the changes of other servers, with which it could otherwise deadlock.
func (s server) write(ctx context.Context, change func(statementFunc) error) error {
	ctx, cancel := context.WithTimeout(ctx, slowest)
	defer cancel()
	tx, err := s.db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }() // nothing after Commit
	do := func(statement string, args ...any) error {
		_, err := tx.ExecContext(ctx, statement, args...)
		return err
	}
	if err := do(`SELECT pg_advisory_xact_lock(hashtext('ragflow cache ' || current_schema()))`); err != nil {
		return err
	}
	if err := change(do); err != nil {
		return err
	}
	return tx.Commit()
}

func (s server) remove(ctx context.Context, statement string, args ...any) error {
	return s.write(ctx, func(do statementFunc) error { return do(statement, args...) })
}

func (s server) close() { _ = s.db.Close() } // what was written is committed
