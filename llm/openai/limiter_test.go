package openai_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"golang.org/x/time/rate"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
)

// TestPerMinute counts what a limiter lets through in every minute.
func TestPerMinute(t *testing.T) {
	for _, n := range []int{1, 5, 30, 500} {
		synctest.Test(t, func(t *testing.T) {
			l := openai.PerMinute(n)
			var at []time.Time
			for range 4 * n {
				if err := l.Wait(t.Context()); err != nil {
					t.Fatal(err)
				}
				at = append(at, time.Now())
			}
			for i := range at[:len(at)-n] {
				if within := at[i+n].Sub(at[i]); within < time.Minute-time.Second {
					t.Fatalf("%d a minute: %d requests in %v", n, n+1, within)
				}
			}
			if most := 6 * time.Minute; at[len(at)-1].Sub(at[0]) > most {
				t.Errorf("%d a minute: %d requests took %v, want at most %v", n, len(at), at[len(at)-1].Sub(at[0]), most)
			}
		})
	}
}

// TestLimiter waits before a request, and not as if the provider were slow.
func TestLimiter(t *testing.T) {
	s := llmtest.NewServer(llmtest.Say("fine"))
	defer s.Close()
	c, err := openai.New(openai.Config{BaseURL: s.URL(), FirstByte: 600 * time.Millisecond, Limiter: rate.NewLimiter(rate.Every(900*time.Millisecond), 1)})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdle()
	begun := time.Now()
	for range 2 {
		if _, err := c.Chat("small").Complete(t.Context(), question(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if waited := time.Since(begun); waited < 800*time.Millisecond {
		t.Errorf("two requests took %v, want 900 ms", waited)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := c.Chat("small").Complete(ctx, question(), nil); !errors.Is(err, context.Canceled) || errors.Is(err, llm.ErrTimeout) {
		t.Errorf("got %v, want that of the caller", err)
	}
	if n := len(s.Calls()); n != 2 {
		t.Errorf("%d requests, want 2", n)
	}
}
