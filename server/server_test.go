package server_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/llm"
	"example.com/ragflow/server"
)

const leave = "# Leave\n\nEvery employee has 26 days of paid leave a year.\n"

// house is a server over an assistant with one document and one collection.
type house struct {
	*server.Server

	a      *ragflow.Assistant
	folder tokens.Folder
}

func open(t *testing.T, o server.Options, change func(*ragflow.Config)) house {
	t.Helper()
	dir := t.TempDir()
	docs := filepath.Join(dir, "docs")
	if err := os.MkdirAll(docs, 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(docs, "leave.md"), []byte(leave), 0o600); err != nil {
		t.Fatal(err)
	}
	c := ragflow.Config{DataDir: filepath.Join(dir, "data"), Docs: []string{docs}}
	if change != nil {
		change(&c)
	}
	a, err := ragflow.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	h := house{a: a, folder: tokens.In(c.DataDir)}
	o.Tokens = string(h.folder)
	if h.Server, err = server.New(a, o); err != nil {
		t.Fatal(err)
	}
	return h
}

// ask sends a request and returns the status and the body.
func (h house) ask(method, path, secret, body string) (int, string) {
	r := httptest.NewRequestWithContext(context.Background(), method, "http://localhost"+path, strings.NewReader(body))
	if secret != "" {
		r.Header.Set("Authorization", "Bearer "+secret)
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	return w.Code, w.Body.String()
}

// want sends a request and fails unless the status is the one given. It decodes the reply.
func (h house) want(t *testing.T, status int, method, path, secret, body string) map[string]any {
	t.Helper()
	code, text := h.ask(method, path, secret, body)
	if code != status {
		t.Fatalf("%s %s: %d, want %d: %s", method, path, code, status, text)
	}
	var out map[string]any
	if text != "" {
		if err := json.Unmarshal([]byte(text), &out); err != nil {
			t.Fatalf("%s %s: %v: %s", method, path, err, text)
		}
	}
	return out
}

// token adds a token before the server is asked for the first time.
func (h house) token(t *testing.T, x tokens.Token) string {
	t.Helper()
	secret, err := h.folder.Add(x)
	if err != nil {
		t.Fatal(err)
	}
	return secret
}

// TestAskAndRead is the way of one question through our own interface.
func TestAskAndRead(t *testing.T) {
	t.Parallel()
	h := open(t, server.Options{}, nil)
	reply := h.want(t, 200, "POST", "/api/ask", "", `{"question": "How many days of leave?"}`)
	thread, run := reply["thread_id"].(string), reply["run_id"].(string)
	if !strings.Contains(reply["answer"].(string), "26 days") {
		t.Fatalf("%v", reply["answer"])
	}
	h.want(t, 200, "POST", "/api/ask", "", `{"question": "And of what?", "thread_id": "`+thread+`"}`)
	if got := h.want(t, 200, "GET", "/api/threads?limit=5", "", "")["threads"].([]any); len(got) != 1 {
		t.Errorf("%v", got)
	}
	if got := h.want(t, 200, "GET", "/api/threads/"+thread, "", "")["messages"].([]any); len(got) != 4 {
		t.Errorf("%v", got)
	}
	if got := h.want(t, 200, "GET", "/api/runs/"+run, "", ""); got["answer"] != reply["answer"] {
		t.Errorf("%v", got)
	}
	if code, text := h.ask("GET", "/api/runs/"+run+"/flow_trace.md", "", ""); code != 200 || !strings.Contains(text, "check_and_refine") {
		t.Errorf("%d %s", code, text)
	}
	if got := h.want(t, 200, "PATCH", "/api/threads/"+thread, "", `{"title": "Leave"}`); got["title"] != "Leave" {
		t.Errorf("%v", got)
	}
	if got := h.want(t, 200, "POST", "/api/search", "", `{"query": "paid leave", "limit": 3}`)["hits"].([]any); len(got) != 1 {
		t.Errorf("%v", got)
	}
	h.want(t, 204, "POST", "/api/threads/"+thread+"/undo", "", "")
	h.want(t, 200, "POST", "/api/feedback", "", `{"thread_id": "`+thread+`", "good": false, "note": "too short"}`)
	h.want(t, 200, "POST", "/api/feedback", "", `{"run_id": "`+run+`", "good": true}`)
	rated := h.want(t, 200, "GET", "/api/feedback?thread_id="+thread, "", "")["feedback"].([]any)
	if len(rated) != 2 || rated[0].(map[string]any)["rating"] != "up" || rated[0].(map[string]any)["run_id"] != run {
		t.Errorf("%v", rated)
	}
	if alike := h.want(t, 200, "GET", "/api/feedback?like=volcano", "", "")["feedback"].([]any); len(alike) != 0 {
		t.Errorf("%v", alike)
	}
	if one := h.want(t, 200, "GET", "/api/feedback?limit=1&like="+url.QueryEscape(rated[0].(map[string]any)["question"].(string)), "", "")["feedback"].([]any); len(one) != 1 {
		t.Errorf("%v", one)
	}
	if one := h.want(t, 200, "GET", "/api/feedback?limit=1", "", "")["feedback"].([]any); len(one) != 1 {
		t.Errorf("%v", one)
	}
	h.want(t, 409, "POST", "/api/runs/"+run+"/cancel", "", "") // it has ended
	h.want(t, 204, "DELETE", "/api/threads/"+thread, "", "")
	h.want(t, 404, "GET", "/api/threads/"+thread, "", "")
}

// TestRequestsThatMakeNoSense get an error that says so, and are no fault of the server.
func TestRequestsThatMakeNoSense(t *testing.T) {
	t.Parallel()
	h := open(t, server.Options{}, nil)
	deep := strings.Repeat("[", 100_000)
	for _, c := range []struct {
		status             int
		method, path, body string
	}{
		{422, "POST", "/api/ask", ""},
		{422, "POST", "/api/ask", "{"},
		{422, "POST", "/api/ask", deep},
		{422, "POST", "/api/ask", `{"question": "x", "nosuch": 1}`},
		{422, "POST", "/api/ask", `{"question": "  "}`},
		{422, "POST", "/api/ask", `{"question": "x", "filter": ["=="]}`},
		{422, "POST", "/api/ask", `{"question": "x", "model": "nosuch"}`},
		{404, "POST", "/api/ask", `{"question": "x", "collections": ["nosuch"]}`},
		{404, "POST", "/api/ask", `{"thread_id": "nosuch", "resume": true}`},
		{413, "POST", "/api/ask", `{"question": "` + strings.Repeat("x", 2<<20) + `"}`},
		{422, "POST", "/api/search", `{"query": "x", "limit": 1000}`},
		{422, "GET", "/api/threads?limit=x", ""},
		{422, "GET", "/api/threads?limit=-1", ""},
		{404, "GET", "/api/runs/nosuch", ""},
		{404, "GET", "/api/runs/nosuch/events", ""},
		{404, "GET", "/api/jobs/nosuch", ""},
		{404, "POST", "/api/feedback", `{"thread_id": "nosuch", "good": true}`},
		{404, "POST", "/api/feedback", `{"run_id": "nosuch", "good": true}`},
		{422, "POST", "/api/feedback", `{"run_id": "nosuch", "thread_id": "x", "good": true}`},
		{422, "POST", "/api/feedback", `{"good": true}`},
		{422, "GET", "/api/feedback?limit=1001", ""},
		{422, "POST", "/api/threads", `{}`},
		{404, "POST", "/api/threads/nosuch/fork", ""},
		{404, "POST", "/api/threads/nosuch/undo", ""},
		{404, "GET", "/api/nosuch", ""},
		{405, "PUT", "/api/ask", ""},
	} {
		if code, text := h.ask(c.method, c.path, "", c.body); code != c.status {
			t.Errorf("%s %s %.60s: %d, want %d: %.200s", c.method, c.path, c.body, code, c.status, text)
		}
	}
}

// TestForeignIsUnknown: what belongs to another owner answers as what does not exist, byte for byte.
func TestForeignIsUnknown(t *testing.T) {
	t.Parallel()
	h := open(t, server.Options{Token: true}, nil)
	anna := h.token(t, tokens.Token{Name: "anna", Owner: "anna", Scopes: []tokens.Scope{tokens.Admin}})
	bert := h.token(t, tokens.Token{Name: "bert", Owner: "bert", Scopes: []tokens.Scope{tokens.Admin}})
	s, err := server.New(h.a, server.Options{Token: true, Tokens: string(h.folder)})
	if err != nil {
		t.Fatal(err)
	}
	h.Server = s
	reply := h.want(t, 200, "POST", "/api/ask", anna, `{"question": "How many days of leave?"}`)
	thread, run := reply["thread_id"].(string), reply["run_id"].(string)
	for _, c := range []struct{ method, path, body string }{
		{"GET", "/api/threads/THREAD", ""},
		{"GET", "/api/threads/THREAD/export", ""},
		{"PATCH", "/api/threads/THREAD", `{"title": "x"}`},
		{"DELETE", "/api/threads/THREAD", ""},
		{"POST", "/api/threads/THREAD/undo", ""},
		{"POST", "/api/ask", `{"thread_id": "THREAD", "resume": true}`},
		{"POST", "/api/feedback", `{"thread_id": "THREAD", "good": true}`},
		{"POST", "/api/feedback", `{"run_id": "RUN", "good": true}`},
		{"POST", "/api/threads/THREAD/fork", ""},
		{"GET", "/api/runs/RUN", ""},
		{"GET", "/api/runs/RUN/events", ""},
		{"GET", "/api/runs/RUN/answer.md", ""},
		{"POST", "/api/runs/RUN/cancel", ""},
	} {
		fill := func(thread, run string) (int, string) {
			r := strings.NewReplacer("THREAD", thread, "RUN", run)
			code, text := h.ask(c.method, r.Replace(c.path), bert, r.Replace(c.body))
			return code, strings.NewReplacer(thread, "", run, "").Replace(text)
		}
		foreign, foreignText := fill(thread, run)
		unknown, unknownText := fill("00000000-0000-7000-8000-000000000000", "00000000-0000-7000-8000-000000000001")
		if foreign != 404 || foreign != unknown || foreignText != unknownText {
			t.Errorf("%s %s:\nforeign %d %s\nunknown %d %s", c.method, c.path, foreign, foreignText, unknown, unknownText)
		}
	}
	if got := h.want(t, 200, "GET", "/api/threads", bert, "")["threads"].([]any); len(got) != 0 {
		t.Errorf("a foreign list: %v", got)
	}
	h.want(t, 200, "GET", "/api/threads/"+thread, anna, "")
}

// TestAnalytics: the log is summed up for an administrator alone, and only of the collections that
// the token may use.
func TestAnalytics(t *testing.T) {
	t.Parallel()
	h := open(t, server.Options{Token: true}, nil)
	for _, name := range []string{"law", "sales"} {
		l, err := h.a.Collections().Make(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.PutText(t.Context(), "note", "Note", "The fee of "+name+" is 12 euros.", nil); err != nil {
			t.Fatal(err)
		}
	}
	anna := h.token(t, tokens.Token{Name: "anna", Owner: "anna", Scopes: []tokens.Scope{tokens.Ask, tokens.Read}})
	admin := h.token(t, tokens.Token{Name: "admin", Owner: "admin", Scopes: []tokens.Scope{tokens.Admin}})
	law := h.token(t, tokens.Token{Name: "law", Owner: "law", Scopes: []tokens.Scope{tokens.Admin}, Collections: []string{"law"}})
	s, err := server.New(h.a, server.Options{Token: true, Tokens: string(h.folder)})
	if err != nil {
		t.Fatal(err)
	}
	h.Server = s
	h.want(t, 200, "POST", "/api/ask", anna, `{"question": "What is the fee of law?", "collections": ["law"]}`)
	h.want(t, 200, "POST", "/api/ask", anna, `{"question": "What is the fee of sales?", "collections": ["sales"]}`)
	h.want(t, 200, "POST", "/api/ask", anna, `{"question": "What are the fees?", "collections": ["law", "sales"]}`)
	h.want(t, 200, "POST", "/api/search", law, `{"query": "fee", "collections": ["law"]}`)
	for _, tt := range []struct {
		token, query        string
		questions, searches float64
	}{
		{admin, "", 3, 1},
		{admin, "?days=1&collection=sales", 1, 0},
		{admin, "?owner=law", 0, 1},
		{admin, "?owner=anna&collection=law", 1, 0},
		{law, "", 1, 1},
		{law, "?collection=law&days=3650", 1, 1},
	} {
		got := h.want(t, 200, "GET", "/api/analytics"+tt.query, tt.token, "")
		if got["questions"] != tt.questions || got["searches"] != tt.searches {
			t.Errorf("%q: %v questions, %v searches, want %v and %v", tt.query, got["questions"], got["searches"], tt.questions, tt.searches)
		}
		if text := fmt.Sprint(got); tt.token == law && strings.Contains(text, "sales") {
			t.Errorf("%q: the token of law sees %s", tt.query, text)
		}
	}
	h.want(t, 404, "GET", "/api/analytics?collection=sales", law, "")
	for _, days := range []string{"-1", "soon", "3651"} {
		if got := fmt.Sprint(h.want(t, 422, "GET", "/api/analytics?days="+days, admin, "")); !strings.Contains(got, days+`", but must be a number from 0 to 3650`) {
			t.Errorf("days=%s: %s", days, got)
		}
	}
	h.want(t, 403, "GET", "/api/analytics", anna, "")
	h.want(t, 401, "GET", "/api/analytics", "", "")
}

// TestCollectionsOfTokens: a token with collections uses no other one.
func TestCollectionsOfTokens(t *testing.T) {
	t.Parallel()
	h := open(t, server.Options{Token: true}, nil)
	for _, name := range []string{"law", "sales"} {
		l, err := h.a.Collections().Make(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := l.PutText(t.Context(), "note", "Note", "The fee of "+name+" is 12 euros.", nil); err != nil {
			t.Fatal(err)
		}
	}
	law := h.token(t, tokens.Token{Name: "law", Owner: "law", Scopes: []tokens.Scope{tokens.Admin}, Collections: []string{"law"}})
	s, err := server.New(h.a, server.Options{Token: true, Tokens: string(h.folder)})
	if err != nil {
		t.Fatal(err)
	}
	h.Server = s
	if got := h.want(t, 200, "GET", "/api/collections", law, ""); len(got["collections"].([]any)) != 1 {
		t.Errorf("%v", got)
	}
	if _, found := h.ask("POST", "/api/search", law, `{"query": "fee"}`); !strings.Contains(found, "fee of law") || strings.Contains(found, "fee of sales") {
		t.Errorf("%s", found)
	}
	_, unknown := h.ask("POST", "/api/search", law, `{"query": "fee", "collections": ["nosuch"]}`)
	for _, c := range []struct{ method, path, body string }{
		{"POST", "/api/ask", `{"question": "fee", "collections": ["sales"]}`},
		{"POST", "/api/search", `{"query": "fee", "collections": ["sales"]}`},
		{"GET", "/api/documents?collection=sales", ""},
		{"GET", "/api/documents/note.md?collection=sales", ""},
		{"PUT", "/api/documents/note.md?collection=sales", "x"},
		{"DELETE", "/api/documents/note.md?collection=sales", ""},
		{"DELETE", "/api/collections/sales", ""},
		{"GET", "/api/jobs?collection=sales", ""},
	} {
		code, text := h.ask(c.method, c.path, law, c.body)
		if code != 404 || text != unknown {
			t.Errorf("%s %s: %d %s", c.method, c.path, code, text)
		}
	}
}

// TestUpload puts a document, finds it, and refuses names that lead elsewhere.
func TestUpload(t *testing.T) {
	t.Parallel()
	h := open(t, server.Options{}, nil)
	h.want(t, 204, "PUT", "/api/collections/law", "", "")
	h.want(t, 409, "PUT", "/api/collections/law", "", "")
	d := h.want(t, 201, "PUT", "/api/documents/fees/2026.md?collection=law", "", "# Fees\n\nThe court fee is 30 euros.\n")
	if d["status"] != "indexed" {
		t.Errorf("%v", d)
	}
	if got := h.want(t, 200, "POST", "/api/ask", "", `{"question": "How high is the court fee?", "collections": ["law"]}`)["answer"].(string); !strings.Contains(got, "30 euros") {
		t.Errorf("%s", got)
	}
	if code, text := h.ask("GET", "/api/documents/fees/2026.md?collection=law", "", ""); code != 200 || !strings.HasPrefix(text, "# Fees") {
		t.Errorf("%d %s", code, text)
	}
	for _, name := range []string{"..%2Fx.md", "%2Fetc%2Fx.md", "CON.md", "a%00.md", ".hidden.md", "x.md%2F..%2F..%2Fy.md", strings.Repeat("n", 300) + ".md", strings.Repeat("n", 600) + ".md", "trailing.md%20", "C:%5Cx.md", "trailing.md."} {
		if code, text := h.ask("PUT", "/api/documents/"+name+"?collection=law", "", "x"); code < 400 || code >= 500 {
			t.Errorf("%s: %d %s", name, code, text)
		}
	}
	composed, decomposed := "/api/documents/caf%C3%A9.md?collection=law", "/api/documents/cafe%CC%81.md?collection=law"
	h.want(t, 201, "PUT", composed, "", "one")
	h.want(t, 201, "PUT", decomposed, "", "two")
	_, one := h.ask("GET", composed, "", "")
	if _, two := h.ask("GET", decomposed, "", ""); runtime.GOOS != "darwin" && (one != "one" || two != "two") { // whose files have one form
		t.Errorf("two forms of one name: %q, %q", one, two)
	}
	h.want(t, 204, "PUT", "/api/collections/sales", "", "")
	h.want(t, 201, "PUT", "/api/documents/fees/2026.md?collection=sales", "", "another")
	if _, text := h.ask("GET", "/api/documents/fees/2026.md?collection=law", "", ""); !strings.HasPrefix(text, "# Fees") {
		t.Errorf("the document of another collection took its place: %q", text)
	}
	h.want(t, 204, "DELETE", "/api/documents/fees/2026.md?collection=law", "", "")
	h.want(t, 404, "DELETE", "/api/documents/fees/2026.md?collection=law", "", "")
}

// leaveAnswer is what models say of the only document.
const leaveAnswer = "Every employee has 26 days of paid leave a year [Source 1]."

// happens waits for a channel.
func happens(t *testing.T, c <-chan struct{}, what string) {
	t.Helper()
	select {
	case <-c:
	case <-time.After(10 * time.Second):
		t.Fatal(what + " does not happen")
	}
}

// serve makes a server whose answers are written by a slow model, and its address.
func serve(t *testing.T, m llmtest.Held) (house, string) {
	t.Helper()
	h := open(t, server.Options{}, func(c *ragflow.Config) { c.Models = ragflow.Models{Chat: m} })
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return h, s.URL
}

// post begins a request and returns its response. The client leaves when the context ends.
func post(ctx context.Context, t *testing.T, url, accept, body string) (*http.Response, error) {
	t.Helper()
	r, err := http.NewRequestWithContext(ctx, http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Accept", accept)
	r.Header.Set("Content-Type", "application/json")
	return http.DefaultClient.Do(r)
}

// TestStart: a run that was started continues when its readers leave, and is read again from a position.
func TestStart(t *testing.T) {
	t.Parallel()
	m := llmtest.Hold(leaveAnswer)
	h, url := serve(t, m)
	run := h.want(t, 202, "POST", "/api/ask", "", `{"question": "How many days of leave?", "start": true}`)["run_id"].(string)
	happens(t, m.Asked, "the question")
	ctx, leave := context.WithCancel(t.Context())
	r, _ := http.NewRequestWithContext(ctx, http.MethodGet, url+"/api/runs/"+run+"/events", nil)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	last := ""
	for in := bufio.NewScanner(response.Body); last == "" && in.Scan(); {
		last, _ = strings.CutPrefix(in.Text(), "id: ")
		if !strings.HasPrefix(in.Text(), "id: ") {
			last = ""
		}
	}
	leave()
	_ = response.Body.Close()
	if got := h.want(t, 200, "GET", "/api/runs", "", "")["runs"].([]any); len(got) != 1 {
		t.Errorf("under way: %v", got)
	}
	close(m.Release)
	code, text := h.ask("GET", "/api/runs/"+run+"/events?after="+last, "", "")
	if code != 200 || strings.Contains(text, "id: "+last+"\n") || !strings.Contains(text, "event: done") || !strings.Contains(text, "26 days") {
		t.Errorf("%d after %s: %s", code, last, text)
	}
	if again, twice := h.ask("GET", "/api/runs/"+run+"/events", "", ""); again != 200 || !strings.Contains(twice, "event: done") {
		t.Errorf("from the log: %d %s", again, twice)
	}
}

// TestDescription: every endpoint of our own interface is described.
func TestDescription(t *testing.T) {
	t.Parallel()
	h := open(t, server.Options{}, nil)
	described := h.want(t, 200, "GET", "/api/openapi.json", "", "")["paths"].(map[string]any)
	for _, route := range h.Routes() {
		method, path, _ := strings.Cut(route.Pattern, " ")
		if !strings.HasPrefix(path, "/api/") || path == "/api/openapi.json" {
			continue
		}
		operation, ok := described[strings.ReplaceAll(path, "...", "")].(map[string]any)[strings.ToLower(method)].(map[string]any)
		if !ok || operation["summary"] == "" {
			t.Errorf("%s is not described", route.Pattern)
		}
	}
	if code, page := h.ask("GET", "/api", "", ""); code != 200 || !strings.Contains(page, "POST /api/ask") {
		t.Errorf("%d %s", code, page)
	}
}

// TestServe: a server that ends lets a run save its step, and its streams end.
func TestServe(t *testing.T) {
	t.Parallel()
	m := llmtest.Hold(leaveAnswer)
	h := open(t, server.Options{}, func(c *ragflow.Config) { c.Models = ragflow.Models{Chat: m} })
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, end := context.WithCancel(t.Context())
	served := make(chan error, 1)
	go func() { served <- h.Serve(ctx, l) }()
	url := "http://" + l.Addr().String()
	reader := make(chan string, 1)
	go func() {
		r, err := post(t.Context(), t, url+"/api/ask", "text/event-stream", `{"question": "How many days of leave?"}`)
		if err != nil {
			reader <- err.Error()
			return
		}
		defer func() { _ = r.Body.Close() }()
		text, _ := io.ReadAll(r.Body)
		reader <- string(text)
	}()
	happens(t, m.Asked, "the question")
	end()
	close(m.Release)
	if err := <-served; err != nil {
		t.Error(err)
	}
	if text := <-reader; !strings.Contains(text, "event: done") && !strings.Contains(text, "event: error") {
		t.Errorf("%s", text)
	}
}

// TestLangGraph: a client of LangGraph asks, reads the state and asks again; a foreign thread does not exist.
func TestLangGraph(t *testing.T) {
	t.Parallel()
	h := open(t, server.Options{Token: true}, nil)
	anna := h.token(t, tokens.Token{Name: "anna", Owner: "anna", Scopes: []tokens.Scope{tokens.Ask}})
	bert := h.token(t, tokens.Token{Name: "bert", Owner: "bert", Scopes: []tokens.Scope{tokens.Ask}, Collections: []string{"other"}})
	s, err := server.New(h.a, server.Options{Token: true, Tokens: string(h.folder)})
	if err != nil {
		t.Fatal(err)
	}
	h.Server = s
	thread := h.want(t, 200, "POST", "/threads", anna, `{}`)["thread_id"].(string)
	run := `{"assistant_id": "ragflow", "input": {"messages": [{"type": "human", "content": [{"type": "text", "text": "How many days of leave?"}]}]}`
	out := h.want(t, 200, "POST", "/threads/"+thread+"/runs/wait", anna, run+`}`)
	messages := out["messages"].([]any)
	answer := messages[1].(map[string]any)
	if len(messages) != 2 || answer["type"] != "ai" || !strings.Contains(answer["content"].(string), "26 days") || answer["id"] != "answer-"+messages[0].(map[string]any)["id"].(string) {
		t.Errorf("%v", out)
	}
	code, body := h.ask("POST", "/threads/"+thread+"/runs/stream", anna, run+`, "stream_mode": ["messages-tuple", "values"]}`)
	if code != 200 || !strings.Contains(body, "event: messages\n") {
		t.Errorf("%d %s", code, body)
	}
	if code, text := h.ask("GET", "/threads/"+thread+"/state", bert, ""); code != 404 || !strings.Contains(text, "not found") {
		t.Errorf("%d %s", code, text)
	}
	if out := h.want(t, 200, "POST", "/runs/wait", bert, run+`, "context": {"collections": ["secret"]}}`); out["__error__"] == nil {
		t.Errorf("%v", out)
	}
	h.want(t, 422, "POST", "/runs/wait", bert, run+`, "context": {"model": "x"}}`)
	if len(h.a.Runs().List(t.Context())) != 0 {
		t.Error("runs are left")
	}
}

// writing is a model that writes word by word.
type writing struct{ llmtest.Held }

func (m writing) Complete(ctx context.Context, q llm.Request, piece func(string)) (llm.Response, error) {
	r, err := m.Held.Complete(ctx, q, piece)
	if err == nil && piece != nil {
		for word := range strings.SplitAfterSeq(r.Text, " ") {
			piece(word)
		}
	}
	return r, err
}

// TestLangGraphTokens: words come with the id of the message that the state has in the end, and its citations as annotations.
func TestLangGraphTokens(t *testing.T) {
	t.Parallel()
	m := llmtest.Hold(leaveAnswer)
	close(m.Release)
	h := open(t, server.Options{}, func(c *ragflow.Config) { c.Models.Chat = writing{m} })
	input := `"assistant_id": "ragflow", "input": {"messages": [{"type": "human", "id": "q1", "content": "How many days of leave?"}]}`
	_, body := h.ask("POST", "/runs/stream", "", `{`+input+`, "stream_mode": ["messages-tuple", "values"]}`)
	chunks := strings.Count(body, `"id":"answer-q1","response_metadata":{},"tool_call_chunks":[],"type":"AIMessageChunk"`)
	if last := body[strings.LastIndex(body, "event: values"):]; chunks < 5 || !strings.Contains(last, `"id":"answer-q1"`) || !strings.Contains(last, "26 days") {
		t.Errorf("%d pieces: %s", chunks, body)
	}
	h.want(t, 200, "POST", "/threads/t/commands", "", `{"id": 1, "method": "run.start", "params": {`+input+`}}`)
	s := httptest.NewServer(h)
	defer s.Close()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	r, err := http.NewRequestWithContext(ctx, "POST", s.URL+"/threads/t/stream/events", strings.NewReader(`{"channels": ["messages", "lifecycle"]}`))
	if err != nil {
		t.Fatal(err)
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer resp.Body.Close()
	deltas, finish := 0, ""
	for lines := bufio.NewScanner(resp.Body); lines.Scan() && !strings.Contains(lines.Text(), `"event":"completed"`); {
		deltas += strings.Count(lines.Text(), "text-delta")
		if strings.Contains(lines.Text(), "content-block-finish") {
			finish = lines.Text()
		}
	}
	if deltas < 5 || !strings.Contains(finish, `"annotations":[{"cited_text":"Every employee has 26 days of paid leave a year."`) ||
		!strings.Contains(finish, `"end_index":58`) || !strings.Contains(finish, `"start_index":48`) {
		t.Errorf("%d pieces, %s", deltas, finish)
	}
}

// TestObserve: each request that may use its route is told with its pattern, its id and its status, and its context is
// the one that was returned.
func TestObserve(t *testing.T) {
	t.Parallel()
	var got []string
	type key struct{}
	o := server.Options{
		Metrics: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			_, _ = io.WriteString(w, fmt.Sprint(r.Context().Value(key{})))
		}),
		Observe: func(r *http.Request, route, id string) (context.Context, func(int)) {
			return context.WithValue(r.Context(), key{}, route), func(status int) {
				got = append(got, fmt.Sprint(route, " ", len(id), " ", status))
			}
		},
	}
	h := open(t, o, nil)
	reader := h.token(t, tokens.Token{Name: "reader", Scopes: []tokens.Scope{tokens.Read}})
	admin := h.token(t, tokens.Token{Name: "admin", Scopes: []tokens.Scope{tokens.Admin}})
	var err error
	o.Tokens = string(h.folder)
	if h.Server, err = server.New(h.a, o); err != nil {
		t.Fatal(err)
	}
	if code, text := h.ask("GET", "/metrics", "", ""); code != 200 || text != "GET /metrics" {
		t.Errorf("%d %s", code, text)
	}
	if code, _ := h.ask("GET", "/metrics", admin, ""); code != 200 {
		t.Errorf("an admin gets %d", code)
	}
	h.want(t, 403, "GET", "/metrics", reader, "")
	h.want(t, 404, "GET", "/api/threads/nosuch", "", "")
	if code, _ := h.ask("GET", "/healthz", "", ""); code != 200 {
		t.Errorf("healthz: %d", code)
	}
	want := []string{"GET /metrics 26 200", "GET /metrics 26 200", "GET /api/threads/{id} 26 404"}
	if !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	if code, _ := open(t, server.Options{}, nil).ask("GET", "/metrics", "", ""); code != 404 {
		t.Errorf("without metrics: %d", code)
	}
}
