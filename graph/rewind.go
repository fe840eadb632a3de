package graph

import (
	"bytes"
	"context"
	"errors"
	"fmt"
)

// rewind sets the run to an earlier commit of its thread and returns the commit of [SourceFork] that
// will be the head, and a function that saves it. The log keeps everything: the new commit restores
// the state by updates of [Graph].Restore and continues at the frontier of the old one. Inputs in between are
// undone, so that they do not count as turns.
func (x *run[S, U]) rewind(ctx context.Context, to CommitID) (Commit, func(context.Context) error, error) {
	head := x.log.head
	then, undone, err := x.findBack(ctx, to)
	if err != nil {
		return head, nil, err
	}
	switch {
	case len(then.Frontier) == 0 && x.req.Resume:
		return head, nil, fmt.Errorf("commit %d: %w", to, ErrNothingToDo)
	case x.plan.restore == nil:
		return head, nil, errors.New("the graph has no Restore, which goes back to an earlier state; set it, or use Fork")
	case len(then.Frontier) > 0:
		if err := x.resumable(then); err != nil {
			return head, nil, err
		}
		if then.Frontier, err = x.continuation(then); err != nil {
			return head, nil, err
		}
	}
	state, _, migrated, err := x.stateAt(ctx, x.req.Thread, then)
	if err != nil {
		return head, nil, err
	}
	back, deltas, _, err := x.restored(state, to)
	if err != nil {
		return head, nil, err
	}
	x.state, x.migrated = back, x.migrated || migrated
	open := questionsOf(then)
	then.Source, then.Time, then.Fingerprint, then.Deltas = SourceFork, x.now(), x.plan.fingerprint, nil
	return then, func(ctx context.Context) error {
		for range undone { // the first commit restores the state, so a crash between them loses nothing
			b := Batch{Commit: head}
			b.Source, b.Time, b.Deltas = SourceUndo, x.now(), deltas
			b.Frontier, deltas = nil, nil
			if len(head.Frontier) > 0 {
				b.Status = Superseded
			}
			if err := x.log.commit(ctx, b); err != nil {
				return err
			}
		}
		if len(open) > 0 {
			deltas = append(deltas, Delta{Rank: len(deltas), Notes: Notes{Questions: open}})
		}
		b := Batch{Commit: then}
		b.Deltas = deltas
		if err := x.snapshot(&b, x.log.sizes, false); err != nil {
			return err
		}
		return x.log.commit(ctx, b)
	}, nil
}

// restored returns the deltas that Restore makes to change the state to that of a commit, and this one as JSON.
func (x *run[S, U]) restored(then S, at CommitID) (back S, deltas []Delta, body []byte, err error) {
	if back, deltas, err = x.changedTo(then); err != nil {
		return back, nil, nil, fmt.Errorf("restore the state of commit %d: %w", at, err)
	}
	got, err := encode(back)
	if err == nil {
		body, err = encode(then)
	}
	if err == nil && !bytes.Equal(got, body) {
		err = fmt.Errorf("the updates of Restore do not give the state of commit %d", at)
	}
	return back, deltas, body, err
}

// changedTo is changed with the updates of Restore that turn the state into another.
func (x *run[S, U]) changedTo(then S) (back S, deltas []Delta, err error) {
	var updates []U
	err = protected(func() (err error) { updates, err = x.plan.restore(x.state, then); return err })
	if err != nil {
		return back, nil, err
	}
	return x.changed(updates)
}

// findBack returns a commit and how many turns were added after it.
func (x *run[S, U]) findBack(ctx context.Context, to CommitID) (then Commit, turns int, err error) {
	for c, err := range x.o.Store.Walk(ctx, x.req.Thread, x.log.head.ID) {
		switch {
		case err != nil:
			return c, 0, err
		case c.ID == to:
			return c, max(turns, 0), nil
		}
		turns += c.Source.Turns()
	}
	return then, 0, fmt.Errorf("commit %d: %w", to, ErrNotFound)
}

// questionsOf returns the open questions that a commit has saved.
func questionsOf(c Commit) (open []Question) {
	if c.Source == SourceClose || c.Source == SourceUpdate || c.Source == SourceFork {
		for _, d := range c.Deltas {
			open = append(open, d.Notes.Questions...)
		}
	}
	return open
}
