package graph

import (
	"context"
	"fmt"
	"sync"

	"github.com/looplab/fsm"
)

// Move is a transition of a run between two statuses.
type Move string

// The moves of a run.
const (
	MoveStart     Move = "start"     // its input is saved
	MoveResume    Move = "resume"    // it is continued
	MoveInterrupt Move = "interrupt" // it waits for a person
	MoveComplete  Move = "complete"  // nothing is left to run
	MoveFail      Move = "fail"      // a node or the store failed
	MoveCancel    Move = "cancel"    // its context ended or its consumer broke the loop
	MoveLimit     Move = "limit"     // it used up its steps
	MoveSupersede Move = "supersede" // a later input or another writer took over the thread
)

// Lifecycle is the state machine of one run. Its states are the [Status] values, its
// transitions the moves. It is not safe for concurrent use; the loop of the run owns it.
type Lifecycle struct{ at Status }

// machines are reused because each has its own table of all moves.
var machines = sync.Pool{New: func() any { return newMachine() }} //nolint:gochecknoglobals // a pool of memory

func newMachine() *fsm.FSM { return fsm.NewFSM(string(Pending), moves(), nil) }

// NewLifecycle returns the lifecycle of a run that has the given status;
// [Pending] for one that has not begun.
func NewLifecycle(at Status) *Lifecycle {
	return &Lifecycle{at}
}

// moves returns the table of legal moves. A run whose process died still has the status
// running, so a running run can be resumed; its lease shows whether it is really active.
func moves() fsm.Events {
	move := func(m Move, to Status, from ...Status) fsm.EventDesc {
		d := fsm.EventDesc{Name: string(m), Dst: string(to)}
		for _, f := range from {
			d.Src = append(d.Src, string(f))
		}
		return d
	}
	return fsm.Events{
		move(MoveStart, Running, Pending),
		move(MoveInterrupt, Interrupted, Running),
		move(MoveComplete, Completed, Running),
		move(MoveFail, Failed, Running),
		move(MoveCancel, Cancelled, Pending, Running, Interrupted),
		move(MoveLimit, Limited, Running),
		move(MoveResume, Running, Running, Interrupted, Failed, Cancelled, Limited),
		move(MoveSupersede, Superseded, Running, Interrupted, Failed, Cancelled, Limited),
	}
}

// Status returns the current status.
func (l *Lifecycle) Status() Status { return l.at }

// Move makes a move. An illegal move changes nothing and returns a *[MoveError]. An ended
// ctx does not stop a move.
func (l *Lifecycle) Move(ctx context.Context, m Move) error {
	machine := l.machine()
	defer machines.Put(machine)
	if !machine.Can(string(m)) {
		return &MoveError{From: l.at, Move: m}
	}
	if m == MoveResume && l.at == Running {
		return nil // fsm returns an error for a move to the same state
	}
	if err := machine.Event(context.WithoutCancel(ctx), string(m)); err != nil {
		return fmt.Errorf("%s a %s run: %w", m, l.at, err)
	}
	l.at = Status(machine.Current())
	return nil
}

// machine returns a machine in the current state. The caller puts it back.
func (l *Lifecycle) machine() *fsm.FSM {
	machine, ok := machines.Get().(*fsm.FSM)
	if !ok {
		machine = newMachine() // unreachable: the pool holds nothing else
	}
	machine.SetState(string(l.at))
	return machine
}

// MoveError is the error of an illegal move.
type MoveError struct {
	From Status
	Move Move
}

func (e *MoveError) Error() string { return fmt.Sprintf("cannot %s a run that is %s", e.Move, e.From) }

// LifecycleDiagram draws the lifecycle as a Mermaid state diagram.
func LifecycleDiagram() string {
	s, err := fsm.VisualizeForMermaidWithGraphType(newMachine(), fsm.StateDiagram)
	if err != nil {
		panic("graph: draw lifecycle: " + err.Error()) // unreachable: the kind of diagram is a known one
	}
	return s
}
