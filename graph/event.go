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
//
// Seq is the position in the run, for a reader who comes back: [Runner.Events] yields the saved events after it. It
// grows, with gaps. A durable event has the same Seq in every stream and in the log. A live event, and a durable one that is
// not in the log, has the Seq of the last saved event before it. These are not in the log: RunStarted of a run that
// continues after its process died, StepDone with [Options].SaveAtEnd but for the last one, and RunEnded of a run that lost
// its thread. Without a store, Seq counts the durable events.
type Event[S any] struct {
	Kind      EventKind       `json:"kind"`
	Seq       int64           `json:"seq"`
	Live      bool            `json:"live,omitempty"`
	Thread    string          `json:"thread,omitempty"`
	Run       string          `json:"run"`
	Step      int             `json:"step"`
	Path      string          `json:"path,omitempty"`      // for the live kinds: the subgraph of Node; empty at the root
	Node      string          `json:"node,omitempty"`      // for the live kinds
	Commit    CommitID        `json:"commit,omitempty"`    // for the durable kinds, if there is a store
	Time      time.Time       `json:"time,omitzero"`       // of that commit
	Status    Status          `json:"status,omitempty"`    // for the durable kinds
	State     S               `json:"state,omitzero"`      // for the durable kinds: after the commit; only with [Values]
	Next      []string        `json:"next,omitempty"`      // for the durable kinds: the nodes to run next
	Interrupt *InterruptError `json:"interrupt,omitempty"` // for RunEnded: why the run was interrupted; nil after a drain or a pause
	Tasks     []Delta         `json:"tasks,omitempty"`     // by rank, with bodies only for [Updates]: the tasks of StepDone, the task of TaskDone, the failed attempt of TaskRetried, the failed attempts of RunEnded
	Value     any             `json:"value,omitempty"`     // for Custom and Token
}

// liveEvent is a live event that a task sends to the loop of the root.
type liveEvent struct {
	kind       EventKind
	path, node string
	tasks      []Delta
	value      any
}
