package sqlite

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

// maxGroup is how many waiting writes share one transaction.
const maxGroup = 64

// request is one call of Write on its way through the writer.
type request struct {
	ctx  context.Context //nolint:containedctx // the caller's, looked at while the request waits
	fn   func(*Tx) error
	told chan word // what its caller waits for; has room for one
}

// word is what a caller of Write is told: to serve, or how its write ended.
type word struct {
	lead bool
	err  error
}

// Write runs fn in a transaction and saves what it did when it returns nil.
// After an error or a panic of fn nothing of it is saved. Write waits for its
// turn, and for other processes that hold the file, until ctx ends; once fn
// runs, it runs to its end, and Write tells how it ended. Writes of several
// goroutines may be committed together, each all or nothing; fn may then run on
// another goroutine than the caller's.
func (db *DB) Write(ctx context.Context, fn func(*Tx) error) error {
	select {
	case <-db.closing:
		return ErrClosed
	default:
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case db.writer == nil:
		return db.denied(errOpenedToRead)
	}
	return db.writer.write(ctx, fn)
}

// writer owns the only connection that changes the database. There is no
// goroutine of its own: the first of those who wait serves all of them in one
// transaction, its own write among them, and then tells the next one to. So a
// single writer changes no goroutine, and a group forms while another is saved.
type writer struct {
	db   *DB
	cn   *conn // of whoever serves
	last int   // size of the last group; of whoever serves
	// counters of the transaction; of whoever serves
	counters map[string]*int64

	idle sync.Pool // of requests, to be used again

	mu      sync.Mutex
	waiting []*request // in the order they came; those being saved are not among them
	leader  *request   // who serves, or was told to
	closed  bool
	arrived chan struct{} // set while the leader waits for more to come; closed by the next
	ended   chan struct{} // set by close, closed when nobody waits any more
}

// write has fn saved, by this goroutine or by another one.
func (w *writer) write(ctx context.Context, fn func(*Tx) error) error {
	r, ok := w.idle.Get().(*request)
	if !ok {
		r = &request{told: make(chan word, 1)}
	}
	r.ctx, r.fn = ctx, fn
	lead, err := w.enter(r)
	if err != nil {
		return err
	}
	if !lead {
		select {
		case told := <-r.told:
			if lead = told.lead; !lead {
				return w.result(r, told.err)
			}
		case <-ctx.Done():
			if w.leave(r) {
				return context.Cause(ctx)
			}
			return w.result(r, (<-r.told).err) // it was being saved
		}
	}
	w.serve(ctx, r)
	return w.result(r, (<-r.told).err)
}

// result ends a request that was answered.
func (w *writer) result(r *request, err error) error {
	r.ctx, r.fn = nil, nil
	w.idle.Put(r)
	return w.db.explain(err)
}

// enter puts a request in the line and tells whether its caller shall serve.
func (w *writer) enter(r *request) (lead bool, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.closed {
		return false, ErrClosed
	}
	w.waiting = append(w.waiting, r)
	if w.arrived != nil {
		close(w.arrived)
		w.arrived = nil
	}
	if w.leader == nil {
		w.leader = r
	}
	return w.leader == r, nil
}

// leave takes a request out of the line, unless it is being saved.
func (w *writer) leave(r *request) bool {
	w.mu.Lock()
	i := slices.Index(w.waiting, r)
	if i < 0 {
		w.mu.Unlock()
		return false
	}
	w.waiting = slices.Delete(w.waiting, i, i+1)
	led := w.leader == r
	w.mu.Unlock()
	if led {
		w.handOn()
	}
	return true
}

// handOn makes the first of those who wait the next to serve.
func (w *writer) handOn() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.leader = nil
	if len(w.waiting) > 0 {
		w.leader = w.waiting[0]
		w.leader.told <- word{lead: true} // there is room: it was told nothing yet
		return
	}
	if w.ended != nil {
		close(w.ended)
	}
}

// take takes a group out of the line.
func (w *writer) take() []*request {
	w.mu.Lock()
	defer w.mu.Unlock()
	group := slices.Clone(w.waiting[:min(len(w.waiting), maxGroup)])
	w.waiting = slices.Delete(w.waiting, 0, len(group))
	return group
}

// close lets those who wait finish, and ends the writer.
func (w *writer) close() {
	w.mu.Lock()
	w.closed = true
	if w.leader != nil {
		w.ended = make(chan struct{})
	}
	ended := w.ended
	w.mu.Unlock()
	if ended != nil {
		<-ended
	}
	w.cn.close()
}

// serve saves one group in one transaction, r among it, and tells the others.
// Where the file cannot be had before ctx ends, they wait for the next who serves.
//
//nolint:contextcheck // ctx bounds the wait for the file, not what is begun
func (w *writer) serve(ctx context.Context, r *request) {
	w.gather()
	err := w.begin(ctx)
	if err != nil && ctx.Err() != nil && w.leave(r) {
		r.told <- word{err: context.Cause(ctx)}
		return
	}
	group := w.take()
	w.last = len(group)
	results := make([]error, len(group))
	defer func() { // on, even when a callback ended this goroutine
		w.handOn()
		for i, other := range group {
			other.told <- word{err: results[i]}
		}
	}()
	if err != nil { // not a lock: nobody can be served
		w.abort()
		fill(results, fmt.Errorf("begin: %w", err))
		return
	}
	w.save(group, results)
}

// begin starts a transaction, waiting for other processes as long as retry does.
//
//nolint:contextcheck // ctx bounds the wait for the file, not what is begun
func (w *writer) begin(ctx context.Context) error {
	clear(w.counters)
	return w.db.retry(ctx, func() error { return w.cn.control(context.Background(), "BEGIN IMMEDIATE") })
}

// gatherWindow is how long a group that is forced to the disk waits for as many
// writes as the last one had: those who wrote then are about to write again.
// One writer alone never waits.
const gatherWindow = 2 * time.Millisecond

// gather lets those come who are about to write, where several wrote last: the
// larger the group, the less each of its writes costs. Where commits are not
// forced to the disk, it lets run who can run now, and waits for nobody.
func (w *writer) gather() {
	switch {
	case w.last <= 1:
		return
	case !w.db.synced:
		runtime.Gosched()
		return
	}
	var window <-chan time.Time
	for {
		w.mu.Lock()
		if len(w.waiting) >= min(w.last, maxGroup) || w.closed {
			w.mu.Unlock()
			return
		}
		arrived := make(chan struct{})
		w.arrived = arrived
		w.mu.Unlock()
		if window == nil {
			window = time.After(gatherWindow)
		}
		select {
		case <-arrived:
		case <-window:
			return
		case <-w.db.closing:
			return
		}
	}
}

// save runs the callbacks in the transaction that was begun, commits it, and
// fills in how each ended.
func (w *writer) save(group []*request, results []error) {
	err := errExited // stands if a callback ends its goroutine
	defer func() {
		if err != nil {
			w.abort()
			fill(results, err)
		}
	}()
	var saved int
	if saved, err = w.apply(group, results); err == nil {
		err = w.commit(group, saved)
	}
	if err != nil && len(group) > 1 { // one of them broke the transaction of all: each for itself
		w.abort()
		err = nil
		w.separate(group, results)
	}
}

var errExited = errors.New("the callback ended its goroutine")

func fill(results []error, err error) {
	for i := range results {
		results[i] = err
	}
}

// separate gives each request of a group a transaction of its own.
func (w *writer) separate(group []*request, results []error) {
	fill(results, errExited) // of those that come after one which ends the goroutine
	for i, r := range group {
		if err := w.begin(r.ctx); err != nil {
			w.abort()
			results[i] = err
			continue
		}
		w.save(group[i:i+1], results[i:i+1])
	}
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
		tx.counters = w.counters
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
func (w *writer) commit(group []*request, saved int) error {
	err := w.db.retry(group[0].ctx, func() error { return w.cn.control(context.Background(), "COMMIT") })
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
