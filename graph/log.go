package graph

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"example.com/ragflow/internal/codec"
	"example.com/ragflow/internal/snapshots"
)

// saveTimeout limits one write to the store. It is longer than a store waits for a lock. Writes
// ignore the end of the run's context, so that finished work is saved even if the run was cancelled.
const saveTimeout = 5 * time.Minute

// threadLog writes the commits of one run. A goroutine renews its lease. The loop of the run
// owns it.
type threadLog struct {
	store  Store
	lease  Lease
	head   Commit // without deltas
	sizes  snapshots.Sizes
	pends  atomic.Int64       // results that were saved as pending, also by goroutines of tasks
	gone   int64              // pends when the pending results were last dropped; -1: not yet
	stop   context.CancelFunc // ends the heartbeat
	beat   sync.WaitGroup
	closed bool
}

// openLog acquires the lease of a thread. If the lease is lost, it calls cancel with
// ErrSuperseded.
func openLog(ctx context.Context, store Store, thread string, o AcquireOptions, cancel context.CancelCauseFunc) (*threadLog, error) {
	if thread == "" {
		return nil, errors.New("a run with a store needs a thread")
	}
	lease, err := store.Acquire(ctx, thread, o)
	if err != nil {
		return nil, fmt.Errorf("thread %q: %w", thread, err)
	}
	l := &threadLog{store: store, lease: lease, gone: -1}
	ctx, l.stop = context.WithCancel(context.WithoutCancel(ctx))
	l.beat.Go(func() { l.renew(ctx, o.TTL, cancel) })
	return l, nil
}

// renew extends the lease until stopped. If the store is not reachable, renew tries again, also
// after the lease has expired: the run ends only if another writer took the thread over.
func (l *threadLog) renew(ctx context.Context, ttl time.Duration, cancel context.CancelCauseFunc) {
	every := max(ttl/3, time.Millisecond)
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		limited, done := context.WithTimeout(ctx, every)
		err := l.store.Renew(limited, l.lease, ttl)
		done()
		if errors.Is(err, ErrSuperseded) {
			cancel(fmt.Errorf("renew lease: %w", err))
			return
		}
	}
}

// close releases the lease. It can be called twice.
func (l *threadLog) close(ctx context.Context) {
	if l == nil || l.closed {
		return
	}
	l.closed = true
	l.stop()
	l.beat.Wait()
	ctx, done := saving(ctx)
	defer done()
	_ = l.store.Release(ctx, l.lease) // a lease that cannot be released expires
}

// readHead returns the head; the zero Commit for a new thread.
func (l *threadLog) readHead(ctx context.Context) (Commit, error) {
	head, err := l.store.Head(ctx, l.lease.Thread)
	if err != nil && !errors.Is(err, ErrNotFound) {
		return Commit{}, fmt.Errorf("read head: %w", err)
	}
	l.head = head
	return head, nil
}

func (l *threadLog) commit(ctx context.Context, b Batch) error {
	ctx, done := saving(ctx)
	defer done()
	b.Thread, b.Parent = l.lease.Thread, l.head.ID
	pends, drops := l.pends.Load(), !b.KeepPending
	b.KeepPending = b.KeepPending || pends == l.gone // spares the store looking for them
	if b.Release {                                   // otherwise the heartbeat would report a lost lease
		l.stop()
		l.beat.Wait()
	}
	id, err := l.store.Commit(ctx, l.lease, b)
	if err != nil {
		return err
	}
	l.head, l.closed = b.Commit, b.Release
	if drops {
		l.gone = pends
	}
	l.head.ID, l.head.Deltas = id, nil
	l.sizes.Tail += b.BodyBytes()
	if b.Snapshot != nil {
		l.sizes = snapshots.Sizes{Snapshot: len(b.Snapshot)}
	}
	return nil
}

func (l *threadLog) pend(ctx context.Context, r TaskResult) error {
	ctx, done := saving(ctx)
	defer done()
	l.pends.Add(1)
	if err := l.store.Pend(ctx, l.lease, r); err != nil {
		return fmt.Errorf("save result of node %q: %w", r.Delta.Node, err)
	}
	return nil
}

func saving(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(context.WithoutCancel(ctx), saveTimeout)
}

// save commits the current position of the run. Without a store it does nothing.
func (x *run[S, U]) save(ctx context.Context, source Source, deltas []Delta) error {
	if x.log == nil {
		return nil
	}
	if x.o.SaveAtEnd && source == SourceLoop {
		for _, d := range deltas {
			d.Rank = len(x.held) // keeps the order of the steps
			x.held = append(x.held, d)
		}
		if x.status == Running {
			return nil
		}
		deltas = x.held
	}
	b := x.batch(source, deltas)
	z := x.log.sizes
	z.Tail += b.BodyBytes()
	b.Release = b.Status == Completed
	b.KeepPending = source == SourceUpdate && !b.Release && x.id == x.log.head.Run // see Edit.As
	if err := x.snapshot(&b, z, b.Release && z.DueAtEnd() || z.DueWithin()); err != nil {
		return err
	}
	return x.log.commit(ctx, b)
}

// snapshot adds the state to a batch if it must be saved, or if it is due and pays. The sizes are those after the batch.
func (x *run[S, U]) snapshot(b *Batch, z snapshots.Sizes, due bool) error {
	if !x.migrated && !due {
		return nil
	}
	body, err := encode(x.state)
	if err != nil {
		return fmt.Errorf("encode state: %w", err)
	}
	if !x.migrated && !z.Pays(len(body)) {
		x.log.sizes.Tried = x.log.sizes.Read()
		return nil
	}
	if x.plan.stateDiffers || codec.InvalidUTF8(body) { // continue with the state that a reload would return
		if x.state, err = decode[S](body); err != nil {
			return fmt.Errorf("decode state: %w", err)
		}
	}
	b.Snapshot, x.migrated = body, false
	return nil
}

// saveEnd closes a run that ended early. State and frontier do not change, so that the run can
// be resumed. Finished tasks of the step stay saved.
func (x *run[S, U]) saveEnd(ctx context.Context, failed []Delta, cause error) error {
	if len(x.held) > 0 { // see SaveAtEnd
		steps := x.batch(SourceLoop, x.held)
		steps.Status, steps.KeepPending = Running, true
		if err := x.log.commit(ctx, steps); err != nil {
			return err
		}
	}
	b := x.batch(SourceClose, failed)
	b.Error = cause.Error()
	b.KeepPending, b.Release = !x.session.stale, !x.session.stale
	z := x.log.sizes
	_ = x.snapshot(&b, z, z.DueAtEnd()) // the next run that completes reports an error
	if err := x.log.commit(ctx, b); err != nil {
		return err
	}
	if !x.session.stale {
		return nil
	}
	// One saved result caused the failure, so the commit dropped all of them. The others
	// are saved again.
	for _, r := range x.session.entries() {
		if err := x.log.pend(ctx, r); err != nil {
			return err
		}
	}
	for i := range x.outcomes {
		if o := &x.outcomes[i]; o.done && len(x.outcomes) > 1 {
			if err := x.pend(ctx, o); err != nil {
				return err
			}
		}
	}
	return nil
}

func (x *run[S, U]) batch(source Source, deltas []Delta) Batch {
	return Batch{Commit: Commit{
		Run: x.id, Step: x.step, Source: source, Status: x.status, Time: x.now(),
		Fingerprint: x.plan.fingerprint, Frontier: x.plan.names(x.frontier), Deltas: deltas,
	}}
}

func (x *run[S, U]) pend(ctx context.Context, o *outcome[U]) error {
	return x.log.pend(ctx, x.session.result(x.place(o), 1, x.delta(o)))
}

// now returns the time with the precision of the store.
func (r *Runner[S, U]) now() time.Time { return r.o.Clock().UTC().Truncate(time.Microsecond) }

// encode returns v as compact JSON without HTML escapes.
func encode(v any) (body []byte, err error) {
	defer caught(&err) // MarshalJSON may panic
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}
