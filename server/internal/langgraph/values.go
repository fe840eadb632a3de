package langgraph

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/google/uuid"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/address"
	"example.com/ragflow/server/internal/door"
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

// message is the part of a LangChain message that this server looks at.
type message struct {
	ID      string       `json:"id"`
	Type    string       `json:"type"`
	Role    string       `json:"role"`
	Content door.Content `json:"content"`
}

// messagesOf are the messages of a state.
func messagesOf(values map[string]any) (out []message) {
	list, _ := values["messages"].([]any)
	for _, v := range list {
		var m message
		body, _ := json.Marshal(v) // it was decoded from JSON
		_ = json.Unmarshal(body, &m)
		out = append(out, m) // an empty one if it is no message
	}
	return out
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
	if m.Role == state.AI {
		calls := []any{}
		for _, c := range m.Calls {
			args := json.RawMessage(c.Arguments)
			if !json.Valid(args) {
				args = json.RawMessage("{}")
			}
			calls = append(calls, map[string]any{"id": c.ID, "name": c.Name, "args": args, "type": "tool_call"})
		}
		out["tool_calls"], out["invalid_tool_calls"] = calls, []any{}
	}
	if m.Result != nil {
		out["tool_call_id"], out["name"], out["status"] = m.Result.Call, m.Result.Tool, "success"
		if m.Result.Failed {
			out["status"] = "error"
		}
	}
	return out
}

// inputOf is an input as graphs get it: its messages have an id and a type, and nothing that says nothing.
func inputOf(body json.RawMessage) json.RawMessage {
	var in map[string]json.RawMessage
	var list []map[string]json.RawMessage
	if json.Unmarshal(body, &in) != nil || json.Unmarshal(in["messages"], &list) != nil || len(list) == 0 {
		return body
	}
	for _, m := range list {
		for k, v := range m {
			if slices.Contains([]string{"null", "{}", "[]", "false"}, string(v)) {
				delete(m, k)
			}
		}
		if m["type"] == nil && m["role"] != nil {
			m["type"] = m["role"]
			if kind := map[string]string{`"user"`: `"human"`, `"assistant"`: `"ai"`}[string(m["role"])]; kind != "" {
				m["type"] = json.RawMessage(kind)
			}
			delete(m, "role")
		}
		if m["id"] == nil {
			m["id"] = json.RawMessage(`"` + newID() + `"`)
		}
	}
	in["messages"], _ = json.Marshal(list) // it was decoded from JSON
	out, _ := json.Marshal(in)             // as above
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

// askedBy returns the questions of a node or of its subgraph.
func askedBy(open []graph.Question, node string) []graph.Question {
	return slices.DeleteFunc(slices.Clone(open), func(q graph.Question) bool { return !address.Within(q.At, node) })
}

// bodyOf is the update of a task; an empty object if it changed nothing.
func bodyOf(d graph.Delta) json.RawMessage {
	if len(d.Body) == 0 {
		return json.RawMessage("{}")
	}
	return d.Body
}

// taskID identifies the task of a node in a step of a run.
func taskID(run string, step int, path, node string) string {
	return uuid.NewSHA1(uuid.NameSpaceOID, []byte(strings.Join([]string{run, strconv.Itoa(step), path, node}, "\x00"))).String()
}

// namespace are the tasks on the way to a subgraph.
func namespace(run string, step int, path string) []string {
	out := []string{}
	for i, c := range path + "/" {
		if c == '/' && path != "" {
			at := path[:i]
			name := at[strings.LastIndexByte(at, '/')+1:]
			out = append(out, name[:strings.IndexAny(name+"#", "#[")]+":"+taskID(run, step, "", at))
		}
	}
	return out
}

// checkpoint names a commit; nil for none.
func checkpoint(thread string, at graph.CommitID) any {
	if at == 0 {
		return nil
	}
	return map[string]any{"thread_id": thread, "checkpoint_ns": "", "checkpoint_id": commitText(at)}
}

func commitText(at graph.CommitID) string { return strconv.FormatInt(int64(at), 10) }
