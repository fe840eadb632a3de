package threads

import (
	"context"
	"errors"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/state"
)

// ErrNothingToUndo means that no turn is left in the log.
var ErrNothingToUndo = errors.New("nothing to undo")

// Options of a [Log]. The zero value works.
type Options struct {
	Wait  time.Duration    // how long an edit waits for a thread that another run uses
	Clock func() time.Time // default time.Now
	NewID func() string    // ids of edits; default UUIDs
}

// ErrOneOwner means that a call concerns the threads of all owners, but the log is that of one.
var ErrOneOwner = errors.New("only the log of all owners does this")

// Log reads and edits the conversations of a store, of all owners or of one. It is safe for concurrent
// use and never runs a node.
type Log struct {
	store  Store
	plan   *graph.Plan[state.State, state.Update]
	runner *graph.Runner[state.State, state.Update]
	wait   time.Duration
	owner  string // empty: that of the context
}

// New returns the log of a store whose threads were written by plan. The caller
// keeps ownership of the store and closes it.
func New(store Store, plan *graph.Plan[state.State, state.Update], o Options) *Log {
	runner := plan.Runner(graph.Options{Store: store, Clock: o.Clock, NewID: o.NewID})
	return &Log{store: store, plan: plan, runner: runner, wait: o.Wait}
}

// For returns the log of one owner: every other thread is graph.ErrNotFound, and a thread that is imported
// belongs to the owner. An empty owner leaves it to the context, see [graph.OwnedBy]; without one there, all
// threads are seen. Calls that concern the whole store are ErrOneOwner.
func (l *Log) For(owner string) *Log {
	of := *l
	of.owner = owner
	return &of
}

// owned returns the context for calls of the store.
func (l *Log) owned(ctx context.Context) context.Context {
	if l.owner == "" {
		return ctx
	}
	return graph.OwnedBy(ctx, l.owner)
}

// ofAll returns an error if the log is that of one owner.
func (l *Log) ofAll(ctx context.Context) error {
	if graph.OwnerOf(l.owned(ctx)) != "" {
		return ErrOneOwner
	}
	return nil
}

// Info is one conversation in a list. Its JSON is an element of `ragflow threads list --json`.
type Info struct {
	ID      string    `json:"id"`
	Title   string    `json:"title"` // its first question, cut to 80 runes, or the title of Rename
	Turns   int       `json:"turns"`
	Created time.Time `json:"created"`
	Used    time.Time `json:"used"`
	Bytes   int64     `json:"bytes"`  // size of its log
	Status  string    `json:"status"` // of its last run

	Owner    string            `json:"owner,omitempty"`
	Metadata map[string]string `json:"metadata,omitempty"` // given with questions or by Describe
}

// Thread is a whole conversation. Its JSON is the schema of `ragflow threads show --json`.
type Thread struct {
	Info
	Messages  []Message `json:"messages"` // all messages, including summarised ones
	Summary   string    `json:"summary"`
	Summaries []string  `json:"summaries"` // each version of the running summary, oldest first
	// Scope is what its next question is answered from, unless it says otherwise.
	Scope state.Scope `json:"scope"`
}

// Message is one message of a conversation.
type Message struct {
	state.Message
	Run string `json:"run"` // the run that wrote it; "" if it was pruned
}
