package langgraph

import (
	"encoding/json"
	"errors"

	"example.com/ragflow/graph"
	"example.com/ragflow/server/internal/door"
)

// part is one of the events of a stream that an event of a run becomes.
type part struct {
	name string
	node string
	path []string // of the subgraph: its tasks from the outermost
	data any
}

// maxPart is the highest index of a part that has a number of its own.
const maxPart = 1<<8 - 1

// number is the id of a part of an event: it grows, and is the same for every reader.
func number(at position, i int) int64 {
	return at.seq<<22 + int64(min(at.n, 1<<14-1))<<8 + int64(min(i, maxPart))
}

// seqOf returns the number of the durable event at or before the event of a number.
func seqOf(n int64) int64 { return n >> 22 }

// protocol says the events of a run in its words, by fold.put.
type protocol interface {
	begin(e *event)
	task(e *event, kind string, data map[string]any)
	piece(e *event, m *said, delta string, first bool)
	custom(e *event)
	// step is told before the state of the fold changes; said are the messages that were saved.
	step(e *event, values map[string]any, said []*said)
	end(e *event)
	// frame is a part as it is sent, and whether the reader wants it.
	frame(e *event, p *part, n int64) (door.Message, bool)
}

// fold follows a run for the readers of a protocol. It takes all events, from the first on.
type fold struct {
	*run

	words  protocol
	speech speech
	values map[string]any // the last state
	commit graph.CommitID // after which it is
	parts  []part
}

// put adds a part of an event: its name, its node, which may be empty, and the path of its subgraph.
func (f *fold) put(name string, e *event, node, path string, data any) {
	f.parts = append(f.parts, part{name: name, node: node, path: namespace(e.Run, e.Step, path), data: data})
}

// take returns the parts of an event.
func (f *fold) take(e *event) []part {
	f.parts = nil
	switch e.Kind {
	case graph.RunStarted:
		f.values = valuesOf(e.State)
		f.speech.begin(f.values)
		f.words.begin(e)
		f.commit = e.Commit
	case graph.TaskStarted:
		f.words.task(e, "task", map[string]any{
			"id": taskID(e.Run, e.Step, e.Path, e.Node), "name": e.Node, "input": f.values, "triggers": []string{"branch:to:" + e.Node}, "metadata": f.metadata,
		})
	case graph.TaskDone:
		for _, d := range e.Tasks {
			f.done(e, d)
		}
	case graph.TaskRetried:
		f.speech.void(e.Path, e.Node)
	case graph.Token, graph.Custom:
		f.said(e)
	case graph.StepDone:
		values := valuesOf(e.State)
		f.words.step(e, values, f.speech.settle(values))
		f.values, f.commit = values, e.Commit
	case graph.RunEnded:
		f.words.end(e)
	default:
		if e.err != nil {
			f.words.end(e)
		}
	}
	return f.parts
}

func (f *fold) done(e *event, d graph.Delta) {
	data := map[string]any{
		"id": taskID(e.Run, e.Step, e.Path, e.Node), "name": e.Node, "error": nil, "result": bodyOf(d), "interrupts": interrupts(d.Notes.Questions),
	}
	if d.Error != "" && len(d.Notes.Questions) == 0 {
		f.speech.void(e.Path, e.Node)
		data["error"] = d.Error
	}
	f.words.task(e, "task_result", data)
}

// said tells a piece of a message, or another live value.
func (f *fold) said(e *event) {
	p, ok := pieceOf(e)
	if !ok {
		f.words.custom(e)
	} else if m, delta, first := f.speech.add(e, p); m != nil {
		f.words.piece(e, m, delta, first)
	}
}

// problemOf is an error as clients read it.
func problemOf(err error) map[string]any {
	kind := "Error"
	if _, ok := errors.AsType[*graph.StepLimitError](err); ok || errors.Is(err, errRecursion) {
		kind = "GraphRecursionError"
	} else if _, ok := errors.AsType[*graph.NodeError](err); ok {
		kind = "NodeError"
	}
	return map[string]any{"error": kind, "message": err.Error()}
}

// encoded is the data of an event.
func encoded(data any) []byte {
	body, err := json.Marshal(data)
	if err != nil {
		body, _ = json.Marshal(problemOf(err)) // texts alone
	}
	return body
}
