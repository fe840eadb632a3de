package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"runtime/debug"
	"strings"
)

// maxStatements bounds the prepared statements kept with a connection.
const maxStatements = 256

// conn is one connection with its prepared statements. Whoever took it owns it.
type conn struct {
	db    *DB
	c     *sql.Conn
	stmts map[string]*sql.Stmt
}

// connect opens a connection and brings it to the settings of this package.
func (db *DB) connect(ctx context.Context, readOnly bool) (*conn, error) {
	c, err := db.pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	cn := &conn{db: db, c: c, stmts: map[string]*sql.Stmt{}}
	synchronous := "PRAGMA synchronous = NORMAL"
	if db.synced {
		synchronous = "PRAGMA synchronous = FULL"
	}
	settings := []string{
		// SQLite itself waits this long for a lock; beyond it we try again
		// ourselves, looking at the context in between.
		"PRAGMA busy_timeout = 100",
		synchronous,
		"PRAGMA foreign_keys = ON",
		"PRAGMA trusted_schema = OFF",
		"PRAGMA fullfsync = ON",            // macOS: fsync alone does not reach the disk there
		"PRAGMA checkpoint_fullfsync = ON", // what is deleted from the log is on the disk
		"PRAGMA wal_autocheckpoint = 4000", // pages; the log then has the size of the limit below
		"PRAGMA journal_size_limit = 16777216",
	}
	if readOnly {
		settings = append(settings, "PRAGMA query_only = ON")
	}
	for _, s := range settings {
		if _, err := c.ExecContext(ctx, s); err != nil {
			cn.close()
			return nil, fmt.Errorf("%s: %w", s, err)
		}
	}
	return cn, nil
}

// exec runs a statement that is not worth preparing.
func (cn *conn) exec(ctx context.Context, query string) error {
	cn.db.statements.Add(1)
	_, err := cn.c.ExecContext(ctx, query)
	return err
}

// prepared returns the statement for a query, nil when there are too many.
func (cn *conn) prepared(ctx context.Context, query string) (*sql.Stmt, error) {
	if s, ok := cn.stmts[query]; ok {
		return s, nil
	}
	if len(cn.stmts) >= maxStatements {
		return nil, nil // no statement and no error: the caller runs the text
	}
	s, err := cn.c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	cn.stmts[query] = s
	return s, nil
}

// control runs a statement such as BEGIN, prepared once.
func (cn *conn) control(ctx context.Context, query string) error {
	_, err := newTx(ctx, cn).Exec(query)
	return err
}

// rollback ends a transaction, also after ctx has ended, and tells whether the
// connection is still good. SQLite ends some transactions itself, for example
// when the disk is full.
func (cn *conn) rollback(ctx context.Context) bool {
	err := cn.control(context.WithoutCancel(ctx), "ROLLBACK")
	return err == nil || strings.Contains(err.Error(), "no transaction is active")
}

// close ends the connection. The pool keeps no idle ones, so this closes the
// driver's connection too.
func (cn *conn) close() {
	for _, s := range cn.stmts {
		_ = s.Close() // the connection goes with it
	}
	_ = cn.c.Raw(func(any) error { return driver.ErrBadConn })
	_ = cn.c.Close()
}

// Tx is a transaction that a callback works in. It is valid until the callback
// returns and must be used by one goroutine at a time. Statements of Exec and
// QueryRow are prepared once per connection, so their texts should be constant.
type Tx struct {
	ctx   context.Context //nolint:containedctx // a Tx lives only as long as one call
	still context.Context //nolint:containedctx // ctx, but without an end
	cn    *conn

	changed bool // may have; a statement that found no row to change did not
}

func newTx(ctx context.Context, cn *conn) *Tx {
	return &Tx{ctx: ctx, still: context.WithoutCancel(ctx), cn: cn}
}

// Exec runs a statement that returns no rows.
func (tx *Tx) Exec(query string, args ...any) (sql.Result, error) {
	tx.cn.db.statements.Add(1)
	s, err := tx.cn.prepared(tx.ctx, query) //nolint:sqlclosecheck // closed with the connection
	if err != nil {
		return nil, err
	}
	var r sql.Result
	if s == nil {
		r, err = tx.cn.c.ExecContext(tx.ctx, query, args...)
	} else {
		r, err = s.ExecContext(tx.ctx, args...)
	}
	tx.changed = tx.changed || !changedNothing(query, r, err)
	return r, err
}

// changedNothing says whether a statement surely left the rows as they were.
func changedNothing(query string, r sql.Result, err error) bool {
	if err != nil || !strings.HasPrefix(query, "UPDATE") && !strings.HasPrefix(query, "DELETE") && !strings.HasPrefix(query, "INSERT") {
		return false
	}
	n, err := r.RowsAffected()
	return err == nil && n == 0
}

// QueryRow runs a statement that returns at most one row. Its Scan must be
// called before the same text is run again; it returns [sql.ErrNoRows] where
// there is none.
func (tx *Tx) QueryRow(query string, args ...any) *sql.Row {
	tx.cn.db.statements.Add(1)
	tx.changed = tx.changed || !strings.HasPrefix(query, "SELECT")
	s, err := tx.cn.prepared(tx.ctx, query) //nolint:sqlclosecheck // closed with the connection
	if s == nil || err != nil {
		return tx.cn.c.QueryRowContext(tx.ctx, query, args...) // gives the error of preparing again
	}
	return s.QueryRowContext(tx.ctx, args...)
}

// Query runs a statement that returns rows; the caller closes them before the
// callback returns. When the context ends, they end with its error.
func (tx *Tx) Query(query string, args ...any) (*Rows, error) {
	tx.cn.db.statements.Add(1)
	tx.changed = tx.changed || !strings.HasPrefix(query, "SELECT")
	if tx.ctx.Err() != nil {
		return nil, context.Cause(tx.ctx)
	}
	// Not prepared: several cursors over one statement would disturb each
	// other. Not the context: drivers then start a goroutine for every row.
	rows, err := tx.cn.c.QueryContext(tx.still, query, args...) //nolint:rowserrcheck // the caller does
	if err != nil {
		return nil, err
	}
	return &Rows{Rows: rows, ctx: tx.ctx}, nil
}

// Rows are sql.Rows that look at the context between two rows.
type Rows struct {
	*sql.Rows
	ctx   context.Context //nolint:containedctx // lives only as long as one call
	cause error
}

// Next goes to the next row. It returns false after the last one, on an error
// and when the context has ended; Err tells which.
func (r *Rows) Next() bool {
	if r.ctx.Err() != nil {
		r.cause = context.Cause(r.ctx)
		return false
	}
	return r.Rows.Next()
}

// Err returns what ended the rows too early, if anything did.
func (r *Rows) Err() error {
	if r.cause != nil {
		return r.cause
	}
	return r.Rows.Err()
}

// call runs a callback and turns its panic into an error.
func call(fn func(*Tx) error, tx *Tx) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = &PanicError{Value: v, Stack: debug.Stack()}
		}
	}()
	if fn == nil {
		return errors.New("no callback")
	}
	return fn(tx)
}
