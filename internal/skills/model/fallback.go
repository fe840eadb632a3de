package model

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"sync"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/llm"
)

// orElse returns the result of next after the model of a name failed with err.
func orElse[T any](ctx context.Context, model string, err error, next func() (T, error)) (T, error) {
	if err := fellBack(ctx, model, offline.Name, err); err != nil {
		var none T
		return none, err
	}
	return next()
}

// fellBack reports that a model failed and that next does its work. The warning is the same for all work, so that a
// reply has it once; the trace has the failure at each node. It returns err if the context ended: then nobody waits
// for the work.
func fellBack(ctx context.Context, model, next string, err error) error {
	if ctx.Err() != nil {
		return err
	}
	graph.Note(ctx, "fallback", fmt.Sprintf("%s → %s: %v", model, next, err))
	if e, ok := errors.AsType[*llm.Error](err); ok && e.Skipped {
		return nil // the failure was reported when it happened
	}
	if next == offline.Name {
		graph.Warn(ctx, fmt.Sprintf("The model %q failed, so ragflow went on without it: %v. Check it with \"ragflow doctor\".", model, err))
	} else {
		graph.Warn(ctx, fmt.Sprintf("The model %q failed, so %q did its work: %v.", model, next, err))
	}
	return nil
}

// tracked is a chat during one piece of work. Its Model is the one that was asked last.
type tracked struct {
	llm.Chat

	fall func(llm.Fall) bool // of calls that are streamed; may be nil

	mu sync.Mutex // guards by
	by string
}

func track(c llm.Chat) *tracked { return &tracked{Chat: c} }

// Model implements llm.Chat.
func (c *tracked) Model() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return cmp.Or(c.by, c.Chat.Model())
}

// Complete implements llm.Chat.
func (c *tracked) Complete(ctx context.Context, r llm.Request, token func(string)) (llm.Response, error) {
	if token != nil {
		r.Fall = c.fall
	}
	out, err := c.Chat.Complete(ctx, r, token)
	c.mu.Lock()
	defer c.mu.Unlock()
	c.by = out.By
	return out, err
}
