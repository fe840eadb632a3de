package openai_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
)

// pause lets the first request through at once and each further one after 900 ms.
type pause struct{ waited atomic.Bool }

func (p *pause) Wait(ctx context.Context) error {
	if !p.waited.Swap(true) {
		return nil
	}
	select {
	case <-time.After(900 * time.Millisecond):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// TestLimiter waits before a request, and not as if the provider were slow.
func TestLimiter(t *testing.T) {
	s := llmtest.NewServer(llmtest.Say("fine"))
	defer s.Close()
	c, err := openai.New(openai.Config{BaseURL: s.URL(), FirstByte: 600 * time.Millisecond, Limiter: new(pause)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdle()
	begun := time.Now()
	for range 2 {
		if _, err := c.Chat("small").Complete(t.Context(), llmtest.Question(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if waited := time.Since(begun); waited < 800*time.Millisecond {
		t.Errorf("two requests took %v, want 900 ms", waited)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Chat("small").Complete(ctx, llmtest.Question(), nil); !errors.Is(err, context.Canceled) || errors.Is(err, llm.ErrTimeout) {
		t.Errorf("got %v, want that of the caller", err)
	}
	if n := len(s.Calls()); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}
