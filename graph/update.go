package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"example.com/ragflow/internal/address"
	"example.com/ragflow/internal/lifecycle"
)

// Edit asks for a change of a thread's state outside of a run.
type Edit[S, U any] struct {
	Thread string
	Wait   time.Duration // how long to wait for a busy thread; zero: not at all
	Source Source        // source of the commit: SourceUpdate if empty, or SourceUndo
	Create bool          // allow a thread without a commit
	From   CommitID      // change the state after this earlier commit and go on from there; see [Request].From. 0: the head
	// As, if set, treats the updates as the result of this node. The unfinished run is not
	// closed; a resume continues it with the successors of the node. The other nodes of the superstep keep their
	// results, questions and answers, and the breakpoints at which the run has stopped stay behind it. Without an unfinished
	// run, a new run starts after the node. For a run of another graph the error is
	// [ErrGraphChanged]. Goto are the targets if the node has Pick.
	As   string
	Goto []string
	// Path, if set, is a subgraph (see [Sub]) whose call is unfinished, for example because it waits for an answer. The
	// runner must be one of its plan. The edit follows the last step of the subgraph that finished whole, and counts as
	// a part of that step for [Plan.Inside] and [Runner.Fork]. It has at most one update and no As, From, Source or
	// Metadata. It makes no commit: that of the superstep will contain it. Without such a call the error is [ErrNotFound].
	Path string
	// Metadata is added to that of the thread; see [ThreadInfo]. It is saved also without updates.
	Metadata map[string]string
	Updates  []U // the updates to apply, in order; none change nothing
	// Change, if set, gets the state and the head of the thread and returns the updates instead. It is called
	// once, with the lease of the thread.
	Change func(ctx context.Context, s S, head Commit) ([]U, error)
}

// Update changes a thread's state with one commit and returns the new state and the commit. An
// unfinished run is kept: its open questions, answers and finished tasks too, and a resume continues
// it with the new state. [SourceUndo] closes it as superseded. Otherwise the commit is a completed
// run of its own. A thread without a commit is [ErrNotFound], unless Create is set. An error of
// Change or Apply changes nothing. Other errors: [ErrBusy], [ErrSuperseded], [ErrGraphChanged].
func (r *Runner[S, U]) Update(ctx context.Context, e Edit[S, U]) (s S, at CommitID, err error) {
	defer wrap(&err, "update thread %q", e.Thread)
	x := &run[S, U]{Runner: r, req: Request[U]{Thread: e.Thread, Wait: e.Wait}, session: &session{o: &r.o}}
	at, err = x.edit(ctx, e)
	return x.state, at, err
}

func (x *run[S, U]) edit(ctx context.Context, e Edit[S, U]) (CommitID, error) {
	if x.o.Store == nil {
		return 0, errNoStore
	}
	if _, err := x.o.Store.Head(ctx, e.Thread); err != nil && (!e.Create || !errors.Is(err, ErrNotFound)) {
		return 0, err // checked first, because acquiring a lease creates the thread
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	log, err := openLog(ctx, x.o.Store, e.Thread, AcquireOptions{Owner: x.o.Owner, TTL: x.o.LeaseTTL, Wait: e.Wait}, cancel)
	if err != nil {
		return 0, err
	}
	defer log.close(ctx)
	if e.Path != "" {
		return x.editInside(ctx, log, e)
	}
	x.log = log
	cached, ok, err := x.cachedHead(ctx)
	if err != nil {
		return 0, err
	}
	if err := x.read(ctx, cached, ok); err != nil {
		return 0, err
	}
	head := log.head
	back := func(context.Context) error { return nil }
	if e.From != 0 && e.From != head.ID {
		if head, back, err = x.rewind(ctx, e.From); err != nil {
			return 0, err
		}
	}
	updates := e.Updates
	if e.Change != nil {
		updates, err = e.Change(ctx, x.state, head)
	}
	if len(updates) == 0 && len(e.Metadata) > 0 {
		updates = make([]U, 1) // the zero update changes nothing
	}
	if err != nil || len(updates) == 0 {
		return log.head.ID, err
	}
	next, deltas, err := x.changed(updates)
	if err != nil {
		return 0, err
	}
	deltas[0].Notes.Metadata = e.Metadata
	if err := back(ctx); err != nil {
		return 0, err
	}
	head = log.head
	old := x.state
	x.state = next
	switch {
	case e.As != "":
		err = x.asNode(ctx, e, head, next, deltas)
	case e.Source == SourceUndo || len(head.Frontier) == 0:
		err = x.asOwnRun(ctx, head)
	default:
		x.session.open, err = x.openQuestions(ctx, head)
		if err == nil {
			err = x.editRun(ctx, head, deltas)
		}
		deltas = nil
	}
	if err == nil && deltas != nil {
		err = x.save(ctx, cmp.Or(e.Source, SourceUpdate), deltas)
	}
	if err != nil {
		x.state = old
		return 0, err
	}
	x.states.put(e.Thread, cachedState[S]{log.head, x.state, log.sizes})
	return log.head.ID, nil
}

// editRun saves a change of the state within the unfinished run at the head. Its open questions are
// saved again, because a resume reads them from the head.
func (x *run[S, U]) editRun(ctx context.Context, head Commit, deltas []Delta) error {
	deltas[0].Notes.Questions = x.session.open
	b := Batch{Commit: head, KeepPending: true}
	b.Source, b.Time, b.Deltas = SourceUpdate, x.now(), deltas
	if err := x.snapshot(&b, x.log.sizes, false); err != nil {
		return err
	}
	return x.log.commit(ctx, b)
}

// asOwnRun makes the edit a run of its own.
func (x *run[S, U]) asOwnRun(ctx context.Context, head Commit) error {
	x.id = x.o.NewID()
	x.status = Pending
	if err := errors.Join(x.move(lifecycle.Start), x.move(lifecycle.Complete)); err != nil {
		return err
	}
	return x.supersede(ctx, head, SourceClose, nil)
}

// asNode makes the edit a step of the run at the head, or of a new run.
func (x *run[S, U]) asNode(ctx context.Context, e Edit[S, U], head Commit, after S, deltas []Delta) error {
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
	x.id, x.status = head.Run, head.Status
	first := lifecycle.Resume
	if len(head.Frontier) == 0 {
		x.id, x.status, first = x.o.NewID(), Pending, lifecycle.Start
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
		open, err := x.openQuestions(ctx, head)
		if err != nil {
			return err
		}
		deltas[0].Notes.Questions = slices.DeleteFunc(open, func(q Question) bool { return address.Within(q.At, e.As) })
	}
	x.frontier = reachedNodes(reached)
	for i := range deltas {
		deltas[i].Node, deltas[i].Rank = n.name, n.rank
		deltas[i].Notes.Goto = e.Goto
	}
	last := lifecycle.Interrupt
	if len(x.frontier) == 0 {
		last = lifecycle.Complete
	}
	return errors.Join(x.move(first), x.move(last))
}

// changed applies updates and returns the new state and their deltas.
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
