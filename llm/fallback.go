package llm

import (
	"context"
	"errors"
)

// Fall is a failed call after which a [Fallback] can ask its next model.
type Fall struct {
	Model string // configured name of the model that failed
	Next  string // configured name of the next one
	Err   error  // an [*Error]
}

// Fallback returns a chat that asks first and, if a model fails with an [*Error], the next one.
// It does not ask another model once a piece of the answer was streamed, unless
// [Request].Fall allows it. Response.By names the model that
// answered, or failed last.
//
// [Retry] and [Price] wrap its models, not the Fallback.
func Fallback(first Chat, others ...Chat) Chat {
	var all fallback
	for _, c := range append([]Chat{first}, others...) {
		several, ok := c.(fallback)
		if !ok {
			several = fallback{c}
		}
		all = append(all, several...)
	}
	if len(all) == 1 {
		return first
	}
	return all
}

// Each wraps every model of a [Fallback], that of a [Task], or c itself if it is neither.
func Each(c Chat, wrap func(Chat) Chat) Chat {
	switch c := c.(type) {
	case Task:
		c.Chat = Each(c.Chat, wrap)
		return c
	case fallback:
		wrapped := make(fallback, len(c))
		for i := range c {
			wrapped[i] = Each(c[i], wrap)
		}
		return wrapped
	}
	return wrap(c)
}

// fallback has at least two chats.
type fallback []Chat

func (f fallback) Model() string { return f[0].Model() }

func (f fallback) Complete(ctx context.Context, r Request, token func(string)) (Response, error) {
	out, err := f[0].Complete(ctx, r, token)
	out.By = f[0].Model()
	failed, ok := errors.AsType[*Error](err)
	if !ok || len(f) == 1 || ctx.Err() != nil || failed.Streamed && r.Fall == nil ||
		r.Fall != nil && !r.Fall(Fall{f[0].Model(), f[1].Model(), err}) {
		return out, err
	}
	return f[1:].Complete(ctx, r, token)
}
