package graph

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"example.com/ragflow/internal/lifecycle"
)

// begin prepares the run for its next superstep.
func (x *run[S, U]) begin(ctx context.Context) error {
	var head Commit
	if x.log != nil {
		cached, ok, err := x.cachedHead(ctx)
		if err != nil {
			return err
		}
		head = x.log.head
		if len(x.req.Answers)+len(x.req.Updates) > 0 && !x.req.Resume {
			return errors.New("answers and updates need Resume")
		}
		if x.req.From != 0 && x.req.From != head.ID {
			if head, cached, err = x.goBack(ctx, cached, ok); err != nil {
				return fmt.Errorf("go back: %w", err)
			}
			ok = true
		}
		if x.req.ResumeOrStart && x.req.Resume {
			return errors.New("a request has Resume or ResumeOrStart, not both")
		}
		if x.req.ResumeOrStart {
			x.req.Resume = len(head.Frontier) > 0
		}
		over := false // this resume only repeats answers of a run that is over
		if x.req.Resume {
			if over, err = x.answeredBefore(ctx, head); err != nil {
				return err
			}
			if err := x.resumable(head); err != nil && !over {
				return err
			}
		}
		if err := x.read(ctx, cached, ok); err != nil {
			return err
		}
		if over {
			x.id, x.step, x.status = head.Run, head.Step, head.Status
			return nil
		}
	}
	switch {
	case x.req.Resume && x.log == nil:
		return ErrNothingToDo
	case x.req.Resume:
		return x.resume(ctx, head)
	}
	return x.admit(ctx, head)
}

// goBack saves that the thread continues from Request.From, and returns the new head with its state.
func (x *run[S, U]) goBack(ctx context.Context, cached cachedState[S], known bool) (Commit, cachedState[S], error) {
	if err := x.read(ctx, cached, known); err != nil {
		return Commit{}, cached, err
	}
	_, save, err := x.rewind(ctx, x.req.From)
	if err == nil {
		err = save(ctx)
	}
	return x.log.head, cachedState[S]{x.log.head, x.state, x.log.sizes}, err
}

// cachedHead sets the head of the log and returns the cached state at the head, if there
// is one. With CheckCodec the cache is not used.
func (x *run[S, U]) cachedHead(ctx context.Context) (w cachedState[S], ok bool, err error) {
	at := x.log.lease.Head
	if at == 0 {
		head, err := x.log.readHead(ctx)
		if at = head.ID; err != nil || at == 0 {
			return w, false, err
		}
	}
	if w, ok = x.states.get(x.req.Thread, at); ok && !x.o.CheckCodec {
		x.log.head = w.head
		return w, true, nil
	}
	_, err = x.log.readHead(ctx)
	return cachedState[S]{}, false, err
}

// read sets the run to the state at the log's head, from the cache or the store.
func (x *run[S, U]) read(ctx context.Context, w cachedState[S], known bool) (err error) {
	x.state, x.log.sizes = w.state, w.sizes
	if !known && x.log.head.ID != 0 {
		x.state, x.log.sizes, x.migrated, err = x.stateAt(ctx, x.req.Thread, x.log.head)
	}
	return err
}

// resumable returns an error if this graph cannot continue from the head. Callers check
// it before they read the state, because another graph may have another state type.
func (x *run[S, U]) resumable(head Commit) error {
	if len(head.Frontier) == 0 {
		return ErrNothingToDo
	}
	if head.Fingerprint != x.plan.fingerprint && x.o.Migrate == nil {
		return fmt.Errorf("run %q: %w", head.Run, ErrGraphChanged)
	}
	return nil
}

// continuation returns the nodes where this graph continues a run of another version.
func (r *Runner[S, U]) continuation(head Commit) ([]string, error) {
	if head.Fingerprint == r.plan.fingerprint {
		return head.Frontier, nil
	}
	if r.o.Migrate == nil {
		return nil, ErrGraphChanged
	}
	next, err := r.o.Migrate(head)
	if err == nil && len(next) == 0 {
		err = fmt.Errorf("%w: Migrate names no node", ErrGraphChanged)
	}
	return next, err
}

// admit starts a new run. It closes an unfinished one first.
func (x *run[S, U]) admit(ctx context.Context, head Commit) error {
	input := outcome[U]{update: x.req.Input}
	if err := x.encode(&input); err != nil {
		return fmt.Errorf("encode input: %w", err)
	}
	source, closing := SourceClose, x.salvage
	if x.tookOver && x.onBusy() == Rollback && len(head.Frontier) > 0 {
		source, closing = SourceUndo, x.undone
	}
	before, left, err := closing(ctx, head)
	if err != nil {
		return fmt.Errorf("close run %q: %w", head.Run, err)
	}
	state, err := callApply(x.plan.apply, before, input.update)
	if err != nil {
		return fmt.Errorf("apply input: %w", err)
	}
	if x.state, err = x.checked(state); err != nil {
		return err
	}
	if x.id = x.req.Run; x.id == "" {
		x.id = x.o.NewID()
	}
	x.active.Name(x.me, x.id)
	if err := x.move(lifecycle.Start); err != nil {
		return err
	}
	if x.frontier, err = x.plan.first(x.state); err != nil {
		return fmt.Errorf("first nodes: %w", err)
	}
	if x.log != nil {
		if err := x.supersede(ctx, head, source, left); err != nil {
			return err
		}
		body := Delta{Body: input.body, Notes: Notes{Start: x.now(), Metadata: x.req.Metadata}}
		if err := x.save(ctx, SourceInput, []Delta{body}); err != nil {
			return fmt.Errorf("save input: %w", err)
		}
	}
	x.session.beginStep(x.id, x.step+1, x.log)
	if err := x.prepare(); err != nil {
		return err
	}
	x.yieldDurable(RunStarted, nil, nil)
	return nil
}

// supersede closes the unfinished run at the head, if there is one. The deltas are what the run leaves or, for
// [SourceUndo], revert its changes.
func (x *run[S, U]) supersede(ctx context.Context, head Commit, source Source, deltas []Delta) error {
	if len(head.Frontier) == 0 {
		return nil
	}
	status, err := head.Status.after(lifecycle.Supersede)
	if err != nil {
		return err
	}
	b := Batch{Commit: Commit{
		Run: head.Run, Step: head.Step, Source: source, Status: status, Time: x.now(),
		Fingerprint: head.Fingerprint, Error: "superseded by run " + x.id, Deltas: deltas,
	}}
	if err := x.log.commit(ctx, b); err != nil {
		return fmt.Errorf("close run %q: %w", head.Run, err)
	}
	return nil
}

// resume continues the unfinished run at the head.
func (x *run[S, U]) resume(ctx context.Context, head Commit) error {
	x.status = head.Status
	if err := x.move(lifecycle.Resume); err != nil {
		return err
	}
	next, err := x.continuation(head)
	if err == nil {
		x.frontier, err = x.plan.frontier(next)
	}
	if err != nil {
		return fmt.Errorf("run %q: %w", head.Run, err)
	}
	x.id, x.step = head.Run, head.Step
	x.active.Name(x.me, x.id)
	x.session.beginStep(x.id, x.step+1, x.log)
	if err := x.recall(ctx, head); err != nil {
		return err
	}
	answers, err := x.session.matched(x.req.Answers)
	if err != nil {
		return err
	}
	if len(x.req.Updates) > 0 {
		next, deltas, err := x.changed(x.req.Updates)
		if err != nil {
			return err
		}
		x.state = next
		if err := x.editRun(ctx, head, deltas); err != nil {
			return fmt.Errorf("save updates: %w", err)
		}
	}
	if err := x.session.answer(ctx, answers); err != nil {
		return err
	}
	if err := x.prepare(); err != nil {
		return err
	}
	if !slices.ContainsFunc(x.outcomes, func(o outcome[U]) bool { return !o.waits }) {
		return x.interrupted() // no task can run
	}
	x.yieldDurable(RunStarted, nil, nil)
	return nil
}

// answeredBefore drops the answers that the run has used already, unless their question is open
// again. It reports whether the run is over and nothing else was asked for.
func (x *run[S, U]) answeredBefore(ctx context.Context, head Commit) (over bool, err error) {
	if len(x.req.Answers) == 0 {
		return false, nil
	}
	open, err := x.openQuestions(ctx, head)
	if err != nil {
		return false, err
	}
	left := maps.Clone(x.req.Answers)
	isOpen := func(name string) bool {
		return slices.ContainsFunc(open, func(q Question) bool { return q.ID() == name || q.Key == name })
	}
	for c, err := range x.o.Store.Walk(ctx, x.req.Thread, head.ID) {
		if err != nil {
			return false, fmt.Errorf("read answers: %w", err)
		}
		if c.Run != head.Run || len(left) == 0 || c.Source == SourceFork {
			break
		}
		for _, d := range c.Deltas {
			for _, a := range d.Notes.Answers {
				for _, name := range []string{a.Key, a.At + "/" + a.Key} {
					if body, err := encode(left[name]); err == nil && bytes.Equal(body, a.Value) && !isOpen(name) {
						delete(left, name)
					}
				}
			}
		}
	}
	x.req.Answers = left
	return len(left)+len(x.req.Updates) == 0 && len(head.Frontier) == 0, nil
}

// openQuestions returns the open questions at the head of an unfinished run.
func (x *run[S, U]) openQuestions(ctx context.Context, head Commit) ([]Question, error) {
	c, err := commitAt(ctx, x.o.Store, x.req.Thread, head.ID)
	return questionsOf(c), err
}

// recall loads the finished tasks and the open questions of the step, and finds the breakpoints that it passed.
func (x *run[S, U]) recall(ctx context.Context, head Commit) error {
	since, err := x.session.recall(ctx, x.o.Store, head, x.plan.fingerprint)
	if err != nil {
		return err
	}
	if head.Source == SourceClose || head.Source == SourceUpdate {
		x.session.closed = head.Time
	}
	x.session.open = questionsOf(since[0])
	x.passed = x.passedBreaks(since)
	return nil
}
