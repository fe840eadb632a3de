// Package graph runs typed workflow graphs: nodes read a state, updates change
// it, and every step is saved before anyone hears of it.
//
// # What for
//
// A workflow of some steps, a few of them slow, expensive or unreliable, that
// must survive a crash, tell what it did, and do the same thing twice when
// asked twice. The package knows nothing of what flows through it: S is the
// state and U the update, both plain values of the caller's own.
//
// # Smallest use
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
// Data flows one way: a [Node] reads S and returns U, Apply makes the next S.
// Apply and Route are pure. A node may do what it likes except write to what it
// reaches through its state, which others read at the same time.
//
// A run goes in supersteps. All tasks of one read the same state; their updates
// are applied in the order of [Graph].Order, whatever order they finished in.
// Edges are all followed; a branch picks one target, reading the state after
// the step; a [Picker] picks targets itself. Two edges into one node start it
// once if they are reached in one step. Where paths of different lengths meet, the
// node waits for those that can still come ([Wait]); [Compile] insists on it.
//
// A task may be tried again, bounded in time, remembered and its failure made data:
// see [Task]. All that a policy did stands in the task's [Notes].
//
// With a [Store], a run's input and each superstep is one commit of its thread.
// What is saved is the updates, as JSON; the state is their fold, live and on reload,
// so that both are equal for any schedule. Compile refuses types that JSON would not
// bring back, unless the graph is Unsaved. Results of a step's tasks are saved as
// they finish: a run that stopped is resumed without running them again. A task
// that was under way when the process died is run again.
//
// A node may ask a person ([Ask]) and do something that must not be done again
// ([Once]); breakpoints, a pause and a drain stop a run between two supersteps.
// In all these cases the run ends as Interrupted, with everything saved, and a
// [Request] with Resume goes on.
//
// A node may be another graph ([Sub]), with a state of its own and its steps in
// the same log. [Runner.History], [Runner.StateAt] and [Plan.Inside] look back;
// [Runner.Fork] makes another thread that goes on from any such moment, at any depth;
// [Runner.Update] changes a thread, also in place of a node; [Runner.Prune] drops
// the oldest turns of its log and leaves the state as it is.
//
// Whoever ranges over a run hears of it as it happens ([Mode] says of what), each
// event with the path of its subgraph. A [Hook] hears of its spans.
//
// A thread has one writer, who holds its lease and keeps it alive. A run that
// loses its lease stops with [ErrSuperseded] and writes nothing more. Where runs
// meet on a thread, [OnBusy] decides. A new input on a thread closes the run that
// was left unfinished there; going on with it instead is explicit ([Request].Resume), and refused with
// [ErrGraphChanged] when the graph is another one by then.
//
// # How it works
//
// [Compile] checks a [Graph] and turns names into indices by rank; a [Plan]
// never changes. A [Runner] holds no runs. Each run is owned by the goroutine
// that ranges over its events (run.go): it alone changes state, saves and
// yields. A step of one task runs on it inline; for more tasks, or when live
// events are wanted, workers run them (task.go) and post to one bounded channel
// that blocks, never drops. Writing the thread, with its lease and heartbeat,
// is in log.go. [Lifecycle] says which moves a run may make.
//
// Snapshots of the state are taken at the end of runs, only when the updates
// since the last one outweigh it, so that reading a thread costs in proportion
// to its state and not to its history.
package graph
