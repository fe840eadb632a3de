package graph

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"
)

// Notes are the trace of one task. Nodes add to them with [Note], [Warn], [Skip] and [Count].
// They are saved with the task's delta, also for failed attempts. The engine sets Start
// and Duration.
type Notes struct {
	Start    time.Time     `json:"start,omitzero"` // UTC, in microseconds
	Duration time.Duration `json:"duration,omitempty"`
	Details  []Detail      `json:"details,omitempty"`
	Calls    []Call        `json:"calls,omitempty"`
	Warnings []string      `json:"warnings,omitempty"`
	Skipped  string        `json:"skipped,omitempty"` // why the node did nothing
	Failed   []Attempt     `json:"failed,omitempty"`  // failed attempts before the last one, oldest first
	Cached   bool          `json:"cached,omitempty"`  // the update came from the task's Cache
	Caught   string        `json:"caught,omitempty"`  // the error that the task's OnError handled
	Goto     []string      `json:"goto,omitempty"`    // the targets that Pick chose
	Step     int           `json:"step,omitempty"`    // step of the subgraph, for tasks of a subgraph
	Answers  []Answer      `json:"answers,omitempty"` // answers of people that the task used

	Metadata map[string]string `json:"metadata,omitempty"` // of the [Request] or [Edit]

	Early  time.Duration `json:"early,omitempty"`  // how long the task ran before its superstep began; see [Speculation]
	Wasted []Wasted      `json:"wasted,omitempty"` // nodes that were cancelled because this task chose another route

	Seed json.RawMessage `json:"seed,omitempty"` // for the input of a subgraph of [SubFrom]: the state before it

	Questions []Question `json:"questions,omitempty"` // open questions; only if the task has not finished
}

// Spent returns the calls of the task and of the nodes that were started early for it and cancelled.
func (n Notes) Spent() []Call {
	calls := slices.Clip(n.Calls)
	for _, w := range n.Wasted {
		calls = append(calls, w.Calls...)
	}
	return calls
}

// Attempt is a failed attempt of a node that was followed by another attempt.
type Attempt struct {
	Error    string        `json:"error"`
	Duration time.Duration `json:"duration,omitempty"`
	Pause    time.Duration `json:"pause,omitempty"` // pause before the next attempt
}

// Detail is one line of a trace.
type Detail struct {
	Key   string `json:"k"`
	Value string `json:"v"`
}

// Call is one request to an external service, such as a model.
type Call struct {
	Name     string           `json:"name"` // name of the service, for example the model
	Duration time.Duration    `json:"duration,omitempty"`
	Counts   map[string]int64 `json:"counts,omitempty"` // usage, for example input_tokens
	Error    string           `json:"error,omitempty"`
}

// taskContext is the context of one running task and collects its notes; one allocation serves
// both. The goroutines of a task can write to it concurrently.
type taskContext struct {
	context.Context //nolint:containedctx // taskContext is a context

	of   *session
	path string // path of the subgraph, empty at the root
	node string
	turn int             // step of the subgraph; 0 at the root
	emit func(liveEvent) // sends live events; nil without a consumer

	reached <-chan struct{} // see awaitReached; nil if the superstep of the task has begun

	mu        sync.Mutex
	notes     *Notes         // nil if there are none, as for most tasks
	over      bool           // the task has ended; later notes are dropped
	attempt   int32          // number of the current attempt, from 1; 32 bits keep a FanOut of many parts small
	step      int32          // the current step
	left      int32          // how many steps may follow
	up        *taskContext   // taskContext of the task, for a worker of a [FanOut]
	part      int            // index of the part of the worker
	questions []Question     // open questions of the task
	used      map[string]int // answers that the current attempt has used, by key
	fans      int            // calls of a FanOut by the current attempt
	retries   bool           // the task has a Retry
}

type taskContextKey struct{}

// Value implements context.Context.
func (b *taskContext) Value(key any) any {
	if _, mine := key.(taskContextKey); mine {
		return b
	}
	return b.Context.Value(key)
}

func taskContextOf(ctx context.Context) *taskContext {
	b, _ := ctx.Value(taskContextKey{}).(*taskContext)
	return b
}

func (b *taskContext) write(f func(*Notes)) {
	if b == nil {
		return
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.over {
		return
	}
	if b.notes == nil {
		b.notes = &Notes{}
	}
	f(b.notes)
}

// noted returns the notes so far.
func (b *taskContext) noted() (n Notes) {
	if b == nil {
		return n
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.notes != nil {
		n = *b.notes
	}
	return n
}

// close ends the taskContext and returns its notes, or nil. A goroutine that outlives the task
// cannot write to it.
func (b *taskContext) close() *Notes {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	return b.notes
}

// TaskInfo describes a running task.
type TaskInfo struct {
	Thread, Run string
	Path, Node  string // the subgraph, empty at the root, and the node in it
	Step        int    // superstep of the graph or subgraph, from 1
	Attempt     int    // from 1
	StepsLeft   int    // supersteps that may follow this one before the step limit
}

// Info describes the task that a context belongs to; the zero TaskInfo outside a run.
func Info(ctx context.Context) TaskInfo {
	b := taskContextOf(ctx)
	if b == nil {
		return TaskInfo{}
	}
	for b.up != nil {
		b = b.up
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	return TaskInfo{b.of.thread, b.of.run, b.path, b.node, int(b.step), int(b.attempt), int(b.left)}
}

// Note adds a line to the task's notes. Note, [Warn], [Skip], [Count] and [Emit] do
// nothing outside a run, so that tests can call nodes like any function.
func Note(ctx context.Context, key, value string) {
	taskContextOf(ctx).write(func(n *Notes) { n.Details = append(n.Details, Detail{key, value}) })
}

// Warn adds a warning for the person who asked. The same warning is added only once per task.
func Warn(ctx context.Context, text string) {
	taskContextOf(ctx).write(func(n *Notes) {
		if !slices.Contains(n.Warnings, text) {
			n.Warnings = append(n.Warnings, text)
		}
	})
}

// Skip records why the node did nothing.
func Skip(ctx context.Context, why string) {
	taskContextOf(ctx).write(func(n *Notes) { n.Skipped = why })
}

// Count records a call to an external service.
func Count(ctx context.Context, c Call) {
	taskContextOf(ctx).write(func(n *Notes) { n.Calls = append(n.Calls, c) })
}

// Emit sends a live event to the consumer of [Runner.Stream]. The event is never saved. Emit
// blocks while the consumer is behind.
func Emit(ctx context.Context, payload any) { emit(ctx, Custom, payload) }
