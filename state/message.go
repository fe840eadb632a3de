package state

import (
	"fmt"
	"slices"
	"time"
)

// Role is the author of a message.
type Role string

// The roles.
const (
	System Role = "system"
	Human  Role = "human"
	AI     Role = "ai"
	Tool   Role = "tool" // the result of a tool call
)

// Message is a message of a thread. Its ID is created before it is saved and never
// changes.
type Message struct {
	ID        string     `json:"id"`
	Role      Role       `json:"role"`
	Content   string     `json:"content"`
	Time      time.Time  `json:"time,omitzero"`
	Citations []Citation `json:"citations,omitempty"` // set for answers
	Calls     []ToolCall `json:"calls,omitempty"`     // of an AI message: the tools that it calls
	Result    *Result    `json:"result,omitempty"`    // of a Tool message; Content is the result itself
}

// ToolCall is a call of a tool by a model.
type ToolCall struct {
	ID        string `json:"id"` // unique within its message
	Name      string `json:"name"`
	Arguments string `json:"arguments"` // as the model wrote them; they may be no JSON
}

// Result says what a Tool message is the result of.
type Result struct {
	Call   string `json:"call"` // ID of the call
	Tool   string `json:"tool"`
	Failed bool   `json:"failed,omitempty"` // Content says why
}

// MessageOp is one change to a list of messages; exactly one field is set.
type MessageOp struct {
	Put    *Message `json:"put,omitempty"`    // replaces the message with the same ID, or appends
	Remove string   `json:"remove,omitempty"` // removes the message with this ID
	Clear  bool     `json:"clear,omitempty"`  // removes all messages
}

// FoldMessages applies operations in order and returns a new list; ms does not
// change. An operation on a missing or unknown message is an error. Live runs and
// reloads both use it, and operations can be applied in parts:
// FoldMessages(FoldMessages(ms, a), b) equals FoldMessages(ms, a+b).
func FoldMessages(ms []Message, ops []MessageOp) ([]Message, error) {
	if len(ops) == 0 {
		return ms, nil
	}
	out := slices.Clone(ms)
	at := func(id string) int {
		return slices.IndexFunc(out, func(m Message) bool { return m.ID == id })
	}
	for i, op := range ops {
		switch {
		case op.Put != nil && op.Remove == "" && !op.Clear:
			if op.Put.ID == "" {
				return nil, fmt.Errorf("message operation %d: put without an id", i)
			}
			if j := at(op.Put.ID); j >= 0 {
				out[j] = *op.Put
			} else {
				out = append(out, *op.Put)
			}
		case op.Put == nil && op.Remove != "" && !op.Clear:
			j := at(op.Remove)
			if j < 0 {
				return nil, fmt.Errorf("message operation %d: remove of unknown message %q", i, op.Remove)
			}
			out = slices.Delete(out, j, j+1)
		case op.Put == nil && op.Remove == "" && op.Clear:
			out = out[:0]
		default:
			return nil, fmt.Errorf("message operation %d: exactly one of put, remove and clear must be set", i)
		}
	}
	return out, nil
}

// LastHuman returns the newest message with the role Human.
func LastHuman(ms []Message) (Message, bool) {
	for _, m := range slices.Backward(ms) {
		if m.Role == Human {
			return m, true
		}
	}
	return Message{}, false
}
