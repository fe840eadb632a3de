package langgraph

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"example.com/ragflow/graph"
	"example.com/ragflow/server/internal/door"
	"example.com/ragflow/state"
)

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
			return door.Errorf(http.StatusBadRequest, "channels: there is no %q; there are %s and custom:NAME", c, strings.Join(channels, ", "))
		}
	}
	if len(q.Channels) == 0 {
		return door.Errorf(http.StatusBadRequest, "channels are missing")
	}
	return nil
}

// wants reports whether a part is asked for.
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

// newer is the protocol of stream/events.
type newer struct {
	*fold

	q      *eventsRequest
	failed bool // that the run failed was told
}

func (w *newer) frame(e *event, p *part, n int64) (door.Message, bool) {
	if !w.q.wants(p) {
		return door.Message{}, false
	}
	at := e.Time
	if at.IsZero() {
		at = time.Now()
	}
	params := map[string]any{"namespace": p.path, "timestamp": at.UnixMilli(), "data": p.data}
	if p.node != "" {
		params["node"] = p.node
	}
	data := map[string]any{"type": "event", "event_id": fmt.Sprint(w.thread, ":", n), "seq": n, "method": p.name, "params": params}
	return door.Message{Event: p.name, ID: strconv.FormatInt(n, 10), Data: encoded(data)}, true
}

func (w *newer) begin(e *event) {
	w.lifecycle(e, "running")
	w.put("values", e, "", "", w.values)
	if e.Step == 0 {
		w.checkpoint(e, "input")
	}
}

func (w *newer) lifecycle(e *event, what string) {
	data := map[string]any{"event": what, "graph_name": w.graph}
	if e.Commit != 0 {
		data["checkpoint"] = map[string]string{"id": commitText(e.Commit)}
	}
	w.put("lifecycle", e, "", "", data)
}

func (w *newer) checkpoint(e *event, source string) {
	data := map[string]any{"id": commitText(e.Commit), "step": e.Step, "source": source}
	if w.commit != 0 {
		data["parent_id"] = commitText(w.commit)
	}
	w.put("checkpoints", e, "", "", data)
}

func (w *newer) task(e *event, _ string, data map[string]any) {
	w.put("tasks", e, e.Node, e.Path, data)
}

func (w *newer) custom(e *event) {
	data := map[string]any{"payload": e.Value}
	var named struct{ Name string }
	if json.Unmarshal(encoded(e.Value), &named) == nil && named.Name != "" {
		data["name"] = named.Name
	}
	w.put("custom", e, e.Node, e.Path, data)
}

// message puts an event of a message, which has one block.
func (w *newer) message(e *event, node, path, what string, more map[string]any) {
	w.put("messages", e, node, path, merged(more, map[string]any{"event": what}))
}

func (w *newer) piece(e *event, m *said, delta string, first bool) { w.say(e, m, e.Node, delta, first) }

// say adds to the text of a message.
func (w *newer) say(e *event, m *said, node, delta string, first bool) {
	if first {
		about := map[string]any{"run_id": w.id, "thread_id": w.thread}
		w.message(e, node, m.path, "message-start", map[string]any{"role": "ai", "id": m.id, "metadata": about})
		w.message(e, node, m.path, "content-block-start", map[string]any{"index": 0, "content": map[string]any{"type": "text", "text": ""}})
	}
	if delta != "" {
		text := map[string]any{"type": "text-delta", "text": delta}
		w.message(e, node, m.path, "content-block-delta", map[string]any{"index": 0, "delta": text})
	}
}

func (w *newer) step(e *event, values map[string]any, said []*said) {
	for _, d := range e.Tasks {
		if d.Node != "" && d.Error == "" {
			w.put("updates", e, d.Node, d.Path, map[string]any{"node": d.Node, "values": bodyOf(d)})
		}
	}
	w.put("values", e, "", "", values)
	w.checkpoint(e, "loop")
	for _, m := range said { // last, because a reader of the log gets more of them
		var whole struct {
			Content *string
			More    struct {
				Citations []state.Citation `json:"citations"`
			} `json:"additional_kwargs"`
		}
		if json.Unmarshal(encoded(m.whole), &whole) != nil || whole.Content == nil || m.kind != string(state.AI) {
			continue
		}
		node, text := m.author(e), *whole.Content
		w.say(e, m, node, m.text, !m.streamed)
		block := map[string]any{"type": "text", "text": text}
		if list := annotations(text, whole.More.Citations); len(list) > 0 {
			block["annotations"] = list
		}
		w.message(e, node, m.path, "content-block-finish", map[string]any{"index": 0, "content": block})
		w.message(e, node, m.path, "message-finish", nil)
	}
}

// annotations are the citations of an answer, at the marks in its text. Their places are counted in characters.
func annotations(text string, citations []state.Citation) (out []any) {
	for _, c := range citations {
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

func (w *newer) end(e *event) {
	switch {
	case e.err != nil:
		w.fail(e, e.err.Error())
	case e.Status == graph.Completed:
		w.lifecycle(e, "completed")
	case e.Status == graph.Failed, e.Status == graph.Limited:
		message := "the run failed"
		for _, d := range e.Tasks {
			if d.Error != "" {
				message = d.Error
			}
		}
		w.fail(e, message)
	default:
		if e.Interrupt != nil {
			for _, q := range e.Interrupt.Questions {
				w.put("input.requested", e, "", "", map[string]any{"interrupt_id": q.ID(), "payload": q.Ask, "response_schema": q.Schema})
			}
		}
		w.lifecycle(e, "interrupted")
	}
}

// fail tells once why the run failed.
func (w *newer) fail(e *event, message string) {
	if !w.failed {
		w.put("lifecycle", e, "", "", map[string]any{"event": "failed", "graph_name": w.graph, "error": message})
	}
	w.failed = true
}
