package langgraph_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
	"example.com/ragflow/graph/untyped"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/longterm"
	"example.com/ragflow/server/internal/door"
	"example.com/ragflow/server/internal/langgraph"
)

type message struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Content string `json:"content"`
}

type order struct {
	Messages []message `json:"messages,omitempty"`
	Item     string    `json:"item,omitempty"`
	Price    int       `json:"price,omitempty"`
	Paid     bool      `json:"paid,omitempty"`

	Was json.RawMessage `json:"was,omitempty"` // of an update: the state to go back to
}

// shop is a graph that asks before it pays. "slow" waits until it is cancelled, "bad" fails.
func shop(t *testing.T) untyped.Runner {
	t.Helper()
	plan, err := graph.Compile(graph.Graph[order, order]{
		Name: "shop",
		Apply: func(s, u order) (order, error) {
			if u.Was != nil {
				s = order{}
				err := json.Unmarshal(u.Was, &s)
				return s, err
			}
			s.Messages = append(slices.Clip(s.Messages), u.Messages...)
			if u.Item != "" {
				s.Item, s.Paid = u.Item, false
			}
			if u.Price != 0 {
				s.Price = u.Price
			}
			s.Paid = s.Paid || u.Paid
			return s, nil
		},
		Restore: func(_, then order) ([]order, error) {
			body, err := json.Marshal(then)
			return []order{{Was: body}}, err
		},
		Nodes: map[string]graph.Task[order, order]{
			"price": {Run: func(ctx context.Context, s order) (order, error) {
				graph.Emit(ctx, map[string]string{"seen": s.Item})
				switch s.Item {
				case "slow":
					<-ctx.Done()
					return order{}, ctx.Err()
				case "bad":
					return order{}, errors.New("no such item")
				}
				return order{Price: len(s.Item)}, nil
			}},
			"pay": {Run: func(ctx context.Context, s order) (order, error) {
				yes, err := graph.Ask[bool](ctx, "pay", map[string]int{"pay": s.Price})
				if err != nil {
					return order{}, err
				}
				id := "m-" + s.Item
				for _, word := range []string{"it is ", "paid"} {
					graph.Emit(ctx, map[string]string{"type": "AIMessageChunk", "id": id, "content": word})
				}
				return order{Paid: yes, Messages: []message{{id, "ai", "it is paid"}}}, nil
			}},
		},
		Edges: graph.Chain(graph.Start, "price", "pay", graph.End),
	})
	if err != nil {
		t.Fatal(err)
	}
	return untyped.Of(plan.Runner(graph.Options{Store: memstore.New()}))
}

// fixture is a server of graphs.
type fixture struct {
	*testing.T
	url string
}

func serve(t *testing.T, graphs map[string]untyped.Runner) fixture {
	t.Helper()
	facts, err := longterm.Open(t.Context(), ":memory:", longterm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	logger := slog.New(slog.DiscardHandler)
	keys := door.NewKeys(tokens.Folder(""), time.Now, logger)
	routes, err := langgraph.Routes(graphs, facts, "test")
	if err != nil {
		t.Fatal(err)
	}
	gate, err := door.NewGate(door.Rules{}, keys, logger, routes...)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gate)
	t.Cleanup(func() { server.Close(); _ = facts.Close() })
	return fixture{t, server.URL}
}

// request sends a request; the caller closes the body.
func (f fixture) request(ctx context.Context, method, path, body string, header ...string) *http.Response {
	f.Helper()
	r, err := http.NewRequestWithContext(ctx, method, f.url+path, strings.NewReader(body))
	if err != nil {
		f.Fatal(err)
	}
	for i := 0; i+1 < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		f.Fatal(err)
	}
	return resp
}

// do sends a request and fails unless the status is the one given.
func (f fixture) do(status int, method, path, body string) (out any) {
	f.Helper()
	resp := f.request(f.Context(), method, path, body)
	defer resp.Body.Close()
	text, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != status {
		f.Fatalf("%s %s: %d, want %d: %s %v", method, path, resp.StatusCode, status, text, err)
	}
	if len(text) > 0 {
		if err := json.Unmarshal(text, &out); err != nil {
			f.Fatalf("%s %s: %v: %s", method, path, err, text)
		}
	}
	return out
}

// at returns a member of JSON by a path of keys and indices.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			m, _ := v.(map[string]any)
			v = m[p]
		case int:
			l, _ := v.([]any)
			if p >= len(l) {
				return nil
			}
			v = l[p]
		}
	}
	return v
}

// thread makes a thread.
func (f fixture) thread() string {
	f.Helper()
	return at(f.do(200, "POST", "/threads", `{}`), "thread_id").(string)
}

// sent is an event of a stream.
type sent struct{ event, id, data string }

// stream sends a request and reads the events of the response to their end, or until done, which may be nil, reports true.
func (f fixture) stream(ctx context.Context, done func(sent) bool, method, path, body string, header ...string) (out []sent, _ http.Header) {
	f.Helper()
	resp := f.request(ctx, method, path, body, header...)
	defer resp.Body.Close()
	return f.read(resp, done)
}

// read is the second half of stream. The caller closes the body.
func (f fixture) read(resp *http.Response, done func(sent) bool) (out []sent, _ http.Header) {
	f.Helper()
	if resp.StatusCode != 200 || resp.Header.Get("Content-Type") != "text/event-stream" {
		text, _ := io.ReadAll(resp.Body)
		f.Fatalf("%d %s", resp.StatusCode, text)
	}
	var e sent
	for lines := bufio.NewScanner(resp.Body); lines.Scan(); {
		line := lines.Text()
		field, value, _ := strings.Cut(line, ": ")
		switch field {
		case "event":
			e.event = value
		case "id":
			e.id = value
		case "data":
			e.data = value
		case "":
			if line == "" && e.event != "" {
				out = append(out, e)
				if done != nil && done(e) {
					return out, resp.Header
				}
				e = sent{}
			}
		}
	}
	return out, resp.Header
}

func names(list []sent) string {
	var out []string
	for _, e := range list {
		out = append(out, e.event)
	}
	return strings.Join(out, " ")
}

func TestAssistants(t *testing.T) {
	t.Parallel()
	f := serve(t, map[string]untyped.Runner{"agent": shop(t), "ragflow": shop(t)})
	list := f.do(200, "POST", "/assistants/search", `{}`)
	if at(list, 0, "name") != "ragflow" || at(list, 1, "assistant_id") != "fe096781-5601-53d2-b2f6-0d3403f7e9ca" {
		t.Errorf("%v", list)
	}
	for _, id := range []string{"agent", "fe096781-5601-53d2-b2f6-0d3403f7e9ca"} {
		if got := f.do(200, "GET", "/assistants/"+id, ""); at(got, "graph_id") != "agent" {
			t.Errorf("%v", got)
		}
	}
	if g := f.do(200, "GET", "/assistants/agent/graph?xray=false", ""); at(g, "nodes", 1, "data", "name") != "price" || at(g, "edges", 2, "target") != "__end__" {
		t.Errorf("%v", g)
	}
	if s := f.do(200, "GET", "/assistants/agent/schemas", ""); at(s, "state_schema", "properties", "item") == nil {
		t.Errorf("%v", s)
	}
	f.do(404, "GET", "/assistants/nope", "")
	f.do(405, "PATCH", "/assistants/agent", `{}`)
	f.do(200, "GET", "/ok", "")
	f.do(200, "GET", "/info", "")
	f.do(501, "POST", "/runs/crons/search", `{}`)
}

func TestThreads(t *testing.T) {
	t.Parallel()
	f := serve(t, map[string]untyped.Runner{"shop": shop(t)})
	made := f.do(200, "POST", "/threads", `{"thread_id":"t","metadata":{"a":1,"b":"x"}}`)
	if at(made, "status") != "idle" || at(made, "values") != nil || at(made, "metadata", "a") != 1.0 {
		t.Errorf("%v", made)
	}
	f.do(409, "POST", "/threads", `{"thread_id":"t"}`)
	f.do(200, "POST", "/threads", `{"thread_id":"t","if_exists":"do_nothing"}`)
	f.do(422, "POST", "/threads", `{"ttl":5}`)
	f.do(422, "POST", "/threads", `{"nonsense":5}`)
	if s := f.do(200, "GET", "/threads/t/state", ""); at(s, "checkpoint") != nil || at(s, "values") == nil {
		t.Errorf("%v", s)
	}
	if h := f.do(200, "POST", "/threads/t/history", `{"limit":5}`); len(h.([]any)) != 0 {
		t.Errorf("%v", h)
	}
	f.do(200, "PATCH", "/threads/t", `{"metadata":{"c":true}}`)
	f.thread()
	if n := f.do(200, "POST", "/threads/count", `{"metadata":{"a":1,"c":true}}`); n != 1.0 {
		t.Errorf("%v", n)
	}
	resp := f.request(t.Context(), "POST", "/threads/search", `{"limit":1,"select":["thread_id","status"]}`)
	body, _ := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if resp.Header.Get("X-Pagination-Total") != "2" || resp.Header.Get("X-Pagination-Next") != "1" || strings.Contains(string(body), "values") {
		t.Errorf("%v %s", resp.Header, body)
	}
	f.do(422, "POST", "/threads/search", `{"select":["nope"]}`)
	copied := at(f.do(200, "POST", "/threads/t/copy", ""), "thread_id").(string)
	f.do(204, "DELETE", "/threads/"+copied, "")
	f.do(404, "GET", "/threads/"+copied, "")
	if n := at(f.do(200, "POST", "/threads/prune", `{"thread_ids":["t","`+copied+`"]}`), "pruned_count"); n != 1.0 {
		t.Errorf("%v", n)
	}
	f.do(404, "GET", "/threads/t/state", "")
}

// TestAskAndResume: a run that asks, its state, and the run that answers.
func TestAskAndResume(t *testing.T) {
	t.Parallel()
	f := serve(t, map[string]untyped.Runner{"shop": shop(t)})
	id := f.thread()
	out := f.do(200, "POST", "/threads/"+id+"/runs/wait", `{"assistant_id":"shop","input":{"item":"book","messages":[{"type":"human","content":"hi","id":"u1"}]}}`)
	if at(out, "price") != 4.0 || at(out, "__interrupt__", 0, "value", "pay") != 4.0 || at(out, "__interrupt__", 0, "response_schema", "type") != "boolean" {
		t.Fatalf("%v", out)
	}
	row := f.do(200, "GET", "/threads/"+id, "")
	if at(row, "status") != "interrupted" || at(row, "metadata", "graph_id") != "shop" || len(at(row, "interrupts").(map[string]any)) != 1 {
		t.Errorf("%v", row)
	}
	s := f.do(200, "GET", "/threads/"+id+"/state", "")
	if at(s, "next", 0) != "pay" || at(s, "tasks", 0, "interrupts", 0, "id") != "pay/pay" || at(s, "values", "messages", 0, "id") != "u1" {
		t.Errorf("%v", s)
	}
	f.do(422, "POST", "/threads/"+id+"/runs/wait", `{"assistant_id":"shop","command":{"resume":true,"goto":"price"}}`)
	out = f.do(200, "POST", "/threads/"+id+"/runs/wait", `{"assistant_id":"shop","command":{"resume":true}}`)
	if at(out, "paid") != true || at(out, "messages", 1, "id") != "m-book" {
		t.Errorf("%v", out)
	}
	runs := f.do(200, "GET", "/threads/"+id+"/runs", "").([]any)
	if len(runs) != 2 || at(runs, 0, "status") != "success" || at(runs, 1, "status") != "success" {
		t.Errorf("%v", runs)
	}
	h := f.do(200, "POST", "/threads/"+id+"/history", `{"limit":10}`).([]any)
	if len(h) != 3 || at(h, 0, "parent_checkpoint_id") != at(h, 1, "checkpoint_id") || at(h, 2, "parent_checkpoint") != nil || at(h, 1, "tasks", 0, "result", "paid") != true {
		t.Errorf("%d %v", len(h), h)
	}
	first := at(h, 2, "checkpoint_id").(string)
	if s := f.do(200, "GET", "/threads/"+id+"/state/"+first, ""); at(s, "values", "price") != nil || at(s, "next", 0) != "price" {
		t.Errorf("%v", s)
	}
	// Time travel: the run continues at an earlier checkpoint.
	out = f.do(200, "POST", "/threads/"+id+"/runs/wait", `{"assistant_id":"shop","input":{"item":"pen"},"checkpoint":{"checkpoint_id":"`+first+`"}}`)
	if at(out, "price") != 3.0 {
		t.Errorf("%v", out)
	}
	f.do(400, "POST", "/threads/"+id+"/state", `{"values":{"price":9},"as_node":"nope"}`)
	f.do(200, "POST", "/threads/"+id+"/state", `{"values":{"price":9}}`)
	if s := f.do(200, "GET", "/threads/"+id+"/state", ""); at(s, "values", "price") != 9.0 {
		t.Errorf("%v", s)
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	f := serve(t, map[string]untyped.Runner{"shop": shop(t)})
	id := f.thread()
	for field, body := range map[string]string{
		"webhook": `"webhook":"http://x"`, "stream_mode": `"stream_mode":"events"`, "nonsense": `"nonsense":1`, "after_seconds": `"after_seconds":5`,
		"configurable.model": `"config":{"configurable":{"model":"x"}}`, "multitask_strategy": `"multitask_strategy":"nope"`, "input": `"input":{"nope":1}`,
	} {
		resp := f.request(t.Context(), "POST", "/threads/"+id+"/runs/wait", `{"assistant_id":"shop",`+body+`}`)
		text, _ := io.ReadAll(resp.Body)
		_ = resp.Body.Close()
		if field == "input" {
			if !strings.Contains(string(text), `__error__`) || !strings.Contains(string(text), "nope") {
				t.Errorf("%s: %s", field, text)
			}
		} else if resp.StatusCode != 422 || !strings.Contains(string(text), field) {
			t.Errorf("%s: %d %s", field, resp.StatusCode, text)
		}
	}
	f.do(422, "POST", "/threads/"+id+"/runs/wait", `{"assistant_id":"nope","input":{}}`)
	f.do(404, "POST", "/threads/nope/runs/wait", `{"assistant_id":"shop","input":{}}`)
	f.do(422, "POST", "/threads/"+id+"/runs/wait", `{"input":{}}`)
	f.do(422, "POST", "/runs/batch", `[null]`)
}

// TestStores: a thread is made before it is known which graph will use it, and graphs may have stores of their own.
func TestStores(t *testing.T) {
	t.Parallel()
	f := serve(t, map[string]untyped.Runner{"a": shop(t), "b": shop(t)})
	id := at(f.do(200, "POST", "/threads", `{"metadata":{"x":1}}`), "thread_id").(string)
	f.do(200, "POST", "/threads/"+id+"/runs/wait", `{"assistant_id":"b","input":{"item":"book"}}`)
	if row := f.do(200, "GET", "/threads/"+id, ""); at(row, "metadata", "x") != 1.0 || at(row, "metadata", "graph_id") != "b" {
		t.Errorf("%v", row)
	}
	if h := f.do(200, "POST", "/threads/"+id+"/history", `{"limit":10}`).([]any); len(h) != 2 {
		t.Errorf("%d checkpoints, want those of the run alone: %v", len(h), h)
	}
	f.do(200, "PATCH", "/threads/"+id, `{"metadata":{"graph_id":"a"}}`) // which has another store
	if row := f.do(200, "GET", "/threads/"+id, ""); at(row, "values", "item") != "book" {
		t.Errorf("%v", row)
	}
	f.do(200, "PATCH", "/threads/"+id, `{"metadata":{"graph_id":"b"}}`)
	f.do(409, "POST", "/threads/"+id+"/runs/wait", `{"assistant_id":"a","input":{"item":"book"}}`)
	if n := f.do(200, "POST", "/threads/count", `{}`); n != 1.0 {
		t.Errorf("%v", n)
	}
	f.do(204, "DELETE", "/threads/"+id, "")
	f.do(404, "GET", "/threads/"+id, "")
}
