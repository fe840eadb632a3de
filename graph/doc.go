// Package graph runs typed workflow graphs: nodes read a state, updates change it, and
// every step is saved before its events are sent.
//
// # Purpose
//
// The package is for workflows with slow, expensive or unreliable steps that must
// survive a crash, leave a trace, and give the same result for the same input. It is
// generic: S is the state and U the update, both plain values of the caller.
//
// # Smallest example
//
//	plan, err := graph.Compile(graph.Graph[int, int]{
//		Apply: func(s, u int) (int, error) { return s + u, nil },
//		Nodes: map[string]graph.Task[int, int]{"double": {Run: double}},
//		Edges: []graph.Edge{{From: graph.Start, To: "double"}, {From: "double", To: graph.End}},
//	})
//	state, err := plan.Runner(graph.Options{}).Invoke(ctx, graph.Request[int]{Input: 21})
//
// # Rules
//
// Data flows one way: a [Node] reads S and returns U, Apply returns the next S. Apply and
// Route are pure. A node must not change anything that its state refers to, because
// other tasks read it at the same time.
//
// A run is a sequence of supersteps. All tasks of a superstep read the same state. Their
// updates are applied in the order of [Graph].Order, in whatever order the tasks finish.
// All edges are followed. A branch chooses one target from the state after the step. A
// [Picker] chooses its own targets. A node that several edges reach in one step runs
// once. A node where paths of different lengths meet must have a [Wait]; [Compile]
// checks that.
//
// A task can have a retry policy, a timeout, a cache, an error handler and a speculation: see [Task].
// The [Notes] of a task record what its policies did.
//
// With a [Store], the input of a run and each superstep are commits of its thread.
// Commits contain the updates as JSON. The state is the fold of the updates, in a live
// run as after a reload, so both are equal. Compile rejects types that JSON cannot
// restore. Results of tasks, and of the parts of a [FanOut], are
// saved when they finish, so a resumed run does not repeat them. A task that was running when the process died runs
// again.
//
// A node can ask people ([Ask]), who answer each question by itself, and do something at most once ([Once]). Breakpoints, a
// pause and a drain stop a run between two supersteps. In all these cases everything is
// saved, the run ends as Interrupted, and a [Request] with Resume continues it.
//
// A node can be another graph ([Sub]), with its own state and with its steps in the same
// log. [Runner.History], [Runner.StateAt] and [Plan.Inside] read earlier states.
// [Runner.Fork] creates a thread that continues from such a state, at any depth. [Request].From
// goes back to one in the same thread. [SubFrom] is a subgraph that remembers its last state.
// [Runner.Update] changes a thread, also in place of a node or, with [Edit].Path, in a subgraph that waits. [Runner.Prune] removes the
// oldest turns from the log and keeps the state.
//
// The caller ranges over a run and gets its events; [Mode] selects them. Each event has
// the path of its subgraph and a position, from which [Runner.Events] reads on in the log. A [Hook] gets the spans of a run.
//
// [Runner.Cancel] ends an unfinished run, also one of another process.
//
// A thread has one writer, which holds its lease and renews it. A run that loses its
// lease stops with [ErrSuperseded] and writes nothing more. [OnBusy] decides what happens
// if two runs want the same thread. A new input closes an unfinished run of the thread; OnSupersede of a [Task]
// keeps what the task has done.
// To continue that run instead, set [Request].Resume; if the graph has changed, the error
// is [ErrGraphChanged].
//
// # How it works
//
// [Compile] checks a [Graph] and turns names into indices by rank; a [Plan] never
// changes. A [Runner] does not store runs. The goroutine that ranges over the events of a
// run owns it (run.go): only that goroutine changes state, saves and yields. It runs a
// step with one task itself. For several tasks or live events, workers run the tasks
// (task.go) and send messages to one bounded channel. The channel blocks and never drops
// a message. log.go writes the thread and renews the lease. Package
// internal/lifecycle defines the legal moves of a run.
//
// A snapshot of the state is saved if the updates since the last one are much larger; see package internal/snapshots.
package graph
