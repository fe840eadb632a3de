package sqlite

import (
	"context"
	"errors"
	"fmt"
	"slices"
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
// goroutines may be committed together, each all or nothing; fn may then run on
// another goroutine than the caller's.
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
	for sent := false; !sent; {
		select {
		case db.queue <- r:
			sent = true
		case w := <-db.lead: // the queue is full of requests whose callers left
			db.serve(ctx, w)
		case <-ctx.Done():
			return context.Cause(ctx)
		case <-db.closing:
			return ErrClosed
		}
	}
	for {
		select {
		case err := <-r.done:
			return err
		case w := <-db.lead: // nobody serves: this caller does, for all who wait
			db.serve(ctx, w)
		case <-ctx.Done():
			if r.state.CompareAndSwap(queued, left) {
				return context.Cause(ctx)
			}
			return db.answer(r)
		case <-db.stopped:
			return db.answer(r)
		}
	}
}

// answer waits for the result of a request that was taken, or for the end of
// the DB.
func (db *DB) answer(r *request) error {
	select {
	case err := <-r.done:
		return err
	case <-db.stopped:
	}
	select { // answered just before the end?
	case err := <-r.done:
		return err
	default:
		return ErrClosed
	}
}

// serve saves one group of the requests that wait, and hands the writer on.
func (db *DB) serve(ctx context.Context, w *writer) {
	defer func() { db.lead <- w }()
	if w.gather() {
		w.run(ctx)
	}
}

// writer owns the only connection that changes the database. Whoever took it
// from DB.lead owns it: one of those who write serves all of them, so that a
// single writer changes no goroutine.
type writer struct {
	db    *DB
	cn    *conn
	group []*request // taken from the queue, not answered
	last  int        // size of the last group
}

// gatherWindow is how long a group that is forced to the disk waits for as many
// writes as the last one had: those who wrote then are about to write again.
// One writer alone never waits.
const gatherWindow = 2 * time.Millisecond

// drain serves what still waits when the DB is closed, and ends the writer.
func (w *writer) drain() {
	for w.gather() {
		w.run(context.Background())
	}
	w.cn.close()
	close(w.db.stopped)
}

// gather takes what waits and tells whether that is anything.
func (w *writer) gather() bool {
	var window <-chan time.Time
	for len(w.group) < maxGroup {
		select {
		case r := <-w.db.queue:
			w.group = append(w.group, r)
			continue
		default:
		}
		if !w.db.synced || len(w.group) == 0 || len(w.group) >= w.last {
			break
		}
		if window == nil {
			window = time.After(gatherWindow)
		}
		select {
		case r := <-w.db.queue:
			w.group = append(w.group, r)
			continue
		case <-window:
		case <-w.db.closing:
		}
		break
	}
	return len(w.group) > 0
}

// run saves the group in one transaction and answers each request. Where the
// file cannot be had before ctx ends, the group waits for the next who serves.
//
//nolint:contextcheck // ctx bounds the wait for the file, not what is begun
func (w *writer) run(ctx context.Context) {
	if !w.begin(ctx) {
		return
	}
	w.save()
}

// begin starts a transaction, waiting for other processes, and drops the
// requests whose callers left meanwhile. It returns false where there is
// nothing to be done, or not now.
//
//nolint:contextcheck // ctx bounds the wait; what was begun is always ended
func (w *writer) begin(ctx context.Context) bool {
	err := retry(ctx, func() error { return w.cn.control(context.Background(), "BEGIN IMMEDIATE") })
	if err != nil && ctx.Err() != nil {
		return false
	}
	w.group = slices.DeleteFunc(w.group, func(r *request) bool { return !r.state.CompareAndSwap(queued, taken) })
	switch {
	case err != nil: // not a lock: nobody can be served
		w.abort()
		w.answer(func(int) error { return fmt.Errorf("begin: %w", err) })
		return false
	case len(w.group) == 0:
		w.abort()
		return false
	}
	w.last = len(w.group)
	return true
}

// save runs the callbacks in the transaction that was begun, and commits it.
func (w *writer) save() {
	results := make([]error, len(w.group))
	err := errExited // stands if a callback ends its goroutine
	defer func() {
		if err != nil {
			w.abort()
			w.answer(func(int) error { return err })
		}
	}()
	var saved int
	if saved, err = w.apply(w.group, results); err == nil {
		err = w.commit(saved)
	}
	switch {
	case err == nil:
		w.answer(func(i int) error { return results[i] })
	case len(w.group) > 1: // one of them broke the transaction of all: each for itself
		w.abort()
		err = nil
		w.separate()
	}
}

var errExited = errors.New("the callback ended its goroutine")

// separate gives each request of a group a transaction of its own.
func (w *writer) separate() {
	for all := w.group; len(all) > 0; all = all[1:] {
		r := all[0]
		w.group = all[:1]
		if err := retry(r.ctx, func() error { return w.cn.control(context.Background(), "BEGIN IMMEDIATE") }); err != nil {
			w.abort()
			w.answer(func(int) error { return err })
			continue
		}
		w.save()
	}
}

// answer ends the group.
func (w *writer) answer(result func(i int) error) {
	for i, r := range w.group {
		r.done <- w.db.explain(result(i))
	}
	w.group = nil
}

// apply runs the callbacks and fills in results. It returns how many may be
// saved, and an error when the transaction cannot be: it is lost as a whole, or
// holds changes of a callback that failed. Callbacks have no savepoints, which
// would cost each of them more than most do, for those that fail after they
// changed something, which is rare.
func (w *writer) apply(group []*request, results []error) (saved int, err error) {
	for i, r := range group {
		// Never the callers' contexts: an interrupt would end the transaction of all.
		tx := newTx(context.Background(), w.cn)
		switch results[i] = call(r.fn, tx); {
		case results[i] == nil:
			saved++
		case tx.changed:
			return 0, results[i]
		}
	}
	return saved, nil
}

// commit saves the transaction, or ends one that nobody changed. In WAL mode
// nobody can stand in its way; readers of a database in memory can.
func (w *writer) commit(saved int) error {
	err := retry(w.group[0].ctx, func() error { return w.cn.control(context.Background(), "COMMIT") })
	if err != nil {
		return err
	}
	if saved > 0 {
		w.db.commits.Add(1)
	}
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
