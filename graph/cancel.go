package graph

import (
	"context"
	"fmt"

	"example.com/ragflow/internal/lifecycle"
)

// Cancel ends the unfinished run of a thread as [Cancelled]: the run with this ID or, if run is empty, whichever it is. Its saved
// steps stay, and a [Request] with Resume continues it.
//
// A run of this Runner is cancelled like one whose context ends, with an error that matches [ErrCancelled]. Cancel waits for its end,
// so its consumer must not call Cancel from the loop over its events, which can be left instead. For a run of another Runner
// or process, Cancel takes over the thread and closes the run in the log. Its nodes are cancelled when that process renews its lease, within a third
// of [Options].LeaseTTL, and its error is [ErrSuperseded]. A run that waits for a person, or whose process died, is only closed.
//
// An unknown thread or run is [ErrNotFound]. A run that has ended, also while Cancel waited, is a [*MoveError].
func (r *Runner[S, U]) Cancel(ctx context.Context, thread, run string) (err error) {
	defer wrap(&err, "cancel thread %q", thread)
	if r.o.Store == nil {
		return errNoStore
	}
	if a := r.active.Find(thread, run); a != nil {
		end, err := a.Cancel(ctx, ErrCancelled)
		if err == nil && Status(end) == Completed {
			err = &MoveError{Completed, lifecycle.Cancel}
		}
		return err
	}
	if _, err := r.cancellable(ctx, thread, run); err != nil {
		return err
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	log, err := openLog(ctx, r.o.Store, thread, AcquireOptions{Owner: r.o.Owner, TTL: r.o.LeaseTTL, Force: true}, cancel)
	if err != nil {
		return err
	}
	defer log.close(ctx)
	head, err := r.cancellable(ctx, thread, run) // it may have ended meanwhile
	if err != nil {
		return err
	}
	log.head = head
	b := Batch{Commit: head, KeepPending: true, Release: true}
	b.Source, b.Status, b.Time, b.Error = SourceClose, Cancelled, r.now(), ErrCancelled.Error()
	b.Deltas = nil
	if open := questionsOf(head); len(open) > 0 { // a resume reads them from the head
		b.Deltas = []Delta{{Error: b.Error, Notes: Notes{Questions: open}}}
	}
	return log.commit(ctx, b)
}

// cancellable returns the head of a thread, with its deltas, if it belongs to the run and that can be cancelled.
func (r *Runner[S, U]) cancellable(ctx context.Context, thread, run string) (head Commit, err error) {
	for c, err := range r.o.Store.Walk(ctx, thread, 0) {
		if err != nil {
			return head, err
		}
		if head.ID == 0 {
			head = c
		}
		if run != "" && c.Run != run {
			continue
		}
		if _, err := c.Status.after(lifecycle.Cancel); err != nil || c.ID != head.ID {
			return head, fmt.Errorf("run %q: %w", c.Run, &MoveError{c.Status, lifecycle.Cancel})
		}
		return head, nil
	}
	return head, ErrNotFound
}
