package langgraph_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"example.com/ragflow/graph/untyped"
)

// told is an event of the newer protocol.
type told struct {
	ID     string `json:"event_id"`
	Seq    int64  `json:"seq"`
	Method string `json:"method"`
	Params struct {
		Node string         `json:"node"`
		Data map[string]any `json:"data"`
	} `json:"params"`
}

// short is an event in one word.
func (e told) short() string {
	for _, key := range []string{"event", "interrupt_id", "node"} {
		if v, ok := e.Params.Data[key].(string); ok {
			return e.Method + ":" + v
		}
	}
	return e.Method
}

// events reads events of the thread "lazy" until one in short is the last that is wanted.
func (f fixture) events(ctx context.Context, body, last string) (list []told, shorts []string) {
	f.Helper()
	resp := f.request(ctx, "POST", "/threads/lazy/stream/events", body)
	defer resp.Body.Close()
	return f.told(resp, last)
}

// told is the second half of events.
func (f fixture) told(resp *http.Response, last string) (list []told, shorts []string) {
	f.Helper()
	found, _ := f.read(resp, func(s sent) bool { return strings.Contains(s.data, last) })
	for _, s := range found {
		var e told
		if err := json.Unmarshal([]byte(s.data), &e); err != nil || e.Method != s.event {
			f.Fatalf("%v %v", err, s)
		}
		list, shorts = append(list, e), append(shorts, e.short())
	}
	return list, shorts
}

// TestEvents: a stream that is opened before the thread exists tells its runs.
func TestEvents(t *testing.T) {
	t.Parallel()
	g := shop(t)
	f := serve(t, map[string]untyped.Runner{"shop": g})
	all := `{"channels":["values","updates","messages","lifecycle","input","checkpoints","custom"]}`
	type result struct {
		list   []told
		shorts []string
	}
	early := make(chan result, 1)
	opened := f.request(t.Context(), "POST", "/threads/lazy/stream/events", all) //nolint:bodyclose // it is closed in the next line
	defer opened.Body.Close()
	go func() {
		list, shorts := f.told(opened, `"event":"completed"`)
		early <- result{list, shorts}
	}()
	command := func(body string) any { return f.do(200, "POST", "/threads/lazy/commands", body) }
	started := command(`{"id":1,"method":"run.start","params":{"assistant_id":"shop","input":{"item":"book"},"config":{"configurable":{"thread_id":"lazy"}}}}`)
	if at(started, "type") != "success" || at(started, "result", "run_id") == nil {
		t.Fatalf("%v", started)
	}
	_, shorts := f.events(t.Context(), all, `"event":"interrupted"`)
	want := "lifecycle:running values checkpoints custom updates:price values checkpoints input.requested:pay/pay lifecycle:interrupted"
	if got := strings.Join(shorts, " "); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for body, code := range map[string]string{
		`{"id":2,"method":"input.respond","params":{"namespace":[],"interrupt_id":"nope","response":true}}`: "no_such_interrupt",
		`{"id":2,"method":"nope","params":{}}`:      "unknown_command",
		`{"id":2,"method":"run.start","params":{}}`: "invalid_argument",
	} {
		if got := command(body); at(got, "error") != code || at(got, "id") != 2.0 {
			t.Errorf("%s: %v", body, got)
		}
	}
	if got := command(`{"id":3,"method":"input.respond","params":{"namespace":[],"interrupt_id":"pay/pay","response":true}}`); at(got, "type") != "success" {
		t.Errorf("%v", got)
	}
	got := <-early
	later := "lifecycle:running values updates:pay values checkpoints messages:message-start messages:content-block-start messages:content-block-delta " +
		"messages:content-block-delta messages:content-block-finish messages:message-finish lifecycle:completed"
	shorts = got.shorts
	if i := len(strings.Fields(want)); len(shorts) < i || strings.Join(shorts[:i], " ") != want {
		t.Errorf("%v", shorts)
	}
	for name := range strings.FieldsSeq(later) {
		if !strings.Contains(strings.Join(shorts, " "), name) {
			t.Errorf("%s is missing of %v", name, shorts)
		}
	}
	ids := map[string]bool{}
	for i, e := range got.list {
		if ids[e.ID] || i > 0 && e.Seq <= got.list[i-1].Seq {
			t.Errorf("%d: %v", i, e)
		}
		ids[e.ID] = true
	}
	// From any number: the rest, with the same ids. Another process has the durable ones.
	other := serve(t, map[string]untyped.Runner{"shop": g})
	for i, e := range got.list[:len(got.list)-1] {
		since, _ := json.Marshal(e.Seq)
		body := strings.TrimSuffix(all, "}") + `,"since":` + string(since) + "}"
		rest, _ := f.events(t.Context(), body, `"event":"completed"`)
		if len(rest) != len(got.list)-i-1 || rest[0].ID != got.list[i+1].ID {
			t.Fatalf("after %d: %d events", i, len(rest))
		}
		rest, shorts := other.events(t.Context(), body, `"event":"completed"`)
		for _, e := range rest {
			if e.Method != "messages" && !ids[e.ID] {
				t.Errorf("after %d, %s has another id: %v", i, e.short(), shorts)
			}
		}
	}
	f.do(400, "POST", "/threads/lazy/stream/events", `{"channels":["nope"]}`)
	f.do(400, "POST", "/threads/lazy/commands", `{"method":"run.start"}`)
	if got := command(`{"id":4,"method":"agent.getTree","params":{}}`); at(got, "result", "tree", "status") != "completed" {
		t.Errorf("%v", got)
	}
	if got := command(`{"id":5,"method":"run.start","params":{"assistant_id":"shop","input":{"item":"bad"}}}`); at(got, "type") != "success" {
		t.Errorf("%v", got)
	}
	if list, _ := f.events(t.Context(), `{"channels":["lifecycle"]}`, `"event":"failed"`); !strings.Contains(list[len(list)-1].Params.Data["error"].(string), "no such item") {
		t.Errorf("%v", list)
	}
	// Two runs that fail before they are saved: a reader gets both, under ids of their own.
	opened = f.request(t.Context(), "POST", "/threads/lazy/stream/events", `{"channels":["lifecycle"]}`) //nolint:bodyclose // it is closed in the next line
	defer opened.Body.Close()
	for _, field := range []string{"one", "two"} {
		command(`{"id":6,"method":"run.start","params":{"assistant_id":"shop","input":{"` + field + `":1}}}`)
	}
	list, _ := f.told(opened, `field \"two\"`)
	last := list[len(list)-2:]
	if first, _ := last[0].Params.Data["error"].(string); !strings.Contains(first, "one") || last[0].ID == last[1].ID {
		t.Errorf("%v", last)
	}
}
