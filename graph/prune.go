package graph

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"slices"
	"strconv"
	"time"
)

// Pruner is a [Store] that can drop the past of a thread. The stores of
// packages checkpoint and memstore are.
type Pruner interface {
	// Prune drops the commits of a thread up to and including at, and puts one
	// in their place that keeps at's id, step, status, time, fingerprint,
	// frontier and error: a [SourceBase] of base's Run, with base's Deltas and
	// Snapshot, which must both give the state at that commit. Later commits,
	// pending results and other threads stay as they are. All or nothing:
	// [ErrSuperseded] when the lease was lost, [ErrNotFound] for a commit that the
	// thread does not have.
	Prune(ctx context.Context, l Lease, at CommitID, base Batch) error
}

// Facts about pruning; match them with errors.Is.
var (
	ErrNoPruning   = errors.New("the store cannot prune threads")
	ErrNoCondition = errors.New("nothing says which turns stay")
)

// Pruning says which turns of a thread stay: those that meet every condition
// given, of which there must be one. A turn is an input that was not taken back,
// with all that was saved until the next; none is cut in two. One that has not
// ended stays, whatever the conditions say.
type Pruning struct {
	Thread      string
	Wait        time.Duration // how long to wait for a thread that is taken; zero: not at all
	KeepTurns   int           // the newest of them; 0: no condition
	KeepCommits int           // those that the newest so many commits belong to; 0: no condition
	Before      time.Time     // those whose input was saved then or later; zero: no condition
	MaxBytes    int64         // the newest whose updates together take no more, as JSON; 0: no condition
	Details     []Detail      // stand in the notes of the commit that stands in for the past
	DryRun      bool          // only tell what would go
}

// Pruned tells what went of a thread's log, or would.
type Pruned struct {
	Turns   int      // that went
	Kept    int      // turns that stay
	Commits int      // that went; the one that stood in for an earlier past is not counted
	Bytes   int64    // of the updates in them, as JSON
	At      CommitID // the newest of those commits: what stands in for them has its id; 0: nothing went
}

// Prune takes the oldest turns out of a thread's log. Its state stays as it is,
// and so does everything in the turns kept: one commit of [SourceBase], which
// [Graph].Restore makes of the zero state, stands in for all before. Before
// anything is written, it is checked that it gives the state again, byte for byte.
// Forks are threads of their own and lose nothing. A dry run takes no lease. What
// was dropped leaves the file of a store when that is told to shrink.
// Errors: [ErrNotFound], [ErrBusy], [ErrSuperseded], [ErrNoCondition],
// [ErrNoPruning]; nothing is changed then.
func (r *Runner[S, U]) Prune(ctx context.Context, p Pruning) (Pruned, error) {
	did, err := r.prune(ctx, p)
	if err != nil {
		return Pruned{}, fmt.Errorf("prune thread %q: %w", p.Thread, err)
	}
	return did, nil
}

func (r *Runner[S, U]) prune(ctx context.Context, p Pruning) (Pruned, error) {
	pruner, err := r.pruner(p)
	if err != nil {
		return Pruned{}, err
	}
	if p.DryRun {
		return r.cut(ctx, p)
	}
	if _, err := r.o.Store.Head(ctx, p.Thread); err != nil {
		return Pruned{}, err // looked at first, because taking a thread makes it
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	log, err := openLog(ctx, r.o.Store, p.Thread, AcquireOptions{Owner: r.o.Owner, TTL: r.o.LeaseTTL, Wait: p.Wait}, cancel)
	if err != nil {
		return Pruned{}, err
	}
	defer log.close(ctx)
	did, err := r.cut(ctx, p)
	if err != nil || did.Commits == 0 {
		return did, err
	}
	base, err := r.base(ctx, p, did)
	if err == nil {
		err = pruner.Prune(ctx, log.lease, did.At, base)
	}
	if err != nil && superseded(ctx) { // the cause, not what came of it
		err = context.Cause(ctx)
	}
	r.warm.drop(p.Thread)
	return did, err
}

// pruner returns the store, where it and the graph can do what is asked.
func (r *Runner[S, U]) pruner(p Pruning) (Pruner, error) {
	pruner, ok := r.o.Store.(Pruner)
	switch {
	case r.o.Store == nil:
		return nil, fmt.Errorf("no store: %w", ErrNotFound)
	case !ok:
		return nil, ErrNoPruning
	case r.plan.restore == nil:
		return nil, errors.New("the graph has no Restore, which makes the commit that stands in for the past")
	case p.KeepTurns <= 0 && p.KeepCommits <= 0 && p.Before.IsZero() && p.MaxBytes <= 0:
		return nil, ErrNoCondition
	}
	return pruner, nil
}

// pastTurn is a turn of a thread's log.
type pastTurn struct {
	before  CommitID  // what stood before its input; 0: nothing
	asked   time.Time // when its input was saved
	commits int
	bytes   int64
}

func (t *pastTurn) add(c Commit) {
	if c.Source == SourceBase {
		return // it stands in for turns that went already
	}
	t.commits++
	for _, d := range c.Deltas {
		t.bytes += int64(len(d.Body))
	}
}

// cut returns what goes.
func (r *Runner[S, U]) cut(ctx context.Context, p Pruning) (Pruned, error) {
	var head Commit
	var turns []pastTurn // newest first
	var under pastTurn   // what was seen since the last of them
	undone := 0
	for c, err := range r.o.Store.Walk(ctx, p.Thread, 0) {
		if err != nil {
			return Pruned{}, err
		}
		if head.ID == 0 {
			head = c
		}
		under.add(c)
		switch {
		case c.Source == SourceUndo:
			undone++
		case c.Source == SourceInput && undone > 0:
			undone--
		case c.Source == SourceInput:
			under.before, under.asked = c.Parent, c.Time
			turns = append(turns, under)
			under = pastTurn{}
		}
	}
	kept, at := p.stay(turns, len(head.Frontier) > 0), head.ID
	switch {
	case kept > 0:
		at = turns[kept-1].before
	case len(head.Frontier) > 0:
		return Pruned{}, nil // a run that an update began: there is no turn before it
	}
	did := Pruned{Turns: len(turns) - kept, Kept: kept}
	for _, t := range append(turns[kept:], under) {
		did.Commits += t.commits
		did.Bytes += t.bytes
	}
	if did.Commits > 0 {
		did.At = at
	}
	return did, nil
}

// stay returns how many of the turns, newest first, meet every condition. One
// that has not ended does.
func (p Pruning) stay(turns []pastTurn, unfinished bool) int {
	var newer int // commits of the turns before
	var sum int64
	for i, t := range turns {
		sum += t.bytes
		tooMany := p.KeepTurns > 0 && i >= p.KeepTurns || p.KeepCommits > 0 && newer >= p.KeepCommits
		tooLarge := p.MaxBytes > 0 && sum > p.MaxBytes
		if (tooMany || tooLarge || t.asked.Before(p.Before)) && (i > 0 || !unfinished) {
			return i
		}
		newer += t.commits
	}
	return len(turns)
}

// base makes the commit that stands in for the past up to a commit.
func (r *Runner[S, U]) base(ctx context.Context, p Pruning, did Pruned) (Batch, error) {
	var zero S
	b := Batch{Commit: Commit{Run: r.o.NewID()}}
	s, _, err := r.load(ctx, p.Thread, did.At)
	if err != nil {
		return b, err
	}
	if b.Snapshot, err = encode(s); err != nil {
		return b, fmt.Errorf("encode state: %w", err)
	}
	updates, err := callRestore(r.plan.restore, zero, s)
	if err != nil {
		return b, fmt.Errorf("restore the state of commit %d: %w", did.At, err)
	}
	b.Deltas = make([]Delta, max(1, len(updates))) // one for the notes, where the state is the zero one
	for i, u := range updates {
		b.Deltas[i].Rank = i
		if b.Deltas[i].Body, err = encode(u); err != nil {
			return b, fmt.Errorf("encode update: %w", err)
		}
	}
	b.Deltas[0].Notes.Details = append(slices.Clip(p.Details), Detail{"pruned turns", strconv.Itoa(did.Turns)})
	again, err := r.fold(zero, b.Deltas)
	var body []byte
	if err == nil {
		body, err = encode(again)
	}
	if err == nil && !bytes.Equal(body, b.Snapshot) {
		err = errors.New("the updates that Restore returns make another state of the zero one")
	}
	return b, err
}
