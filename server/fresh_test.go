package server_test

import (
	"fmt"
	"net/http"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/server"
)

// TestNoCache: a request with Cache-Control: no-cache gets a new answer by each protocol.
func TestNoCache(t *testing.T) {
	t.Parallel()
	h := open(t, server.Options{}, func(c *ragflow.Config) { c.Cache.On = true })
	agui := 0
	for name, send := range map[string]func() (path, body string){
		"own": func() (path, body string) {
			return "/api/ask", `{"question": "How many days of leave has every employee?"}`
		},
		"chat": func() (path, body string) {
			return "/v1/chat/completions", `{"model": "ragflow", ` + askedOfOpenAI + `}`
		},
		"response": func() (path, body string) {
			return "/v1/responses", `{"model": "ragflow", "input": "How many days of leave a year?"}`
		},
		"run": func() (path, body string) { return "/runs/wait", `{` + askedOfLangGraph + `}` },
		"AG-UI": func() (path, body string) {
			agui++
			return "/agui", fmt.Sprintf(`{"threadId": "t%d", "runId": "r", "messages": [{"id": "m", "role": "user", "content": "How many days of paid leave?"}]}`, agui)
		},
	} {
		for i, step := range []struct {
			header string
			cached bool
		}{{"", false}, {"", true}, {"max-age=0, No-Cache", false}, {"no-store", true}} {
			before := cachedAnswers(t, h)
			path, body := send()
			if status, _, reply := h.do(t.Context(), http.MethodPost, path, body, "Cache-Control", step.header); status != http.StatusOK {
				t.Fatalf("%s: %d %s", name, status, reply)
			}
			if got := cachedAnswers(t, h) - before; (got == 1) != step.cached {
				t.Errorf("%s, request %d with %q: %d answers from the cache", name, i, step.header, got)
			}
		}
	}
}

func cachedAnswers(t *testing.T, h house) int {
	t.Helper()
	r, err := h.a.Analytics(t.Context(), ragflow.AnalyticsQuery{})
	if err != nil {
		t.Fatal(err)
	}
	return r.Cached
}
