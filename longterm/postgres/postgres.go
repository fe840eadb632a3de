// Package postgres keeps the facts of package longterm in a PostgreSQL database, in the table
// longterm_facts, with longterm_terms as its index, of the first schema of the search path.
//
//	store, err := postgres.Open(ctx, os.Getenv("DATABASE_URL"), longterm.Options{})
package postgres

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/ragflow/longterm"
)

// Paths are compared byte by byte, so that a prefix is a range of the primary key.
const schema = `
SELECT pg_advisory_xact_lock(7811899432);
CREATE TABLE IF NOT EXISTS longterm_facts(
	path text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, value text NOT NULL,
	created bigint NOT NULL, updated bigint NOT NULL, expires bigint, -- microseconds
	model text NOT NULL, vector bytea, words bigint NOT NULL,
	PRIMARY KEY(path, key)
);
CREATE TABLE IF NOT EXISTS longterm_terms(
	term text COLLATE "C" NOT NULL, path text COLLATE "C" NOT NULL, key text COLLATE "C" NOT NULL, words bigint NOT NULL,
	PRIMARY KEY(term, path, key),
	FOREIGN KEY(path, key) REFERENCES longterm_facts ON DELETE CASCADE
);
CREATE INDEX IF NOT EXISTS longterm_facts_words ON longterm_facts(path, expires, words);
CREATE INDEX IF NOT EXISTS longterm_terms_fact ON longterm_terms(path, key);
CREATE INDEX IF NOT EXISTS longterm_facts_expires ON longterm_facts(expires) WHERE expires IS NOT NULL;`

// Open opens the store at an address such as postgres://user@host/database and creates its table if it is
// missing, and the schema that search_path names. Errors do not contain the address, which may hold a password.
func Open(ctx context.Context, address string, o longterm.Options) (*longterm.Store, error) {
	config, err := pgxpool.ParseConfig(address)
	if err != nil {
		return nil, errors.New("open the facts: the address is not one of PostgreSQL, such as postgres://user@host/database")
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, fmt.Errorf("open the facts: %w", err)
	}
	err = pgx.BeginFunc(ctx, pool, func(tx pgx.Tx) error {
		if err := makeSchema(ctx, tx, config.ConnConfig.RuntimeParams["search_path"]); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, schema)
		return err
	})
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("open the facts: %w", err)
	}
	return longterm.New(table{pool}, o), nil
}

// makeSchema makes the one schema that an address names, if it is missing. Package checkpoint/postgres, which may be
// first at the same address, takes the same lock.
func makeSchema(ctx context.Context, tx pgx.Tx, name string) error {
	var missing bool
	if err := tx.QueryRow(ctx, `SELECT current_schema() IS NULL`).Scan(&missing); err != nil || !missing || name == "" || strings.ContainsAny(name, `,"`) {
		return err
	}
	_, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext('ragflow '||$1))`, name)
	if err == nil {
		_, err = tx.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS `+pgx.Identifier{name}.Sanitize())
	}
	return err
}

type table struct{ pool *pgxpool.Pool }

func (t table) Close() error {
	t.pool.Close()
	return nil
}

func (t table) Put(ctx context.Context, r longterm.Row) error {
	var expires *int64
	if !r.Expires.IsZero() {
		expires = new(r.Expires.UnixMicro())
	}
	path := r.Namespace.Path()
	return pgx.BeginFunc(ctx, t.pool, func(tx pgx.Tx) error {
		_, err := tx.Exec(ctx, `INSERT INTO longterm_facts VALUES($1, $2, $3, $4, $5, $6, $7, $8, $9)
			ON CONFLICT(path, key) DO UPDATE SET value = excluded.value, updated = excluded.updated, expires = excluded.expires,
			model = excluded.model, vector = excluded.vector, words = excluded.words`,
			path, r.Key, string(r.Value), r.Created.UnixMicro(), r.Updated.UnixMicro(), expires, r.Model, longterm.EncodeVector(r.Vector), r.Words)
		if err == nil {
			_, err = tx.Exec(ctx, `DELETE FROM longterm_terms WHERE path = $1 AND key = $2`, path, r.Key)
		}
		if err == nil {
			_, err = tx.Exec(ctx, `INSERT INTO longterm_terms SELECT unnest($3::text[]), $1, $2, $4::bigint`, path, r.Key, r.Terms, r.Words)
		}
		return err
	})
}

const columns = `SELECT path, key, value, created, updated, coalesce(expires, 0), model, vector FROM longterm_facts `

// below selects the rows of a range of paths that live at a moment.
const below = `WHERE path >= $1 AND path < $2 AND (expires IS NULL OR expires > $3) `

func scan(row pgx.CollectableRow) (r longterm.Row, err error) {
	var path, value string
	var created, updated, expires int64
	var vector []byte
	if err := row.Scan(&path, &r.Key, &value, &created, &updated, &expires, &r.Model, &vector); err != nil {
		return r, err
	}
	r.Namespace, r.Value, r.Vector = longterm.ParsePath(path), []byte(value), longterm.DecodeVector(vector)
	r.Created, r.Updated = time.UnixMicro(created).UTC(), time.UnixMicro(updated).UTC()
	if expires != 0 {
		r.Expires = time.UnixMicro(expires).UTC()
	}
	return r, nil
}

func (t table) Get(ctx context.Context, path, key string) (longterm.Row, error) {
	rows, err := t.pool.Query(ctx, columns+`WHERE path = $1 AND key = $2`, path, key)
	if err != nil {
		return longterm.Row{}, err
	}
	r, err := pgx.CollectExactlyOneRow(rows, scan)
	if errors.Is(err, pgx.ErrNoRows) {
		err = longterm.ErrNotFound
	}
	return r, err
}

func (t table) Delete(ctx context.Context, path, key string) error {
	_, err := t.pool.Exec(ctx, `DELETE FROM longterm_facts WHERE path = $1 AND key = $2`, path, key)
	return err
}

func (t table) Scan(ctx context.Context, prefix string, now time.Time, visit func(longterm.Row) error) error {
	rows, err := t.pool.Query(ctx, columns+below+`ORDER BY path, key`, prefix, longterm.After(prefix), now.UnixMicro())
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		r, err := scan(rows)
		if err == nil {
			err = visit(r)
		}
		if err != nil {
			return err
		}
	}
	return rows.Err()
}

func (t table) Find(ctx context.Context, prefix string, terms []string, now time.Time, limit int) (found []longterm.Row, all longterm.Totals, err error) {
	place := []any{prefix, longterm.After(prefix), now.UnixMicro()}
	err = t.pool.QueryRow(ctx, `SELECT count(*), coalesce(sum(words), 0)::bigint FROM longterm_facts `+below, place...).Scan(&all.Rows, &all.Words)
	if err != nil {
		return nil, all, err
	}
	rows, err := t.pool.Query(ctx, columns+below+`AND (path, key) IN (
		WITH found AS (SELECT * FROM longterm_terms WHERE term = ANY($4) AND path >= $1 AND path < $2),
		rarity AS (SELECT term, 1.0 / count(*) AS weight FROM found GROUP BY term)
		SELECT path, key FROM found JOIN rarity USING(term) GROUP BY path, key ORDER BY sum(weight) DESC, min(words) LIMIT $5)
		ORDER BY path, key`, append(place, terms, limit)...)
	if err != nil {
		return nil, all, err
	}
	found, err = pgx.CollectRows(rows, scan)
	return found, all, err
}

func (t table) Sweep(ctx context.Context, now time.Time) (int, error) {
	tag, err := t.pool.Exec(ctx, `DELETE FROM longterm_facts WHERE expires <= $1`, now.UnixMicro())
	return int(tag.RowsAffected()), err
}
