package graph

import "time"

// EventKind says what an event tells of.
type EventKind string

// The kinds of event. The durable ones are told in order and only after what
// they tell of was saved; the live ones are never saved.
const (
	RunStarted  EventKind = "run_started"  // durable: the input is saved
	StepDone    EventKind = "step_done"    // durable: a superstep is saved
	RunEnded    EventKind = "run_ended"    // durable: the run's last event, with its Status
	TaskStarted EventKind = "task_started" // live
	TaskRetried EventKind = "task_retried" // live: an attempt failed, another follows; what it emitted is void
	TaskDone    EventKind = "task_done"    // live
	Token       EventKind = "token"        // live: a piece of text that a node emitted
	Custom      EventKind = "custom"       // live: what else a node emitted
)

// Event is one thing that happened in a run. Consumers may keep it, but must
// not write to what State reaches.
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
	Interrupt *InterruptError // for RunEnded: what an interrupted run waits for; nil after a drain or a pause
	Tasks     []Delta         // by rank, with bodies only for [Updates]: for StepDone what the tasks noted, for TaskDone that task, for TaskRetried the failed attempt, for RunEnded failed attempts
	Value     any             // for Custom and Token
}

// pulse is a live event on its way from a task to the loop of the root.
type pulse struct {
	kind       EventKind
	path, node string
	tasks      []Delta
	value      any
}
