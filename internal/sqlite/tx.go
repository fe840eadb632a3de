package sqlite

import (
	"cmp"
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"iter"
	"math"
	"os"
	"runtime/debug"
	"strings"
)

// maxStatements bounds the prepared statements that a connection keeps.
const maxStatements = 256

// conn is one connection with its prepared statements. One goroutine at a time
// uses it.
type conn struct {
	db    *DB
	sc    *sql.Conn
	stmts map[string]*sql.Stmt              // unused statements that return rows
	execs map[string]driver.StmtExecContext // statements that return none
}

// connect opens a connection.
func (db *DB) connect(ctx context.Context, readOnly bool) (*conn, error) {
	sc, err := db.pool.Conn(ctx)
	if err != nil {
		return nil, err
	}
	synchronous := "NORMAL"
	if db.options.Durability == PowerLoss {
		synchronous = "FULL"
	}
	settings := []string{
		// SQLite waits this long for a lock. Then DB.retry checks the context and
		// tries again.
		"busy_timeout = 100",
		"synchronous = " + synchronous,
		"foreign_keys = ON",
		"trusted_schema = OFF",
		"fullfsync = ON",            // on macOS fsync alone does not reach the disk
		"checkpoint_fullfsync = ON", // the same when the log is moved into the file
		"wal_autocheckpoint = 4000", // pages
		"journal_size_limit = 16777216",
	}
	if readOnly {
		settings = append(settings, "query_only = ON")
	}
	if db.options.Erase {
		settings = append(settings, "secure_delete = ON")
	}
	for _, s := range settings {
		if _, err := sc.ExecContext(ctx, "PRAGMA "+s); err != nil {
			return nil, errors.Join(fmt.Errorf("PRAGMA %s: %w", s, err), sc.Close())
		}
	}
	return newConn(db, sc), nil
}

func newConn(db *DB, sc *sql.Conn) *conn {
	return &conn{db: db, sc: sc, stmts: map[string]*sql.Stmt{}, execs: map[string]driver.StmtExecContext{}}
}

// take returns the prepared statement of a query for the caller alone, until put.
func (cn *conn) take(ctx context.Context, query string) (*sql.Stmt, error) {
	cn.db.statements.Add(1)
	if s, ok := cn.stmts[query]; ok {
		delete(cn.stmts, query)
		return s, nil
	}
	return cn.sc.PrepareContext(ctx, query)
}

func (cn *conn) put(query string, s *sql.Stmt) {
	if _, twice := cn.stmts[query]; twice || len(cn.stmts) >= maxStatements {
		_ = s.Close()
		return
	}
	cn.stmts[query] = s
}

// exec runs a statement that returns no rows. It calls the driver directly, because package database/sql
// doubles the time of each statement. It ignores the end of the context, because with a context that can end
// drivers start a goroutine for each statement.
func (cn *conn) exec(query string, args ...any) (result driver.Result, err error) {
	cn.db.statements.Add(1)
	values := make([]driver.NamedValue, len(args))
	for i, a := range args {
		values[i].Ordinal = i + 1
		if values[i].Value, err = driver.DefaultParameterConverter.ConvertValue(a); err != nil {
			return nil, fmt.Errorf("argument %d: %w", i+1, err)
		}
	}
	ctx := context.Background()
	err = cn.sc.Raw(func(of any) (err error) {
		s, ok := cn.execs[query]
		if !ok {
			if s, err = cn.prepare(ctx, of, query); err != nil {
				return err
			}
		}
		result, err = s.ExecContext(ctx, values)
		return err
	})
	return result, err
}

// prepare prepares a statement for exec on a connection of the driver.
func (cn *conn) prepare(ctx context.Context, of any, query string) (driver.StmtExecContext, error) {
	prepared, err := of.(driver.ConnPrepareContext).PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	if len(cn.execs) >= maxStatements {
		cn.closeExecs()
	}
	s := prepared.(driver.StmtExecContext)
	cn.execs[query] = s
	return s, nil
}

func (cn *conn) closeExecs() {
	for _, s := range cn.execs {
		_ = s.(driver.Stmt).Close()
	}
	clear(cn.execs)
}

// do is exec without the result.
func (cn *conn) do(query string) error {
	_, err := cn.exec(query)
	return err
}

// rollback ends the transaction and reports whether the connection can still be
// used. SQLite ends some transactions itself, for example when the disk is full.
func (cn *conn) rollback() bool {
	err := cn.do("ROLLBACK")
	return err == nil || strings.Contains(err.Error(), "no transaction is active")
}

func (cn *conn) close() {
	for _, s := range cn.stmts {
		_ = s.Close()
	}
	cn.closeExecs()
	_ = cn.sc.Close()
}

// Tx is the transaction that a callback works in. It is valid until the callback
// returns, for one goroutine at a time. Each connection caches prepared
// statements by their text, so texts should be constant. Arguments are those of
// package database/sql.
type Tx struct {
	ctx context.Context //nolint:containedctx // a Tx lives only as long as one call
	cn  *conn
}

// Exec runs one statement that returns no rows.
func (tx *Tx) Exec(query string, args ...any) (driver.Result, error) {
	if tx.ctx.Err() != nil {
		return nil, context.Cause(tx.ctx)
	}
	return tx.cn.exec(query, args...)
}

// Do is Exec without the result.
func (tx *Tx) Do(query string, args ...any) error {
	_, err := tx.Exec(query, args...)
	return err
}

func (tx *Tx) take(query string) (*sql.Stmt, error) {
	if tx.ctx.Err() != nil {
		return nil, context.Cause(tx.ctx)
	}
	return tx.cn.take(tx.ctx, query)
}

// Row is the result of [Tx.QueryRow], or one row of [Tx.Query].
type Row struct {
	rows *sql.Rows
	end  func() // set for the only row of a query
	err  error
}

// Scan copies the columns into variables as [sql.Rows.Scan] does. It returns the
// error of the query, if there was one, and [sql.ErrNoRows] if QueryRow found no
// row.
func (r Row) Scan(to ...any) error {
	if r.err != nil {
		return r.err
	}
	err := r.rows.Scan(to...)
	if r.end != nil {
		r.end()
	}
	return err
}

// QueryRow runs a statement that returns at most one row. Scan must be called on
// the result.
func (tx *Tx) QueryRow(query string, args ...any) Row {
	s, err := tx.take(query)
	if err != nil {
		return Row{err: err}
	}
	rows, err := s.QueryContext(tx.ctx, args...)
	if err != nil {
		tx.cn.put(query, s)
		return Row{err: err}
	}
	end := func() {
		_ = rows.Close()
		tx.cn.put(query, s)
	}
	if !rows.Next() {
		err = rows.Err()
		if err == nil {
			err = sql.ErrNoRows
		}
		end()
		return Row{err: err}
	}
	return Row{rows: rows, end: end}
}

// Query runs a statement when its rows are ranged over, once. Each row must be scanned before the next. An
// error of the statement, of a row or of the context is returned by Scan of the last row. More rows than the
// file has bytes are an error that matches [ErrDamaged]: its pages form a cycle.
func (tx *Tx) Query(query string, args ...any) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		s, err := tx.take(query)
		if err != nil {
			yield(Row{err: err})
			return
		}
		defer tx.cn.put(query, s)
		// With a context that can end, drivers start a goroutine for each row.
		rows, err := s.QueryContext(context.WithoutCancel(tx.ctx), args...)
		if err != nil {
			yield(Row{err: err})
			return
		}
		defer func() { _ = rows.Close() }()
		for n := int64(1); rows.Next(); n++ {
			if n%rowsBetweenChecks == 0 && n > tx.cn.db.bytes() {
				yield(Row{err: &Error{tx.cn.db.path, ErrDamaged, fmt.Errorf("a query gives more than %d rows", n)}})
				return
			}
			if tx.ctx.Err() != nil {
				yield(Row{err: context.Cause(tx.ctx)})
				return
			}
			if !yield(Row{rows: rows}) {
				return
			}
		}
		if err := rows.Err(); err != nil {
			yield(Row{err: err})
		}
	}
}

// rowsBetweenChecks is the number of rows after which the size of the file is read.
const rowsBetweenChecks = 1 << 20

// bytes returns the size of the file and its log, or the largest number for a database in memory.
func (db *DB) bytes() (size int64) {
	for _, name := range []string{db.file, db.file + "-wal"} {
		if info, err := os.Stat(name); err == nil {
			size += info.Size()
		}
	}
	return cmp.Or(size, math.MaxInt64)
}

// call runs a callback and turns its panic into an error.
func call(fn func(*Tx) error, tx *Tx) (err error) {
	defer func() {
		if v := recover(); v != nil {
			err = fmt.Errorf("panic in a database callback: %v\n%s", v, debug.Stack())
		}
	}()
	return fn(tx)
}
