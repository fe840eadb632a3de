package sqlite

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"sync"
)

// maxGroup is how many queued writes share one transaction.
const maxGroup = 64

// Write runs fn in a transaction and commits it if fn returns nil. After an error
// or a panic of fn none of its changes is kept. Write waits for its turn, and for
// other processes that hold the file, until ctx ends. Once fn runs, it runs to its
// end, and Write returns its result. Writes of several goroutines may be committed
// together, each all or nothing; fn may then run on another goroutine than the
// caller's.
func (db *DB) Write(ctx context.Context, fn func(*Tx) error) error {
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case db.writer == nil:
		return db.readOnlyError("it was opened for reading only")
	}
	return db.explain(db.writer.write(ctx, fn))
}

// writer owns the only connection that writes. It has no goroutine of its own:
// the caller that gets the turn commits a group of queued requests, usually with
// its own among them. So a single writer switches no goroutine, and a group forms
// while another one is committed.
type writer struct {
	db   *DB
	turn chan struct{} // full while a caller commits a group
	cn   *conn         // of the caller that has the turn
	last int           // size of the last group; of the caller that has the turn
	seen os.FileInfo   // of the file when it was last found to be whole; of the caller that has the turn

	mu     sync.Mutex
	queue  []*request // without those being committed
	closed bool
}

// request is one call of Write.
type request struct {
	fn   func(*Tx) error
	done chan error // room for one
}

func (w *writer) write(ctx context.Context, fn func(*Tx) error) error {
	r := &request{fn, make(chan error, 1)}
	w.mu.Lock()
	if w.closed {
		w.mu.Unlock()
		return ErrClosed
	}
	w.queue = append(w.queue, r)
	w.mu.Unlock()
	for {
		select {
		case err := <-r.done:
			return err
		case w.turn <- struct{}{}:
			w.serve(ctx, r)
		case <-ctx.Done():
			if w.leave(r) {
				return context.Cause(ctx)
			}
			return <-r.done // it is being committed
		}
	}
}

// leave removes a request from the queue, unless it is being committed.
func (w *writer) leave(r *request) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	n := len(w.queue)
	w.queue = slices.DeleteFunc(w.queue, func(o *request) bool { return o == r })
	return len(w.queue) < n
}

// close commits what is queued and ends the writer. It keeps the turn.
func (w *writer) close() {
	w.mu.Lock()
	w.closed = true
	w.mu.Unlock()
	w.turn <- struct{}{}
	for group := w.group(); len(group) > 0; group = w.group() {
		w.commit(group, w.begin(context.Background()))
	}
	w.cn.close()
}

// group removes the next requests from the queue.
func (w *writer) group() []*request {
	w.mu.Lock()
	defer w.mu.Unlock()
	group := slices.Clone(w.queue[:min(len(w.queue), maxGroup)])
	w.queue = slices.Delete(w.queue, 0, len(group))
	return group
}

// serve commits one group, unless the request that got the turn was answered
// meanwhile, or its context ends before the file is free.
func (w *writer) serve(ctx context.Context, r *request) {
	defer func() { <-w.turn }()
	if len(r.done) > 0 {
		return
	}
	if w.last > 1 { // let the other writers queue their next requests
		runtime.Gosched()
	}
	err := w.begin(ctx)
	if err != nil && ctx.Err() != nil {
		return
	}
	w.commit(w.group(), err)
}

// begin starts a transaction. It waits for other processes. A file that was deleted, replaced or overwritten
// is an error: SQLite would keep writing to a file that nobody can open.
func (w *writer) begin(ctx context.Context) error {
	err := w.db.retry(ctx, func() error { return w.cn.do("BEGIN IMMEDIATE") })
	if err != nil || w.db.file == "" {
		return err
	}
	now, err := os.Stat(w.db.file)
	switch {
	case err != nil || !os.SameFile(now, w.seen):
		return &Error{w.db.path, ErrGone, cmp.Or(err, errors.New("another file has its name"))}
	case now.Size() == w.seen.Size() && now.ModTime().Equal(w.seen.ModTime()):
		return nil
	case now.Size() == 0: // opening it would delete its log
		return &Error{w.db.path, ErrDamaged, errors.New("it is empty")}
	}
	// The file changed outside this connection: a checkpoint of the log, or another program.
	if err := w.db.inspect(ctx); err != nil {
		return err
	}
	w.seen = now
	return nil
}

// commit runs the requests of a group in the transaction of begin, commits it and answers them. Requests
// after the first have savepoints, so that a failing one does not undo the others.
func (w *writer) commit(group []*request, begun error) {
	w.last = len(group)
	results := make([]error, len(group))
	lost := errors.New("a callback ended its goroutine") // unless it is set again below
	defer func() {
		if lost != nil {
			w.abort()
		}
		for i, r := range group {
			if results[i] == nil {
				results[i] = lost
			}
			r.done <- results[i]
		}
	}()
	if begun != nil {
		lost = fmt.Errorf("begin: %w", begun)
		return
	}
	saved := 0
	for i, r := range group {
		var broken error
		results[i], broken = w.run(r, len(group) > 1)
		if broken != nil {
			lost = fmt.Errorf("the transaction was lost: %w", broken)
			return
		}
		if results[i] == nil {
			saved++
		}
	}
	if saved == 0 {
		lost = nil
		w.abort()
		return
	}
	// In WAL mode nothing blocks a commit; in memory a reader may.
	if lost = w.db.retry(context.Background(), func() error { return w.cn.do("COMMIT") }); lost == nil {
		w.db.commits.Add(1)
		w.db.writes.Add(int64(saved))
	}
}

// run runs one callback. It does not use the caller's context: an interrupt would
// end the transaction of all. broken is set if the transaction cannot go on.
func (w *writer) run(r *request, savepoint bool) (result, broken error) {
	if !savepoint {
		return call(r.fn, &Tx{context.Background(), w.cn}), nil
	}
	if err := w.cn.do("SAVEPOINT one"); err != nil {
		return nil, err
	}
	result = call(r.fn, &Tx{context.Background(), w.cn})
	if result != nil {
		if err := w.cn.do("ROLLBACK TO one"); err != nil {
			return result, errors.Join(err, result)
		}
	}
	return result, w.cn.do("RELEASE one")
}

// abort rolls the transaction back in any state.
func (w *writer) abort() {
	if w.cn.rollback() {
		return
	}
	w.cn.close()
	if cn, err := w.db.connect(context.Background(), false); err == nil {
		w.cn = cn
	} // else the closed connection fails every request until one can be opened
}
