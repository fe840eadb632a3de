// Package pgvector opens an index in a PostgreSQL database with the extension vector, as a
// [search.Backend].
//
// The schema, "ragflow_index" unless search_path in the address names another one, has the
// tables roots, files, chunks, embedders, and a table of vectors for each embedder, with an
// HNSW index on the cosine. A change is one transaction. The server computes BM25 from arrays
// of the terms of passages and files, as numbers, which have a GIN index.
package pgvector

import (
	"cmp"
	"context"
	_ "embed" // the schema
	"errors"
	"fmt"
	"net"
	"net/url"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/ragflow/internal/remote"
	"example.com/ragflow/search"
)

// DefaultSchema is the schema of the tables unless the address has a search_path.
const DefaultSchema = "ragflow_index"

// Errors of a server; match them with errors.Is.
var (
	ErrDown      = errors.New("the PostgreSQL server of the index cannot be reached")
	ErrDenied    = errors.New("the PostgreSQL server of the index refuses the user, the password or the database")
	ErrExtension = errors.New("the PostgreSQL server of the index has no extension vector")
	ErrVersion   = errors.New("the index was made by another version of this program")
)

//go:embed schema.sql
var tables string

// store is a [remote.Store] in a database. It is safe for concurrent use.
type store struct {
	pool   *pgxpool.Pool
	place  string // for people
	schema string

	mu    sync.Mutex // guards ready
	ready bool       // the tables exist and fit
}

var _ remote.Store = (*store)(nil)

// CheckAddress returns the fault of an address for [Open], without the address, which may
// contain a password.
func CheckAddress(address string) error {
	_, _, err := parse(address, "")
	return err
}

// parse returns the configuration of the connection, and the schema.
func parse(address, collection string) (c *pgxpool.Config, schema string, err error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" || u.Query().Has("password") {
		return nil, "", errors.New("the address of the index must be like postgres://user@host:5432/database, with the password before the @ or in PGPASSWORD")
	}
	if c, err = pgxpool.ParseConfig(address); err != nil {
		return nil, "", errors.New("the address of the index: a parameter of the URL is wrong") // err quotes it
	}
	p := c.ConnConfig.RuntimeParams
	schema = cmp.Or(p["search_path"], DefaultSchema)
	if strings.ContainsAny(schema, `,"`) {
		return nil, "", errors.New("the address of the index: search_path must name one schema")
	}
	if collection != "" {
		schema += "_" + collection
	}
	p["search_path"] = pgx.Identifier{schema}.Sanitize() + ", public" // the schema of the extension
	p["application_name"] = cmp.Or(p["application_name"], "ragflow")
	p["hnsw.iterative_scan"], p["hnsw.ef_search"] = "strict_order", "200" // filters leave enough
	c.ConnConfig.ConnectTimeout = cmp.Or(c.ConnConfig.ConnectTimeout, 5*time.Second)
	return c, schema, nil
}

// Open opens the index in a database. The address is a URL with the parameters of libpq and of
// pgxpool. A collection has a schema of its own; "" is none. Errors match [ErrDown],
// [ErrDenied], [ErrExtension] or [ErrVersion], and never contain the password.
func Open(ctx context.Context, address, collection string) (search.Backend, error) {
	s, err := open(ctx, address, collection)
	if err != nil {
		return nil, err
	}
	return remote.New(s), nil
}

func open(ctx context.Context, address, collection string) (*store, error) {
	c, schema, err := parse(address, collection)
	if err != nil {
		return nil, err
	}
	s := &store{place: fmt.Sprintf("%s:%d/%s", c.ConnConfig.Host, c.ConnConfig.Port, c.ConnConfig.Database), schema: schema}
	if s.pool, err = pgxpool.NewWithConfig(ctx, c); err == nil {
		_, err = s.exists(ctx)
	}
	if err != nil {
		if s.pool != nil {
			s.pool.Close()
		}
		return nil, s.explain(ctx, err)
	}
	return s, nil
}

// Close waits for calls in progress.
func (s *store) Close() error {
	s.pool.Close()
	return nil
}

// explain returns an error of the server in terms of this package.
func (s *store) explain(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && err != nil {
		return cause
	}
	const what = "the index in PostgreSQL at %s: %w"
	e, answered := errors.AsType[*pgconn.PgError](err)
	_, connecting := errors.AsType[*pgconn.ConnectError](err)
	switch {
	case answered && (e.Code[:2] == "28" || e.Code == "3D000" || e.Code == "42501"):
		return fmt.Errorf(what+": %s", s.place, ErrDenied, e.Message)
	case answered && slices.Contains([]string{"0A000", "58P01"}, e.Code) && strings.Contains(e.Message, "vector"):
		return fmt.Errorf(what+": %s", s.place, ErrExtension, e.Message)
	case answered && err == error(e): //nolint:errorlint // it was not explained before
		return fmt.Errorf(what, s.place, err)
	case errors.Is(err, ErrDown):
		return err
	case connecting || pgconn.SafeToRetry(err) || pgconn.Timeout(err):
		if network, ok := errors.AsType[net.Error](err); ok {
			err = network // pgconn repeats it for each address
		}
		return fmt.Errorf(what+": %w", s.place, ErrDown, err)
	}
	return err
}

// exists reports whether the tables exist; another process may have made them. It reads the catalog, because to_regclass
// does not see a table that another session made since the transaction began.
func (s *store) exists(ctx context.Context) (bool, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.ready {
		return true, nil
	}
	const inCatalog = `SELECT EXISTS(SELECT FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace WHERE n.nspname = $1 AND c.relname = 'format')`
	var made bool
	err := s.db(ctx).QueryRow(ctx, inCatalog, s.schema).Scan(&made)
	if err != nil || !made {
		return false, err
	}
	var format string
	if err := s.db(ctx).QueryRow(ctx, `SELECT name FROM format`).Scan(&format); err != nil {
		return false, err
	}
	if format != remote.Format() {
		return false, fmt.Errorf("%w: schema %s at %s has %q, not %q; add search_path=NAME to the address to name another schema, and index again",
			ErrVersion, s.schema, s.place, format, remote.Format())
	}
	s.ready = true
	return true, nil
}

func (s *store) Prepare(ctx context.Context) error {
	if ready, err := s.exists(ctx); ready || err != nil {
		return s.explain(ctx, err)
	}
	err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtext('ragflow index '||$1))`, s.schema); err != nil {
			return err
		}
		if ready, err := s.exists(within(ctx, tx)); ready || err != nil { // another process was first
			return err
		}
		if _, err := tx.Exec(ctx, `CREATE SCHEMA IF NOT EXISTS `+pgx.Identifier{s.schema}.Sanitize()); err != nil {
			return err
		}
		if _, err := tx.Exec(ctx, tables); err != nil {
			return err
		}
		_, err := tx.Exec(ctx, `INSERT INTO format VALUES($1)`, remote.Format())
		return err
	})
	return s.explain(ctx, err)
}

// queryer is a pool or a transaction.
type queryer interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
	Exec(ctx context.Context, sql string, args ...any) (pgconn.CommandTag, error)
	SendBatch(ctx context.Context, b *pgx.Batch) pgx.BatchResults
}

// transaction is the key of the transaction in the context of a change.
type transaction struct{}

func within(ctx context.Context, tx pgx.Tx) context.Context {
	return context.WithValue(ctx, transaction{}, tx)
}

// db returns the transaction of ctx, or the pool.
func (s *store) db(ctx context.Context) queryer {
	if tx, ok := ctx.Value(transaction{}).(pgx.Tx); ok {
		return tx
	}
	return s.pool
}

// Change uses a transaction, and a lock for each folder.
func (s *store) Change(ctx context.Context, root string, fn func(ctx context.Context) error) error {
	if ready, err := s.exists(ctx); !ready || err != nil {
		return s.explain(ctx, err)
	}
	return s.explain(ctx, pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
		if _, err := tx.Exec(ctx, `SELECT pg_advisory_xact_lock(hashtextextended($1, 0))`, s.schema+root); err != nil {
			return err
		}
		return fn(within(ctx, tx))
	}))
}

// exec runs a statement.
func (s *store) exec(ctx context.Context, sql string, args ...any) (int, error) {
	tag, err := s.db(ctx).Exec(ctx, sql, args...)
	return int(tag.RowsAffected()), s.explain(ctx, err)
}

// each reads rows into fields and calls scanned after each.
func (s *store) each(ctx context.Context, sql string, args, fields []any, scanned func() error) error {
	if ready, err := s.exists(ctx); !ready || err != nil {
		return s.explain(ctx, err)
	}
	rows, err := s.db(ctx).Query(ctx, sql, args...)
	if err == nil {
		_, err = pgx.ForEachRow(rows, fields, scanned)
	}
	return s.explain(ctx, err)
}
