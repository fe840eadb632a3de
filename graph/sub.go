package graph

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/ragflow/internal/address"
)

// Sub returns a task that runs another graph. in converts the state to the input of the
// subgraph, out converts its final state to the update of the task. Both must be pure. The
// subgraph has its own state and starts with the zero state each time; see [SubFrom] for one that remembers.
//
// The tasks of the subgraph are in the same log. Each is saved when it finishes, under the path
// of the subgraph: "a" for the subgraph of node a, "a/b#2" for the subgraph of node b in the
// second step of the subgraph "a", and so on. They become part of the commit of the superstep.
// So a run that stopped in a subgraph, at any depth, continues there. [Plan.Inside] returns its
// states and [Runner.Fork] can start from them. Retry, Timeout, Cache and OnError of the task
// apply to the whole subgraph; another attempt continues at the failed step. The subgraph has
// its own step limit, with the same number as the run.
func Sub[S, U, SubS, SubU any](plan *Plan[SubS, SubU], in func(S) SubU, out func(S, SubS) U) Task[S, U] {
	return SubFrom(plan, nil, in, out)
}

// SubFrom is like [Sub] for a subgraph that starts with the state that from takes from the state around it. If
// out puts the final state back there, the subgraph remembers it between its calls and between runs; its memory is
// then part of the thread, and [Runner.Update], [Runner.Fork] and [Request].From apply to it. from must be pure.
func SubFrom[S, U, SubS, SubU any](plan *Plan[SubS, SubU], from func(S) SubS, in func(S) SubU, out func(S, SubS) U) Task[S, U] {
	t := subTask(plan, from, in, func(s S, end SubS) (U, []string) { return out(s, end), nil }, nil)
	pick := t.Pick
	t.Pick, t.Run = nil, func(ctx context.Context, s S) (U, error) {
		u, _, err := pick(ctx, s)
		return u, err
	}
	return t
}

// SubPick is like [Sub] for a subgraph that chooses the next nodes of the graph around it: out returns
// them, as a [Picker] does, from to.
func SubPick[S, U, SubS, SubU any](plan *Plan[SubS, SubU], in func(S) SubU, out func(S, SubS) (U, []string), to ...string) Task[S, U] {
	return subTask(plan, nil, in, out, to)
}

func subTask[S, U, SubS, SubU any](plan *Plan[SubS, SubU], from func(S) SubS, in func(S) SubU, out func(S, SubS) (U, []string), to []string) Task[S, U] {
	return Task[S, U]{
		Pick: func(ctx context.Context, s S) (u U, next []string, err error) {
			var seed *SubS
			if from != nil {
				began := from(s)
				seed = &began
			}
			end, err := plan.runInside(ctx, seed, func() SubU { return in(s) })
			if err == nil {
				u, next = out(s, end)
			}
			return u, next, err
		},
		To:  to,
		sub: &subgraph{plan.fingerprint, plan.Shape()},
	}
}

// runInside runs the plan as part of the task of ctx, from the state seed or, if that is nil, the zero state.
//
//nolint:contextcheck // the context of a task carries ctx
func (p *Plan[S, U]) runInside(ctx context.Context, seed *S, in func() U) (S, error) {
	b := taskContextOf(ctx)
	if b == nil { // outside of a run
		b = &taskContext{Context: ctx, of: &session{o: &Options{}}, node: "sub"}
		ctx = b
	}
	if err := b.awaitReached(ctx); err != nil {
		var zero S
		return zero, err
	}
	x := &run[S, U]{Runner: p.Runner(*b.of.o), session: b.of, path: b.address(), emit: b.emit}
	if err := x.enter(ctx, seed, in); err != nil {
		return x.state, fmt.Errorf("enter subgraph %q: %w", p.name, err)
	}
	err := x.loop(ctx)
	if waits, ok := errors.AsType[*InterruptError](err); ok {
		b.asks(waits.Questions...)
	}
	return x.state, err
}

// enter applies the input to the seed and adds both to the ledger.
func (x *run[S, U]) enter(ctx context.Context, seed *S, in func() U) error {
	at := place{path: x.path}
	var input outcome[U]
	var err error
	d, ok := x.session.get(at)
	if ok {
		input.update, err = decode[U](d.Body)
	} else {
		input.update = in()
		d = Delta{Path: x.path, Notes: Notes{Start: x.now()}}
		if err = x.encode(&input); err == nil && seed != nil {
			d.Notes.Seed, err = encode(*seed)
		}
		if d.Body = input.body; err == nil {
			err = x.session.put(ctx, at, d)
		}
	}
	switch {
	case err != nil:
	case d.Notes.Seed != nil:
		x.state, err = decode[S](d.Notes.Seed)
	case seed != nil:
		x.state = *seed
	}
	if err != nil {
		return err
	}
	if x.state, err = x.applied(x.state, input.update); err != nil {
		return err
	}
	if x.frontier, err = x.plan.first(x.state); err != nil {
		return fmt.Errorf("first nodes: %w", err)
	}
	return x.prepare()
}

// inner returns the deltas of the subgraphs of a task, in order.
func (s *session) inner(node string) []Delta {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []Delta
	for p, d := range s.ledger {
		if !address.Within(p.path, node) || strings.HasPrefix(p.node, "__") { // a result of Once, a part or an answer
			continue
		}
		d.Notes.Step = p.turn
		out = append(out, d)
	}
	slices.SortFunc(out, compareInner)
	return out
}

func compareInner(a, b Delta) int {
	return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Notes.Step, b.Notes.Step), cmp.Compare(a.Rank, b.Rank))
}

// Frame is the state of a subgraph after one of its steps.
type Frame[S any] struct {
	Step  int // 0: after its input
	State S
	Nodes []string // nodes that ran in the step
}

// Inside returns the states of the subgraph at a path (see [Sub]), oldest first. They belong to
// the superstep of the given commit. If the commit is the head of an unfinished run and has no
// deltas of the path, they belong to the current superstep. Without any, the error is
// [ErrNotFound].
func (p *Plan[S, U]) Inside(ctx context.Context, s Store, thread string, at CommitID, path string) (frames []Frame[S], err error) {
	defer wrap(&err, "subgraph %q of thread %q", path, thread)
	_, deltas, _, err := innerAt(ctx, s, thread, at, path)
	if err != nil {
		return nil, err
	}
	deltas = slices.DeleteFunc(slices.Clone(deltas), func(d Delta) bool {
		return d.Path != path || strings.HasPrefix(d.Node, "__")
	})
	slices.SortStableFunc(deltas, compareInner)
	if len(deltas) == 0 {
		return nil, fmt.Errorf("at commit %d: %w", at, ErrNotFound)
	}
	return p.frames(deltas)
}

// innerAt returns a commit and the deltas of its superstep or, if that has none of the path and the run is
// unfinished, those that the commit of the current superstep will have.
func innerAt(ctx context.Context, s Store, thread string, at CommitID, path string) (c Commit, deltas []Delta, current bool, err error) {
	c, err = commitAt(ctx, s, thread, at)
	if err != nil || len(c.Frontier) == 0 || slices.ContainsFunc(c.Deltas, func(d Delta) bool { return d.Path == path }) {
		return c, c.Deltas, false, err
	}
	from, _, err := findOrigins(ctx, s, thread, c)
	if err != nil {
		return c, nil, false, err
	}
	pending, err := s.Pending(ctx, thread)
	for _, r := range pending {
		if r.Run == c.Run && r.Step == from.of(place{r.Delta.Path, r.Delta.Node, 0}).Step+1 {
			r.Delta.Notes.Step = r.Attempt
			deltas = append(deltas, r.Delta)
		}
	}
	return c, deltas, true, err
}

func commitAt(ctx context.Context, s Store, thread string, at CommitID) (Commit, error) {
	for c, err := range s.Walk(ctx, thread, at) {
		return c, err
	}
	return Commit{}, fmt.Errorf("commit %d: %w", at, ErrNotFound)
}

func (p *Plan[S, U]) frames(deltas []Delta) ([]Frame[S], error) {
	var s S
	var out []Frame[S]
	for _, d := range deltas {
		if d.Error != "" {
			continue
		}
		u, err := decode[U](d.Body)
		if err == nil && d.Notes.Seed != nil {
			s, err = decode[S](d.Notes.Seed)
		}
		if err == nil {
			s, err = callApply(p.apply, s, u)
		}
		if err != nil {
			return nil, fmt.Errorf("update of node %q at %q: %w", d.Node, d.Path, err)
		}
		if n := len(out); n == 0 || out[n-1].Step != d.Notes.Step {
			out = append(out, Frame[S]{Step: d.Notes.Step})
		}
		f := &out[len(out)-1]
		f.State = s
		if d.Node != "" && !strings.HasPrefix(d.Node, editMark) {
			f.Nodes = append(f.Nodes, d.Node)
		}
	}
	return out, nil
}
