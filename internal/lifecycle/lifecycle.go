// Package lifecycle is the state machine of a run: its statuses, and the moves that are legal between them.
package lifecycle

import (
	"context"
	"sync"

	"github.com/looplab/fsm"
)

// The statuses of a run.
const (
	Pending     = "pending"
	Running     = "running"
	Interrupted = "interrupted"
	Completed   = "completed"
	Failed      = "failed"
	Cancelled   = "cancelled"
	Limited     = "limited"
	Superseded  = "superseded"
)

// The moves of a run.
const (
	Start     = "start"     // its input is saved
	Resume    = "resume"    // it is continued
	Interrupt = "interrupt" // it waits for a person
	Complete  = "complete"  // nothing is left to run
	Fail      = "fail"      // a node or the store failed
	Cancel    = "cancel"    // its context ended or its consumer broke the loop
	Limit     = "limit"     // it used up its steps
	Supersede = "supersede" // a later input or another writer took over the thread
)

// machine returns a machine with all legal moves. A run whose process died still has the status running, so
// a running run can be resumed; its lease shows whether it is really active.
func machine() *fsm.FSM {
	return fsm.NewFSM(Pending, fsm.Events{
		{Name: Start, Dst: Running, Src: []string{Pending}},
		{Name: Interrupt, Dst: Interrupted, Src: []string{Running}},
		{Name: Complete, Dst: Completed, Src: []string{Running}},
		{Name: Fail, Dst: Failed, Src: []string{Running}},
		{Name: Cancel, Dst: Cancelled, Src: []string{Pending, Running, Interrupted}},
		{Name: Limit, Dst: Limited, Src: []string{Running}},
		{Name: Resume, Dst: Running, Src: []string{Running, Interrupted, Failed, Cancelled, Limited}},
		{Name: Supersede, Dst: Superseded, Src: []string{Running, Interrupted, Failed, Cancelled, Limited}},
	}, nil)
}

type step struct{ from, move string }

// legal returns the status after each legal move, a table that never changes.
var legal = sync.OnceValue(func() map[step]string {
	to := map[step]string{}
	m := machine()
	for _, from := range []string{Pending, Running, Interrupted, Completed, Failed, Cancelled, Limited, Superseded} {
		m.SetState(from)
		for _, move := range m.AvailableTransitions() {
			m.SetState(from)
			_ = m.Event(context.Background(), move) // the move is legal; one to the same state is an error of fsm only
			to[step{from, move}] = m.Current()
		}
	}
	return to
})

// After returns the status of a run after a move, and whether that move is legal.
func After[S ~string](status S, move string) (S, bool) {
	to, ok := legal()[step{string(status), move}]
	return S(to), ok
}

// Diagram draws the lifecycle as a Mermaid state diagram.
func Diagram() (string, error) {
	return fsm.VisualizeForMermaidWithGraphType(machine(), fsm.StateDiagram)
}
