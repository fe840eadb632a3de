// Package postgres keeps the facts of package longterm in a PostgreSQL database, in the table
// longterm_facts of the first schema of the search path.
//
//	store, err := postgres.Open(ctx, os.Getenv("DATABASE_URL"), longterm.Options{})
package postgres

import (
	"context"
	"errors"
	"fmt"
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
	model text NOT NULL, vector bytea,
	PRIMARY KEY(path, key)
);
CREATE INDEX IF NOT EXISTS longterm_facts_expires ON longterm_facts(expires) WHERE expires IS NOT NULL;`

// Open opens the store at an address such as postgres://user@host/database and makes its
// table where it is missing. Errors do not contain the address, which may hold a password.
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
		_, err := tx.Exec(ctx, schema)
		return err
	})
	if err != nil {
		pool.Close()
		return nil, fmt.Errorf("open the facts: %w", err)
	}
	return longterm.New(table{pool}, o), nil
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
	_, err := t.pool.Exec(ctx, `INSERT INTO longterm_facts VALUES($1, $2, $3, $4, $5, $6, $7, $8)
		ON CONFLICT(path, key) DO UPDATE SET value = excluded.value, updated = excluded.updated, expires = excluded.expires,
		model = excluded.model, vector = excluded.vector`,
		r.Namespace.Path(), r.Key, string(r.Value), r.Created.UnixMicro(), r.Updated.UnixMicro(), expires, r.Model, longterm.EncodeVector(r.Vector))
	return err
}

const columns = `SELECT path, key, value, created, updated, coalesce(expires, 0), model, vector FROM longterm_facts `

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

func (t table) Scan(ctx context.Context, prefix string, limit int) ([]longterm.Row, error) {
	rows, err := t.pool.Query(ctx, columns+`WHERE path >= $1 AND path < $2 ORDER BY path, key LIMIT $3`, prefix, longterm.After(prefix), limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, scan)
}

func (t table) Paths(ctx context.Context, prefix string, now time.Time, limit int) ([]string, error) {
	rows, err := t.pool.Query(ctx, `SELECT DISTINCT path FROM longterm_facts
		WHERE path >= $1 AND path < $2 AND (expires IS NULL OR expires > $3) ORDER BY path LIMIT $4`,
		prefix, longterm.After(prefix), now.UnixMicro(), limit)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}

func (t table) Sweep(ctx context.Context, now time.Time) (int, error) {
	tag, err := t.pool.Exec(ctx, `DELETE FROM longterm_facts WHERE expires <= $1`, now.UnixMicro())
	return int(tag.RowsAffected()), err
}
