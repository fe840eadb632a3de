package graph

import (
	"errors"
	"fmt"
)

// Facts a caller acts on; match them with errors.Is.
var (
	ErrNotFound     = errors.New("not found")
	ErrExists       = errors.New("thread exists already")
	ErrBusy         = errors.New("thread is busy")
	ErrSuperseded   = errors.New("superseded by another writer")
	ErrConflict     = errors.New("head has moved")
	ErrGraphChanged = errors.New("graph has changed since the run stopped")
	ErrNothingToDo  = errors.New("nothing to resume")
	ErrDrained      = errors.New("asked to end; the step under way was finished and saved")
	ErrPaused       = errors.New("asked to pause; the step under way was finished and saved")
)

// NodeError tells where a run failed: the first cause, not its echoes.
type NodeError struct {
	Node string
	Step int
	Err  error
}

func (e *NodeError) Error() string { return fmt.Sprintf("node %q, step %d: %v", e.Node, e.Step, e.Err) }

// Unwrap returns the cause.
func (e *NodeError) Unwrap() error { return e.Err }

// isPause tells what stops a run, but is no failure of a node: it is neither
// retried nor handled.
func isPause(err error) bool {
	_, limited := errors.AsType[*StepLimitError](err)
	_, waits := errors.AsType[*InterruptError](err)
	return limited || waits || errors.Is(err, ErrDrained) || errors.Is(err, ErrPaused) || errors.Is(err, errStopped) || errors.Is(err, ErrSuperseded)
}

// PanicError is a panic of a node, caught and turned into an error.
type PanicError struct {
	Value any
	Stack []byte
}

func (e *PanicError) Error() string { return fmt.Sprintf("panic: %v", e.Value) }

// StepLimitError ends a run that used up its steps. State is saved; the run
// may be resumed, with a fresh budget.
type StepLimitError struct {
	Limit int
	Next  []string // the nodes that would have run
}

func (e *StepLimitError) Error() string {
	return fmt.Sprintf("step limit of %d reached before %v; raise it or resume the run", e.Limit, e.Next)
}
