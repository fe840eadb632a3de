package server_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/internal/golden"
	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server"
	"example.com/ragflow/server/internal/door"
)

// restart makes a server that knows the tokens that were added.
func (h *house) restart(t *testing.T) {
	t.Helper()
	s, err := server.New(h.a, server.Options{Token: true, Tokens: string(h.folder)})
	if err != nil {
		t.Fatal(err)
	}
	h.Server = s
}

// do sends a request and returns the answer. Headers are given as names and values.
func (h house) do(ctx context.Context, method, path, body string, headers ...string) (status int, header http.Header, text string) {
	r := httptest.NewRequestWithContext(ctx, method, "http://localhost"+path, strings.NewReader(body))
	for i := 0; i < len(headers); i += 2 {
		if headers[i] == "Host" {
			r.Host = headers[i+1]
		} else {
			r.Header.Set(headers[i], headers[i+1])
		}
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Header(), w.Body.String()
}

// filled is the path of a route with a value for each of its parameters.
func filled(route door.Route, value string) (method, path string) {
	method, path, _ = strings.Cut(route.Pattern, " ")
	parts := strings.Split(path, "/")
	for i, p := range parts {
		if strings.HasPrefix(p, "{") {
			parts[i] = value
		}
		if p == "{$}" {
			parts[i] = ""
		}
	}
	return method, strings.Join(parts, "/")
}

// TestRoutes compares the scope of each route with a reviewed table.
func TestRoutes(t *testing.T) {
	t.Parallel()
	var table strings.Builder
	routes := open(t, server.Options{}, nil).Routes()
	slices.SortFunc(routes, func(a, b door.Route) int {
		_, pathA, _ := strings.Cut(a.Pattern, " ")
		_, pathB, _ := strings.Cut(b.Pattern, " ")
		return strings.Compare(pathA+a.Pattern, pathB+b.Pattern)
	})
	for _, r := range routes {
		scope := string(r.Scope)
		if scope == "" {
			scope = "everybody"
		}
		fmt.Fprintf(&table, "%-9s %s\n", scope, r.Pattern)
	}
	golden.Assert(t, "testdata/routes.txt", []byte(table.String()))
}

// TestEveryRoute: what is not open to everybody needs a token and the scope of the table, whichever way the token
// comes. An expired, a revoked and an unknown token open nothing.
func TestEveryRoute(t *testing.T) {
	t.Parallel()
	h := open(t, server.Options{Token: true}, nil)
	past := time.Now().Add(-time.Minute)
	useless := map[string]string{
		"expired": h.token(t, tokens.Token{Name: "expired", Scopes: tokens.Scopes(), Expires: &past}),
		"revoked": h.token(t, tokens.Token{Name: "revoked", Scopes: tokens.Scopes()}),
		"unknown": tokens.Prefix + "unknown", "other": "sk-other", "empty": "",
	}
	if err := h.folder.Revoke("revoked"); err != nil {
		t.Fatal(err)
	}
	secrets := map[tokens.Scope]string{}
	for _, s := range tokens.Scopes() {
		secrets[s] = h.token(t, tokens.Token{Name: string(s), Owner: string(s), Scopes: []tokens.Scope{s}})
	}
	h.restart(t)
	forms := map[string]func(secret string) []string{
		"bearer": func(secret string) []string { return []string{"Authorization", "Bearer " + secret} },
		"key":    func(secret string) []string { return []string{"X-Api-Key", secret} },
		"azure":  func(secret string) []string { return []string{"Api-Key", secret} },
		"cookie": func(secret string) []string { return []string{"Cookie", door.CookieName + "=" + h.LogIn(secret)} },
	}
	for _, route := range h.Routes() {
		if route.Scope == "" {
			continue
		}
		method, path := filled(route, "x")
		try := func(form, secret string) int {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond) // a stream that is opened has no end
			defer cancel()
			status, _, _ := h.do(ctx, method, path, `{"nosuch": 1}`, forms[form](secret)...)
			return status
		}
		for form := range forms {
			for what, secret := range useless {
				if code := try(form, secret); code != http.StatusUnauthorized {
					t.Errorf("%s with a token that is %s, by %s: %d", route.Pattern, what, form, code)
				}
			}
			for has, secret := range secrets {
				code := try(form, secret)
				for code == http.StatusTooManyRequests { // of one token a second
					time.Sleep(100 * time.Millisecond)
					code = try(form, secret)
				}
				if may := (&tokens.Token{Scopes: []tokens.Scope{has}}).May(route.Scope); may == (code == http.StatusForbidden) || code == http.StatusUnauthorized {
					t.Errorf("%s with %s by %s: %d", route.Pattern, has, form, code)
				}
			}
		}
	}
}

// TestRebinding: a page whose name resolves to this machine, and a page of another server, get nothing from any
// route, with a good token, too.
func TestRebinding(t *testing.T) {
	t.Parallel()
	h := open(t, server.Options{Token: true}, nil)
	admin := h.token(t, tokens.Token{Name: "admin", Scopes: tokens.Scopes()})
	h.restart(t)
	for _, route := range h.Routes() {
		method, path := filled(route, "x")
		for _, host := range []string{"evil.test", "evil.test:8080", "localhost.evil.test", "127.0.0.1.evil.test.", "[::]", "[2001:db8::1]:80", "0.0.0.0", ""} {
			status, _, body := h.do(t.Context(), method, path, "{}", "Host", host, "Authorization", "Bearer "+admin)
			if status != http.StatusForbidden || !strings.Contains(body, "no such name") {
				t.Errorf("%s at %q: %d %s", route.Pattern, host, status, body)
			}
		}
		for _, origin := range []string{"http://evil.test", "null", "http://localhost.evil.test"} {
			status, header, _ := h.do(t.Context(), method, path, "{}", "Origin", origin, "Sec-Fetch-Site", "cross-site", "Authorization", "Bearer "+admin)
			if safe := method == http.MethodGet; !safe && status != http.StatusForbidden || header.Get("Access-Control-Allow-Origin") != "" {
				t.Errorf("%s from %s: %d %v", route.Pattern, origin, status, header)
			}
		}
	}
}

// createsThread are routes at which clients choose the id of a new thread, so that an unknown one is made. One
// of another owner is refused.
var createsThread = map[string]bool{
	"POST /threads/{thread}/commands": true, // answers with status 200 and an error
	"POST /threads/{thread}/runs":     true, "POST /threads/{thread}/runs/wait": true, "POST /threads/{thread}/runs/stream": true,
}

// notHers are routes with ids of other things than threads and runs.
var notHers = map[string]bool{
	"GET /api/jobs/{id}": true, "GET /api/jobs/{id}/events": true, "GET /v1/models/{id...}": true,
	"GET /t/{thread}/other/{run}/{i}": true, // there is no other source
	"GET /v1/conversations/{id}":      true, "GET /v1/conversations/{id}/items": true,
}

// TestForeignEverywhere walks all routes with ids of another owner: they answer as those of nothing, byte for byte,
// and change nothing.
func TestForeignEverywhere(t *testing.T) {
	t.Parallel()
	h := open(t, server.Options{Token: true}, nil)
	anna := h.token(t, tokens.Token{Name: "anna", Owner: "anna", Scopes: []tokens.Scope{tokens.Admin}})
	bert := h.token(t, tokens.Token{Name: "bert", Owner: "bert", Scopes: []tokens.Scope{tokens.Admin}})
	h.restart(t)
	reply := h.want(t, 200, "POST", "/api/ask", anna, `{"question": "How many days of leave?"}`)
	thread, run := reply["thread_id"].(string), reply["run_id"].(string)
	before := h.want(t, 200, "GET", "/threads/"+thread+"/state", anna, "")
	const noThread, noRun = "00000000-0000-7000-8000-000000000000", "00000000-0000-7000-8000-000000000001"
	bodies := map[string]string{
		"PATCH /api/threads/{id}":                 `{"title": "x"}`,
		"POST /threads/{thread}/state":            `{"values": {"messages": []}}`,
		"PATCH /threads/{thread}":                 `{"metadata": {"a": "b"}}`,
		"POST /threads/{thread}/stream/events":    `{"channels": ["values"]}`,
		"POST /threads/{thread}/commands":         `{"id": 1, "method": "run.start", "params": {"assistant_id": "ragflow", "input": {"messages": [{"role": "user", "content": "x"}]}}}`,
		"POST /threads/{thread}/runs":             `{"assistant_id": "ragflow", "input": {"messages": [{"role": "user", "content": "x"}]}}`,
		"POST /threads/{thread}/runs/wait":        `{"assistant_id": "ragflow", "input": {"messages": [{"role": "user", "content": "x"}]}}`,
		"POST /threads/{thread}/runs/stream":      `{"assistant_id": "ragflow", "input": {"messages": [{"role": "user", "content": "x"}]}}`,
		"POST /threads/{thread}/history":          `{"limit": 10}`,
		"POST /threads/{thread}/state/checkpoint": `{}`,
	}
	walked := 0
	for _, route := range h.Routes() {
		if !strings.Contains(route.Pattern, "{thread}") && !strings.Contains(route.Pattern, "{run}") && !strings.Contains(route.Pattern, "{id}") {
			continue
		}
		walked++
		ask := func(secret, thread, run string) (status int, headers http.Header, body string) {
			method, path, _ := strings.Cut(route.Pattern, " ")
			id := thread
			if strings.Contains(path, "/runs/{id}") {
				id = run
			} else if strings.Contains(path, "/responses/{id}") {
				id = "resp_" + run
			}
			path = strings.NewReplacer("{thread}", thread, "{run}", run, "{id}", id, "{id...}", id, "{n}", "1", "{file}", "answer.md", "{checkpoint}", "1", "{cron}", "x", "{i}", "0").Replace(path)
			try := func() (int, http.Header, string) {
				ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond) // a stream of a thread that may come has no end
				defer cancel()
				return h.do(ctx, method, path, bodies[route.Pattern], "Authorization", "Bearer "+secret)
			}
			status, headers, body = try()
			for status == http.StatusTooManyRequests { // of one token a second
				time.Sleep(100 * time.Millisecond)
				status, headers, body = try()
			}
			for _, random := range []string{"X-Request-Id", "Content-Security-Policy", "Set-Cookie"} {
				headers.Del(random)
			}
			return status, headers, strings.NewReplacer(thread, "", run, "").Replace(nonce.ReplaceAllString(body, ""))
		}
		if strings.HasPrefix(route.Pattern, "GET ") && !notHers[route.Pattern] {
			if status, _, body := ask(anna, thread, run); status != http.StatusOK {
				t.Errorf("%s for the owner: %d %s", route.Pattern, status, body)
			}
		}
		status, headers, body := ask(bert, thread, run)
		if strings.Contains(body, "26 days") || strings.Contains(body, "How many days") {
			t.Errorf("%s tells another owner: %s", route.Pattern, body)
		}
		if createsThread[route.Pattern] {
			if status < 400 && !strings.Contains(body, `"error"`) {
				t.Errorf("%s works on a thread of another owner: %d %s", route.Pattern, status, body)
			}
			continue
		}
		statusNone, headersNone, bodyNone := ask(bert, noThread, noRun)
		if status != statusNone || body != bodyNone || !maps.EqualFunc(headers, headersNone, slices.Equal) {
			t.Errorf("%s:\nforeign %d %v %s\nunknown %d %v %s", route.Pattern, status, headers, body, statusNone, headersNone, bodyNone)
		}
	}
	if walked < 40 {
		t.Errorf("only %d routes were walked", walked)
	}
	status, _, body := h.do(t.Context(), "POST", "/agui", `{"threadId": "`+thread+`", "runId": "r", "messages": [{"id": "m", "role": "user", "content": "How many days of leave?"}]}`, "Authorization", "Bearer "+bert)
	if status != http.StatusOK || !strings.Contains(body, `"there is no such thread"`) || strings.Contains(body, "26 days") {
		t.Errorf("AG-UI on a thread of another owner: %d %s", status, body)
	}
	if after := h.want(t, 200, "GET", "/threads/"+thread+"/state", anna, ""); fmt.Sprint(after) != fmt.Sprint(before) {
		t.Errorf("%v\nwas %v", after, before)
	}
}

// TestRevokedStreams: the open streams of a token end with it, and none is opened again.
func TestRevokedStreams(t *testing.T) {
	t.Parallel()
	m := llmtest.Hold(leaveAnswer)
	h := open(t, server.Options{Token: true}, func(c *ragflow.Config) { c.Models = ragflow.Models{Chat: m} })
	anna := h.token(t, tokens.Token{Name: "anna", Owner: "anna", Scopes: []tokens.Scope{tokens.Ask}})
	h.restart(t)
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- h.Serve(ctx, l) }()
	defer func() {
		close(m.Release)
		end()
		if err := <-served; err != nil {
			t.Error(err)
		}
	}()
	run := h.want(t, 202, "POST", "/api/ask", anna, `{"question": "How many days of leave?", "thread_id": "mine", "start": true}`)["run_id"].(string)
	happens(t, m.Asked, "the question")
	open := func(method, path, body string) *http.Response {
		r, err := http.NewRequestWithContext(t.Context(), method, "http://"+l.Addr().String()+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		r.Header.Set("Authorization", "Bearer "+anna)
		r.Header.Set("Accept", "text/event-stream")
		r.Header.Set("Last-Event-Id", "")
		response, err := http.DefaultClient.Do(r)
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = response.Body.Close() })
		return response
	}
	streams := []struct{ method, path, body string }{
		{"GET", "/api/runs/" + run + "/events", ""},
		{"POST", "/threads/mine/stream/events", `{"channels": ["lifecycle", "values"]}`},
		{"POST", "/v1/chat/completions", `{"model": "ragflow", "stream": true, "messages": [{"role": "user", "content": "How many days of leave?"}]}`},
		{"POST", "/runs/stream", `{"assistant_id": "ragflow", "input": {"messages": [{"role": "user", "content": "How many days of leave?"}]}, "stream_mode": ["values"]}`},
	}
	ended := make(chan time.Time)
	for _, s := range streams {
		response := open(s.method, s.path, s.body) //nolint:bodyclose // at the end of the test
		if response.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s", s.path, response.Status)
		}
		go func() {
			_, _ = io.Copy(io.Discard, bufio.NewReader(response.Body))
			ended <- time.Now()
		}()
	}
	revoked := time.Now()
	if err := h.folder.Revoke("anna"); err != nil {
		t.Fatal(err)
	}
	for range streams {
		select {
		case at := <-ended:
			if took := at.Sub(revoked); took > 5*time.Second { // 0.5 s on an idle machine
				t.Errorf("a stream ended after %s", took)
			}
		case <-time.After(20 * time.Second):
			t.Fatal("a stream stays open")
		}
	}
	for _, s := range streams {
		if response := open(s.method, s.path, s.body); response.StatusCode != http.StatusUnauthorized { //nolint:bodyclose // as above
			t.Errorf("%s again: %s", s.path, response.Status)
		}
	}
}
