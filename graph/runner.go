package graph

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/google/uuid"

	"example.com/ragflow/internal/active"
	"example.com/ragflow/internal/parallel"
	"example.com/ragflow/internal/snapshots"
)

// Options configure a [Runner]. The zero Options save nothing.
type Options struct {
	Store    Store            // saves the threads; nil saves nothing
	MaxSteps int              // maximum supersteps of one call; default 50
	Parallel int              // concurrent tasks of one superstep; default 64
	OnBusy   OnBusy           // what happens to an input for a busy thread; default Reject
	LeaseTTL time.Duration    // how long a thread stays busy after its process died; default 15 s
	Owner    string           // owner of the leases, shown in ErrBusy errors; by default the store names this process
	Clock    func() time.Time // default time.Now; must be safe for concurrent use
	NewID    func() string    // IDs of runs; default UUIDs of version 7
	Rand     func() float64   // random number in [0,1) for the pauses of Retry; default math/rand/v2; must be safe for concurrent use
	// When Drain is closed, runs finish and save the current superstep and end as
	// Interrupted with [ErrDrained]. Nil means never.
	Drain <-chan struct{}
	// BreakBefore and BreakAfter are breakpoints: nodes of the graph, and of its subgraphs as in "a/b", the
	// node b of the subgraph of node a.
	// A run ends as Interrupted with an [*InterruptError] before a superstep with a node
	// of BreakBefore, and after a superstep with a node of BreakAfter, unless the run is
	// complete. A resume continues after the breakpoint. [Every] selects all nodes of the graph itself.
	BreakBefore, BreakAfter []string
	Hook                    Hook // gets the spans of runs, steps, tasks and attempts; may be nil
	// Migrate lets this graph resume runs of another version of the graph. It gets the
	// head of the thread and returns the nodes to continue at. This graph must be able to
	// decode the updates and states of the other version. Finished tasks of the
	// unfinished step are matched by node name. Without Migrate such a resume is
	// [ErrGraphChanged].
	//
	// Migrate also decides whether Apply may fold updates that a graph with another Version
	// logged after the last snapshot: if it returns no error, the thread is read so, and the next
	// commit saves the result as a snapshot. The nodes only matter for a resume. Without Migrate
	// such a read is [ErrGraphChanged].
	Migrate func(head Commit) ([]string, error)
	// SaveAtEnd saves all supersteps of a call in one commit, at its end or when it stops: fewer
	// writes, but a crash repeats them, and events come before their commit. The input, results of
	// [Once] and answers are saved at once. Idempotency keys can change when a stopped run is resumed.
	SaveAtEnd bool
	// CheckCodec is for tests: updates and states go through JSON after each step, so that
	// everything that JSON loses is missing at once and not only after a reload.
	CheckCodec bool
}

// Every in BreakBefore or BreakAfter selects all nodes of the graph, without those of its subgraphs.
const Every = "*"

func (o Options) withDefaults() Options {
	if o.MaxSteps <= 0 {
		o.MaxSteps = 50
	}
	if o.Parallel <= 0 {
		o.Parallel = 64 // tasks wait for models, so they need no processor each
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
	return o
}

// Request asks for a new run, or to continue one.
type Request[U any] struct {
	Thread string // thread of the run; may be empty without a Store
	Run    string // ID of a new run; generated if empty
	Input  U      // applied before the first node runs
	// Metadata is saved with the input; [Runner.Runs] finds runs by it. The state does not have it.
	Metadata map[string]string
	Resume   bool // continue the thread's unfinished run; Run and Input are ignored
	// ResumeOrStart is like Resume if the thread has an unfinished run, and otherwise starts a run with Input. [OnBusy] is
	// Reject. It allows no Updates and no Answers.
	ResumeOrStart bool
	// From, if set, is an earlier commit of the thread to go on from: with Resume its run continues there,
	// otherwise the input follows it. That needs [Graph].Restore. A commit of [SourceFork] is saved first; the log keeps
	// the commits in between, but the turns that began there are undone. Results and answers of the superstep
	// after From are not kept, so its tasks run again. [ErrNotFound] for a commit that the thread does not have.
	From CommitID
	// Updates are applied and saved before the nodes of a resumed run, in one commit. Only with Resume.
	Updates []U
	// Answers to open questions, by key or ID; only with Resume. All answers are checked
	// and then saved before any node runs. An answer without a question, or one that does
	// not match the schema, is an [*AnswerError] and changes nothing.
	// Answers that the run has used already are accepted again, also after its end.
	Answers map[string]any
	Modes   Mode // events of Stream; 0 means all but Updates
	// Pause is like [Options].Drain for this run only; the error is [ErrPaused].
	Pause <-chan struct{}
	Wait  time.Duration // how long to wait for a busy thread; zero: not at all. Only used if OnBusy is Reject
	// OnBusy replaces [Options].OnBusy unless it is Reject. Enqueue needs it on all requests of the thread.
	OnBusy OnBusy
}

// Runner runs one plan, on any number of threads. It caches the last states of some threads
// and keeps the queues of [OnBusy]. It is safe for concurrent use.
type Runner[S, U any] struct {
	plan   *Plan[S, U]
	o      Options
	states stateCache[S]
	active *active.Runs
	blank  []byte // JSON of the zero U, the update that changes nothing
	fault  error  // invalid options; every run fails with it
}

// Runner returns a runner of the plan.
func (p *Plan[S, U]) Runner(o Options) *Runner[S, U] {
	var zero U
	blank, _ := json.Marshal(zero) // on an error, no update equals blank
	r := &Runner[S, U]{plan: p, o: o.withDefaults(), active: &active.Runs{}, blank: blank}
	if o.OnBusy == Rollback && p.restore == nil {
		r.fault = errNoRestore
	}
	for _, name := range slices.Concat(o.BreakBefore, o.BreakAfter) {
		if name != Every && !p.Shape().has(name) {
			r.fault = errors.Join(r.fault, fmt.Errorf("breakpoint: unknown node %q", name))
		}
	}
	return r
}

// Shape returns the shape of the plan. The caller owns it.
func (r *Runner[S, U]) Shape() Shape { return r.plan.Shape() }

// Store returns the store of the runner's threads; nil without one.
func (r *Runner[S, U]) Store() Store { return r.o.Store }

// Run runs a request and yields its durable events: RunStarted, then StepDone for each
// superstep, then RunEnded. Each event is yielded after its commit was saved. A run that ends
// early yields its error after RunEnded; the sequence ends after the first error. An error
// without any event means that no run started, for example because the thread is busy or
// Apply rejected the input.
//
// Breaking the loop cancels the nodes, waits for them and closes the run as Cancelled. No
// goroutine outlives the loop. Each use of the sequence is a new run.
//
// Errors match [ErrBusy], [ErrNothingToDo], [ErrGraphChanged], [ErrSuperseded],
// [ErrConflict], [ErrDrained] or [ErrPaused] with errors.Is, or [*NodeError], [*PanicError],
// [*InterruptError], [*AnswerError] or [*StepLimitError] with errors.AsType. If the context
// of the run ended, the error matches context.Canceled or context.DeadlineExceeded and the
// cause of the context.
func (r *Runner[S, U]) Run(ctx context.Context, req Request[U]) iter.Seq2[Event[S], error] {
	return r.events(ctx, req, false)
}

// Stream is like Run, with live events between the durable ones: TaskStarted, TaskRetried,
// TaskDone and the values from [Emit] and [EmitToken], as selected by [Request].Modes. The
// events of one task are in order. A slow consumer makes nodes wait in Emit; no event is
// dropped while the run continues.
func (r *Runner[S, U]) Stream(ctx context.Context, req Request[U]) iter.Seq2[Event[S], error] {
	return r.events(ctx, req, true)
}

func (r *Runner[S, U]) events(ctx context.Context, req Request[U], live bool) iter.Seq2[Event[S], error] {
	return func(yield func(Event[S], error) bool) {
		modes := req.Modes
		if modes == 0 || !live {
			modes = defaultModes
		}
		inner := live && modes&(Tasks|Tokens|Customs) != 0
		x := &run[S, U]{Runner: r, req: req, live: inner, modes: modes, yield: yield}
		if err := x.do(ctx); err != nil && !x.left {
			yield(Event[S]{}, err)
		}
	}
}

// Invoke runs a request to its end and returns the last state. With an error, that is the
// state of the last finished step. The errors are those of [Runner.Run].
func (r *Runner[S, U]) Invoke(ctx context.Context, req Request[U]) (S, error) {
	x := &run[S, U]{Runner: r, req: req}
	err := x.do(ctx)
	return x.state, err
}

// Result is the result of one request of [Runner.Batch].
type Result[S any] struct {
	State S
	Err   error
}

// Batch invokes requests, at most limit at once, and returns their results in the same order. A limit
// of 0 or less means all at once. One failure does not stop the others.
func (r *Runner[S, U]) Batch(ctx context.Context, requests []Request[U], limit int) []Result[S] {
	out := make([]Result[S], len(requests))
	if limit <= 0 {
		limit = len(requests)
	}
	parallel.Waiting(context.WithoutCancel(ctx), len(requests), limit, func(i int) { // each request returns the end of ctx
		out[i].State, out[i].Err = r.Invoke(ctx, requests[i])
	})
	return out
}

// State returns a thread's state at its head, and the head. A thread that does not exist or
// has no commit is [ErrNotFound].
func (r *Runner[S, U]) State(ctx context.Context, thread string) (s S, head Commit, err error) {
	defer wrap(&err, "state of thread %q", thread)
	if r.o.Store == nil {
		return s, head, errNoStore
	}
	if head, err = r.o.Store.Head(ctx, thread); err == nil {
		s, _, _, err = r.stateAt(ctx, thread, head)
	}
	return s, head, err
}

// StateAt returns a thread's state after one of its commits.
func (r *Runner[S, U]) StateAt(ctx context.Context, thread string, at CommitID) (s S, err error) {
	defer wrap(&err, "state of thread %q", thread)
	if r.o.Store == nil {
		return s, errNoStore
	}
	c, err := commitAt(ctx, r.o.Store, thread, at)
	if err == nil {
		s, _, _, err = r.stateAt(ctx, thread, c)
	}
	return s, err
}

// stateAt returns the state after a commit, and whether this graph folded updates of another version.
func (r *Runner[S, U]) stateAt(ctx context.Context, thread string, at Commit) (s S, z snapshots.Sizes, migrated bool, err error) {
	if s, z, err = r.load(ctx, thread, at.ID); err == nil && z.Tail > 0 {
		migrated, err = r.mayFold(at)
	}
	return s, z, migrated, err
}

// mayFold asks Migrate if a commit is of another version of the graph.
func (r *Runner[S, U]) mayFold(c Commit) (migrated bool, err error) {
	_, version, known := strings.Cut(c.Fingerprint, "@")
	if !known || version == r.plan.version {
		return false, nil
	}
	if r.o.Migrate == nil {
		return false, fmt.Errorf("%w: version %q wrote commit %d and this is version %q; set Options.Migrate to let it apply those updates", ErrGraphChanged, version, c.ID, r.plan.version)
	}
	_, err = r.o.Migrate(c)
	return err == nil, err
}

func (r *Runner[S, U]) load(ctx context.Context, thread string, at CommitID) (S, snapshots.Sizes, error) {
	var s S
	snapshot, deltas, err := r.o.Store.Load(ctx, thread, at)
	if err != nil {
		return s, snapshots.Sizes{}, fmt.Errorf("load commit %d: %w", at, err)
	}
	z := snapshots.Sizes{Snapshot: len(snapshot.Body), Tail: Commit{Deltas: deltas}.BodyBytes()}
	if len(snapshot.Body) > 0 {
		if s, err = decode[S](snapshot.Body); err != nil {
			return s, z, fmt.Errorf("snapshot %d: %w", snapshot.At, err)
		}
	}
	s, err = r.fold(s, "", deltas)
	return s, z, err
}

// decode decodes an update. Empty bytes are the zero update.
func decode[U any](body []byte) (u U, err error) {
	if len(body) == 0 {
		return u, nil
	}
	defer caught(&err) // UnmarshalJSON may panic
	err = json.Unmarshal(body, &u)
	return u, err
}

// errLeft is the cancel cause of a run whose consumer broke the loop.
var errLeft = errors.New("the consumer of the run's events left")
