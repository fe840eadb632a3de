package server_test

import (
	"context"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ragflow/internal/llmtest"
)

const (
	askedOfOpenAI    = `"messages": [{"role": "user", "content": "How many days of leave?"}]`
	askedOfLangGraph = `"assistant_id": "ragflow", "input": {` + askedOfOpenAI + `}`
)

// TestLeaving: a question whose client leaves is cancelled at once, at every door, streamed or not, unless its protocol
// lets it go on.
func TestLeaving(t *testing.T) {
	t.Parallel()
	const plain, stream = "application/json", "text/event-stream"
	for name, c := range map[string]struct {
		path, accept, body string
		continues          bool
	}{
		"own":                      {"/api/ask", plain, `{"question": "How many days of leave?"}`, false},
		"own stream":               {"/api/ask", stream, `{"question": "How many days of leave?"}`, false},
		"chat":                     {"/v1/chat/completions", plain, `{"model": "ragflow", ` + askedOfOpenAI + `}`, false},
		"chat stream":              {"/v1/chat/completions", stream, `{"model": "ragflow", "stream": true, ` + askedOfOpenAI + `}`, false},
		"responses":                {"/v1/responses", plain, `{"model": "ragflow", "input": "How many days of leave?"}`, false},
		"responses stream":         {"/v1/responses", stream, `{"model": "ragflow", "stream": true, "input": "How many days of leave?"}`, false},
		"stateless run":            {"/runs/wait", plain, `{` + askedOfLangGraph + `}`, false},
		"stateless run stream":     {"/runs/stream", stream, `{` + askedOfLangGraph + `}`, false},
		"run that is cancelled":    {"/threads/t/runs/wait", plain, `{"if_not_exists": "create", "on_disconnect": "cancel", ` + askedOfLangGraph + `}`, false},
		"stream that is cancelled": {"/threads/t/runs/stream", stream, `{"if_not_exists": "create", "on_disconnect": "cancel", ` + askedOfLangGraph + `}`, false},
		"run that goes on":         {"/threads/t/runs/wait", plain, `{"if_not_exists": "create", ` + askedOfLangGraph + `}`, true},
		"stream that goes on":      {"/threads/t/runs/stream", stream, `{"if_not_exists": "create", "on_disconnect": "continue", ` + askedOfLangGraph + `}`, true},
		"tool":                     {"/mcp", plain + ", " + stream, `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "ask", "arguments": {"question": "How many days of leave?"}}}`, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			m := llmtest.Hold(leaveAnswer)
			h, url := serve(t, m)
			release := sync.OnceFunc(func() { close(m.Release) })
			t.Cleanup(release) // or a test that fails waits for ever
			ctx, leave := context.WithCancel(t.Context())
			left := make(chan string, 1)
			go func() {
				text := ""
				if r, err := post(ctx, t, url+c.path, c.accept, c.body); err == nil {
					body, _ := io.ReadAll(r.Body) // until the client leaves
					text = r.Status + " " + string(body)
					_ = r.Body.Close()
				}
				left <- text
			}()
			select {
			case <-m.Asked:
			case <-time.After(10 * time.Second):
				leave()
				t.Fatalf("the model is not asked: %s", <-left)
			}
			began := time.Now()
			leave()
			<-left
			if c.continues {
				select {
				case <-m.Cancelled:
					t.Fatal("the call ends with its reader")
				case <-time.After(200 * time.Millisecond):
				}
				release()
				for end := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
					_, text := h.ask("GET", "/threads/t/state", "", "")
					if strings.Contains(text, "26 days") {
						return
					}
					if time.Now().After(end) {
						t.Fatalf("the answer is not in the thread: %s", text)
					}
				}
			}
			happens(t, m.Cancelled, "the end of the call")
			if took := time.Since(began); took > 5*time.Second { // some milliseconds on an idle machine
				t.Errorf("cancelled after %s", took)
			}
		})
	}
}
