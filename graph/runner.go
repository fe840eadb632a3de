package graph

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/google/uuid"
)

// Options say how a [Runner] works. The zero Options keep nothing.
type Options struct {
	Store    Store            // where threads are kept; nil keeps nothing
	MaxSteps int              // supersteps of one call before it ends as Limited; default 50
	Parallel int              // tasks of one superstep side by side; default GOMAXPROCS
	Slots    *Slots           // bound over all runners that share them; default none
	OnBusy   OnBusy           // what becomes of an input for a thread that is taken; default Reject
	LeaseTTL time.Duration    // how long a thread stays taken when its runner dies; default 15 s
	Owner    string           // whoever holds the lease, shown to those who wait; default a UUID
	Clock    func() time.Time // default time.Now; must be safe for concurrent use
	NewID    func() string    // ids of runs; default UUIDs of version 7
	Rand     func() float64   // from 0 to below 1, spreads the pauses of Retry; default math/rand/v2; safe for concurrent use
	// Drain, once closed, lets runs finish the superstep under way, save it and
	// end as Interrupted with [ErrDrained]. Nil never asks.
	Drain <-chan struct{}
	// BreakBefore and BreakAfter name nodes of the graph, not of its subgraphs.
	// Before a superstep with one of the former, and after one with one of the
	// latter that has something behind it, a run ends as Interrupted with an
	// [*InterruptError]. A resume goes on over the breakpoint it stopped at.
	BreakBefore, BreakAfter []string
	Hook                    Hook // hears of runs, steps, tasks and attempts; nil: nobody does
	// Migrate lets this graph resume runs that another version of it began: given
	// the head of such a thread, it names the nodes to go on at. Updates and states
	// of the old graph must be readable as those of this one. Finished tasks of the
	// step under way are taken over by the names of their nodes. Without it such
	// a resume is [ErrGraphChanged].
	Migrate func(head Commit) ([]string, error)
	// CheckCodec is for tests: updates are applied as decoded from their JSON,
	// and states go through their JSON after each step, so that whatever JSON
	// would lose on reload is missing at once.
	CheckCodec bool
}

func (o Options) withDefaults() Options {
	if o.MaxSteps <= 0 {
		o.MaxSteps = 50
	}
	if o.Parallel <= 0 {
		o.Parallel = runtime.GOMAXPROCS(0)
	}
	if o.LeaseTTL <= 0 {
		o.LeaseTTL = 15 * time.Second
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.NewID == nil {
		o.NewID = func() string { return uuid.Must(uuid.NewV7()).String() }
	}
	if o.Rand == nil {
		o.Rand = rand.Float64
	}
	o.Owner = cmp.Or(o.Owner, uuid.NewString())
	return o
}

// Request asks for one run, or for going on with one.
type Request[U any] struct {
	Thread string // whose state the run reads and changes; may be empty without a Store
	Run    string // id of a new run; minted when empty
	Input  U      // applied before the first node runs
	Resume bool   // go on with the thread's unfinished run; Run and Input are ignored
	// Answers to open questions, by their keys or ids; only with Resume. All are
	// checked, then saved, before any node runs. One that no question fits, or
	// that fits no schema, is an [*AnswerError] and changes nothing.
	Answers map[string]any
	Modes   Mode // what Stream tells; none means all but Updates
	// Pause is [Options].Drain for this run alone; the error is [ErrPaused].
	Pause <-chan struct{}
	Wait  time.Duration // how long to wait for a thread that is taken; zero: not at all. Unused where OnBusy is not Reject
}

// Runner runs one plan, on any number of threads. It holds no run, only the
// last states of some threads to spare reading them again, and who waits for
// whom ([OnBusy]). It is safe for concurrent use.
type Runner[S, U any] struct {
	plan  *Plan[S, U]
	o     Options
	warm  warm[S]
	crowd *crowd
	blank []byte // the zero U as JSON: what an update that changes nothing looks like
	fault error  // why it runs nothing
}

// Runner returns a runner of the plan.
func (p *Plan[S, U]) Runner(o Options) *Runner[S, U] {
	var zero U
	blank, _ := json.Marshal(zero) // one that cannot be written equals no update
	r := &Runner[S, U]{plan: p, o: o.withDefaults(), crowd: &crowd{}, blank: blank}
	if o.OnBusy == Rollback && p.restore == nil {
		r.fault = errors.New("OnBusy is Rollback, but the graph has no Restore")
	}
	r.fault = errors.Join(r.fault, p.savable(&o))
	for _, name := range slices.Concat(o.BreakBefore, o.BreakAfter) {
		if !slices.ContainsFunc(p.nodes, func(n planNode[S, U]) bool { return n.name == name }) {
			r.fault = errors.Join(r.fault, fmt.Errorf("breakpoint: unknown node %q", name))
		}
	}
	return r
}

// savable says why runs cannot be kept as the options want, if so.
func (p *Plan[S, U]) savable(o *Options) error {
	if p.unsaved && o.Store != nil {
		return fmt.Errorf("graph %q is Unsaved, but there is a store", p.name)
	}
	return nil
}

// Run runs a request and yields its durable events: first RunStarted, then one
// StepDone a superstep, last RunEnded. Each is yielded after what it tells of
// was saved. A run that ends early yields its error behind RunEnded; the
// sequence ends after the first error. An error without any event means that
// no run began: the thread is busy, say, or Apply refused the input.
//
// Breaking the loop cancels the nodes, waits for them and closes the run as
// Cancelled. No goroutine outlives the loop. The sequence may be used several
// times; each use is a run of its own.
//
// Errors: [ErrBusy], [ErrNothingToDo], [ErrGraphChanged], [ErrSuperseded],
// [ErrConflict], [ErrDrained] and [ErrPaused] match with errors.Is, [*NodeError],
// [*PanicError], [*InterruptError], [*AnswerError] and [*StepLimitError] with errors.AsType; a run whose context ended matches
// context.Canceled or context.DeadlineExceeded and the context's cause.
func (r *Runner[S, U]) Run(ctx context.Context, req Request[U]) iter.Seq2[Event[S], error] {
	return r.events(ctx, req, false)
}

// Stream is Run with live events in between: TaskStarted, TaskRetried, TaskDone
// and what nodes send with [Emit] and [EmitToken], as far as [Request].Modes wants
// them. Those of one task come in its order. A consumer that
// falls behind makes nodes wait in Emit; no event is dropped while the run
// goes on.
func (r *Runner[S, U]) Stream(ctx context.Context, req Request[U]) iter.Seq2[Event[S], error] {
	return r.events(ctx, req, true)
}

func (r *Runner[S, U]) events(ctx context.Context, req Request[U], live bool) iter.Seq2[Event[S], error] {
	return func(yield func(Event[S], error) bool) {
		modes := req.Modes
		if modes == 0 || !live {
			modes = usual
		}
		inner := live && modes&(Tasks|Tokens|Customs) != 0
		x := &run[S, U]{Runner: r, req: req, live: inner, modes: modes, yield: yield}
		if err := x.do(ctx); err != nil && !x.left {
			yield(Event[S]{}, err)
		}
	}
}

// Invoke runs a request to its end and returns the last state: with an error,
// the state of the last step that was finished. Errors are those of
// [Runner.Run].
func (r *Runner[S, U]) Invoke(ctx context.Context, req Request[U]) (S, error) {
	x := &run[S, U]{Runner: r, req: req}
	err := x.do(ctx)
	return x.state, err
}

// State returns a thread's state at its head, and the head. A thread that does
// not exist or has no commit gives [ErrNotFound].
func (r *Runner[S, U]) State(ctx context.Context, thread string) (S, Commit, error) {
	var zero S
	if r.o.Store == nil {
		return zero, Commit{}, fmt.Errorf("state of thread %q: no store: %w", thread, ErrNotFound)
	}
	head, err := r.o.Store.Head(ctx, thread)
	if err != nil {
		return zero, Commit{}, fmt.Errorf("state of thread %q: %w", thread, err)
	}
	s, err := r.StateAt(ctx, thread, head.ID)
	return s, head, err
}

// StateAt returns a thread's state as of one of its commits.
func (r *Runner[S, U]) StateAt(ctx context.Context, thread string, at CommitID) (S, error) {
	if r.o.Store == nil {
		var zero S
		return zero, fmt.Errorf("state of thread %q: no store: %w", thread, ErrNotFound)
	}
	s, _, err := r.load(ctx, thread, at)
	return s, err
}

// sizes are the bytes that the next Load would read.
type sizes struct{ snapshot, tail int }

// due says whether the tail is worth a snapshot. Snapshots come only once the
// tail outweighs the last one, so that a thread writes at most about twice
// its deltas, and reads at most about twice its state; of a small state not until
// there are leastTail bytes, so that opening it takes a few pages of a store.
func (z sizes) due() bool { return z.tail > max(leastTail, z.snapshot) }

const leastTail = 8 << 10

func (r *Runner[S, U]) load(ctx context.Context, thread string, at CommitID) (S, sizes, error) {
	var s S
	snapshot, deltas, err := r.o.Store.Load(ctx, thread, at)
	if err != nil {
		return s, sizes{}, fmt.Errorf("load thread %q at commit %d: %w", thread, at, err)
	}
	z := sizes{snapshot: len(snapshot.Body)}
	if len(snapshot.Body) > 0 {
		if s, err = decode[S](snapshot.Body); err != nil {
			return s, z, fmt.Errorf("load thread %q: snapshot %d: %w", thread, snapshot.At, err)
		}
	}
	for _, d := range deltas {
		z.tail += len(d.Body)
	}
	if s, err = r.fold(s, deltas); err != nil {
		return s, z, fmt.Errorf("load thread %q: %w", thread, err)
	}
	return s, z, nil
}

// decode reads an update; no bytes are the zero one.
func decode[U any](body []byte) (u U, err error) {
	if len(body) == 0 {
		return u, nil
	}
	defer caught(&err) // of an UnmarshalJSON
	err = json.Unmarshal(body, &u)
	return u, err
}

// errLeft is the cause of a run whose consumer broke the loop.
var errLeft = errors.New("the consumer of the run's events left")
