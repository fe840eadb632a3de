package graph

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// Copier is a [Store] that can begin a thread with the past of another. The
// stores of packages checkpoint and memstore are.
type Copier interface {
	// Copy makes a thread of another's commits up to one of them, or up to its
	// head where that is 0. The pending results of the copy are those given; nil
	// stands for the thread's own, at its head, and for none elsewhere. All or
	// nothing: [ErrExists] for a name that is taken, [ErrNotFound] for an unknown
	// thread or commit, [ErrBusy] where a writer holds the new name.
	Copy(ctx context.Context, from string, at CommitID, to string, pending []TaskResult) error
}

// Point is a moment of a thread: after a commit or, with a Path, after a step of
// a subgraph within the superstep that the commit saved.
type Point struct {
	Thread string
	Commit CommitID // 0: the head
	Path   string   // of a subgraph, as [Sub] tells; empty: the root
	Step   int      // of that subgraph; 0: before its first one
}

// ErrNoCopies is told by stores that cannot copy threads.
var ErrNoCopies = errors.New("the store cannot copy threads")

// Fork makes a new thread that begins with the past of another, up to a point.
// A run that was under way there can be resumed in the new thread, with the same
// run id; what is to differ then, [Runner.Update] changes first. The old thread stays
// as it is. Within a subgraph, all that happened before the point is kept; what
// ran beside it or after is done again. Errors: [ErrNotFound] for an unknown
// thread, commit, path or step, [ErrNoCopies], and what the store says of a name
// that is taken.
func (r *Runner[S, U]) Fork(ctx context.Context, p Point, to string) error {
	if err := r.fork(ctx, p, to); err != nil {
		return fmt.Errorf("fork thread %q: %w", p.Thread, err)
	}
	return nil
}

func (r *Runner[S, U]) fork(ctx context.Context, p Point, to string) error {
	if r.o.Store == nil {
		return fmt.Errorf("no store: %w", ErrNotFound)
	}
	copier, ok := r.o.Store.(Copier)
	if !ok {
		return ErrNoCopies
	}
	if p.Path == "" {
		return copier.Copy(ctx, p.Thread, p.Commit, to, nil)
	}
	for c, err := range r.o.Store.Walk(ctx, p.Thread, p.Commit) {
		if err != nil {
			return err
		}
		inner := slices.DeleteFunc(slices.Clone(c.Deltas), func(d Delta) bool { return d.Path == "" })
		at, from := c.Parent, c.Step
		if len(c.Frontier) > 0 && len(inner) == 0 { // under way: nothing of it is committed yet
			pending, err := r.o.Store.Pending(ctx, p.Thread)
			if err != nil {
				return err
			}
			inner, at, from = results(pending), c.ID, c.Step+1
		}
		kept, err := before(inner, p)
		if err != nil {
			return err
		}
		pending := make([]TaskResult, len(kept))
		for i, d := range kept {
			turn := d.Notes.Step
			d.Notes.Step = 0
			pending[i] = TaskResult{Run: c.Run, Step: from, Attempt: turn, Delta: d}
		}
		return copier.Copy(ctx, p.Thread, at, to, pending)
	}
	return ErrNotFound
}

// before keeps what happened before a point within subgraphs.
func before(inner []Delta, p Point) ([]Delta, error) {
	steps := map[string]int{p.Path: p.Step} // of each subgraph around the point: its last step that stands
	last := -1
	for _, d := range inner {
		if d.Path == p.Path {
			last = max(last, d.Notes.Step)
		}
	}
	if last < 0 || p.Step < 0 || p.Step > last {
		return nil, fmt.Errorf("subgraph %q, step %d: %w", p.Path, p.Step, ErrNotFound)
	}
	for path := p.Path; ; {
		outer, turn, ok := outerOf(path)
		if !ok {
			break
		}
		steps[outer] = turn - 1
		path = outer
	}
	var out []Delta
	for _, d := range inner {
		if strings.HasPrefix(d.Node, "__") { // deeds and answers count by their task
			if outer, turn, ok := outerOf(d.Path); ok && within(steps, outer, turn) {
				out = append(out, d)
			}
			continue
		}
		if within(steps, d.Path, d.Notes.Step) {
			out = append(out, d)
		}
	}
	return out, nil
}

// within says whether a step of a subgraph stands: it is one around the point,
// early enough, or one that ran in a step of such a one that stands.
func within(steps map[string]int, path string, step int) bool {
	for {
		if last, ok := steps[path]; ok {
			return step <= last
		}
		outer, turn, ok := outerOf(path)
		if !ok {
			return false
		}
		path, step = outer, turn
	}
}

// outerOf splits a path: the subgraph around it, and the step of that.
func outerOf(path string) (outer string, turn int, ok bool) {
	i := strings.LastIndexByte(path, '/')
	if i < 0 {
		return "", 0, false
	}
	digits := path[strings.LastIndexByte(path, '#')+1:]
	digits, _, _ = strings.Cut(digits, "[")
	turn, err := strconv.Atoi(digits)
	return path[:i], turn, err == nil
}

// Replay forks a thread and goes on from there at once: it does again, in the
// new thread, what followed the point.
func (r *Runner[S, U]) Replay(ctx context.Context, p Point, to string) (S, error) {
	if err := r.Fork(ctx, p, to); err != nil {
		var zero S
		return zero, err
	}
	return r.Invoke(ctx, Request[U]{Thread: to, Resume: true})
}
