package graph

import (
	"context"
	"errors"
	"slices"
	"strconv"
	"time"
)

// Pruner is a [Store] that can drop old commits of a thread, like the stores of packages
// checkpoint and memstore.
type Pruner interface {
	// Prune replaces the commits of a thread up to and including at by one commit of
	// [SourceBase]. That commit has the ID, step, status, time, fingerprint, frontier and
	// error of at, and the Run, Deltas and Snapshot of base. The deltas and the snapshot
	// must each give the state at that commit. Later commits, pending results and other
	// threads do not change. Prune is atomic. Errors: [ErrSuperseded] if the lease was
	// lost, [ErrNotFound] for a commit that the thread does not have.
	Prune(ctx context.Context, l Lease, at CommitID, base Batch) error
}

// Errors of pruning; match them with errors.Is.
var (
	ErrNoPruning   = errors.New("the store cannot prune threads")
	ErrNoCondition = errors.New("no condition selects the turns to keep")
)

// Pruning selects the turns of a thread to keep: those that meet all conditions. At least one
// condition is required. A turn is an input that was not undone, with all commits up to the
// next input; turns are never split. An unfinished turn is always kept.
type Pruning struct {
	Thread    string
	Wait      time.Duration // how long to wait for a busy thread; zero: not at all
	KeepTurns int           // keep the newest turns; 0: no condition
	Before    time.Time     // keep turns whose input was saved at this time or later; zero: no condition
	MaxBytes  int64         // keep the newest turns whose updates fit, in bytes of JSON; 0: no condition
	Details   []Detail      // notes of the base commit
	DryRun    bool          // only report
}

// Pruned reports what was removed from a thread's log, or would be.
type Pruned struct {
	Turns   int      // removed turns
	Kept    int      // kept turns
	Commits int      // removed commits, without an earlier base commit
	Bytes   int64    // JSON bytes of the removed updates
	At      CommitID // ID of the base commit; 0 if nothing was removed
}

// Prune removes the oldest turns from a thread's log. The state and the kept turns do not
// change: one base commit of [SourceBase], made by [Graph].Restore from the zero state,
// replaces everything before them. Prune first checks that the base commit gives the same
// state, byte for byte. Forks are separate threads and lose nothing. A dry run takes no
// lease. The file of a store shrinks later, when the store is compacted.
// Errors: [ErrNotFound], [ErrBusy], [ErrSuperseded], [ErrNoCondition], [ErrNoPruning];
// after an error nothing has changed.
func (r *Runner[S, U]) Prune(ctx context.Context, p Pruning) (did Pruned, err error) {
	defer wrap(&err, "prune thread %q", p.Thread)
	pruner, err := r.pruner(p)
	if err != nil {
		return Pruned{}, err
	}
	if p.DryRun {
		return r.cut(ctx, p)
	}
	if _, err := r.o.Store.Head(ctx, p.Thread); err != nil {
		return Pruned{}, err // checked first, because acquiring a lease creates the thread
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	log, err := openLog(ctx, r.o.Store, p.Thread, AcquireOptions{Owner: r.o.Owner, TTL: r.o.LeaseTTL, Wait: p.Wait}, cancel)
	if err != nil {
		return Pruned{}, err
	}
	defer log.close(ctx)
	if did, err = r.cut(ctx, p); err != nil || did.Commits == 0 {
		return did, err
	}
	base, err := r.base(ctx, p, did)
	if err == nil {
		err = pruner.Prune(ctx, log.lease, did.At, base)
	}
	r.states.threads.Drop(p.Thread) // its log was changed before the head
	switch {
	case superseded(ctx) && err != nil: // report the cause of the cancellation
		return Pruned{}, context.Cause(ctx)
	case err != nil:
		return Pruned{}, err
	}
	return did, nil
}

// pruner returns the store if store and graph support pruning.
func (r *Runner[S, U]) pruner(p Pruning) (Pruner, error) {
	pruner, ok := r.o.Store.(Pruner)
	switch {
	case r.o.Store == nil:
		return nil, errNoStore
	case !ok:
		return nil, ErrNoPruning
	case r.plan.restore == nil:
		return nil, errors.New("the graph has no Restore, which makes the base commit")
	case p.KeepTurns <= 0 && p.Before.IsZero() && p.MaxBytes <= 0:
		return nil, ErrNoCondition
	}
	return pruner, nil
}

// pastTurn is a turn of a thread's log.
type pastTurn struct {
	before  CommitID  // the commit before its input; 0: none
	asked   time.Time // when its input was saved
	commits int
	bytes   int64
}

func (t *pastTurn) add(c Commit) {
	if c.Source == SourceBase {
		return // it replaces turns that were pruned earlier
	}
	t.commits++
	t.bytes += int64(c.BodyBytes())
}

// cut returns what Prune removes.
func (r *Runner[S, U]) cut(ctx context.Context, p Pruning) (Pruned, error) {
	var head Commit
	var turns []pastTurn // newest first
	var under pastTurn   // commits since the newest turn
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
	kept, at := p.keepCount(turns, len(head.Frontier) > 0), head.ID
	switch {
	case kept > 0:
		at = turns[kept-1].before
	case len(head.Frontier) > 0:
		return Pruned{}, nil // an update started this run, so there is no turn before it
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

// keepCount returns how many of the turns, newest first, meet all conditions. An unfinished
// turn always does.
func (p Pruning) keepCount(turns []pastTurn, unfinished bool) int {
	var sum int64
	for i, t := range turns {
		sum += t.bytes
		tooMany := p.KeepTurns > 0 && i >= p.KeepTurns
		tooLarge := p.MaxBytes > 0 && sum > p.MaxBytes
		if (tooMany || tooLarge || t.asked.Before(p.Before)) && (i > 0 || !unfinished) {
			return i
		}
	}
	return len(turns)
}

// base returns the commit that replaces the past up to did.At.
func (r *Runner[S, U]) base(ctx context.Context, p Pruning, did Pruned) (Batch, error) {
	b := Batch{Commit: Commit{Run: r.o.NewID()}}
	s, _, err := r.load(ctx, p.Thread, did.At)
	if err != nil {
		return b, err
	}
	x := &run[S, U]{Runner: r}
	if _, b.Deltas, b.Snapshot, err = x.restored(s, did.At); err != nil {
		return b, err
	}
	if len(b.Deltas) == 0 {
		b.Deltas = make([]Delta, 1) // for the notes
	}
	b.Deltas[0].Notes.Details = append(slices.Clip(p.Details), Detail{"pruned turns", strconv.Itoa(did.Turns)})
	return b, nil
}
