package threads

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"strings"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// titleRunes is the maximum length of a title.
const titleRunes = 80

// Query selects conversations.
type Query = graph.ThreadQuery

// Page is one page of a list. It may hold fewer conversations than were asked for although there are more.
type Page struct {
	Threads []Info `json:"threads"`
	Next    int64  `json:"next"` // for Query.After; 0 after the last page
}

// List returns a page of conversations, the most recently used first unless the query says otherwise. A query that
// has no meaning matches *graph.EntryError.
func (l *Log) List(ctx context.Context, q Query) (Page, error) {
	found, err := l.store.Threads(l.owned(ctx), q)
	if err != nil {
		return Page{}, fmt.Errorf("list threads: %w", err)
	}
	page := Page{Threads: make([]Info, len(found.Threads)), Next: found.Next}
	for i, t := range found.Threads {
		page.Threads[i] = newInfo(t)
	}
	return page, nil
}

// All returns all conversations, the most recently used first.
func (l *Log) All(ctx context.Context) ([]Info, error) {
	all := []Info{}
	for t, err := range graph.AllThreads(l.owned(ctx), l.store, Query{Limit: graph.MaxPage}) {
		if err != nil {
			return nil, err
		}
		all = append(all, newInfo(t))
	}
	return all, nil
}

// Info returns one conversation as [Log.List] does. An unknown id matches graph.ErrNotFound.
func (l *Log) Info(ctx context.Context, thread string) (Info, error) {
	t, err := l.store.Info(l.owned(ctx), thread)
	return newInfo(t), err
}

func newInfo(t graph.ThreadInfo) Info {
	return Info{
		ID: t.Thread, Title: t.Title, Turns: t.Inputs, Created: t.Created, Used: t.Touched, Bytes: t.Bytes,
		Status: string(t.Status), Owner: t.Owner, Metadata: t.Metadata,
	}
}

// Rename gives a conversation another title, cut to 80 runes, also while a question is answered. An empty title changes
// nothing. An unknown id matches graph.ErrNotFound.
func (l *Log) Rename(ctx context.Context, thread, name string) error {
	return l.store.Describe(l.owned(ctx), thread, graph.ThreadFacts{Title: title(name)})
}

// Describe adds metadata to that of a conversation, also while a question is answered. Errors match
// graph.ErrNotFound or *graph.EntryError for more than 16 KiB.
func (l *Log) Describe(ctx context.Context, thread string, metadata map[string]string) error {
	return l.store.Describe(l.owned(ctx), thread, graph.ThreadFacts{Metadata: metadata})
}

// Texts is the option Texts of the stores: the title is the first question, and a thread is found by its messages.
func Texts(update []byte) (name, said string) {
	if !bytes.Contains(update, []byte(`"messages"`)) {
		return "", "" // as most updates
	}
	var u struct{ Messages []state.MessageOp }
	if err := json.Unmarshal(update, &u); err != nil {
		return "", ""
	}
	var all strings.Builder
	for _, op := range u.Messages {
		if op.Put == nil {
			continue
		}
		if name == "" && op.Put.Role == state.Human {
			name = title(op.Put.Content)
		}
		all.WriteString(op.Put.Content + "\n")
	}
	return name, all.String()
}

func title(question string) string {
	question = text.Clean(question)
	if short := text.First(question, titleRunes-1); short != question {
		return strings.TrimSpace(short) + "…"
	}
	return question
}
