package langgraph

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"iter"
	"reflect"
	"slices"

	"example.com/ragflow"
	"example.com/ragflow/graph"
	"example.com/ragflow/graph/schema"
	"example.com/ragflow/graph/untyped"
	"example.com/ragflow/internal/lru"
	"example.com/ragflow/nodes"
	"example.com/ragflow/server/internal/door"
	"example.com/ragflow/state"
	"example.com/ragflow/threads"
)

// FlowName is the name of the graph of an assistant.
const FlowName = "ragflow"

// Flow returns the graph of an assistant as clients of LangGraph know conversations: its state is a list of all
// messages, also of those that a summary replaced, and its input is a message of a person.
func Flow(a *ragflow.Assistant) untyped.Runner { return &flow{Runner: a.Graph(), log: a.Threads()} }

type flow struct {
	untyped.Runner

	log     *threads.Log
	earlier lru.Cache[string, []state.Message] // by thread and first live message: those before it
}

// The most that flow.earlier keeps.
const (
	maxThreads  = 100
	maxMessages = 10_000
)

// dialogue is the state of a conversation. The id of an answer is made of that of its question, so
// that it is known while the answer is written.
type dialogue struct {
	Messages []state.Message `json:"messages"`
}

// given is the input of a turn, or an update.
type given struct {
	Messages []message `json:"messages"`
}

func (*flow) Schemas() (conversation, input json.RawMessage, err error) {
	if conversation, err = schema.Of(reflect.TypeFor[dialogue]()); err == nil {
		input = json.RawMessage(`{"type":"object","properties":{"messages":{"type":"array","items":{"type":"object"}}},"required":["messages"]}`)
	}
	return conversation, input, err
}

// view shows the states of a thread as clients know them.
type view struct {
	*flow

	thread string
	live   bool   // show the live messages alone
	answer string // id of the answer to the last question of the last state
}

// messages returns those of a state: the live ones, and all that clients know.
func (v *view) messages(ctx context.Context, body json.RawMessage) (live, seen []state.Message, err error) {
	var s state.State
	if err := json.Unmarshal(body, &s); err != nil {
		return nil, nil, fmt.Errorf("state of thread %q: %w", v.thread, err)
	}
	earlier, err := v.before(ctx, &s)
	if err != nil {
		return nil, nil, err
	}
	seen = slices.Concat([]state.Message{}, earlier, s.Messages)
	v.answer = ""
	for i, m := range seen {
		if m.Role == state.Human {
			v.answer = answerID(m.ID)
		} else if m.Role == state.AI && v.answer != "" {
			seen[i].ID = v.answer
		}
	}
	return s.Messages, seen, nil
}

// before returns the messages of the thread that a summary has replaced.
func (v *view) before(ctx context.Context, s *state.State) (out []state.Message, err error) {
	if s.Summary == "" || v.live || len(s.Messages) == 0 {
		return nil, nil
	}
	key := v.thread + "\x00" + s.Messages[0].ID
	if kept, known := v.earlier.Get(key); known {
		return kept, nil
	}
	t, err := v.log.Thread(ctx, v.thread)
	if err != nil {
		return nil, err
	}
	for _, m := range t.Messages {
		if m.ID == s.Messages[0].ID {
			v.earlier.Put(key, out, len(out), maxThreads, maxMessages)
			return out, nil
		}
		out = append(out, m.Message)
	}
	return nil, nil // of a turn that was undone
}

func answerID(question string) string { return "answer-" + question }

// of shows a state, unless there is an error.
func (v *view) of(ctx context.Context, body json.RawMessage, err error) (json.RawMessage, error) {
	if err != nil || len(body) == 0 {
		return body, err
	}
	_, seen, err := v.messages(ctx, body)
	if err != nil {
		return nil, err
	}
	return json.Marshal(dialogue{seen})
}

func (f *flow) view(thread string) *view { return &view{flow: f, thread: thread} }

func (f *flow) State(ctx context.Context, thread string) (json.RawMessage, graph.Commit, error) {
	body, head, err := f.Runner.State(ctx, thread)
	body, err = f.view(thread).of(ctx, body, err)
	return body, head, err
}

func (f *flow) StateAt(ctx context.Context, thread string, at graph.CommitID) (json.RawMessage, error) {
	body, err := f.Runner.StateAt(ctx, thread, at)
	return f.view(thread).of(ctx, body, err)
}

// History has the live messages alone: a page of a long conversation would have all of them many times.
func (f *flow) History(ctx context.Context, thread string, before graph.CommitID, n int) ([]graph.Moment[json.RawMessage], error) {
	page, err := f.Runner.History(ctx, thread, before, n)
	v := &view{flow: f, thread: thread, live: true}
	for i := range page {
		page[i].State, err = v.of(ctx, page[i].State, err)
		page[i].Commit.Deltas = noted(page[i].Commit.Deltas)
	}
	return page, err
}

// noted are deltas without the updates, which are those of the flow and not of the conversation.
func noted(deltas []graph.Delta) []graph.Delta {
	deltas = slices.Clone(deltas)
	for i := range deltas {
		var u struct {
			Messages []state.MessageOp `json:"messages"`
		}
		if json.Unmarshal(deltas[i].Body, &u) == nil && len(u.Messages) > 0 {
			said := dialogue{}
			for _, op := range u.Messages {
				if op.Put != nil && op.Put.Role == state.AI {
					said.Messages = append(said.Messages, *op.Put)
				}
			}
			deltas[i].Body, _ = json.Marshal(said) // it was decoded from JSON
		} else {
			deltas[i].Body = nil
		}
	}
	return deltas
}

func (f *flow) Events(ctx context.Context, thread, run string, after int64, modes graph.Mode) iter.Seq2[untyped.Event, error] {
	return f.view(thread).told(ctx, f.Runner.Events(ctx, thread, run, after, modes))
}

// told turns events of the flow into those of the conversation.
func (v *view) told(ctx context.Context, events iter.Seq2[untyped.Event, error]) iter.Seq2[untyped.Event, error] {
	return func(yield func(untyped.Event, error) bool) {
		for e, err := range events {
			e.State, err = v.of(ctx, e.State, err)
			e.Tasks = noted(e.Tasks)
			if t, ok := e.Value.(nodes.Token); ok {
				e.Value = piece{ID: v.answer, Type: "AIMessageChunk", Text: t.Text, Void: t.Void}
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

type optionsKey struct{}

// configure reads the options of a question.
func (*flow) configure(ctx context.Context, options map[string]json.RawMessage) (context.Context, error) {
	var q ragflow.Question
	for k, v := range options {
		to := map[string]any{"collections": &q.Collections, "agent": &q.Agent, "filter": &q.Filter, "settings": &q.Settings}[k]
		if to == nil {
			return ctx, unsupported("context." + k)
		}
		if err := json.Unmarshal(v, to); err != nil {
			return ctx, invalid("context.%s: %v", k, err)
		}
	}
	return context.WithValue(ctx, optionsKey{}, q), nil
}

func (f *flow) Stream(ctx context.Context, req untyped.Request) iter.Seq2[untyped.Event, error] {
	return func(yield func(untyped.Event, error) bool) {
		if !req.Resume {
			q, err := f.question(ctx, req)
			if err == nil {
				req.Input, err = json.Marshal(q)
			}
			if err != nil {
				yield(untyped.Event{}, err)
				return
			}
		}
		f.view(req.Thread).told(ctx, f.Runner.Stream(ctx, req))(yield)
	}
}

// question makes a question of the messages of a request: the last one of a person. The others are the history of a
// client that keeps it, unless the thread has them.
func (f *flow) question(ctx context.Context, req untyped.Request) (q ragflow.Question, err error) {
	q, _ = ctx.Value(optionsKey{}).(ragflow.Question)
	if q.Collections, err = door.Of(ctx).Choose(q.Collections...); err != nil {
		return q, err
	}
	var in given
	if err := json.Unmarshal(req.Input, &in); err != nil {
		return q, &graph.EntryError{Field: "input", Reason: err.Error()}
	}
	var list []state.Message
	for i, m := range in.Messages {
		said, err := m.inState()
		if err != nil {
			return q, &graph.EntryError{Field: fmt.Sprintf("input.messages[%d]", i), Reason: err.Error()}
		}
		list = append(list, said)
	}
	if len(list) == 0 || list[len(list)-1].Role != state.Human {
		return q, &graph.EntryError{Field: "input.messages", Reason: "the last message is not that of a person"}
	}
	last := list[len(list)-1]
	q.Text, q.ID, q.History, q.Fresh = last.Content, last.ID, list[:len(list)-1], door.Of(ctx).Fresh
	var before state.State
	if body, _, err := f.Runner.State(ctx, req.Thread); err != nil || json.Unmarshal(body, &before) != nil {
		return q, err
	}
	if slices.ContainsFunc(before.Messages, func(m state.Message) bool { return m.ID == q.ID }) {
		q.ID = ""
	}
	if len(before.Messages) > 0 {
		q.History = nil
	}
	return q, nil
}

// inState returns the message in the terms of the library.
func (m *message) inState() (state.Message, error) {
	out := state.Message{ID: m.ID, Content: m.Content.Text}
	switch m.Type + m.Role {
	case "human", "user":
		out.Role = state.Human
	case "ai", "assistant":
		out.Role = state.AI
	default:
		return out, fmt.Errorf("a message of type %q", m.Type+m.Role)
	}
	if m.Content.Other != "" {
		return out, fmt.Errorf("content of type %q", m.Content.Other)
	}
	return out, nil
}

// Update adds messages to a conversation, or replaces those of the same id.
func (f *flow) Update(ctx context.Context, e untyped.Edit) (json.RawMessage, graph.CommitID, error) {
	known := map[string]string{} // ids by those that clients know; empty for messages that are not live
	if body, _, err := f.Runner.State(ctx, e.Thread); err == nil {
		live, seen, err := f.view(e.Thread).messages(ctx, body)
		if err != nil {
			return nil, 0, err
		}
		for i := range seen {
			known[seen[i].ID] = ""
		}
		for i, m := range seen[len(seen)-len(live):] {
			known[m.ID] = live[i].ID
		}
	}
	for i, body := range e.Updates {
		var in given
		if err := json.Unmarshal(body, &in); err != nil {
			return nil, 0, &graph.EntryError{Field: "values", Reason: err.Error()}
		}
		var u state.Update
		for _, m := range in.Messages {
			id, seen := known[m.ID]
			if id == "" && (seen || m.Type == "remove") {
				return nil, 0, &graph.EntryError{Field: "values.messages", Reason: fmt.Sprintf("there is no message %q in the running memory", m.ID)}
			}
			if m.Type == "remove" {
				u.Messages = append(u.Messages, state.MessageOp{Remove: id})
				continue
			}
			said, err := m.inState()
			if err != nil {
				return nil, 0, &graph.EntryError{Field: "values.messages", Reason: err.Error()}
			}
			said.ID = cmp.Or(id, newID())
			u.Messages = append(u.Messages, state.MessageOp{Put: &said})
		}
		out, err := json.Marshal(u)
		if err != nil {
			return nil, 0, err
		}
		e.Updates[i] = out
	}
	s, at, err := f.Runner.Update(ctx, e)
	s, err = f.view(e.Thread).of(ctx, s, err)
	return s, at, err
}
