package langgraph

import (
	"encoding/json"
	"strings"

	"example.com/ragflow/graph"
)

// piece is a piece of a message that a node sends while it writes: text by graph.EmitToken, or a value by
// graph.Emit whose JSON is that of a chunk of a message, with the id that the message will have.
type piece struct {
	ID   string `json:"id"`
	Type string `json:"type"`
	Text string `json:"content"`
	Void bool   `json:"void"` // all text so far is taken back
}

// pieceOf returns the piece of a message that a live event is.
func pieceOf(e *event) (p piece, ok bool) {
	if e.Kind == graph.Token {
		text, _ := e.Value.(string) // always
		return piece{ID: "run-" + taskID(e.Run, e.Step, e.Path, e.Node), Text: text}, true
	}
	if p, ok = e.Value.(piece); ok {
		return p, true
	}
	body, err := json.Marshal(e.Value)
	if err != nil || json.Unmarshal(body, &p) != nil {
		return p, false
	}
	return p, p.ID != "" && strings.HasSuffix(p.Type, "MessageChunk")
}

// said is a message that is being written.
type said struct {
	id, path, node string
	text           string
	stale          bool // readers who cannot take text back have more or other text
	ended          bool
}

// speech follows the messages of a run.
type speech struct {
	known map[string]bool // that were there before
	said  map[string]*said
	order []*said
}

// begin takes the messages of the state at the beginning.
func (s *speech) begin(values map[string]any) {
	s.known = map[string]bool{}
	for _, m := range messagesOf(values) {
		s.known[m.ID] = true
	}
	if s.said == nil {
		s.said = map[string]*said{}
	}
}

// messagesOf are the messages of a state.
func messagesOf(values map[string]any) (out []message) {
	list, _ := values["messages"].([]any)
	for _, v := range list {
		var m message
		if body, err := json.Marshal(v); err == nil && json.Unmarshal(body, &m) == nil {
			out = append(out, m)
		}
	}
	return out
}

// add takes a piece. It returns its message, what readers who cannot take text back get of it, and
// whether it is the first.
func (s *speech) add(e *event, p piece) (m *said, delta string, first bool) {
	m = s.said[p.ID]
	if m == nil && p.Text == "" {
		return nil, "", false
	}
	if m == nil {
		m, first = &said{id: p.ID, path: e.Path, node: e.Node}, true
		s.said[p.ID] = m
		s.order = append(s.order, m)
	}
	if p.Void {
		m.text, m.stale = "", true
	}
	m.text += p.Text
	if m.stale {
		return m, "", first
	}
	return m, p.Text, first
}

// void takes back what a node has said in an attempt that does not count.
func (s *speech) void(path, node string) {
	for _, m := range s.order {
		if m.path == path && m.node == node && !m.ended {
			m.text, m.stale = "", true
		}
	}
}

// settled is a message that a step has saved.
type settled struct {
	message

	node, path string
	whole      any
	rest       string // of a text that was streamed
	streamed   bool
	id         string
}

// settle returns the messages of a state that are new.
func (s *speech) settle(values map[string]any) (out []settled) {
	list, _ := values["messages"].([]any)
	for i, m := range messagesOf(values) {
		if m.ID == "" || s.known[m.ID] || len(list) <= i {
			continue
		}
		s.known[m.ID] = true
		done := settled{message: m, id: m.ID, whole: list[i]}
		if w := s.said[m.ID]; w != nil {
			done.streamed, done.node, done.path, w.ended = true, w.node, w.path, true
			text, _ := m.Content.(string)
			if rest, ok := strings.CutPrefix(text, w.text); ok && !w.stale {
				done.rest = rest
			}
		}
		out = append(out, done)
	}
	return out
}
