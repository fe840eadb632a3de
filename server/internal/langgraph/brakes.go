package langgraph

import (
	"errors"
	"slices"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/untyped"
)

// brakes stop a run between two supersteps.
type brakes struct {
	before, after names
	limit         int // supersteps; 0: as many as the runner allows
	resumed       bool
	pause         chan struct{}
	closed        bool // pause
	hit           bool // the limit
}

// see closes pause if the run shall not go on after an event.
func (b *brakes) see(e untyped.Event) {
	if e.Live || e.Kind == graph.RunEnded || len(e.Next) == 0 {
		return
	}
	stop := slices.ContainsFunc(e.Next, b.before.have) && (e.Kind != graph.RunStarted || !b.resumed)
	for _, d := range e.Tasks {
		stop = stop || d.Path == "" && b.after.have(d.Node)
	}
	if e.Kind == graph.StepDone && b.limit > 0 {
		b.limit--
		b.hit = b.limit == 0
	}
	if (stop || b.hit) && !b.closed {
		b.closed = true
		close(b.pause)
	}
}

var errRecursion = errors.New("the limit of supersteps was reached; recursion_limit raises it")

// reason is the error of a run that ended with one.
func (b *brakes) reason(err error) error {
	if b.hit && errors.Is(err, graph.ErrPaused) {
		return errRecursion
	}
	return err
}
