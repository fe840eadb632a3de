package llm_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"example.com/ragflow/llm"
)

// scripted fails with each error in turn and then answers.
type scripted struct {
	mu    sync.Mutex // guards fail and calls
	fail  []error
	takes time.Duration // that each call takes
	calls int
}

func (*scripted) Model() string { return "small" }

func (s *scripted) Complete(ctx context.Context, _ llm.Request, token func(string)) (llm.Response, error) {
	s.mu.Lock()
	s.calls++
	s.mu.Unlock()
	select {
	case <-time.After(s.takes):
	case <-ctx.Done():
		return llm.Response{}, ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.fail) > 0 {
		err := s.fail[0]
		s.fail = s.fail[1:]
		return llm.Response{}, err
	}
	if token != nil {
		token("fine")
	}
	return llm.Response{Text: "fine", Usage: llm.Usage{Input: 1000, Output: 500}}, nil
}

func timeouts(n int) []error {
	out := make([]error, n)
	for i := range out {
		out[i] = &llm.Error{Provider: "played", Kind: llm.ErrTimeout, Transient: true}
	}
	return out
}

func TestRetryHasPatience(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{fail: timeouts(9), takes: 40 * time.Second}
		_, err := llm.Retry(s, llm.RetryOptions{}).Complete(t.Context(), llm.Request{}, nil)
		if !errors.Is(err, llm.ErrTimeout) || s.calls != 2 {
			t.Errorf("%d calls, %v; want 2: the second begins within a minute of the first", s.calls, err)
		}
	})
}

func TestRetryWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{fail: timeouts(3)}
		begun := time.Now()
		r, err := llm.Retry(s, llm.RetryOptions{}).Complete(t.Context(), llm.Request{}, nil)
		if err != nil || r.Retries != 3 || s.calls != 4 {
			t.Fatalf("%d calls, %+v, %v", s.calls, r, err)
		}
		if took := time.Since(begun); took < 1400*time.Millisecond || took > 2800*time.Millisecond {
			t.Errorf("waited %v, want between half of 0.4+0.8+1.6 seconds and all of it", took)
		}
	})
}

func TestRetryStopsWaitingWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
		defer cancel()
		_, err := llm.Retry(&scripted{fail: timeouts(1)}, llm.RetryOptions{}).Complete(ctx, llm.Request{}, nil)
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	})
}

func TestRetryLeavesOtherErrors(t *testing.T) {
	s := &scripted{fail: []error{errors.New("a fault of ours")}}
	if _, err := llm.Retry(s, llm.RetryOptions{}).Complete(t.Context(), llm.Request{}, nil); err == nil || s.calls != 1 {
		t.Errorf("%d calls, %v", s.calls, err)
	}
}

func TestBreaker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{fail: timeouts(4)}
		b := llm.Retry(s, llm.RetryOptions{})
		_, first := b.Complete(t.Context(), llm.Request{}, nil)
		_, second := b.Complete(t.Context(), llm.Request{}, nil)
		e, ok := errors.AsType[*llm.Error](second)
		if !errors.Is(first, llm.ErrTimeout) || !errors.Is(second, llm.ErrTimeout) || !ok || !e.Skipped || s.calls != 4 {
			t.Fatalf("%v, then %v after %d calls", first, second, s.calls)
		}
		time.Sleep(llm.DefaultPause)
		if r, err := b.Complete(t.Context(), llm.Request{}, nil); err != nil || r.Text != "fine" {
			t.Errorf("after the pause: %v, %v", r, err)
		}
	})
}

func TestBreakerMindsOnlyDeadProviders(t *testing.T) {
	s := &scripted{fail: []error{&llm.Error{Kind: llm.ErrBadResponse}, &llm.Error{Kind: llm.ErrRefused}}}
	b := llm.Retry(s, llm.RetryOptions{})
	for range 3 {
		_, _ = b.Complete(t.Context(), llm.Request{}, nil) // only the number of calls matters
	}
	if s.calls != 3 {
		t.Errorf("%d calls, want 3", s.calls)
	}
}

// TestSideBySide has calls side by side: together they cost no more than one call.
func TestSideBySide(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &scripted{fail: timeouts(99)}
		chat := llm.Retry(s, llm.RetryOptions{Jitter: func() float64 { return 0 }})
		var wait sync.WaitGroup
		begun := time.Now()
		for range 2 {
			wait.Go(func() {
				_, err := chat.Complete(t.Context(), llm.Request{}, nil)
				if e, ok := errors.AsType[*llm.Error](err); !ok || e.Skipped || e.Retries == 0 {
					t.Errorf("got %v", err)
				}
			})
			synctest.Wait()
		}
		wait.Wait()
		if took := time.Since(begun); s.calls != 4 || took > time.Second {
			t.Errorf("%d calls in %v", s.calls, took)
		}
	})
}

func TestErrorTexts(t *testing.T) { // L05
	for _, tt := range []struct {
		err  llm.Error
		want string
	}{
		{llm.Error{Kind: llm.ErrCredentials}, "Invalid credentials for openai"},
		{llm.Error{Kind: llm.ErrTimeout}, "Provider openai timed out"},
		{llm.Error{Kind: llm.ErrTimeout, Detail: "the answer stalled", Retries: 2}, "Provider openai timed out: the answer stalled (asked 3 times)"},
		{llm.Error{Kind: llm.ErrRateLimited}, "Provider openai limits the rate of requests"},
		{llm.Error{Kind: llm.ErrModelNotFound, Model: "x"}, `Provider openai does not know the model "x"`},
		{llm.Error{Kind: llm.ErrRefused}, "Provider openai refused the request"},
		{llm.Error{Kind: llm.ErrBadResponse}, "Provider openai sent no usable answer"},
		{llm.Error{Kind: llm.ErrUnavailable, Skipped: true}, "Provider openai is not available (a moment ago; not asked again)"},
	} {
		tt.err.Provider = "openai"
		if got := tt.err.Error(); got != tt.want {
			t.Errorf("got %q, want %q", got, tt.want)
		}
	}
}

func ExamplePrice() {
	chat := llm.Price(&scripted{}, llm.PerMillion{Input: 2.5, Output: 10})
	r, err := chat.Complete(context.Background(), llm.Request{}, nil)
	fmt.Println(r.CostUSD, r.Priced, err)
	// Output: 0.0075 true <nil>
}
