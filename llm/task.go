package llm

import (
	"cmp"
	"context"
)

// Task is a chat with settings of its own for one kind of request. It is a Chat itself.
type Task struct {
	Chat
	Temperature *float64 // replaces Request.Temperature; nil: it stays
	Tokens      int      // replaces Request.MaxTokens; 0: it stays
}

// Complete implements Chat.
func (t Task) Complete(ctx context.Context, r Request, token func(string)) (Response, error) {
	if t.Temperature != nil {
		r.Temperature = *t.Temperature
	}
	r.MaxTokens = cmp.Or(t.Tokens, r.MaxTokens)
	return t.Chat.Complete(ctx, r, token)
}
