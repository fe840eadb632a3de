package llmtest

import (
	"context"

	"example.com/ragflow/llm"
)

// Held is a chat model in this process that answers when it is released. Make it with [Hold].
type Held struct {
	Asked     chan struct{} // gets a value for each call
	Cancelled chan struct{} // gets a value for each call that ended without an answer
	Release   chan struct{} // a value lets one call be answered; closed, all of them
	Text      string        // the answer
}

// Hold returns a model for up to 100 calls that nobody counts.
func Hold(text string) Held {
	signal := func() chan struct{} { return make(chan struct{}, 100) }
	return Held{Asked: signal(), Cancelled: signal(), Release: signal(), Text: text}
}

// Model implements llm.Chat.
func (Held) Model() string { return "held" }

// Complete implements llm.Chat.
func (h Held) Complete(ctx context.Context, _ llm.Request, _ func(string)) (llm.Response, error) {
	h.Asked <- struct{}{}
	select {
	case <-h.Release:
		return llm.Response{Text: h.Text}, nil
	case <-ctx.Done():
		h.Cancelled <- struct{}{}
		return llm.Response{}, context.Cause(ctx)
	}
}
