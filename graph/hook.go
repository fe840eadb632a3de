package graph

import "context"

// Hook gets the spans of a run when they start and end, for example for OpenTelemetry. It is
// called from several goroutines. If a hook panics, the span is lost.
type Hook interface {
	// Begin is called when a span starts. The work of the span runs with the returned
	// context. ended is called with its error when it ends.
	Begin(ctx context.Context, s Span) (inner context.Context, ended func(error))
}

// SpanKind is the kind of a span.
type SpanKind string

// The kinds of span, each nested in the one before. The spans of a subgraph are nested in the
// attempt of the task that runs it.
const (
	SpanRun     SpanKind = "run"     // from the first superstep of a call to its last
	SpanStep    SpanKind = "step"    // includes saving it
	SpanTask    SpanKind = "task"    // includes all attempts and the pauses between them
	SpanAttempt SpanKind = "attempt" // one attempt of a node
)

// Span describes a span at its start.
type Span struct {
	Kind    SpanKind
	Thread  string
	Run     string
	Path    string // path of the subgraph; empty at the root
	Step    int    // step of the graph or subgraph; for a run the last finished step
	Node    string // node of a task or an attempt
	Attempt int    // number of the attempt, from 1

	Notes func() Notes // of a task or an attempt: what the task has noted so far, read-only; else nil
	State func() any   // of a run: its state so far, read-only, for Begin and ended; else nil
}

// span starts a span if there is a hook.
func (x *run[S, U]) span(ctx context.Context, kind SpanKind, node string, attempt int) (context.Context, func(error)) {
	if x.o.Hook == nil {
		return ctx, ignoreEnd
	}
	s := Span{Kind: kind, Thread: x.session.thread, Run: x.session.run, Path: x.path, Step: x.step, Node: node, Attempt: attempt}
	if kind == SpanRun {
		s.State = func() any { return x.state }
	} else {
		s.Step++
	}
	if kind == SpanTask || kind == SpanAttempt {
		s.Notes = taskContextOf(ctx).noted
	}
	var inner context.Context
	var ended func(error)
	_ = protected(func() error { inner, ended = x.o.Hook.Begin(ctx, s); return nil }) //nolint:fatcontext // it is called once
	if inner == nil {
		inner = ctx
	}
	if ended == nil {
		return inner, ignoreEnd
	}
	return inner, func(err error) { _ = protected(func() error { ended(err); return nil }) }
}

func ignoreEnd(error) {}
