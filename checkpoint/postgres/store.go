package postgres

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/stored"
)

// Archive is a thread out of its store.
type Archive = stored.Archive

// Finding is a damage that Verify found.
type Finding = stored.Finding

// DefaultSchema holds the tables unless the URL has a search_path.
const DefaultSchema = "ragflow"

// maxConns is the most connections of a Store beside the one that listens, unless the URL
// has pool_max_conns.
const maxConns = 8

// Options configure a store. The zero value works.
type Options struct {
	// Texts returns the title that an update gives its thread, and the text that the thread is found by; see
	// [graph.ThreadQuery]. It gets the body of an update of the root. Nil: threads have only the titles of Describe.
	Texts func(update []byte) (title, text string)
	// Patience is how long a call waits for a server that restarts or fails over, and
	// repeats what the server rolled back. Default 30 s. The call's context ends it too.
	Patience time.Duration
	// ReadOnly changes nothing. A schema that is not there, or of another version, is an
	// error, and every write fails.
	ReadOnly bool
	// Owner is that of leases that name none.
	Owner string
	// OwnerDied reports whether the owner of a lease is a process that is known to be
	// dead; its leases are taken over at once. Nil: they end by themselves.
	OwnerDied func(owner string) bool
}

// Store is a [graph.Store] in a PostgreSQL database. It is safe for concurrent use, and
// any number of processes may use the same database.
type Store struct {
	pool     *pgxpool.Pool
	schema   string
	patience time.Duration
	owner    string
	died     func(owner string) bool
	texts    stored.Texts
	waiters  waiters
}

var (
	_ graph.Store  = (*Store)(nil)
	_ graph.Copier = (*Store)(nil)
	_ graph.Pruner = (*Store)(nil)
	_ graph.Lister = (*Store)(nil)
)

// CheckURL returns an error for an address that is not one of PostgreSQL. The error does
// not contain the address, which may hold a password.
func CheckURL(address string) error {
	_, err := parse(address)
	return err
}

// parse reads a URL with the parameters of libpq and pgxpool.
func parse(address string) (*pgxpool.Config, error) {
	u, err := url.Parse(address)
	if err != nil || u.Scheme != "postgres" && u.Scheme != "postgresql" {
		return nil, errors.New("the address is not a URL such as postgres://user@host:5432/database")
	}
	if u.Query().Has("password") {
		return nil, errors.New("the address of the PostgreSQL server: the password goes before the @ or into PGPASSWORD")
	}
	c, err := pgxpool.ParseConfig(address)
	if err != nil {
		cause := errors.Unwrap(err) // err itself quotes the address
		password, _ := u.User.Password()
		if cause == nil || password != "" && strings.Contains(cause.Error(), password) {
			cause = errors.New("a parameter is wrong")
		}
		return nil, fmt.Errorf("the address of the PostgreSQL server: %w", cause)
	}
	if path := c.ConnConfig.RuntimeParams["search_path"]; path == "" {
		c.ConnConfig.RuntimeParams["search_path"] = DefaultSchema
	} else if strings.ContainsAny(path, `,"`) {
		return nil, errors.New("the address of the PostgreSQL server: search_path must name one schema")
	}
	if c.ConnConfig.RuntimeParams["application_name"] == "" {
		c.ConnConfig.RuntimeParams["application_name"] = "ragflow"
	}
	if !u.Query().Has("pool_max_conns") {
		c.MaxConns = maxConns
	}
	if c.ConnConfig.ConnectTimeout == 0 {
		c.ConnConfig.ConnectTimeout = 5 * time.Second
	}
	return c, nil
}

// Open connects to a database and makes the tables if there are none. The address is a URL
// with the parameters of libpq, such as sslmode, target_session_attrs and several hosts,
// and of pgxpool, such as pool_max_conns; search_path names the schema. Without a password
// PGPASSWORD and the password file are used. Errors match [ErrDown], [ErrDenied],
// [ErrNewer] or [ErrForeign] and never contain the password.
func Open(ctx context.Context, address string, o Options) (*Store, error) {
	c, err := parse(address)
	if err != nil {
		return nil, err
	}
	s := &Store{schema: c.ConnConfig.RuntimeParams["search_path"], patience: o.Patience, owner: o.Owner, died: o.OwnerDied, texts: o.Texts}
	if s.patience <= 0 {
		s.patience = 30 * time.Second
	}
	if s.died == nil {
		s.died = func(string) bool { return false }
	}
	if o.ReadOnly {
		c.ConnConfig.RuntimeParams["default_transaction_read_only"] = "on"
	}
	if s.pool, err = pgxpool.NewWithConfig(ctx, c); err != nil {
		return nil, explained(err)
	}
	s.waiters.config = c.ConnConfig.Copy()
	var number, encoding string
	err = repeat(ctx, s.patience, starting, func() error {
		return s.pool.QueryRow(ctx, `SELECT current_setting('server_version_num'), current_setting('server_encoding')`).Scan(&number, &encoding)
	})
	if n, _ := strconv.Atoi(number); err == nil && (n < 150000 || encoding != "UTF8") {
		err = fmt.Errorf("the server has version %d and the database encoding %s: PostgreSQL 15 or later with UTF8 is needed", n/10000, encoding)
	}
	if err == nil {
		err = s.migrate(ctx, o)
	}
	if err != nil {
		s.pool.Close()
		return nil, fmt.Errorf("PostgreSQL at %s: %w", place(c.ConnConfig), explained(err))
	}
	return s, nil
}

// place names a server for messages: host, port and database.
func place(c *pgx.ConnConfig) string {
	return fmt.Sprintf("%s:%d/%s", c.Host, c.Port, c.Database)
}

// Close ends the connections. Calls under way finish first.
func (s *Store) Close() error {
	s.waiters.close()
	s.pool.Close()
	return nil
}

// Vacuum makes the space of deleted records free for others. The server does so by itself
// after a while (autovacuum).
func (s *Store) Vacuum(ctx context.Context) error {
	return s.do(ctx, func() error {
		_, err := s.pool.Exec(ctx, `VACUUM threads, entries, pending`)
		return err
	})
}

// queryer is a pool or a transaction.
type queryer interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// do runs f, which must be safe to run again, until it succeeds or fails for good.
func (s *Store) do(ctx context.Context, f func() error) error {
	return explained(repeat(ctx, s.patience, passing, f))
}

// read runs f on one state of the database.
func (s *Store) read(ctx context.Context, f func(tx pgx.Tx) error) error {
	return s.do(ctx, func() error {
		return pgx.BeginTxFunc(ctx, s.pool, pgx.TxOptions{IsoLevel: pgx.RepeatableRead, AccessMode: pgx.ReadOnly}, f)
	})
}

// write runs f in a transaction. It repeats f only if the transaction was rolled back for
// certain.
func (s *Store) write(ctx context.Context, f func(tx pgx.Tx) error) error {
	return s.do(ctx, func() error {
		done := false
		err := pgx.BeginFunc(ctx, s.pool, func(tx pgx.Tx) error {
			err := f(tx)
			done = err == nil
			return err
		})
		if done && err != nil && lost(err) {
			return &unknownError{err}
		}
		return err
	})
}
