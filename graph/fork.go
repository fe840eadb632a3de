package graph

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/ragflow/internal/address"
)

// Copier is a [Store] that can copy threads, like the stores of packages checkpoint and
// memstore.
type Copier interface {
	// Copy creates a thread with the commits of another thread up to at, or up to its head
	// if at is 0. pending are the pending results of the copy; nil means those of the
	// original if at is its head, else none. Copy is atomic. Errors: [ErrExists] if the
	// new name exists, [ErrNotFound] for an unknown thread or commit, [ErrBusy] if a
	// writer has a lease of the new name.
	Copy(ctx context.Context, from string, at CommitID, to string, pending []TaskResult) error
}

// Point is a point in the history of a thread: after a commit or, with a Path, after a step
// of a subgraph within the superstep of that commit.
type Point struct {
	Thread string
	Commit CommitID // 0: the head
	Path   string   // path of a subgraph, see [Sub]; empty: the root
	Step   int      // step of that subgraph; 0: before its first step
}

// ErrNoCopies is the error of a store that cannot copy threads.
var ErrNoCopies = errors.New("the store cannot copy threads")

// Fork creates a thread with the history of another thread up to a point. The old thread
// does not change. A run that was unfinished at the point can be resumed in the new
// thread, with the same run ID; call [Runner.Update] first to change its state. For a
// point in a subgraph, everything before the point is kept, and everything concurrent or
// later runs again. Errors: [ErrNotFound] for an unknown thread, commit, path or step,
// [ErrNoCopies], and [ErrExists] if the new name exists.
func (r *Runner[S, U]) Fork(ctx context.Context, p Point, to string) (err error) {
	defer wrap(&err, "fork thread %q", p.Thread)
	if r.o.Store == nil {
		return errNoStore
	}
	copier, ok := r.o.Store.(Copier)
	if !ok {
		return ErrNoCopies
	}
	if p.Path == "" {
		return copier.Copy(ctx, p.Thread, p.Commit, to, nil)
	}
	c, inner, current, err := innerAt(ctx, r.o.Store, p.Thread, p.Commit, p.Path)
	if err != nil {
		return err
	}
	if !current { // the superstep follows the parent
		if c, err = commitAt(ctx, r.o.Store, p.Thread, c.Parent); err != nil {
			return err
		}
	}
	from, _, err := findOrigins(ctx, r.o.Store, p.Thread, c)
	if err != nil {
		return err
	}
	kept, err := before(inner, p)
	if err != nil {
		return err
	}
	pending := make([]TaskResult, len(kept))
	for i, d := range kept {
		turn := d.Notes.Step
		d.Notes.Step = 0
		pending[i] = TaskResult{Run: c.Run, Step: from.of(place{d.Path, d.Node, 0}).Step + 1, Attempt: turn, Delta: d}
	}
	return copier.Copy(ctx, p.Thread, c.ID, to, pending)
}

// before returns the deltas of subgraphs up to a point.
func before(inner []Delta, p Point) ([]Delta, error) {
	last := -1
	for _, d := range inner {
		if d.Path == p.Path {
			last = max(last, d.Notes.Step)
		}
	}
	if last < 0 || p.Step < 0 || p.Step > last {
		return nil, fmt.Errorf("subgraph %q, step %d: %w", p.Path, p.Step, ErrNotFound)
	}
	steps := address.UpTo(p.Path, p.Step)
	var out []Delta
	for _, d := range inner {
		path, step := d.Path, d.Notes.Step
		if strings.HasPrefix(d.Node, "__") { // results of Once and answers are kept with their task
			path, step, _ = address.Outer(d.Path)
		}
		if steps.Keep(path, step) {
			out = append(out, d)
		}
	}
	return out, nil
}
