package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Edit asks for a change of a thread's state from outside of any run.
type Edit[S, U any] struct {
	Thread string
	Wait   time.Duration // how long to wait for a thread that is taken; zero: not at all
	Source Source        // of the commit: SourceUpdate when empty, or SourceUndo
	// As names the node that the updates are said to be of: the run that stands
	// unfinished is not closed but, as if that node had run, goes on with what
	// follows it, once it is resumed; where none does, a new run begins there.
	// Another graph's run is [ErrGraphChanged]. What the state after the updates
	// does not decide, Goto does: the targets of a node with Pick.
	As   string
	Goto []string
	// Change returns the updates to apply, in order, given the state they will
	// be applied to and the head it belongs to. It is called once, while the
	// thread is held. Returning none changes nothing.
	Change func(ctx context.Context, s S, head Commit) ([]U, error)
}

// Update changes a thread's state by one commit, which is a run of its own
// that has completed, and returns the state that follows and the commit. An
// unfinished run is closed as superseded first. A thread without a commit is
// [ErrNotFound]; an error of Change or Apply changes nothing. Other errors:
// [ErrBusy], [ErrSuperseded].
func (r *Runner[S, U]) Update(ctx context.Context, e Edit[S, U]) (S, CommitID, error) {
	x := &run[S, U]{Runner: r, req: Request[U]{Thread: e.Thread, Wait: e.Wait}, session: &session{o: &r.o}}
	at, err := x.edit(ctx, e)
	if err != nil {
		return x.state, 0, fmt.Errorf("update thread %q: %w", e.Thread, err)
	}
	return x.state, at, nil
}

func (x *run[S, U]) edit(ctx context.Context, e Edit[S, U]) (CommitID, error) {
	if x.o.Store == nil {
		return 0, fmt.Errorf("no store: %w", ErrNotFound)
	}
	if _, err := x.o.Store.Head(ctx, e.Thread); err != nil {
		return 0, err // looked at first, because taking a thread makes it
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	log, err := openLog(ctx, x.o.Store, e.Thread, AcquireOptions{Owner: x.o.Owner, TTL: x.o.LeaseTTL, Wait: e.Wait}, cancel)
	if err != nil {
		return 0, err
	}
	defer log.close(ctx)
	x.log = log
	known, warm, err := x.remembered(ctx)
	if err != nil {
		return 0, err
	}
	if err := x.read(ctx, known, warm); err != nil {
		return 0, err
	}
	head := log.head
	updates, err := e.Change(ctx, x.state, head)
	if err != nil || len(updates) == 0 {
		return head.ID, err
	}
	next, deltas, err := x.changed(updates)
	if err != nil {
		return 0, err
	}
	if e.As != "" {
		err = x.as(ctx, e, head, next, deltas)
	} else {
		err = x.alone(ctx, head)
	}
	if err != nil {
		return 0, err
	}
	held := x.state
	x.state = next
	if err := x.save(ctx, cmp.Or(e.Source, SourceUpdate), deltas); err != nil {
		x.state = held
		return 0, err
	}
	x.warm.put(e.Thread, warmState[S]{log.head, x.state, log.sizes})
	return log.head.ID, nil
}

// alone makes the edit a run of its own.
func (x *run[S, U]) alone(ctx context.Context, head Commit) error {
	x.id = x.o.NewID()
	x.life = NewLifecycle(Pending)
	if err := errors.Join(x.life.Move(ctx, MoveStart), x.life.Move(ctx, MoveComplete)); err != nil {
		return err
	}
	return x.supersede(ctx, head, nil)
}

// as makes the edit a step of the run at the head, or of a new one.
func (x *run[S, U]) as(ctx context.Context, e Edit[S, U], head Commit, after S, deltas []Delta) error {
	rest, err := x.plan.frontier([]string{e.As})
	if err != nil {
		return fmt.Errorf("as node %q: unknown node", e.As)
	}
	n := &x.plan.nodes[rest[0]]
	notes := Notes{Goto: e.Goto}
	if err := n.allows(e.Goto); err != nil {
		return fmt.Errorf("as node %q: %w", e.As, err)
	}
	reached, err := n.successors(nil, after, &notes)
	if err != nil {
		return fmt.Errorf("as node %q: %w", e.As, err)
	}
	x.id, x.life = head.Run, NewLifecycle(head.Status)
	first := MoveResume
	if len(head.Frontier) == 0 {
		x.id, x.life, first = x.o.NewID(), NewLifecycle(Pending), MoveStart
	} else if err := x.resumable(head); err != nil {
		return err
	}
	if len(head.Frontier) > 0 {
		x.step = head.Step + 1
		stand, err := x.plan.frontier(head.Frontier)
		if err != nil {
			return err
		}
		reached = append(reached, without(stand, rest)...)
	}
	slices.Sort(reached)
	x.frontier = slices.Compact(reached)
	if len(x.frontier) > 0 && x.frontier[0] == endIndex {
		x.frontier = x.frontier[1:]
	}
	for i := range deltas {
		deltas[i].Node, deltas[i].Rank = n.name, n.rank
		deltas[i].Notes.Goto = e.Goto
	}
	last := MoveInterrupt
	if len(x.frontier) == 0 {
		last = MoveComplete
	}
	return errors.Join(x.life.Move(ctx, first), x.life.Move(ctx, last))
}

// changed applies updates and makes the deltas that tell of them.
func (x *run[S, U]) changed(updates []U) (S, []Delta, error) {
	s := x.state
	deltas := make([]Delta, len(updates))
	for i, u := range updates {
		o := outcome[U]{update: u}
		if err := x.encode(&o); err != nil {
			return s, nil, fmt.Errorf("encode update: %w", err)
		}
		var err error
		if s, err = callApply(x.plan.apply, s, o.update); err != nil {
			return s, nil, fmt.Errorf("apply update: %w", err)
		}
		deltas[i] = Delta{Rank: i, Body: o.body, Notes: Notes{Start: x.now()}}
	}
	s, err := x.checked(s)
	return s, deltas, err
}
