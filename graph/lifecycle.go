package graph

import (
	"context"
	"fmt"
	"sync"

	"github.com/looplab/fsm"
)

// Move is something that happens to a run as a whole.
type Move string

// The moves of a run.
const (
	MoveStart     Move = "start"     // its input is saved
	MoveResume    Move = "resume"    // someone goes on with it
	MoveInterrupt Move = "interrupt" // it waits for a person
	MoveComplete  Move = "complete"  // nothing is left to run
	MoveFail      Move = "fail"      // a node or the store failed
	MoveCancel    Move = "cancel"    // its context ended or its consumer left
	MoveLimit     Move = "limit"     // it used up its steps
	MoveSupersede Move = "supersede" // a later input or another writer took the thread
)

// Lifecycle is the state machine of one run: what may happen to it, given its
// [Status]. It is not safe for concurrent use; the loop of the run owns it.
type Lifecycle struct{ at Status }

// machines are kept because each is a table of all moves, made anew.
var machines = sync.Pool{New: func() any { return newMachine() }} //nolint:gochecknoglobals // holds nothing but memory

func newMachine() *fsm.FSM { return fsm.NewFSM(string(Pending), moves(), nil) }

// NewLifecycle returns the lifecycle of a run that has the given status;
// [Pending] for one that has not begun.
func NewLifecycle(at Status) *Lifecycle {
	return &Lifecycle{at}
}

// moves is the table of legal moves. A run whose process died still says
// running; that nobody runs it any more is told by its lease, not by its
// status, which is why it may be resumed.
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

// Status returns where the run stands.
func (l *Lifecycle) Status() Status { return l.at }

// Can reports whether a move is legal now.
func (l *Lifecycle) Can(m Move) bool {
	machine := l.machine()
	defer machines.Put(machine)
	return machine.Can(string(m))
}

// Move makes a move. One that is not legal now changes nothing and returns a
// *[MoveError]. That ctx has ended does not hinder it: ends are moves too.
func (l *Lifecycle) Move(ctx context.Context, m Move) error {
	machine := l.machine()
	defer machines.Put(machine)
	if !machine.Can(string(m)) {
		return &MoveError{From: l.at, Move: m}
	}
	if m == MoveResume && l.at == Running {
		return nil // fsm calls a move onto the spot an error
	}
	if err := machine.Event(context.WithoutCancel(ctx), string(m)); err != nil {
		return fmt.Errorf("%s a %s run: %w", m, l.at, err)
	}
	l.at = Status(machine.Current())
	return nil
}

// machine is one that stands where the run does, to be given back.
func (l *Lifecycle) machine() *fsm.FSM {
	machine, ok := machines.Get().(*fsm.FSM)
	if !ok {
		machine = newMachine() // unreachable: the pool holds nothing else
	}
	machine.SetState(string(l.at))
	return machine
}

// MoveError refuses a move that is not legal in the state a run is in.
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
