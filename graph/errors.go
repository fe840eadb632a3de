package graph

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Errors that callers match with errors.Is.
var (
	ErrNotFound     = errors.New("not found")
	ErrExists       = errors.New("thread exists already")
	ErrBusy         = errors.New("thread is busy")
	ErrSuperseded   = errors.New("superseded by another writer")
	ErrConflict     = errors.New("head has moved")
	ErrGraphChanged = errors.New("graph has changed since the run stopped")
	ErrNothingToDo  = errors.New("nothing to resume")
	ErrDrained      = errors.New("drained: the process ends, and the run can be resumed from what it saved")
	ErrPaused       = errors.New("paused: the current step was finished and saved")
	ErrCancelled    = errors.New("cancelled: resume the run to continue it")
)

var errNoStore = fmt.Errorf("no store: %w", ErrNotFound)

// wrap adds what failed to an error. It is meant to be deferred.
func wrap(err *error, format string, args ...any) {
	if *err != nil {
		*err = fmt.Errorf(format+": %w", append(args, *err)...)
	}
}

// NodeError is the first failure of a run and where it happened. Errors that it caused in
// other tasks are left out.
type NodeError struct {
	Node string
	Step int
	Err  error
}

func (e *NodeError) Error() string { return fmt.Sprintf("node %q, step %d: %v", e.Node, e.Step, e.Err) }

// Unwrap returns the cause.
func (e *NodeError) Unwrap() error { return e.Err }

// isPause reports whether an error stops a run without being a failure of a node. Such
// errors are neither retried nor handled.
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

// MoveError is the error of an illegal move between two statuses of a run.
type MoveError struct {
	From Status
	Move string // for example "cancel"
}

func (e *MoveError) Error() string { return fmt.Sprintf("cannot %s a run that is %s", e.Move, e.From) }

// StepLimitError is the error of a run that reached its step limit. The state is saved. A
// resumed run gets a new limit.
type StepLimitError struct {
	Limit int
	Next  []string // the nodes to run next
}

func (e *StepLimitError) Error() string {
	return fmt.Sprintf("step limit of %d reached before %v; raise it or resume the run", e.Limit, e.Next)
}

// EntryError reports which part of a commit, a task result or a request was rejected. Nothing was
// saved.
type EntryError struct {
	Field  string // for example "delta 2 of node \"generate\": body"
	Reason string
}

func (e *EntryError) Error() string { return e.Field + ": " + e.Reason }

// CheckThread returns an [*EntryError] for an invalid thread name: an empty name, or one
// that [CheckName] rejects.
func CheckThread(name string) error {
	if name == "" {
		return &EntryError{"thread", "empty"}
	}
	return CheckName("thread", name)
}

// CheckName returns an [*EntryError] for a name that a database would change: invalid
// UTF-8, or a name with a NUL. field is the name of the field in the error.
func CheckName(field, name string) error {
	switch {
	case !utf8.ValidString(name):
		return &EntryError{field, fmt.Sprintf("%q is not valid UTF-8", name)}
	case strings.ContainsRune(name, 0):
		return &EntryError{field, fmt.Sprintf("%q contains a NUL character", name)}
	}
	return nil
}
