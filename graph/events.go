package graph

import (
	"context"
	"iter"
	"slices"
	"strconv"
	"strings"
)

// seqOf returns the position of a durable event. A commit can have one of each kind, in this order: a step, the end of the run
// or of one call, and the start of the call that continues after the commit.
func seqOf(kind EventKind, at CommitID) int64 {
	seq := int64(at) * 4
	switch kind {
	case RunEnded:
		seq++
	case RunStarted:
		seq += 2
	default:
	}
	return seq
}

// Events yields the durable events of a run from the log, as [Runner.Run] yielded them, from the first with a Seq
// greater than after; 0 means all. They have the states unless modes leaves out [Values]; 0 means Values. The last event of a
// run that has ended is RunEnded. Of a run under way, Events yields what is saved; call it again with the last Seq. An
// unknown thread or run is [ErrNotFound]; so is one that was pruned. The commits after the position are in memory.
func (r *Runner[S, U]) Events(ctx context.Context, thread, run string, after int64, modes Mode) iter.Seq2[Event[S], error] {
	return func(yield func(Event[S], error) bool) {
		if modes == 0 {
			modes = defaultModes
		}
		p := &replay[S, U]{Runner: r, thread: thread, after: after, modes: modes, yield: yield}
		err := p.play(ctx, run)
		if wrap(&err, "events of run %q of thread %q", run, thread); err != nil && !p.left {
			yield(Event[S]{}, err)
		}
	}
}

// replay is one use of Events.
type replay[S, U any] struct {
	*Runner[S, U]
	thread string
	after  int64
	modes  Mode
	yield  func(Event[S], error) bool
	left   bool // the consumer broke the loop
	state  S    // after the commit at
	at     CommitID
}

func (p *replay[S, U]) play(ctx context.Context, run string) error {
	commits, err := p.commits(ctx, run)
	if err != nil {
		return err
	}
	var last Commit
	for _, c := range commits {
		works := c.Source == SourceLoop || c.Source == SourceClose && c.Status != Superseded && c.Error != ErrCancelled.Error()
		if works && last.ID != 0 && last.Source != SourceInput && last.Source != SourceLoop {
			err = p.event(ctx, RunStarted, last)
		} else if c.Source == SourceInput {
			err = p.event(ctx, RunStarted, c)
		}
		if err == nil && c.Source == SourceLoop {
			err = p.event(ctx, StepDone, c)
		}
		if err == nil && ends(c, last) {
			err = p.event(ctx, RunEnded, c)
		}
		if err != nil || p.left {
			return err
		}
		last = c
	}
	return nil
}

// commits returns the commits of a run, oldest first, from that of the position on.
func (p *replay[S, U]) commits(ctx context.Context, run string) (found []Commit, err error) {
	if p.o.Store == nil {
		return nil, errNoStore
	}
	for c, err := range p.o.Store.Walk(ctx, p.thread, 0) {
		if err != nil {
			return nil, err
		}
		if c.Run != run {
			continue
		}
		if found = append(found, c); c.Source == SourceInput || seqOf(StepDone, c.ID) <= p.after {
			break
		}
	}
	if len(found) == 0 {
		return nil, ErrNotFound
	}
	slices.Reverse(found)
	return found, nil
}

// ends reports whether a commit ended a run or a call of it; last is the commit of the run before it.
func ends(c, last Commit) bool {
	switch c.Source {
	case SourceClose:
		return true
	case SourceLoop, SourceUpdate:
		return c.Status == Completed
	case SourceUndo:
		return c.Status == Superseded && last.Status != Superseded
	default:
		return false
	}
}

// event yields an event of a commit, unless the reader has it.
func (p *replay[S, U]) event(ctx context.Context, kind EventKind, c Commit) error {
	e := Event[S]{
		Kind: kind, Seq: seqOf(kind, c.ID), Thread: p.thread, Run: c.Run, Step: c.Step,
		Commit: c.ID, Time: c.Time, Status: c.Status, Next: p.next(kind, c),
	}
	if p.left || e.Seq <= p.after {
		return nil
	}
	switch {
	case kind == RunStarted:
		e.Status = Running
	case kind == StepDone || c.Source != SourceLoop:
		e.Tasks = p.modes.shown(c.Deltas)
	}
	if kind == RunEnded {
		e.Interrupt = interruptOf(c)
	}
	if p.modes&Values != 0 {
		if err := p.foldTo(ctx, c); err != nil {
			return err
		}
		e.State = p.state
	}
	p.left = !p.yield(e, nil)
	return nil
}

// next returns the nodes that run after a commit. Those of another version of the graph are its frontier.
func (p *replay[S, U]) next(kind EventKind, c Commit) []string {
	names := c.Frontier
	if c.Fingerprint != p.plan.fingerprint && kind == RunStarted {
		if here, err := p.continuation(c); err == nil {
			names = here
		}
	}
	frontier, err := p.plan.frontier(names)
	if err != nil || kind != RunStarted && c.Fingerprint != p.plan.fingerprint {
		return names
	}
	return p.plan.names(p.plan.waiting.Ready(nil, frontier))
}

// foldTo sets the state to that after a commit.
func (p *replay[S, U]) foldTo(ctx context.Context, c Commit) (err error) {
	switch {
	case p.at == c.ID:
		return nil
	case p.at == 0 || p.at != c.Parent:
		p.state, _, _, err = p.stateAt(ctx, p.thread, c)
	default:
		if _, err = p.mayFold(c); err == nil {
			p.state, err = p.fold(p.state, "", c.Deltas)
		}
	}
	p.at = c.ID
	return err
}

// interruptOf returns the error of an interrupted run from the commit that closed it; nil after a drain or a pause.
func interruptOf(c Commit) *InterruptError {
	if c.Source != SourceClose || c.Status != Interrupted {
		return nil
	}
	e := &InterruptError{Questions: questionsOf(c)}
	rest, asks := strings.CutPrefix(c.Error, e.Error())
	if !asks { // it stopped for another reason
		return nil
	}
	e.Before, rest = cutNames(rest, stoppedBefore)
	e.After, _ = cutNames(rest, stoppedAfter)
	if e.Error() != c.Error {
		return nil
	}
	return e
}

// cutNames reads the names of breakpoints from the text of an InterruptError.
func cutNames(text, lead string) (names []string, rest string) {
	rest, found := strings.CutPrefix(strings.TrimPrefix(text, "; "), lead+"[")
	if !found {
		return nil, text
	}
	for {
		quoted, err := strconv.QuotedPrefix(rest)
		if err != nil {
			return names, strings.TrimPrefix(rest, "]")
		}
		name, _ := strconv.Unquote(quoted) // it is quoted
		names, rest = append(names, name), strings.TrimPrefix(rest[len(quoted):], " ")
	}
}
