package threads

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"

	"example.com/ragflow/graph"
	"example.com/ragflow/state"
)

// Thread returns a whole conversation with every message, including those that
// were summarised. An unknown id matches graph.ErrNotFound.
func (l *Log) Thread(ctx context.Context, id string) (*Thread, error) {
	ctx = l.owned(ctx)
	info, err := l.Info(ctx, id)
	if err != nil {
		return nil, err
	}
	t := &Thread{Info: info, Messages: []Message{}, Summaries: []string{}}
	commits, err := l.commits(ctx, id)
	if err != nil {
		return nil, fmt.Errorf("read thread %q: %w", id, err)
	}
	h := history{thread: t, runs: map[string]string{}}
	for _, c := range commits {
		for _, d := range c.Deltas {
			if err := h.add(c, d); err != nil {
				return nil, fmt.Errorf("read thread %q: commit %d: %w", id, c.ID, err)
			}
		}
	}
	for _, m := range h.messages {
		t.Messages = append(t.Messages, Message{m, h.runs[m.ID]})
	}
	return t, nil
}

// commits returns all commits of a thread, oldest first.
func (l *Log) commits(ctx context.Context, thread string) (out []graph.Commit, err error) {
	for c, err := range l.store.Walk(ctx, thread, 0) {
		if err != nil {
			return nil, err
		}
		out = append(out, c)
	}
	slices.Reverse(out)
	return out, nil
}

// history folds a thread's log into what was said.
type history struct {
	thread   *Thread // its summaries and scope
	messages []state.Message
	runs     map[string]string // id of a message → run that wrote it
}

// add folds one delta into the history. A message that summarising removed from
// the live state stays, and those of a subgraph, such as an agent's, are its own; [Views] has the same rules in SQL.
func (h *history) add(c graph.Commit, d graph.Delta) error {
	if d.Error != "" || len(d.Body) == 0 || d.Path != "" {
		return nil
	}
	var u state.Update
	if err := json.Unmarshal(d.Body, &u); err != nil {
		return err
	}
	if u.Scope != nil {
		h.thread.Scope = *u.Scope
	}
	ops := u.Messages
	if u.Summary != nil {
		h.thread.Summary = *u.Summary
		h.thread.Summaries = append(h.thread.Summaries, *u.Summary)
		ops = slices.DeleteFunc(slices.Clone(ops), func(op state.MessageOp) bool { return op.Put == nil })
	}
	for _, op := range ops {
		if op.Put == nil || c.Source != graph.SourceInput && c.Source != graph.SourceLoop {
			continue // an undo restores an older message; a pruned one has no run
		}
		h.runs[op.Put.ID] = c.Run
	}
	messages, err := state.FoldMessages(h.messages, ops)
	h.messages = messages
	return err
}
