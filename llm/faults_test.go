package llm_test

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"runtime"
	"strings"
	"testing"
	"time"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/anthropic"
	"example.com/ragflow/llm/openai"
	"example.com/ragflow/llm/providers"
	"example.com/ragflow/llm/rerank"
)

// planted is a key that no error may show.
const planted = "sk-planted-0123456789abcdefghij"

// provider is a kind of request to a kind of provider.
type provider struct {
	name    string
	streams bool              // pieces of the answer are passed on before it is whole
	event   string            // the first piece, if the answer is a stream of events
	well    llmtest.Behaviour // a good answer
	// ask asks once, with a limit of time and with retries, and reports whether it got anything.
	ask func(t *testing.T, url string, limit time.Duration, o llm.RetryOptions) (got bool, err error)
}

func kinds() []provider {
	const chats = openai.ChatCompletions
	const chunk, delta = `{"choices":[{"index":0,"delta":{"content":"A vol"}}]}`, `{"type":"response.output_text.delta","delta":"A vol"}`
	response := llmtest.Body("text/event-stream", `data: {"type":"response.output_text.delta","delta":"fine"}`+"\n\n"+
		`data: {"type":"response.completed","response":{"status":"completed"}}`+"\n\n")
	const block = `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"A vol"}}`
	chat := func(protocol string, token func(string)) func(*testing.T, string, time.Duration, llm.RetryOptions) (bool, error) {
		return func(t *testing.T, url string, limit time.Duration, o llm.RetryOptions) (bool, error) {
			t.Helper()
			r, err := llm.Retry(client(t, url, limit, protocol).Chat("small"), o).Complete(t.Context(), llm.Request{
				Messages: []llm.Message{{Role: llm.User, Content: "What is a volume?"}}, MaxTokens: 2000,
			}, token)
			return r.Text != "", err
		}
	}
	scores := func(protocol string) func(*testing.T, string, time.Duration, llm.RetryOptions) (bool, error) {
		return func(t *testing.T, url string, limit time.Duration, o llm.RetryOptions) (bool, error) {
			t.Helper()
			transport := http.DefaultTransport.(*http.Transport).Clone() //nolint:forcetypeassert // see its documentation
			t.Cleanup(transport.CloseIdleConnections)
			c, err := rerank.New(rerank.Config{
				Provider: "played", BaseURL: url, Key: planted, Model: "small", Protocol: protocol, Timeout: limit, MaxBytes: 1 << 16, Transport: transport,
			})
			if err != nil {
				t.Fatal(err)
			}
			r, err := llm.RetryReranker(c, o).Rerank(t.Context(), "What is a volume?", []string{"a", "b"})
			return r.Values != nil, err
		}
	}
	return []provider{
		{"chat", false, chunk, llmtest.Say("fine"), chat(chats, nil)},
		{"stream", true, chunk, llmtest.Say("fine"), chat(chats, func(string) {})},
		{"response", false, delta, response, chat(openai.Responses, nil)},
		{"response stream", true, delta, response, chat(openai.Responses, func(string) {})},
		{"messages", false, block, llmtest.Say("fine"), chat(anthropic.Protocol, nil)},
		{"messages stream", true, block, llmtest.Say("fine"), chat(anthropic.Protocol, func(string) {})},
		{"embed", false, "", llmtest.Embed(3), func(t *testing.T, url string, limit time.Duration, o llm.RetryOptions) (bool, error) {
			t.Helper()
			e := llm.RetryEmbedder(client(t, url, limit, chats).(*openai.Client).Embedder(openai.EmbedderConfig{Model: "small"}), o)
			r, err := e.Embed(t.Context(), []string{"a", "b"}, llm.Passage)
			return r.Vectors != nil, err
		}},
		{"rerank documents", false, "", llmtest.Body("application/json", `{"results":[{"index":0,"relevance_score":1},{"index":1,"relevance_score":0}]}`), scores(rerank.Documents)},
		{"rerank texts", false, "", llmtest.Body("application/json", `[{"index":0,"score":1},{"index":1,"score":0}]`), scores(rerank.Texts)},
	}
}

func client(t *testing.T, url string, limit time.Duration, protocol string) llm.Provider {
	t.Helper()
	c, err := providers.New(llm.Endpoint{
		Provider: "played", BaseURL: url, Key: planted, Protocol: protocol, FirstByte: limit, Stall: limit, MaxBytes: 1 << 16,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdle)
	return c
}

// broken begins an answer and then does what end says.
func (p provider) broken(end func(r *http.Request)) llmtest.Behaviour {
	return func(w http.ResponseWriter, r *http.Request) {
		if p.event != "" {
			w.Header().Set("Content-Type", "text/event-stream")
			fmt.Fprintf(w, "data: %s\n\n", p.event)
		} else {
			w.Header().Set("Content-Type", "application/json")
			fmt.Fprint(w, `{"data":[{"embedding":[1,`)
		}
		_ = http.NewResponseController(w).Flush()
		end(r)
	}
}

// body answers with a text of the right type.
func (p provider) body(text string) llmtest.Behaviour {
	if p.event != "" {
		return llmtest.Body("text/event-stream", "data: "+text+"\n\n")
	}
	return llmtest.Body("application/json", text)
}

// TestFaultMatrix puts each fault before each kind of request to each kind of provider. Each
// gives the right error after the right number of requests, nothing of an answer, and leaves no
// goroutine; after faults that pass, the answer.
func TestFaultMatrix(t *testing.T) { // L05, N04
	const forever, once = true, false
	for _, tt := range []struct {
		name   string
		fault  func(provider) llmtest.Behaviour // nil: nobody listens
		always bool                             // else the next answer is good
		want   error                            // of the fault that stays
		calls  int
		stream int // calls after a piece was passed on already; 0: as calls
	}{
		{"401", func(provider) llmtest.Behaviour { return llmtest.Echo(401) }, forever, llm.ErrCredentials, 1, 0},
		{"400", func(provider) llmtest.Behaviour { return llmtest.Echo(400) }, forever, llm.ErrRefused, 1, 0},
		{"429", func(provider) llmtest.Behaviour { return llmtest.Status(429, "slow down") }, forever, llm.ErrRateLimited, 4, 0},
		{"429 for a moment", func(provider) llmtest.Behaviour { return llmtest.RetryAfter(10 * time.Millisecond) }, once, nil, 2, 0},
		{"429 for long", func(provider) llmtest.Behaviour { return llmtest.RetryAfter(time.Hour) }, forever, llm.ErrRateLimited, 1, 0},
		{"500", func(provider) llmtest.Behaviour { return llmtest.Status(500, "oh") }, once, nil, 2, 0},
		{"503", func(provider) llmtest.Behaviour { return llmtest.Status(503, "down") }, forever, llm.ErrUnavailable, 4, 0},
		{"nobody listens", nil, forever, llm.ErrUnavailable, 0, 0},
		{"silence", func(provider) llmtest.Behaviour { return llmtest.Silent() }, forever, llm.ErrTimeout, 4, 0},
		{"stall", func(p provider) llmtest.Behaviour { return p.broken(func(r *http.Request) { <-r.Context().Done() }) }, forever, llm.ErrTimeout, 4, 1},
		{"cut", func(p provider) llmtest.Behaviour {
			return p.broken(func(*http.Request) { panic(http.ErrAbortHandler) })
		}, forever, llm.ErrBadResponse, 4, 1},
		{"no JSON", func(p provider) llmtest.Behaviour { return p.body(`{"choices":`) }, once, nil, 2, 0},
		{"another form", func(p provider) llmtest.Behaviour { return p.body(`{"choices":[]}`) }, forever, llm.ErrBadResponse, 4, 0},
		{"a page", func(provider) llmtest.Behaviour { return llmtest.Body("text/html", "<p>Sign in</p>") }, forever, llm.ErrBadResponse, 1, 0},
		{"elsewhere", func(provider) llmtest.Behaviour { return llmtest.Status(302, "") }, forever, llm.ErrBadResponse, 1, 0},
		{"too large", func(p provider) llmtest.Behaviour { return p.body(strings.Repeat(" ", 1<<17)) }, forever, llm.ErrBadResponse, 1, 0},
	} {
		for _, p := range kinds() {
			t.Run(tt.name+"/"+p.name, func(t *testing.T) {
				before := runtime.NumGoroutine()
				s := llmtest.NewServer(p.well)
				calls := tt.calls
				if p.streams && tt.stream > 0 {
					calls = tt.stream
				}
				switch {
				case tt.fault == nil:
					s.Close()
				case tt.always:
					s.Then(tt.fault(p))
				default:
					s.Then(tt.fault(p), p.well)
				}
				waited, limit := time.Duration(0), time.Minute
				if errors.Is(tt.want, llm.ErrTimeout) {
					limit = 50 * time.Millisecond
				}
				got, err := p.ask(t, s.URL(), limit, llm.RetryOptions{Wait: func(_ context.Context, d time.Duration) error { waited += d; return nil }})
				if tt.want == nil && (err != nil || !got) || tt.want != nil && (got || !errors.Is(err, tt.want)) {
					t.Errorf("got %v, %v; want %v", got, err, tt.want)
				}
				if e, ok := errors.AsType[*llm.Error](err); err != nil && (!ok || strings.Contains(fmt.Sprintf("%v %#v", err, e), planted)) {
					t.Errorf("got %#v", err)
				}
				if n := len(s.Calls()); n != calls || waited > 3*time.Second {
					t.Errorf("%d calls and waits of %v, want %d calls", n, waited, calls)
				}
				if tt.fault != nil {
					s.Close()
				}
				for range 600 {
					if runtime.NumGoroutine() <= before+2 { // of the connection that Cleanup closes
						return
					}
					time.Sleep(5 * time.Millisecond)
				}
				t.Errorf("%d goroutines, before %d", runtime.NumGoroutine(), before)
			})
		}
	}
}
