package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"errors"
	"fmt"
	"iter"
	"runtime/debug"
	"strings"
	"sync"
)

// maxStatements bounds the prepared statements kept with a connection.
const maxStatements = 256

// driverConn is what both drivers' connections can do. They are used directly:
// of the pool of database/sql, of its locks and its conversions, nothing is
// needed by connections that have one owner each.
type driverConn interface {
	driver.Conn
	driver.ConnPrepareContext
	driver.ExecerContext
	driver.QueryerContext
}

// driverStmt is what both drivers' statements can do.
type driverStmt interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// conn is one connection with its prepared statements. Whoever took it owns it.
type conn struct {
	db    *DB
	dc    driverConn
	stmts map[string]*stmt
	args  []driver.NamedValue // memory for the arguments of one statement

	broken bool // it cannot be used again
}

// stmt is a prepared statement.
type stmt struct {
	driverStmt
	row  []driver.Value // memory for the row of QueryRow
	busy bool           // rows of it are being gone through: another cursor over it would disturb them
}

// connect opens a connection and brings it to the settings of this package.
func (db *DB) connect(ctx context.Context, readOnly bool) (*conn, error) {
	if ctx.Err() != nil {
		return nil, context.Cause(ctx)
	}
	opened, err := openDriver(db.dsn)
	if err != nil {
		return nil, err
	}
	dc, ok := opened.(driverConn)
	if !ok {
		return nil, errors.Join(fmt.Errorf("driver %T lacks contexts", opened), opened.Close())
	}
	cn := &conn{db: db, dc: dc, stmts: map[string]*stmt{}}
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
		if err := cn.once(ctx, s); err != nil {
			cn.close()
			return nil, fmt.Errorf("%s: %w", s, err)
		}
	}
	return cn, nil
}

// once runs statements that are not worth preparing, or counting.
func (cn *conn) once(ctx context.Context, query string, args ...any) error {
	values, err := cn.bind(args)
	if err == nil {
		_, err = cn.dc.ExecContext(ctx, query, values)
	}
	return err
}

// exec runs statements that are not worth preparing.
func (cn *conn) exec(ctx context.Context, query string) error {
	cn.db.statements.Add(1)
	return cn.once(ctx, query)
}

// prepared returns the statement for a query, nil when there are too many or when
// it is busy.
func (cn *conn) prepared(ctx context.Context, query string) (*stmt, error) {
	if s, ok := cn.stmts[query]; ok {
		if s.busy {
			return nil, nil // no statement and no error: the caller runs the text
		}
		return s, nil
	}
	if len(cn.stmts) >= maxStatements {
		return nil, nil
	}
	made, err := cn.dc.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	ds, ok := made.(driverStmt)
	if !ok {
		return nil, errors.Join(fmt.Errorf("driver's %T lacks contexts", made), made.Close())
	}
	s := &stmt{driverStmt: ds}
	cn.stmts[query] = s
	return s, nil
}

// bind converts the arguments of a statement as the drivers want them. They are
// valid until the next call.
func (cn *conn) bind(args []any) ([]driver.NamedValue, error) {
	out := cn.args[:0]
	for i, arg := range args {
		value := arg
		switch v := arg.(type) {
		case nil, int64, string, []byte, float64, bool:
		case int:
			value = int64(v)
		default:
			var err error
			if value, err = driver.DefaultParameterConverter.ConvertValue(arg); err != nil {
				return nil, fmt.Errorf("argument %d: %w", i+1, err)
			}
		}
		out = append(out, driver.NamedValue{Ordinal: i + 1, Value: value})
	}
	cn.args = out
	return out, nil
}

// takes checks the number of arguments, which a driver may not.
func (s *stmt) takes(args []driver.NamedValue) error {
	if want := s.NumInput(); want >= 0 && want != len(args) {
		return fmt.Errorf("expected %d arguments, got %d", want, len(args))
	}
	return nil
}

// control runs a statement such as BEGIN, prepared once.
func (cn *conn) control(ctx context.Context, query string) error {
	cn.db.statements.Add(1)
	s, err := cn.prepared(ctx, query)
	if err != nil {
		return err
	}
	if s == nil {
		return cn.once(ctx, query)
	}
	_, err = s.ExecContext(ctx, nil)
	return err
}

// rollback ends a transaction, also after ctx has ended, and tells whether the
// connection is still good. SQLite ends some transactions itself, for example
// when the disk is full.
func (cn *conn) rollback(ctx context.Context) bool {
	err := cn.control(context.WithoutCancel(ctx), "ROLLBACK")
	return err == nil || strings.Contains(err.Error(), "no transaction is active")
}

// close ends the connection.
func (cn *conn) close() {
	for _, s := range cn.stmts {
		_ = s.Close() // the connection goes with it
	}
	cn.stmts = nil
	_ = cn.dc.Close()
}

// Tx is a transaction that a callback works in. It is valid until the callback
// returns and must be used by one goroutine at a time. Statements are prepared
// once per connection, so their texts should be constant.
// Arguments are what package database/sql takes, but for named ones.
type Tx struct {
	ctx   context.Context //nolint:containedctx // a Tx lives only as long as one call
	still context.Context //nolint:containedctx // ctx, but without an end
	cn    *conn

	changed  bool // may have; a statement that found no row to change did not
	counters map[string]*int64
}

func newTx(ctx context.Context, cn *conn) *Tx {
	still := ctx
	if ctx.Done() != nil {
		still = context.WithoutCancel(ctx)
	}
	return &Tx{ctx: ctx, still: still, cn: cn}
}

// Exec runs a statement that returns no rows.
func (tx *Tx) Exec(query string, args ...any) (sql.Result, error) {
	tx.cn.db.statements.Add(1)
	s, values, err := tx.ready(query, args)
	if err != nil {
		return nil, err
	}
	var r driver.Result
	if s == nil {
		r, err = tx.cn.dc.ExecContext(tx.ctx, query, values)
	} else {
		r, err = s.ExecContext(tx.ctx, values)
	}
	tx.changed = tx.changed || !changedNothing(query, r, err)
	return r, err
}

// Do runs a statement whose result nobody asks for. It costs less than Exec,
// the more so the more arguments there are.
func (tx *Tx) Do(query string, args ...any) error {
	tx.cn.db.statements.Add(1)
	s, values, err := tx.ready(query, args)
	if err != nil {
		return err
	}
	tx.changed = true
	var rows driver.Rows
	if s == nil {
		rows, err = tx.cn.dc.QueryContext(tx.ctx, query, values)
	} else { // binds all arguments at once, where Exec would one after the other
		rows, err = s.QueryContext(tx.ctx, values)
	}
	if err == nil {
		err = rows.Close() // the statement was run to its end already
	}
	return err
}

// Counter returns a number that all callbacks of one transaction share: what
// query, which gives one number, finds at first, then what they made of it. It
// spares asking again where no other process can have changed the answer.
func (tx *Tx) Counter(query string) (*int64, error) {
	if n, ok := tx.counters[query]; ok {
		return n, nil
	}
	n := new(int64)
	if err := tx.QueryRow(query).Scan(n); err != nil {
		return nil, err
	}
	if tx.counters != nil {
		tx.counters[query] = n
	}
	return n, nil
}

// ready returns the statement for a query, nil where it is not prepared, and
// the values of its arguments.
func (tx *Tx) ready(query string, args []any) (*stmt, []driver.NamedValue, error) {
	if tx.ctx.Err() != nil {
		return nil, nil, context.Cause(tx.ctx)
	}
	s, err := tx.cn.prepared(tx.ctx, query)
	if err != nil {
		return nil, nil, err
	}
	values, err := tx.cn.bind(args)
	if err == nil && s != nil {
		err = s.takes(values)
	}
	return s, values, err
}

// changedNothing says whether a statement surely left the rows as they were.
func changedNothing(query string, r driver.Result, err error) bool {
	if err != nil || !strings.HasPrefix(query, "UPDATE") && !strings.HasPrefix(query, "DELETE") && !strings.HasPrefix(query, "INSERT") {
		return false
	}
	n, err := r.RowsAffected()
	return err == nil && n == 0
}

// QueryRow runs a statement that returns at most one row. Its Scan must be
// called before the same text is run again; it returns [sql.ErrNoRows] where
// there is none.
func (tx *Tx) QueryRow(query string, args ...any) Row {
	tx.cn.db.statements.Add(1)
	tx.changed = tx.changed || !strings.HasPrefix(query, "SELECT")
	s, values, err := tx.ready(query, args)
	if err != nil {
		return Row{err: err}
	}
	var rows driver.Rows
	if s == nil {
		s = &stmt{}
		rows, err = tx.cn.dc.QueryContext(tx.ctx, query, values)
	} else {
		rows, err = s.QueryContext(tx.ctx, values)
	}
	if err != nil {
		return Row{err: err}
	}
	return s.first(rows)
}

// Query runs a statement when its rows are gone through, once. Each row is to be
// scanned before the next: what went wrong, with the statement, with a row or
// because the context ended, is what the Scan of the last one returns.
func (tx *Tx) Query(query string, args ...any) iter.Seq[Row] {
	return func(yield func(Row) bool) {
		tx.cn.db.statements.Add(1)
		tx.changed = tx.changed || !strings.HasPrefix(query, "SELECT")
		s, values, err := tx.ready(query, args)
		var rows driver.Rows
		switch { // not with the context: drivers then start a goroutine for every row
		case err != nil:
		case s == nil:
			rows, err = tx.cn.dc.QueryContext(tx.still, query, values)
		default:
			rows, err = s.QueryContext(tx.still, values)
			s.busy = true
			defer func() { s.busy = false }()
		}
		if err != nil {
			yield(Row{err: err})
			return
		}
		tx.rows(rows, yield)
	}
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

// stack holds connections that nobody uses. The zero stack is empty.
type stack struct {
	mu   sync.Mutex
	idle []*conn
}

// pop returns the connection that was pushed last, nil where there is none.
func (s *stack) pop() *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.idle)
	if n == 0 {
		return nil
	}
	cn := s.idle[n-1]
	s.idle[n-1], s.idle = nil, s.idle[:n-1]
	return cn
}

// push takes a connection; nil, one that was closed, is nothing.
func (s *stack) push(cn *conn) {
	if cn == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.idle = append(s.idle, cn)
}
