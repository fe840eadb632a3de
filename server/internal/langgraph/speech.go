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

// said is a message: one that is being written or, when it is saved, has whole.
type said struct {
	id, kind   string
	node, path string // empty if it came as a whole
	text       string
	whole      any
	streamed   bool // readers have got a part of it
	stale      bool // readers who cannot take text back have more or other text
}

// author is the node of a message that was saved at the end of a step; if that is not known, the first of the step.
func (m *said) author(e *event) string {
	if m.node == "" && len(e.Tasks) > 0 {
		return e.Tasks[0].Node
	}
	return m.node
}

// speech follows the messages of a run.
type speech struct {
	known map[string]bool // that are saved
	open  map[string]*said
}

// begin takes the messages of the state at the beginning.
func (s *speech) begin(values map[string]any) {
	s.known, s.open = map[string]bool{}, map[string]*said{}
	for _, m := range messagesOf(values) {
		s.known[m.ID] = true
	}
}

// add takes a piece. It returns its message, what readers who cannot take text back get of it, and
// whether it is the first. A message that is nil has said nothing yet.
func (s *speech) add(e *event, p piece) (m *said, delta string, first bool) {
	if m = s.open[p.ID]; m == nil {
		if p.Text == "" || s.open == nil {
			return nil, "", false
		}
		m, first = &said{id: p.ID, path: e.Path, node: e.Node, streamed: true}, true
		s.open[p.ID] = m
	}
	if p.Void {
		m.text, m.stale = "", true
	}
	if m.text += p.Text; !m.stale {
		delta = p.Text
	}
	return m, delta, first
}

// void takes back what a node has said in an attempt that does not count.
func (s *speech) void(path, node string) {
	for _, m := range s.open {
		if m.path == path && m.node == node {
			m.text, m.stale = "", true
		}
	}
}

// settle returns the messages of a state that are new, with what of each was not streamed as its text.
func (s *speech) settle(values map[string]any) (out []*said) {
	list, _ := values["messages"].([]any)
	for i, saved := range messagesOf(values) {
		if saved.ID == "" || s.known[saved.ID] {
			continue
		}
		s.known[saved.ID] = true
		m := s.open[saved.ID]
		if delete(s.open, saved.ID); m == nil {
			m = &said{id: saved.ID}
		}
		rest, follows := strings.CutPrefix(saved.Content.Text, m.text)
		if m.text = rest; saved.Content.Other != "" || !follows || m.stale {
			m.text = ""
		}
		m.kind, m.whole = saved.Type, list[i]
		out = append(out, m)
	}
	return out
}
