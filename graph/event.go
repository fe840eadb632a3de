package graph

import "time"

// EventKind is the kind of an event.
type EventKind string

// The kinds of event. A durable event is yielded in order and only after its commit was
// saved. Live events are never saved.
const (
	RunStarted  EventKind = "run_started"  // durable: the input is saved
	StepDone    EventKind = "step_done"    // durable: a superstep is saved
	RunEnded    EventKind = "run_ended"    // durable: the run's last event, with its Status
	TaskStarted EventKind = "task_started" // live
	TaskRetried EventKind = "task_retried" // live: an attempt failed and another one follows; discard what the node emitted
	TaskDone    EventKind = "task_done"    // live; if its Delta has an Error or was Caught, discard what the node emitted
	Token       EventKind = "token"        // live: a piece of text from a node
	Custom      EventKind = "custom"       // live: another value from a node
)

// Event is an event of a run. Consumers may keep it, but must not change anything that
// State refers to.
type Event[S any] struct {
	Kind      EventKind
	Live      bool
	Thread    string
	Run       string
	Step      int
	Path      string          // for the live kinds: the subgraph of Node; empty at the root
	Node      string          // for the live kinds
	Commit    CommitID        // for the durable kinds, where there is a store
	Time      time.Time       // of that commit
	Status    Status          // for the durable kinds
	State     S               // for the durable kinds: after the commit; only with [Values]
	Next      []string        // for the durable kinds: the nodes to run next
	Interrupt *InterruptError // for RunEnded: why the run was interrupted; nil after a drain or a pause
	Tasks     []Delta         // by rank, with bodies only for [Updates]: the tasks of StepDone, the task of TaskDone, the failed attempt of TaskRetried, the failed attempts of RunEnded
	Value     any             // for Custom and Token
}

// liveEvent is a live event that a task sends to the loop of the root.
type liveEvent struct {
	kind       EventKind
	path, node string
	tasks      []Delta
	value      any
}
