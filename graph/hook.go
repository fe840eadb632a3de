package graph

import "context"

// Hook is told of everything that takes time in a run, as it begins and ends:
// spans in the sense of OpenTelemetry, which can be attached by a few lines
// outside. It is called from several goroutines. A hook that panics loses the span.
type Hook interface {
	// Begin is called before something begins. What it does runs under the context
	// returned, and ended is called with its error when it ends.
	Begin(ctx context.Context, s Span) (inner context.Context, ended func(error))
}

// SpanKind says what a span is of.
type SpanKind string

// The kinds of span, each within the one before. Those of a subgraph's tasks lie
// within the attempt of the task that runs it.
const (
	SpanRun     SpanKind = "run"     // from the first superstep of a call to its last
	SpanStep    SpanKind = "step"    // with saving it
	SpanTask    SpanKind = "task"    // with all attempts and the pauses between them
	SpanAttempt SpanKind = "attempt" // of a node
)

// Span is something that begins.
type Span struct {
	Kind    SpanKind
	Thread  string
	Run     string
	Path    string // of the subgraph; empty at the root
	Step    int    // of the graph it belongs to; for a run the last finished one
	Node    string // of a task or an attempt
	Attempt int    // of an attempt, from 1
}

// span begins a span where there is a hook.
func (x *run[S, U]) span(ctx context.Context, kind SpanKind, node string, attempt int) (context.Context, func(error)) {
	if x.o.Hook == nil {
		return ctx, unheard
	}
	s := Span{Kind: kind, Thread: x.session.thread, Run: x.session.run, Path: x.path, Step: x.step, Node: node, Attempt: attempt}
	if kind != SpanRun {
		s.Step++
	}
	inner, ended := beginSpan(ctx, x.o.Hook, s)
	if inner == nil {
		inner = ctx
	}
	if ended == nil {
		return inner, unheard
	}
	return inner, func(err error) {
		var lost error
		defer caught(&lost)
		ended(err)
	}
}

func beginSpan(ctx context.Context, h Hook, s Span) (inner context.Context, ended func(error)) {
	var lost error
	defer caught(&lost)
	return h.Begin(ctx, s)
}

func unheard(error) {}
