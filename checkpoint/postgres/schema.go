package postgres

import (
	"context"
	_ "embed" // the schema
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"example.com/ragflow/graph"
)

// schemaVersion is that of schema, the tables of this program.
const schemaVersion = 2

//go:embed schema.sql
var schema string

// Keys of the table meta.
const (
	versionKey   = "version"
	viewsKey     = "views"      // texts of the views in Options
	lastTokenKey = "last token" // greatest lease token of deleted threads, which is not given again
)

// migrate brings the schema up to date and makes the views. It is one transaction, and
// one process at a time does it.
func (s *Store) migrate(ctx context.Context, o Options) error {
	want := strings.Join(o.Views, ";\n")
	version, made, err := s.version(ctx, s.pool)
	switch {
	case err != nil || version == schemaVersion && (made == want || o.ReadOnly):
		return err
	case o.ReadOnly:
		return fmt.Errorf("schema %q has no tables of this version yet: %w", s.schema, graph.ErrNotFound)
	}
	return s.write(ctx, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext('ragflow '||$1))`, s.schema); err != nil {
			return err
		}
		version, made, err := s.version(ctx, tx) // another process may have been first
		if err != nil {
			return err
		}
		var statements []string
		if version == 0 {
			statements = []string{
				`CREATE SCHEMA IF NOT EXISTS ` + pgx.Identifier{s.schema}.Sanitize(),
				`CREATE TABLE meta(key text NOT NULL, value text NOT NULL)`,
				`INSERT INTO meta VALUES('` + lastTokenKey + `', '0')`,
				schema,
			}
		}
		if made != want {
			for _, v := range o.Views {
				name, ok := viewName(v)
				if !ok {
					return fmt.Errorf("not a CREATE VIEW statement: %q", v)
				}
				statements = append(statements, `DROP VIEW IF EXISTS `+name, v)
			}
		}
		for _, statement := range statements {
			if _, err := tx.Exec(ctx, statement); err != nil {
				return fmt.Errorf("make the tables: %w", err)
			}
		}
		_, err = tx.Exec(ctx, `WITH old AS (DELETE FROM meta WHERE key IN ($1, $3)) INSERT INTO meta VALUES($1, $2), ($3, $4)`,
			versionKey, strconv.Itoa(schemaVersion), viewsKey, want)
		return err
	})
}

// viewName returns the name in a statement "CREATE VIEW name…".
func viewName(statement string) (string, bool) {
	words := strings.Fields(statement)
	if len(words) < 3 || !strings.EqualFold(words[0]+words[1], "CREATEVIEW") {
		return "", false
	}
	name, _, _ := strings.Cut(words[2], "(")
	return name, true
}

// version reads the version of the schema, 0 if there is none, and the texts of its views.
func (s *Store) version(ctx context.Context, q queryer) (version int, views string, err error) {
	var exists bool
	if err := q.QueryRow(ctx, `SELECT to_regclass($1) IS NOT NULL`, pgx.Identifier{s.schema, "meta"}.Sanitize()).Scan(&exists); err != nil || !exists {
		return 0, "", err
	}
	err = q.QueryRow(ctx, `SELECT coalesce((SELECT value FROM meta WHERE key = $1), '0')::int, coalesce((SELECT value FROM meta WHERE key = $2), '')`,
		versionKey, viewsKey).Scan(&version, &views)
	if e, ok := errors.AsType[*pgconn.PgError](err); ok && e.Code[:2] == "42" || err == nil && version == 0 {
		return 0, "", fmt.Errorf("schema %q: %w", s.schema, ErrForeign)
	}
	if err == nil && version < schemaVersion {
		return 0, "", fmt.Errorf("schema %q has version %d, from before the first release: %w", s.schema, version, ErrForeign)
	}
	if err == nil && version > schemaVersion {
		return 0, "", fmt.Errorf("schema %q has version %d, this program knows %d: %w", s.schema, version, schemaVersion, ErrNewer)
	}
	return version, views, err
}
