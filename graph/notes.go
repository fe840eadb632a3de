package graph

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Notes is what a trace shows of one task. Nodes add to it through their
// context with [Note], [Warn], [Skip] and [Count]; it is saved with the task's
// delta, for failed attempts too. Start and Duration are the engine's.
type Notes struct {
	Start    time.Time     `json:"start,omitzero"` // UTC, in microseconds
	Duration time.Duration `json:"duration,omitempty"`
	Details  []Detail      `json:"details,omitempty"`
	Calls    []Call        `json:"calls,omitempty"`
	Warnings []string      `json:"warnings,omitempty"`
	Skipped  string        `json:"skipped,omitempty"` // why the node did nothing
	Failed   []Attempt     `json:"failed,omitempty"`  // attempts before the one that counts, oldest first
	Cached   bool          `json:"cached,omitempty"`  // the update came from the task's Cache
	Caught   string        `json:"caught,omitempty"`  // the error that the task's OnError made the update of
	Goto     []string      `json:"goto,omitempty"`    // what a Pick chose
	Step     int           `json:"step,omitempty"`    // of the subgraph, for its tasks
	Answers  []Answer      `json:"answers,omitempty"` // of people, that the task used

	Questions []Question `json:"questions,omitempty"` // that the task waits for; only where it has not finished
}

// Attempt is one run of a node that failed and was followed by another.
type Attempt struct {
	Error    string        `json:"error"`
	Duration time.Duration `json:"duration,omitempty"`
	Pause    time.Duration `json:"pause,omitempty"` // before the next one
}

// Detail is one line of a trace, in the order the node wrote them.
type Detail struct {
	Key   string `json:"k"`
	Value string `json:"v"`
}

// Call is one request to a service outside, such as a model.
type Call struct {
	Name     string           `json:"name"` // what was called, for example the model
	Duration time.Duration    `json:"duration,omitempty"`
	Counts   map[string]int64 `json:"counts,omitempty"` // what it used, for example input_tokens
	Error    string           `json:"error,omitempty"`
}

// notebook collects the notes of one running task, and is the task's context,
// so that both are one thing in memory. A task's goroutines may write to it side
// by side.
type notebook struct {
	context.Context //nolint:containedctx // what the task's own is made of

	of   *session
	path string // of the subgraph, empty at the root
	node string
	turn int         // the step of the subgraph; 0 at the root
	emit func(pulse) // live events; nil when nobody listens

	mu        sync.Mutex
	notes     *Notes     // nil while there are none, as of most tasks
	over      bool       // the task has ended; what comes later is dropped
	up        *notebook  // of the task, for a worker of a [FanOut]
	part      int        // that the worker is at
	questions []Question // of the task that have no answer
	idle      *watchdog  // hears of every sign of life; nil where nobody waits for one
}

type notebookKey struct{}

// Value implements context.Context.
func (b *notebook) Value(key any) any {
	if _, mine := key.(notebookKey); mine {
		return b
	}
	return b.Context.Value(key)
}

func bookOf(ctx context.Context) *notebook {
	b, _ := ctx.Value(notebookKey{}).(*notebook)
	return b
}

func (b *notebook) write(f func(*Notes)) {
	if b == nil {
		return
	}
	b.alive()
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

// alive puts off the idle timeouts of the task and of those it is part of.
func (b *notebook) alive() {
	for ; b != nil; b = b.up {
		b.mu.Lock()
		idle := b.idle
		b.mu.Unlock()
		idle.reset()
	}
}

// close ends the notebook and hands out what stands in it, nil where nothing
// does. A goroutine that the task left behind can write to it no more.
func (b *notebook) close() *Notes {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.over = true
	return b.notes
}

// Note adds a line to the task's notes. Outside a run it does nothing, so that
// a node can be called in a test like any function; the same holds for the
// other functions here.
func Note(ctx context.Context, key, value string) {
	bookOf(ctx).write(func(n *Notes) { n.Details = append(n.Details, Detail{key, value}) })
}

// Warn adds a warning for the person who asked. One that stands there already,
// from another worker of the task, is not repeated.
func Warn(ctx context.Context, text string) {
	bookOf(ctx).write(func(n *Notes) {
		if !slices.Contains(n.Warnings, text) {
			n.Warnings = append(n.Warnings, text)
		}
	})
}

// Skip says why the node did nothing.
func Skip(ctx context.Context, why string) {
	bookOf(ctx).write(func(n *Notes) { n.Skipped = why })
}

// Count records a call to a service outside.
func Count(ctx context.Context, c Call) {
	bookOf(ctx).write(func(n *Notes) { n.Calls = append(n.Calls, c) })
}

// Emit sends a live event, such as a token, to whoever streams the run. It is
// never saved. It blocks while the consumer is behind.
func Emit(ctx context.Context, payload any) { emit(ctx, Custom, payload) }

// Beat says that the task is alive, for one that has nothing to emit or to note
// for longer than its idle timeout.
func Beat(ctx context.Context) { bookOf(ctx).alive() }
