package threads

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// titleRunes is how much of the first question a thread's title shows.
const titleRunes = 80

// List returns all threads, the most recently written first.
func (l *Log) List(ctx context.Context) ([]Info, error) {
	infos, err := l.store.Threads(ctx)
	if err != nil {
		return nil, fmt.Errorf("list threads: %w", err)
	}
	out := make([]Info, len(infos))
	for i, info := range infos {
		if out[i], err = l.describe(ctx, info); err != nil {
			return nil, err
		}
	}
	return out, nil
}

func (l *Log) describe(ctx context.Context, info graph.ThreadInfo) (Info, error) {
	t := Info{
		ID: info.Thread, Turns: info.Inputs, Created: info.Created, Used: info.Touched,
		Bytes: info.Bytes, Status: string(info.Status),
	}
	for c, err := range l.store.Walk(ctx, info.Thread, info.First) {
		if err != nil {
			return t, fmt.Errorf("thread %q: %w", info.Thread, err)
		}
		for _, d := range c.Deltas {
			if i := slices.IndexFunc(d.Notes.Details, func(n graph.Detail) bool { return n.Key == titleDetail }); c.Source == graph.SourceBase && i >= 0 {
				t.Title = d.Notes.Details[i].Value
				break
			}
			var u state.Update
			if len(d.Body) == 0 {
				continue
			}
			if err := json.Unmarshal(d.Body, &u); err != nil {
				return t, fmt.Errorf("thread %q: first input: %w", info.Thread, err)
			}
			if m := slices.IndexFunc(u.Messages, func(op state.MessageOp) bool { return op.Put != nil }); m >= 0 {
				t.Title = title(u.Messages[m].Put.Content)
			}
		}
	}
	return t, nil
}

func title(question string) string {
	question = text.Clean(question)
	if short := text.First(question, titleRunes-1); short != question {
		return strings.TrimSpace(short) + "…"
	}
	return question
}

// Thread returns a whole conversation with every message, including those that
// were summarised. An unknown id matches graph.ErrNotFound.
func (l *Log) Thread(ctx context.Context, id string) (*Thread, error) {
	info, err := l.store.Info(ctx, id)
	if err != nil {
		return nil, err
	}
	t := &Thread{Messages: []Message{}, Summaries: []string{}}
	if t.Info, err = l.describe(ctx, info); err != nil {
		return nil, err
	}
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
// the live state stays; [Views] has the same rule in SQL.
func (h *history) add(c graph.Commit, d graph.Delta) error {
	if d.Error != "" || len(d.Body) == 0 {
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

// info returns one thread as [Log.List] does.
func (l *Log) info(ctx context.Context, thread string) (Info, error) {
	info, err := l.store.Info(ctx, thread)
	if err != nil {
		return Info{}, err
	}
	return l.describe(ctx, info)
}
