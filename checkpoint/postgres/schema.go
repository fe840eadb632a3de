package postgres

import (
	"context"
	_ "embed" // the schema
	"errors"
	"fmt"
	"strconv"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.com/ragflow/graph"
)

// schemaVersion is that of schema, the tables of this program.
const schemaVersion = 1

//go:embed schema.sql
var schema string

// Keys of the table meta.
const (
	versionKey   = "version"
	lastTokenKey = "last token" // greatest lease token of deleted threads, which is not given again
)

// migrate makes the tables. It is one transaction, and one process at a time does it.
func (s *Store) migrate(ctx context.Context, o Options) error {
	version, err := s.version(ctx, s.pool)
	switch {
	case err != nil || version == schemaVersion:
		return err
	case o.ReadOnly:
		return fmt.Errorf("schema %q has no tables yet: %w", s.schema, graph.ErrNotFound)
	}
	return s.write(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext('ragflow '||$1))`, s.schema); err != nil {
			return err
		}
		version, err := s.version(ctx, tx) // another process may have been first
		if err != nil || version == schemaVersion {
			return err
		}
		for _, statement := range []string{
			`CREATE SCHEMA IF NOT EXISTS ` + pgx.Identifier{s.schema}.Sanitize(),
			`CREATE TABLE meta(key text NOT NULL, value text NOT NULL)`,
			`INSERT INTO meta VALUES('` + lastTokenKey + `', '0'), ('` + versionKey + `', '` + strconv.Itoa(schemaVersion) + `')`,
			schema,
		} {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return fmt.Errorf("make the tables: %w", err)
			}
		}
		return nil
	})
}

// version reads the version of the schema, 0 if there is none. It reads the catalog, because to_regclass does not see a
// table that another session made since the transaction began.
func (s *Store) version(ctx context.Context, q queryer) (version int, err error) {
	const meta = `SELECT EXISTS(SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'meta')`
	var exists bool
	if err := q.QueryRow(ctx, meta, s.schema).Scan(&exists); err != nil || !exists {
		return 0, err
	}
	err = q.QueryRow(ctx, `SELECT coalesce((SELECT value FROM meta WHERE key = $1), '0')::int`, versionKey).Scan(&version)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code[:2] == "42" || err == nil && version == 0 {
		return 0, fmt.Errorf("schema %q: %w", s.schema, ErrForeign)
	}
	if err == nil && version > schemaVersion {
		return 0, fmt.Errorf("schema %q has version %d, this program knows %d: %w", s.schema, version, schemaVersion, ErrNewer)
	}
	return version, err
}
