package graph

import (
	"context"
	"time"

	"example.com/ragflow/internal/topology"
)

// Start and End exist in every graph but are not nodes: an edge from Start names the
// first node, an edge or branch to End ends the run.
const (
	Start = topology.Start
	End   = topology.End
)

// Node is one step of a graph: it reads a state and returns an update. The other tasks
// of the superstep share the state, so a node must not change anything that it refers
// to. The zero U changes nothing.
type Node[S, U any] func(ctx context.Context, s S) (U, error)

// Picker is a node that also chooses its successors: one or more of the targets in its
// [Task].
type Picker[S, U any] func(ctx context.Context, s S) (u U, next []string, err error)

// Task is a node with its policies. The zero value of a policy turns it off. Retry limits
// the attempts. A hit in Cache replaces all attempts. OnError handles the error of the last attempt.
type Task[S, U any] struct {
	// Run is the node. Exactly one of Run and Pick must be set.
	Run Node[S, U]
	// Pick is a node that chooses its successors from To. It must have no edges and no
	// branch. A target that is not in To, or no target, fails the task.
	Pick Picker[S, U]
	To   []string

	Wait    Wait
	Retry   Retry
	Cache   *Cache[S, U]
	OnError OnError[S, U]

	// OnSupersede, if set, keeps what an unfinished task has done: it is called when a new input closes the run, and
	// its update is saved with that and applied before the input. In it, [Once], [Ask] and [FanOut] return what is saved; Once
	// and Ask without a saved result return [ErrSuperseded]. It must do nothing else. Its error is saved as a failure
	// of the task. It is not called for [Rollback], for [SourceUndo] and [Request].From, and within subgraphs.
	OnSupersede Node[S, U]

	// Timeout limits the time of one attempt. At the timeout the context of the node ends, and the node must
	// return; the engine waits for it. If it returns without an error, its update still counts.
	Timeout time.Duration

	// Speculate begins on nodes that probably follow before this one has ended.
	Speculate Speculation[S]

	sub *subgraph // the subgraph that Run or Pick runs; else nil
}

// Wait says how long a reached node waits before it runs. A waiting node that is reached
// several times runs once. A node after it may lead back to it: then it waits again.
type Wait int

// The kinds of waiting. They cannot deadlock: if nodes wait for each other, the first by
// rank runs, nodes without Last before nodes with Last.
const (
	NoWait Wait = iota // run in the next superstep
	Join               // wait until no active path can reach the node
	Last               // wait until no other node is active
)

// Edge leads from a node (or [Start]) to a node (or [End]). A node may have
// several outgoing edges: all their targets run in the next superstep.
type Edge struct{ From, To string }

// Chain returns the edges from each name to the next: Chain(Start, "a", "b", End).
func Chain(names ...string) []Edge {
	var edges []Edge
	for i, to := range names[min(1, len(names)):] {
		edges = append(edges, Edge{names[i], to})
	}
	return edges
}

// Branch leads from a node, or from [Start], to the target that Route returns. Route reads the state
// after the superstep of the node, or after the input. It must be pure. A target that is not in To
// fails the run. A node can have several branches and edges: all of them are followed.
type Branch[S any] struct {
	From  string
	Route func(S) string
	To    []string          // allowed targets, which may include End
	Label map[string]string // target → condition, for diagrams; may be nil
}

// If returns a branch to yes or to no.
func If[S any](from string, test func(S) bool, yes, no string) Branch[S] {
	return Branch[S]{From: from, To: []string{yes, no}, Route: func(s S) string {
		if test(s) {
			return yes
		}
		return no
	}}
}

// Graph is a workflow in one literal, checked by [Compile]. S is the state and U the
// update. encoding/json must write and read both without loss. Compile checks their
// types: no functions, channels, interfaces or unexported fields, unless a type has
// methods for both directions or a field has the tag json:"-".
type Graph[S, U any] struct {
	Name string
	// Version says what Apply means. Give it another value when Apply changes what an update of the log
	// does. Then [Options].Migrate decides about threads of the old version; see there.
	Version string
	// Apply is the only function that changes state. It must be pure and must not change
	// anything that s refers to: copy slices and maps first. An error fails the task
	// before anything is saved. Nil means that of package graph/reduce, which merges the fields of U into those of S.
	Apply func(s S, u U) (S, error)
	// Conflict, if set, gets each pair of updates of one superstep, by rank. An error fails the later
	// task before anything is saved. It must be pure. See package graph/reduce.
	Conflict func(earlier, later U) error
	// Restore returns updates that turn the state now into then, an earlier state of the
	// same thread. If now is the zero state, then can be any state. Only [Rollback],
	// [Request].From and [Runner.Prune] need Restore. It must be pure and may be nil.
	Restore func(now, then S) ([]U, error)
	Nodes   map[string]Task[S, U]
	// Defaults are the policies of all nodes that do not set their own.
	Defaults Defaults
	// Order lists every node once. The updates of a superstep are applied in this order.
	// By default it is the order of the nodes in Edges, then in Branches.
	Order    []string
	Edges    []Edge
	Branches []Branch[S]
}

// Defaults are policies for the nodes of a graph, not for those in its subgraphs. A Retry with any Attempts, 1 for
// none, or a Timeout that is not 0, below 0 for none, of a node wins.
type Defaults struct {
	Retry   Retry
	Timeout time.Duration
}

// subgraph describes the graph of a [Sub].
type subgraph struct {
	fingerprint string
	shape       Shape
}
