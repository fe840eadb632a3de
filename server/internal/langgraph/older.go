package langgraph

import (
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/server/internal/door"
)

// older is the protocol of runs/stream.
type older struct {
	*fold

	modes     names
	subgraphs bool
	ids       bool // events have ids
}

func (o *older) wants(mode string) bool { return slices.Contains(o.modes, mode) }

// mode puts a part of a mode, if it is wanted.
func (o *older) mode(mode, name string, e *event, path string, data any) {
	if o.wants(mode) && (path == "" || o.subgraphs) {
		o.put(name, e, "", path, data)
	}
}

func (o *older) frame(_ *event, p *part, n int64) (door.Message, bool) {
	m := door.Message{Event: strings.Join(append([]string{p.name}, p.path...), "|"), Data: encoded(p.data)}
	if o.ids {
		m.ID = strconv.FormatInt(n, 10)
	}
	return m, true
}

func (o *older) begin(e *event) {
	if e.Step == 0 {
		o.checkpoint(e, o.values, "input", 0)
	}
	o.mode("values", "values", e, "", o.values)
}

func (o *older) task(e *event, kind string, data map[string]any) {
	o.mode("tasks", "tasks", e, e.Path, data)
	o.debug(kind, e, data)
}

func (o *older) debug(kind string, e *event, data any) {
	o.mode("debug", "debug", e, e.Path, map[string]any{"step": e.Step, "timestamp": stamp(e.Time), "type": kind, "payload": data})
}

func (o *older) custom(e *event) { o.mode("custom", "custom", e, e.Path, e.Value) }

func (o *older) piece(e *event, m *said, delta string, first bool) {
	if first {
		o.about(e, m.id, e.Node, e.Path)
	}
	if delta != "" {
		o.chunk(e, m.id, delta, e.Node, e.Path)
	}
	whole := map[string]any{"id": m.id, "type": "ai", "content": m.text, "additional_kwargs": struct{}{}, "response_metadata": struct{}{}}
	o.mode("messages", "messages/partial", e, e.Path, []any{whole})
}

func (o *older) chunk(e *event, id, text, node, path string) {
	o.mode("messages-tuple", "messages", e, path, []any{map[string]any{
		"id": id, "type": "AIMessageChunk", "content": text, "additional_kwargs": struct{}{}, "response_metadata": struct{}{}, "tool_call_chunks": []any{},
	}, o.metadataOf(e, node)})
}

// about puts the metadata of a message before it.
func (o *older) about(e *event, id, node, path string) {
	o.mode("messages", "messages/metadata", e, path, map[string]any{id: map[string]any{"metadata": o.metadataOf(e, node)}})
}

// metadataOf is the metadata of a message of a node.
func (o *older) metadataOf(e *event, node string) map[string]any {
	return merged(o.metadata, map[string]any{
		"langgraph_node": node, "langgraph_step": e.Step, "langgraph_checkpoint_ns": node + ":" + taskID(e.Run, e.Step, e.Path, node),
		"run_id": o.id, "thread_id": o.thread, "graph_id": o.graph, "assistant_id": assistantID(o.graph), "tags": []string{},
	})
}

func (o *older) step(e *event, values map[string]any, said []*said) {
	for _, m := range said {
		node := m.author(e)
		if !m.streamed {
			o.mode("messages-tuple", "messages", e, "", []any{m.whole, o.metadataOf(e, node)})
			o.about(e, m.id, node, "")
		} else if m.text != "" {
			o.chunk(e, m.id, m.text, node, "")
		}
		o.mode("messages", "messages/complete", e, "", []any{m.whole})
	}
	for _, d := range e.Tasks {
		if d.Node != "" && d.Error == "" {
			o.mode("updates", "updates", e, d.Path, map[string]any{d.Node: bodyOf(d)})
		}
	}
	o.mode("values", "values", e, "", values)
	o.checkpoint(e, values, "loop", o.commit)
}

func (o *older) checkpoint(e *event, values map[string]any, source string, parent graph.CommitID) {
	if !o.wants("checkpoints") && !o.wants("debug") {
		return
	}
	at := func(c graph.CommitID) any {
		if c == 0 {
			return nil
		}
		return map[string]any{"configurable": checkpoint(o.thread, c)}
	}
	tasks := []any{}
	for _, n := range e.Next {
		tasks = append(tasks, map[string]any{"id": taskID(e.Run, e.Step+1, "", n), "name": n, "interrupts": []any{}, "state": nil})
	}
	data := map[string]any{
		"config": at(e.Commit), "parent_config": at(parent), "values": values, "next": append([]string{}, e.Next...), "tasks": tasks,
		"metadata": map[string]any{"source": source, "step": e.Step, "parents": struct{}{}},
	}
	o.mode("checkpoints", "checkpoints", e, "", data)
	o.debug("checkpoint", e, merged(data, map[string]any{"checkpoint": checkpoint(o.thread, e.Commit), "parent_checkpoint": checkpoint(o.thread, parent)}))
}

func (o *older) end(e *event) {
	if e.err != nil {
		o.put("error", e, "", "", problemOf(e.err))
	}
	if e.Status != graph.Interrupted {
		return
	}
	open := []any{}
	if e.Interrupt != nil {
		open = interrupts(e.Interrupt.Questions)
	}
	o.mode("updates", "updates", e, "", map[string]any{"__interrupt__": open})
	if len(open) > 0 {
		o.mode("values", "values", e, "", merged(valuesOf(e.State), map[string]any{"__interrupt__": open}))
	}
}
