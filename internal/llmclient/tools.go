package llmclient

import (
	"fmt"
	"strings"

	"example.com/ragflow/llm"
)

// Limits of the tool calls of one answer. No tool needs more; a model that repeats itself
// without end writes more.
const (
	maxCalls         = 64
	maxCallArguments = 256 << 10 // bytes, of all calls
)

// toolCalls collects the tool calls of a stream.
type toolCalls struct {
	calling func(llm.ToolCall) // may be nil
	list    []llm.ToolCall     // without their arguments
	written []*strings.Builder // the arguments of each call
	at      []int64            // the index of each call in the stream
	bytes   int
	tooMuch bool
}

// add takes a piece of a call. Servers differ: some give every call the index 0 and tell
// them apart by their IDs, and some send no IDs.
func (t *toolCalls) add(index int64, d llm.ToolCall) {
	last := len(t.list) - 1
	i := -1
	for at, known := range t.at {
		if known == index {
			i = at
		}
	}
	if i == last && i >= 0 && (d.ID != "" && d.ID != t.list[i].ID || d.ID == "" && d.Name != "" && t.written[i].Len() > 0) {
		i = -1
	}
	if i < 0 {
		if len(t.list) == maxCalls {
			t.tooMuch = true
			return
		}
		id := d.ID
		if id == "" {
			id = fmt.Sprintf("call_%d", len(t.list)+1)
		}
		t.list, t.at = append(t.list, llm.ToolCall{ID: id}), append(t.at, index)
		t.written = append(t.written, &strings.Builder{})
		i = len(t.list) - 1
	}
	if t.bytes += len(d.Arguments); t.bytes > maxCallArguments {
		t.tooMuch = true
		return
	}
	c := &t.list[i]
	c.Name += d.Name
	t.written[i].WriteString(d.Arguments)
	if t.calling != nil {
		t.calling(llm.ToolCall{ID: c.ID, Name: c.Name, Arguments: d.Arguments})
	}
}

// whole returns the calls, each with an ID of its own.
func (t *toolCalls) whole() []llm.ToolCall {
	seen := map[string]bool{}
	for i := range t.list {
		t.list[i].Arguments = t.written[i].String()
		if seen[t.list[i].ID] {
			t.list[i].ID = fmt.Sprintf("%s_%d", t.list[i].ID, i+1)
		}
		seen[t.list[i].ID] = true
	}
	return t.list
}
