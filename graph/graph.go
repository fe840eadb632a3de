package graph

import "context"

// Start and End are the two places of every graph that are not nodes: an edge
// from Start names the first node, an edge or branch to End ends the run.
const (
	Start = "__start__"
	End   = "__end__"
)

// Node is one step of a graph: it reads a state and returns what should change.
// The state is a snapshot shared with the other tasks of the superstep; a node
// must not write to anything it reaches through it. The zero U changes nothing.
type Node[S, U any] func(ctx context.Context, s S) (U, error)

// Picker is a node that also says where to go on: one or more of the targets
// that its [Task] declares.
type Picker[S, U any] func(ctx context.Context, s S) (u U, next []string, err error)

// Task is a node as it stands in a graph, with its policies. Their zero values
// ask for nothing. A task is tried as often as Retry says, each time for as
// long as Timeout says; Cache spares all of that, OnError takes what failed for
// good.
type Task[S, U any] struct {
	// Run is the node itself. Either it or Pick must be given.
	Run Node[S, U]
	// Pick is a node that chooses its successors, from the closed set To; no
	// edge and no branch leaves it. A target outside To, or none at all, fails
	// the task.
	Pick Picker[S, U]
	To   []string

	Wait    Wait
	Retry   Retry
	Timeout Timeout
	Cache   *Cache[S, U]
	OnError OnError[S, U]

	sub string // fingerprint of the subgraph that Run runs
}

// Wait says how long a node that was reached holds back. A node that waits and
// is reached several times runs once.
type Wait int

// The kinds of waiting. None can hang: where waiting nodes wait for each other,
// the first by rank that is no Last runs.
const (
	NoWait Wait = iota // it runs in the next superstep
	Join               // until nothing that is under way can lead to it any more; a path that a branch left is not waited for
	Last               // until nothing else is under way; only End and nodes like it may follow
)

// Edge leads from a node (or [Start]) to a node (or [End]). A node may have
// several outgoing edges: all their targets run in the next superstep.
type Edge struct{ From, To string }

// Branch leads from one node to the target that Route picks. Route reads the
// state after the node's own superstep was applied; it must be pure. A target
// outside To fails the run.
type Branch[S any] struct {
	From  string
	Route func(S) string
	To    []string          // the closed set of targets; End is allowed
	Label map[string]string // target → condition, for drawings; may be nil
}

// Graph is a whole workflow in one literal: plain data, checked by [Compile].
// S is the state and U the update; both are values that encoding/json can
// write and read back without loss, which Compile checks as far as types tell: no
// funcs, channels, interfaces or fields that are not exported, unless a type has
// methods for both ways or a field says json:"-".
type Graph[S, U any] struct {
	Name    string
	Version string
	// Apply is the only place where state changes. It must be pure and must not
	// write into what s reaches: copy slices and maps before changing them. An
	// error fails the task, before anything is saved.
	Apply func(s S, u U) (S, error)
	// Restore returns updates that make of one state another, earlier one of the
	// same thread, or of the zero state any one. Only [Rollback] and
	// [Runner.Prune] need it; it must be pure, and may be nil.
	Restore func(now, then S) ([]U, error)
	// Unsaved graphs may have states and updates that JSON cannot carry, and are
	// run without a store only: with one, each run fails before it begins.
	Unsaved bool
	Nodes   map[string]Task[S, U]
	// Order is the rank of the nodes, in which the updates of a superstep are
	// applied: every node once. By default it is the order in which Edges, then
	// Branches, name them.
	Order    []string
	Edges    []Edge
	Branches []Branch[S]
}
