package sqlite

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"
)

// maxGroup is how many waiting writes share one transaction.
const maxGroup = 64

// request is one call of Write on its way through the writer.
type request struct {
	ctx   context.Context //nolint:containedctx // the caller's, looked at while the request waits
	fn    func(*Tx) error
	done  chan error // receives exactly one result, unless the caller left
	state atomic.Int32
}

// States of a request: whoever moves it on from queued decides its fate.
const (
	queued int32 = iota
	taken        // by the writer, which answers
	left         // by its caller, whose context ended
)

// Write runs fn in a transaction and saves what it did when it returns nil.
// After an error or a panic of fn nothing of it is saved. Write waits for its
// turn, and for other processes that hold the file, until ctx ends; once fn
// runs, it runs to its end, and Write tells how it ended. Writes of several
// goroutines may be committed together, each all or nothing.
func (db *DB) Write(ctx context.Context, fn func(*Tx) error) error {
	select {
	case <-db.closing: // looked at first: select picks at random
		return ErrClosed
	case <-ctx.Done():
		return context.Cause(ctx)
	default:
	}
	if db.readOnly {
		return db.denied(errOpenedToRead)
	}
	r := &request{ctx: ctx, fn: fn, done: make(chan error, 1)}
	select {
	case db.queue <- r:
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-db.closing:
		return ErrClosed
	}
	select {
	case err := <-r.done:
		return err
	case <-ctx.Done():
		if r.state.CompareAndSwap(queued, left) {
			return context.Cause(ctx)
		}
	case <-db.stopped:
	}
	select {
	case err := <-r.done:
		return err
	case <-db.stopped:
	}
	select { // answered just before the writer ended?
	case err := <-r.done:
		return err
	default:
		return ErrClosed
	}
}

// writer owns the only connection that changes the database. Only its loop
// touches it.
type writer struct {
	db   *DB
	cn   *conn
	last int // size of the last group
}

// gatherWindow is how long a group that is forced to the disk waits for as many
// writes as the last one had: those who wrote then are about to write again.
// One writer alone never waits.
const gatherWindow = 2 * time.Millisecond

// loop serves writes until the DB is closed and the queue is empty.
func (w *writer) loop() {
	defer close(w.db.stopped)
	defer func() { w.cn.close() }()
	for {
		select {
		case r := <-w.db.queue:
			w.serve(r)
		case <-w.db.closing:
			select {
			case r := <-w.db.queue:
				w.serve(r)
			default:
				return
			}
		}
	}
}

func (w *writer) serve(r *request) {
	group := w.gather(r)
	w.last = len(group)
	w.run(group)
}

// gather takes what waits besides r. Requests whose callers left are dropped.
func (w *writer) gather(r *request) []*request {
	var group []*request
	var window <-chan time.Time
	for {
		if r.state.CompareAndSwap(queued, taken) {
			group = append(group, r)
		}
		if len(group) == maxGroup {
			return group
		}
		select {
		case r = <-w.db.queue:
			continue
		default:
		}
		if !w.db.synced || len(group) >= w.last {
			return group
		}
		if window == nil {
			window = time.After(gatherWindow)
		}
		select {
		case r = <-w.db.queue:
		case <-window:
			return group
		case <-w.db.closing:
			return group
		}
	}
}

// run saves a group in one transaction and answers each request.
func (w *writer) run(group []*request) {
	group = w.begin(group)
	if len(group) == 0 {
		return
	}
	results := make([]error, len(group))
	saved, err := w.apply(group, results)
	if err == nil {
		err = w.commit(group, saved)
	}
	if err != nil {
		w.abort()
		if len(group) > 1 { // one of them broke the transaction of all: each for itself
			for _, r := range group {
				w.run([]*request{r})
			}
			return
		}
		results[0] = err
	}
	for i, r := range group {
		r.done <- w.db.explain(results[i])
	}
}

// begin starts a transaction, waiting for other processes, and returns the
// requests whose callers still wait. The others were answered.
func (w *writer) begin(group []*request) []*request {
	for len(group) > 0 {
		// The oldest request's context bounds the wait; then it drops out.
		err := retry(group[0].ctx, func() error { return w.cn.control(context.Background(), "BEGIN IMMEDIATE") })
		if err == nil {
			return group
		}
		if group[0].ctx.Err() == nil { // not a lock: nobody can be served
			for _, r := range group {
				r.done <- w.db.explain(fmt.Errorf("begin: %w", err))
			}
			w.abort()
			return nil
		}
		group[0].done <- err
		group = group[1:]
	}
	return nil
}

// apply runs the callbacks, each in a savepoint where there are several, and
// fills in results. It returns how many may be saved, and an error when the
// transaction as a whole is lost.
func (w *writer) apply(group []*request, results []error) (saved int, err error) {
	// Never the callers' contexts: an interrupt would end the transaction of all.
	tx := newTx(context.Background(), w.cn)
	if len(group) == 1 {
		if err := call(group[0].fn, tx); err != nil {
			return 0, err
		}
		return 1, nil
	}
	for i, r := range group {
		if err := w.cn.control(context.Background(), "SAVEPOINT request"); err != nil {
			return 0, err
		}
		results[i] = call(r.fn, tx)
		if results[i] == nil {
			saved++
		} else if err := w.cn.control(context.Background(), "ROLLBACK TO request"); err != nil {
			return 0, err
		}
		if err := w.cn.control(context.Background(), "RELEASE request"); err != nil {
			return 0, err
		}
	}
	return saved, nil
}

// commit saves the transaction. In WAL mode nobody can stand in its way;
// readers of a database in memory can.
func (w *writer) commit(group []*request, saved int) error {
	err := retry(group[0].ctx, func() error { return w.cn.control(context.Background(), "COMMIT") })
	if err != nil {
		return err
	}
	w.db.commits.Add(1)
	w.db.writes.Add(int64(saved))
	return nil
}

// abort ends the transaction, whatever state it is in.
func (w *writer) abort() {
	if w.cn.rollback(context.Background()) {
		return
	}
	w.cn.close()
	if cn, err := w.db.connect(context.Background(), false); err == nil {
		w.cn = cn
	} // else the closed connection answers every request with its error, until it can be opened
}
