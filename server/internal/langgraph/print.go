package langgraph

import (
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"example.com/ragflow/graph"
)

// part is one event of a stream.
type part struct {
	name string
	node string
	path []string // of the subgraph: its tasks from the outermost
	data any
}

// number is the id of a part of an event: it grows, and is the same for every reader.
func number(at position, i int) int64 {
	return at.seq<<22 + int64(min(at.n, 1<<14-1))<<8 + int64(min(i, 1<<8-1))
}

// positionOf returns the event that a number is of, and its part.
func positionOf(n int64) (at position, i int) {
	return position{n >> 22, int(n >> 8 & (1<<14 - 1))}, int(n & (1<<8 - 1))
}

// printer turns the events of a run into those of the older protocol. It gets all of them, from the first on.
type printer struct {
	*run
	modes
	subgraphs bool

	speech speech
	values map[string]any // the last state
	commit graph.CommitID // after which they are
	parts  []part
}

func newPrinter(r *run, m modes, subgraphs bool) *printer {
	return &printer{run: r, modes: m, subgraphs: subgraphs}
}

func (p *printer) wants(mode string) bool { return slices.Contains(p.modes, mode) }

// put adds an event of a mode, if it is wanted. path is that of its subgraph.
func (p *printer) put(mode, name string, e *event, path string, data any) {
	if !p.wants(mode) || path != "" && !p.subgraphs {
		return
	}
	if names := namespace(e.Run, e.Step, path); len(names) > 0 {
		name += "|" + strings.Join(names, "|")
	}
	p.parts = append(p.parts, part{name: name, data: data})
}

// namespace are the tasks on the way to a subgraph.
func namespace(run string, step int, path string) []string {
	out := []string{}
	for i, c := range path + "/" {
		if c == '/' && path != "" {
			at := path[:i]
			out = append(out, nodeOf(at)+":"+taskID(run, step, "", at))
		}
	}
	return out
}

// nodeOf is the node at the end of the path of a subgraph.
func nodeOf(path string) string {
	name := path[strings.LastIndexByte(path, '/')+1:]
	return name[:strings.IndexAny(name+"#", "#[")]
}

// print returns the parts of an event.
func (p *printer) print(e *event) []part {
	p.parts = nil
	switch e.Kind {
	case graph.RunStarted:
		p.values, p.commit = valuesOf(e.State), e.Commit
		p.speech.begin(p.values)
		if e.Step == 0 {
			p.checkpoint(e, "input", 0)
		}
		p.put("values", "values", e, "", p.values)
	case graph.TaskStarted:
		p.task("task", e, map[string]any{
			"id": taskID(e.Run, e.Step, e.Path, e.Node), "name": e.Node, "input": p.values, "triggers": []string{"branch:to:" + e.Node}, "metadata": p.metadata,
		})
	case graph.TaskDone:
		p.done(e)
	case graph.TaskRetried:
		p.speech.void(e.Path, e.Node)
	case graph.Token, graph.Custom:
		p.said(e)
	case graph.StepDone:
		p.step(e)
	case graph.RunEnded:
		if e.Status == graph.Interrupted {
			p.interrupted(e)
		}
	}
	if e.err != nil {
		p.parts = append(p.parts, part{name: "error", data: problemOf(e.err)})
	}
	return p.parts
}

// task puts an event of a task, for debug with its envelope.
func (p *printer) task(kind string, e *event, data map[string]any) {
	p.put("tasks", "tasks", e, e.Path, data)
	p.debug(kind, e, data)
}

func (p *printer) debug(kind string, e *event, data any) {
	p.put("debug", "debug", e, e.Path, map[string]any{"step": e.Step, "timestamp": stamp(e.Time), "type": kind, "payload": data})
}

func (p *printer) done(e *event) {
	for _, d := range e.Tasks {
		if d.Error != "" && len(d.Notes.Questions) == 0 {
			p.speech.void(e.Path, e.Node)
		}
		data := map[string]any{
			"id": taskID(e.Run, e.Step, e.Path, e.Node), "name": e.Node, "error": nil, "result": bodyOf(d), "interrupts": interrupts(d.Notes.Questions),
		}
		if d.Error != "" && len(d.Notes.Questions) == 0 {
			data["error"] = d.Error
		}
		p.task("task_result", e, data)
	}
}

// said puts a piece of a message, or another live value.
func (p *printer) said(e *event) {
	said, ok := pieceOf(e)
	if !ok {
		p.put("custom", "custom", e, e.Path, e.Value)
		return
	}
	m, delta, first := p.speech.add(e, said)
	if m == nil {
		return
	}
	if first {
		p.put("messages", "messages/metadata", e, e.Path, map[string]any{m.id: map[string]any{"metadata": p.about(e)}})
	}
	if delta != "" {
		p.put("messages-tuple", "messages", e, e.Path, []any{chunk(m.id, delta), p.about(e)})
	}
	p.put("messages", "messages/partial", e, e.Path, []any{spoken(m.id, m.text)})
}

// about is the metadata of a message.
func (p *printer) about(e *event) map[string]any {
	return merged(p.metadata, map[string]any{
		"langgraph_node": e.Node, "langgraph_step": e.Step, "langgraph_checkpoint_ns": e.Node + ":" + taskID(e.Run, e.Step, e.Path, e.Node),
		"run_id": p.id, "thread_id": p.thread, "graph_id": p.graph, "assistant_id": assistantID(p.graph), "tags": []string{},
	})
}

func chunk(id, text string) map[string]any {
	return map[string]any{
		"id": id, "type": "AIMessageChunk", "content": text, "additional_kwargs": struct{}{}, "response_metadata": struct{}{}, "tool_call_chunks": []any{},
	}
}

func spoken(id, text string) map[string]any {
	return map[string]any{"id": id, "type": "ai", "content": text, "additional_kwargs": struct{}{}, "response_metadata": struct{}{}}
}

func (p *printer) step(e *event) {
	values := valuesOf(e.State)
	for _, m := range p.speech.settle(values) {
		of := *e
		of.Node = nodeAt(e, m.node)
		switch {
		case m.rest != "":
			p.put("messages-tuple", "messages", e, "", []any{chunk(m.id, m.rest), p.about(&of)})
		case !m.streamed:
			p.put("messages-tuple", "messages", e, "", []any{m.whole, p.about(&of)})
			p.put("messages", "messages/metadata", e, "", map[string]any{m.id: map[string]any{"metadata": p.about(&of)}})
		}
		p.put("messages", "messages/complete", e, "", []any{m.whole})
	}
	p.values = values
	for _, d := range e.Tasks {
		if d.Node != "" && d.Error == "" {
			p.put("updates", "updates", e, d.Path, map[string]any{d.Node: bodyOf(d)})
		}
	}
	p.put("values", "values", e, "", p.values)
	p.checkpoint(e, "loop", p.commit)
	p.commit = e.Commit
}

// nodeAt is the node that said a message; without one that is known, the first of the step.
func nodeAt(e *event, node string) string {
	if node == "" && len(e.Tasks) > 0 {
		return e.Tasks[0].Node
	}
	return node
}

func (p *printer) checkpoint(e *event, source string, parent graph.CommitID) {
	if !p.wants("checkpoints") && !p.wants("debug") {
		return
	}
	at := func(c graph.CommitID) any {
		if c == 0 {
			return nil
		}
		return map[string]any{"configurable": checkpoint(p.thread, c)}
	}
	tasks := []any{}
	for _, n := range e.Next {
		tasks = append(tasks, map[string]any{"id": taskID(e.Run, e.Step+1, "", n), "name": n, "interrupts": []any{}, "state": nil})
	}
	data := map[string]any{
		"config": at(e.Commit), "parent_config": at(parent), "values": p.values, "next": append([]string{}, e.Next...), "tasks": tasks,
		"metadata": map[string]any{"source": source, "step": e.Step, "parents": struct{}{}},
	}
	p.put("checkpoints", "checkpoints", e, "", data)
	p.debug("checkpoint", e, merged(data, map[string]any{"checkpoint": checkpoint(p.thread, e.Commit), "parent_checkpoint": checkpoint(p.thread, parent)}))
}

func (p *printer) interrupted(e *event) {
	open := []any{}
	if e.Interrupt != nil {
		open = interrupts(e.Interrupt.Questions)
	}
	p.put("updates", "updates", e, "", map[string]any{"__interrupt__": open})
	if len(open) > 0 {
		p.put("values", "values", e, "", merged(valuesOf(e.State), map[string]any{"__interrupt__": open}))
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

// encoded is the data of a part.
func (p *part) encoded() []byte {
	body, err := json.Marshal(p.data)
	if err != nil {
		body, _ = json.Marshal(problemOf(err)) // texts alone
	}
	return body
}
