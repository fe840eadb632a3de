package openai_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
)

func client(t *testing.T, s *llmtest.Server, change func(*openai.Config)) *openai.Client {
	t.Helper()
	c := openai.Config{
		Provider: "played", BaseURL: s.URL(), Key: llmtest.Key,
		FirstByte: time.Second, Stall: 1200 * time.Millisecond, Total: 6 * time.Second, MaxBytes: 1 << 20,
	}
	if change != nil {
		change(&c)
	}
	out, err := openai.New(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(out.CloseIdle)
	return out
}

// TestFaults puts every fault of a provider before a client with retries.
func TestFaults(t *testing.T) { // L05, N04
	const ms = time.Millisecond
	for _, tt := range []struct {
		name     string
		behave   []llmtest.Behaviour
		listen   bool // to tokens
		max      int64
		want     error // nil: it succeeds in the end
		text     string
		calls    int
		waits    []time.Duration
		streamed bool
	}{
		{name: "well", behave: list(llmtest.Say("fine")), calls: 1},
		{name: "401", behave: list(llmtest.Echo(401)), want: llm.ErrCredentials, text: "Invalid credentials for played", calls: 1},
		{name: "403", behave: list(llmtest.Echo(403)), want: llm.ErrCredentials, text: "Invalid credentials for played", calls: 1},
		{name: "400 that quotes the key", behave: list(llmtest.Echo(400)), want: llm.ErrRefused, text: "Provider played refused the request: status 400: the key [key] is not good enough", calls: 1},
		{name: "404", behave: list(llmtest.Status(404, "no such model")), want: llm.ErrModelNotFound, text: `Provider played does not know the model "small": is the base URL right? status 404: no such model`, calls: 2},
		{
			name: "429 for ever", behave: list(llmtest.Status(429, "slow down")), want: llm.ErrRateLimited, calls: 4,
			text:  "Provider played limits the rate of requests: status 429: slow down (asked 4 times)",
			waits: []time.Duration{400 * ms, 800 * ms, 1600 * ms},
		},
		{name: "429 three times", behave: list(llmtest.Status(429, ""), llmtest.Status(429, ""), llmtest.Status(429, ""), llmtest.Say("fine")), calls: 4, waits: []time.Duration{400 * ms, 800 * ms, 1600 * ms}},
		{name: "429 with Retry-After", behave: list(llmtest.RetryAfter(3*time.Second), llmtest.Say("fine")), calls: 2, waits: []time.Duration{3 * time.Second}},
		{name: "429 with a date", behave: list(llmtest.RetryAt(7*time.Second), llmtest.Say("fine")), calls: 2, waits: []time.Duration{7 * time.Second}},
		{name: "429 with a Retry-After too long", behave: list(llmtest.RetryAfter(5*time.Minute), llmtest.Say("fine")), want: llm.ErrRateLimited, calls: 1},
		{name: "500", behave: list(llmtest.Status(500, "oh"), llmtest.Say("fine")), calls: 2, waits: []time.Duration{400 * ms}},
		{name: "503 that is no JSON", behave: list(failWith(503, "<html>down</html>")), want: llm.ErrUnavailable, text: "Provider played is not available: status 503 (asked 4 times)", calls: 4, waits: []time.Duration{400 * ms, 800 * ms, 1600 * ms}},
		{name: "no first byte", behave: list(llmtest.Silent(), llmtest.Say("fine")), calls: 2, waits: []time.Duration{400 * ms}},
		{name: "never a first byte", behave: list(llmtest.Silent()), want: llm.ErrTimeout, text: "Provider played timed out: no answer started in time (asked 4 times)", calls: 4, waits: []time.Duration{400 * ms, 800 * ms, 1600 * ms}},
		{name: "slow first byte", behave: list(llmtest.Slow(50*ms, llmtest.Say("fine"))), calls: 1},
		{name: "stall before a listener", behave: list(llmtest.Stall("A vol"), llmtest.Say("fine")), listen: true, want: llm.ErrTimeout, text: "Provider played timed out: the answer stalled", calls: 1, streamed: true},
		{name: "stall before nobody", behave: list(llmtest.Stall("A vol"), llmtest.Say("fine")), calls: 2, waits: []time.Duration{400 * ms}},
		{name: "cut before a listener", behave: list(llmtest.Cut("A vol"), llmtest.Say("fine")), listen: true, want: llm.ErrBadResponse, text: "Provider played sent no usable answer: the answer was cut off", calls: 1, streamed: true},
		{name: "cut before the first token", behave: list(llmtest.Cut(""), llmtest.Say("fine")), listen: true, calls: 2, waits: []time.Duration{400 * ms}},
		{name: "end without a reason", behave: list(llmtest.Stop("A vol"), llmtest.Say("fine")), calls: 2, waits: []time.Duration{400 * ms}},
		{name: "wrong JSON", behave: list(llmtest.Body("text/event-stream", "data: {\"choices\": [\n\n"), llmtest.Say("fine")), calls: 2, waits: []time.Duration{400 * ms}},
		{name: "wrong JSON type", behave: list(llmtest.Body("text/event-stream", "data: {\"choices\": 7}\n\n"), llmtest.Say("fine")), calls: 2, waits: []time.Duration{400 * ms}},
		{name: "empty choices", behave: list(llmtest.NoChoices()), want: llm.ErrBadResponse, text: "Provider played sent no usable answer: the answer is empty (asked 4 times)", calls: 4, waits: []time.Duration{400 * ms, 800 * ms, 1600 * ms}},
		{name: "blank answer", behave: list(llmtest.Say(" "), llmtest.Say("fine")), calls: 2, waits: []time.Duration{400 * ms}},
		{name: "wrong content type", behave: list(llmtest.Body("text/html", "<p>Sign in</p>")), want: llm.ErrBadResponse, text: `Provider played sent no usable answer: content of type "text/html" where text/event-stream was asked for`, calls: 1},
		{name: "redirect", behave: list(failWith(302, "")), want: llm.ErrBadResponse, text: "Provider played sent no usable answer: status 302 instead of an answer; is the base URL right?", calls: 1},
		{name: "content filter", behave: list(llmtest.Filter("A vol")), want: llm.ErrRefused, text: "Provider played refused the request: its content filter held the answer back", calls: 1},
		{name: "error in the stream", behave: list(llmtest.ErrorInStream("", 429, "busy"), llmtest.Say("fine")), calls: 2, waits: []time.Duration{400 * ms}},
		{name: "error with the key in the stream", behave: list(llmtest.ErrorInStream("", 400, "bad "+llmtest.Key)), want: llm.ErrRefused, text: "Provider played refused the request: status 400: bad [key]", calls: 1},
	} {
		t.Run(tt.name, func(t *testing.T) {
			before := runtime.NumGoroutine()
			s := llmtest.NewServer(tt.behave...)
			c := client(t, s, func(c *openai.Config) {
				switch { // no answer in time is wanted, so it need not be long
				case !errors.Is(tt.want, llm.ErrTimeout):
				case tt.streamed:
					c.Stall = 100 * ms
				default:
					c.FirstByte = 100 * ms
				}
			})
			var waits []time.Duration
			chat := llm.Retry(c.Chat("small"), llmtest.Instantly(&waits))
			var token func(string)
			if tt.listen {
				token = func(string) {}
			}
			got, err := chat.Complete(t.Context(), llmtest.Question(), token)
			if tt.want == nil && (err != nil || strings.TrimSpace(got.Text) != "fine" || got.Retries != tt.calls-1) {
				t.Fatalf("got %q after %d retries, %v", got.Text, got.Retries, err)
			}
			if tt.want != nil {
				llmtest.CheckError(t, got, err, tt.want, tt.text)
				if e, ok := errors.AsType[*llm.Error](err); ok && (e.Streamed != tt.streamed || e.Retries != len(tt.waits)) {
					t.Errorf("streamed %v after %d retries, want %v after %d", e.Streamed, e.Retries, tt.streamed, len(tt.waits))
				}
			}
			if len(s.Calls()) != tt.calls {
				t.Errorf("%d calls, want %d", len(s.Calls()), tt.calls)
			}
			if diff := cmp.Diff(tt.waits, waits); diff != "" {
				t.Errorf("waits (-want +got):\n%s", diff)
			}
			s.Close()
			c.CloseIdle()
			gone(t, before)
		})
	}
}

func list(b ...llmtest.Behaviour) []llmtest.Behaviour { return b }

func failWith(code int, body string) llmtest.Behaviour {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Location", "/elsewhere")
		w.WriteHeader(code)
		fmt.Fprint(w, body)
	}
}

// gone waits for the goroutines of a test to end.
func gone(t *testing.T, before int) {
	t.Helper()
	deadline := time.NewTimer(3 * time.Second)
	defer deadline.Stop()
	tick := time.NewTicker(5 * time.Millisecond)
	defer tick.Stop()
	for runtime.NumGoroutine() > before {
		select {
		case <-deadline.C:
			stack := make([]byte, 1<<16)
			t.Fatalf("%d goroutines, before %d:\n%s", runtime.NumGoroutine(), before, stack[:runtime.Stack(stack, true)])
		case <-tick.C:
		}
	}
}

func TestTLS(t *testing.T) {
	s := llmtest.NewTLSServer(llmtest.Say("fine"))
	defer s.Close()
	var waits []time.Duration
	_, err := llm.Retry(client(t, s, nil).Chat("small"), llmtest.Instantly(&waits)).Complete(t.Context(), llmtest.Question(), nil)
	if !errors.Is(err, llm.ErrUnavailable) || !strings.Contains(err.Error(), "certificate cannot be trusted") || len(waits) > 0 {
		t.Errorf("got %v after %d waits", err, len(waits))
	}
	if len(s.Calls()) > 0 {
		t.Error("the key was sent to a server that nobody trusts")
	}
}

func TestRefusedConnection(t *testing.T) {
	s := llmtest.NewServer(llmtest.Say("fine"))
	c := client(t, s, nil)
	s.Close()
	var waits []time.Duration
	_, err := llm.Retry(c.Chat("small"), llmtest.Instantly(&waits)).Complete(t.Context(), llmtest.Question(), nil)
	if !errors.Is(err, llm.ErrUnavailable) || len(waits) != llm.MaxRetries || strings.Contains(err.Error(), "http") {
		t.Errorf("got %v after %d waits", err, len(waits))
	}
}

func TestTotal(t *testing.T) {
	s := llmtest.NewServer(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for r.Context().Err() == nil { // it drips, so it never stalls
			fmt.Fprint(w, ": still here\n\n")
			_ = http.NewResponseController(w).Flush()
			select {
			case <-r.Context().Done():
			case <-time.After(10 * time.Millisecond):
			}
		}
	})
	defer s.Close()
	c := client(t, s, func(c *openai.Config) { c.Total = 200 * time.Millisecond })
	_, err := c.Chat("small").Complete(t.Context(), llmtest.Question(), nil)
	if !errors.Is(err, llm.ErrTimeout) || !strings.Contains(err.Error(), "too long in total") {
		t.Errorf("got %v", err)
	}
}

func TestCancelled(t *testing.T) {
	s := llmtest.NewServer(llmtest.Stall("A vol"))
	defer s.Close()
	ctx, cancel := context.WithCancel(t.Context())
	_, err := llm.Retry(client(t, s, nil).Chat("small"), llm.RetryOptions{}).Complete(ctx, llmtest.Question(), func(string) { cancel() })
	if !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want the end of the context", err)
	}
	if _, ok := errors.AsType[*llm.Error](err); ok {
		t.Errorf("%v blames the provider", err)
	}
}
