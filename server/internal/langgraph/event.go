package langgraph

import (
	"encoding/json"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/untyped"
)

// position is a place in the events of a thread: the number of the last durable event, and the
// number of events since then.
type position struct {
	seq int64
	n   int
}

// endOf is the number of the last event that a run which ends with a commit has in the log.
func endOf(last graph.CommitID) int64 { return int64(last)*4 + 1 }

// event is an event of a thread. One with an error is the last of its run.
type event struct {
	untyped.Event

	at  position
	run *run
	err error
}

// size is about how many bytes an event takes.
func (e *event) size() int {
	n := 256 + len(e.State)
	for _, d := range e.Tasks {
		n += len(d.Body)
	}
	if text, ok := e.Value.(string); ok {
		return n + len(text)
	}
	body, _ := json.Marshal(e.Value) // what has no JSON form is not sent, either
	return n + len(body)
}
