package langgraph

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/ragflow/graph"
	"example.com/ragflow/state"
)

// teller turns the events of a run into those of the newer protocol. It gets all of them, from the first on.
type teller struct {
	run    *run
	speech speech
	commit graph.CommitID // of the last state
	failed bool
	parts  []part
}

// put adds an event: of a channel, of a node, which may be empty, and of the subgraph at a path.
func (t *teller) put(method string, e *event, node, path string, data any) {
	t.parts = append(t.parts, part{name: method, node: node, path: namespace(e.Run, e.Step, path), data: data})
}

// tell returns the parts of an event.
func (t *teller) tell(e *event) []part {
	t.parts = nil
	switch e.Kind {
	case graph.RunStarted:
		values := valuesOf(e.State)
		t.speech.begin(values)
		t.lifecycle(e, "running")
		t.put("values", e, "", "", values)
		if e.Step == 0 {
			t.checkpoint(e, "input")
		}
	case graph.TaskStarted:
		t.put("tasks", e, e.Node, e.Path, map[string]any{"id": taskID(e.Run, e.Step, e.Path, e.Node), "name": e.Node, "triggers": []string{"branch:to:" + e.Node}})
	case graph.TaskDone:
		for _, d := range e.Tasks {
			t.put("tasks", e, e.Node, e.Path, map[string]any{
				"id": taskID(e.Run, e.Step, e.Path, e.Node), "name": e.Node, "result": bodyOf(d), "interrupts": interrupts(d.Notes.Questions),
			})
		}
	case graph.TaskRetried:
		t.speech.void(e.Path, e.Node)
	case graph.Token, graph.Custom:
		t.said(e)
	case graph.StepDone:
		t.step(e)
	case graph.RunEnded:
		t.ended(e)
	}
	if e.err != nil && !t.failed {
		t.put("lifecycle", e, "", "", map[string]any{"event": "failed", "graph_name": t.run.graph, "error": e.err.Error()})
	}
	return t.parts
}

func (t *teller) lifecycle(e *event, what string) {
	data := map[string]any{"event": what, "graph_name": t.run.graph}
	if e.Commit != 0 {
		data["checkpoint"] = map[string]string{"id": commitText(e.Commit)}
	}
	t.put("lifecycle", e, "", "", data)
}

func (t *teller) checkpoint(e *event, source string) {
	data := map[string]any{"id": commitText(e.Commit), "step": e.Step, "source": source}
	if t.commit != 0 {
		data["parent_id"] = commitText(t.commit)
	}
	t.put("checkpoints", e, "", "", data)
	t.commit = e.Commit
}

func (t *teller) said(e *event) {
	said, ok := pieceOf(e)
	if !ok {
		data := map[string]any{"payload": e.Value}
		var named struct{ Name string }
		if body, err := json.Marshal(e.Value); err == nil && json.Unmarshal(body, &named) == nil && named.Name != "" {
			data["name"] = named.Name
		}
		t.put("custom", e, e.Node, e.Path, data)
		return
	}
	m, delta, first := t.speech.add(e, said)
	if first {
		t.open(e, m.id, e.Node, e.Path)
	}
	if delta != "" {
		t.delta(e, e.Node, e.Path, delta)
	}
}

// open begins a message with its only block.
func (t *teller) open(e *event, id, node, path string) {
	t.put("messages", e, node, path, map[string]any{
		"event": "message-start", "role": "ai", "id": id, "metadata": map[string]any{"run_id": t.run.id, "thread_id": t.run.thread},
	})
	t.put("messages", e, node, path, map[string]any{"event": "content-block-start", "index": 0, "content": map[string]any{"type": "text", "text": ""}})
}

func (t *teller) delta(e *event, node, path, text string) {
	t.put("messages", e, node, path, map[string]any{"event": "content-block-delta", "index": 0, "delta": map[string]any{"type": "text-delta", "text": text}})
}

func (t *teller) step(e *event) {
	values := valuesOf(e.State)
	for _, d := range e.Tasks {
		if d.Node != "" && d.Error == "" {
			t.put("updates", e, d.Node, d.Path, map[string]any{"node": d.Node, "values": bodyOf(d)})
		}
	}
	t.put("values", e, "", "", values)
	t.checkpoint(e, "loop")
	for _, m := range t.speech.settle(values) { // last, because a reader of the log gets more of them
		text, ok := m.Content.(string)
		if !ok || m.Type != string(state.AI) {
			continue
		}
		node, path := nodeAt(e, m.node), m.path
		if !m.streamed {
			t.open(e, m.id, node, path)
			m.rest = text
		}
		if m.rest != "" {
			t.delta(e, node, path, m.rest)
		}
		block := map[string]any{"type": "text", "text": text}
		if list := annotations(text, m.whole); len(list) > 0 {
			block["annotations"] = list
		}
		t.put("messages", e, node, path, map[string]any{"event": "content-block-finish", "index": 0, "content": block})
		t.put("messages", e, node, path, map[string]any{"event": "message-finish"})
	}
}

// annotations are the citations of an answer, at the marks in its text. Their places are counted in characters.
func annotations(text string, whole any) (out []any) {
	body, err := json.Marshal(whole)
	var m struct {
		More struct {
			Citations []state.Citation `json:"citations"`
		} `json:"additional_kwargs"`
	}
	if err != nil || json.Unmarshal(body, &m) != nil {
		return nil
	}
	for _, c := range m.More.Citations {
		mark := fmt.Sprintf("[Source %d]", c.N)
		for at := 0; ; at += len(mark) {
			i := strings.Index(text[at:], mark)
			if i < 0 {
				break
			}
			at += i
			start := utf8.RuneCountInString(text[:at])
			out = append(out, map[string]any{
				"type": "citation", "url": c.URL, "title": c.Title, "start_index": start, "end_index": start + len(mark), "cited_text": c.Quote, "source": c.Source,
			})
		}
	}
	return out
}

func (t *teller) ended(e *event) {
	switch e.Status {
	case graph.Completed:
		t.lifecycle(e, "completed")
	case graph.Failed, graph.Limited:
		t.failed = true
		message := "the run failed"
		for _, d := range e.Tasks {
			if d.Error != "" {
				message = d.Error
			}
		}
		t.put("lifecycle", e, "", "", map[string]any{"event": "failed", "graph_name": t.run.graph, "error": message})
	default:
		if e.Interrupt != nil {
			for _, q := range e.Interrupt.Questions {
				t.put("input.requested", e, "", "", map[string]any{"interrupt_id": q.ID(), "payload": q.Ask, "response_schema": q.Schema})
			}
		}
		t.lifecycle(e, "interrupted")
	}
}

// eventsRequest says which events of a thread are wanted.
type eventsRequest struct {
	Channels   []string   `json:"channels"`
	Namespaces [][]string `json:"namespaces"`
	Depth      *int       `json:"depth"`
	Since      int64      `json:"since"`
}

var channels = []string{
	"values", "updates", "messages", "tools", "lifecycle", "input", "checkpoints", "tasks", "custom",
}

func (q *eventsRequest) check() error {
	for _, c := range q.Channels {
		if !slices.Contains(channels, c) && !strings.HasPrefix(c, "custom:") {
			return failed(400, "channels: there is no %q; there are %s and custom:NAME", c, strings.Join(channels, ", "))
		}
	}
	if len(q.Channels) == 0 {
		return failed(400, "channels are missing")
	}
	return nil
}

// wants reports whether an event is asked for.
func (q *eventsRequest) wants(p *part) bool {
	channel, _, _ := strings.Cut(p.name, ".")
	named := false
	if data, ok := p.data.(map[string]any); ok && p.name == "custom" {
		named = slices.Contains(q.Channels, fmt.Sprint("custom:", data["name"]))
	}
	if !slices.Contains(q.Channels, channel) && !named {
		return false
	}
	return len(q.Namespaces) == 0 || slices.ContainsFunc(q.Namespaces, func(n []string) bool {
		return len(n) <= len(p.path) && slices.Equal(n, p.path[:len(n)]) && (q.Depth == nil || len(p.path)-len(n) <= *q.Depth)
	})
}

// envelope is a part as the protocol sends it.
func envelope(r *run, e *event, p *part, n int64) part {
	at := e.Time
	if at.IsZero() {
		at = time.Now()
	}
	params := map[string]any{"namespace": p.path, "timestamp": at.UnixMilli(), "data": p.data}
	if p.node != "" {
		params["node"] = p.node
	}
	return part{name: p.name, data: map[string]any{"type": "event", "event_id": fmt.Sprint(r.thread, ":", n), "seq": n, "method": p.name, "params": params}}
}
