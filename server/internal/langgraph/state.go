package langgraph

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/untyped"
	"example.com/ragflow/internal/address"
	"example.com/ragflow/state"
)

// valuesOf is a state as clients know it: an object, whose messages are those of LangChain.
func valuesOf(body json.RawMessage) map[string]any {
	var raw map[string]json.RawMessage
	if json.Unmarshal(body, &raw) != nil {
		return map[string]any{"__root__": body}
	}
	out := make(map[string]any, len(raw))
	for k, v := range raw {
		out[k] = v
	}
	var list []json.RawMessage
	if json.Unmarshal(raw["messages"], &list) == nil {
		messages := make([]any, len(list))
		for i, m := range list {
			messages[i] = messageOf(m)
		}
		out["messages"] = messages
	}
	return out
}

// message is the part of a LangChain message that streams look at.
type message struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Role    string `json:"role"`
	Content any    `json:"content"`
}

// messageOf turns a [state.Message] into a message of LangChain. Another one stays as it is.
func messageOf(body json.RawMessage) any {
	var kind message
	var m state.Message
	if json.Unmarshal(body, &kind) != nil || kind.Type != "" || kind.Role == "" || json.Unmarshal(body, &m) != nil {
		return body
	}
	more := map[string]any{}
	if len(m.Citations) > 0 {
		more["citations"] = m.Citations
	}
	out := map[string]any{
		"id": m.ID, "type": m.Role, "content": m.Content, "name": nil, "additional_kwargs": more, "response_metadata": struct{}{},
	}
	switch m.Role {
	case state.AI:
		calls := []any{}
		for _, c := range m.Calls {
			args := json.RawMessage(c.Arguments)
			if !json.Valid(args) {
				args = json.RawMessage("{}")
			}
			calls = append(calls, map[string]any{"id": c.ID, "name": c.Name, "args": args, "type": "tool_call"})
		}
		out["tool_calls"], out["invalid_tool_calls"] = calls, []any{}
	case state.Tool:
		if m.Result != nil {
			out["tool_call_id"], out["name"], out["status"] = m.Result.Call, m.Result.Tool, "success"
			if m.Result.Failed {
				out["status"] = "error"
			}
		}
	default: // nothing to add
	}
	return out
}

// interrupt is a question as clients know it.
func interrupt(q graph.Question) map[string]any {
	out := map[string]any{"id": q.ID(), "value": q.Ask, "response_schema": q.Schema}
	if q.Problem != "" {
		out["problem"] = q.Problem
	}
	return out
}

func interrupts(qs []graph.Question) []any {
	out := []any{}
	for _, q := range qs {
		out = append(out, interrupt(q))
	}
	return out
}

// questions are the open questions that a commit has saved.
func questions(c graph.Commit) (open []graph.Question) {
	for _, d := range c.Deltas {
		if c.Source != graph.SourceLoop {
			open = append(open, d.Notes.Questions...)
		}
	}
	return open
}

// taskID identifies the task of a node in a step of a run.
func taskID(run string, step int, path, node string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(strings.Join([]string{run, strconv.Itoa(step), path, node}, "\x00"))).String()
}

// checkpoint names a commit.
func checkpoint(thread string, at graph.CommitID) any {
	if at == 0 {
		return nil
	}
	return map[string]any{"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": commitText(at)}
}

func commitText(at graph.CommitID) string { return strconv.FormatInt(int64(at), 10) }

// moment is the state after a commit, with the commits that are seen before and after it.
type moment struct {
	graph.Moment[json.RawMessage]

	parent graph.CommitID // 0: none
	later  *graph.Commit  // nil: it is the newest
}

// hidden reports whether a commit is no checkpoint: the one that made the thread, and one whose state
// the next commit only closes.
func hidden(c graph.Commit, next *graph.Commit) bool {
	made := c.Source == graph.SourceUpdate && c.Parent == 0 && len(c.Deltas) == 0
	return made || next != nil && next.Source == graph.SourceClose && next.Run == c.Run && next.Step == c.Step && c.Source != graph.SourceClose
}

// moments returns up to n moments of a thread before a commit, newest first; 0 is all.
func moments(ctx context.Context, g untyped.Runner, thread string, before graph.CommitID, n int) (out []moment, err error) {
	var later *graph.Commit
	for len(out) <= n { // one more knows the parent of the last one
		some, err := g.History(ctx, thread, before, n+2)
		if err != nil || len(some) == 0 {
			return out[:min(n, len(out))], err
		}
		for i := range some {
			c := &some[i].Commit
			if !hidden(*c, later) {
				if len(out) > 0 {
					out[len(out)-1].parent = c.ID
				}
				out = append(out, moment{Moment: some[i], later: later})
			}
			later, before = c, c.ID
		}
	}
	return out[:n], nil
}

// momentAt returns the moment of one commit.
func momentAt(ctx context.Context, g untyped.Runner, thread string, at graph.CommitID) (*moment, error) {
	m := &moment{}
	next := &m.Commit
	for c, err := range g.Store().Walk(ctx, thread, at) {
		if err != nil {
			return nil, err
		}
		if m.Commit.ID == 0 {
			m.Commit = c
			continue
		}
		if !hidden(c, next) {
			m.parent = c.ID
			break
		}
		next = &c
	}
	var err error
	m.State, err = g.StateAt(ctx, thread, at)
	return m, err
}

// shown is a moment as clients know a state.
func (m *moment) shown(thread string) map[string]any {
	c := m.Commit
	open := questions(c)
	tasks := []any{}
	for _, node := range c.Frontier {
		t := map[string]any{
			"id": taskID(c.Run, c.Step+1, "", node), "name": node, "path": []string{"__pregel_pull", node}, "error": nil,
			"interrupts": interrupts(askedBy(open, node)), "checkpoint": nil, "state": nil, "result": nil,
		}
		if c.Source == graph.SourceClose && len(open) == 0 && c.Error != "" {
			t["error"] = c.Error
		}
		if m.later != nil && m.later.Run == c.Run {
			for _, d := range m.later.Deltas {
				if d.Path == "" && d.Node == node && d.Error == "" && m.later.Source == graph.SourceLoop {
					t["result"] = bodyOf(d)
				}
			}
		}
		tasks = append(tasks, t)
	}
	out := map[string]any{
		"values": valuesOf(m.State), "next": append([]string{}, c.Frontier...), "tasks": tasks, "interrupts": interrupts(open),
		"metadata":   map[string]any{"source": sourceOf(c.Source), "step": c.Step, "parents": struct{}{}, "run_id": c.Run, "thread_id": thread},
		"created_at": stamp(c.Time), "checkpoint": checkpoint(thread, c.ID), "parent_checkpoint": checkpoint(thread, m.parent),
		"checkpoint_id": commitText(c.ID), "parent_checkpoint_id": nil,
	}
	if m.parent != 0 {
		out["parent_checkpoint_id"] = commitText(m.parent)
	}
	return out
}

// bodyOf is the update of a task; an empty object if it changed nothing.
func bodyOf(d graph.Delta) json.RawMessage {
	if len(d.Body) == 0 {
		return json.RawMessage("{}")
	}
	return d.Body
}

// askedBy returns the questions of a node or of its subgraph.
func askedBy(open []graph.Question, node string) []graph.Question {
	return slices.DeleteFunc(slices.Clone(open), func(q graph.Question) bool { return !address.Within(q.At, node) })
}

// sourceOf is what clients call the cause of a commit.
func sourceOf(s graph.Source) string {
	switch s {
	case graph.SourceInput, graph.SourceLoop, graph.SourceFork:
		return string(s)
	case graph.SourceClose:
		return "loop"
	default:
		return "update"
	}
}

// noState is the state of a thread without a run.
func noState() map[string]any {
	return map[string]any{
		"values": struct{}{}, "next": []string{}, "tasks": []any{}, "metadata": nil, "created_at": nil, "checkpoint": nil,
		"parent_checkpoint": nil, "interrupts": []any{}, "checkpoint_id": nil, "parent_checkpoint_id": nil,
	}
}

// commitOf reads the id of a checkpoint.
func commitOf(text string) (graph.CommitID, error) {
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil || n <= 0 {
		return 0, failed(http.StatusNotFound, "there is no checkpoint %q", text)
	}
	return graph.CommitID(n), nil
}
