package langgraph_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ragflow/graph/untyped"
)

// TestStream: the order, the frame and the data of the events of the older protocol.
func TestStream(t *testing.T) {
	t.Parallel()
	f := serve(t, map[string]untyped.Runner{"shop": shop(t)})
	id := f.thread()
	run := func(body string) ([]sent, http.Header) {
		return f.stream(t.Context(), nil, "POST", "/threads/"+id+"/runs/stream", body)
	}
	all := `"stream_resumable":true,"stream_mode":["values","updates","messages-tuple","custom","tasks","checkpoints"]`
	list, header := run(`{"assistant_id":"shop","input":{"item":"book"},` + all + `}`)
	want := "metadata checkpoints values tasks custom tasks updates values checkpoints tasks tasks updates values"
	if got := names(list); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	var meta struct {
		Run string `json:"run_id"`
	}
	if err := json.Unmarshal([]byte(list[0].data), &meta); err != nil || header.Get("Content-Location") != "/threads/"+id+"/runs/"+meta.Run ||
		!strings.HasPrefix(header.Get("Location"), header.Get("Content-Location")+"/stream") {
		t.Errorf("%v %v", header, err)
	}
	if got := list[11].data; !strings.Contains(got, `{"__interrupt__":[{"id":"pay/pay","response_schema":`) {
		t.Error(got)
	}
	if list[1].id == "" || list[0].id != "" {
		t.Errorf("ids: %v", list)
	}
	// Again from any event: the rest, with the same ids.
	for i := 1; i < len(list); i++ {
		rest, _ := f.stream(t.Context(), nil, "GET", header.Get("Location"), "", "Last-Event-ID", list[i].id)
		if len(rest) != len(list)-i-1 || len(rest) > 0 && rest[0] != list[i+1] {
			t.Fatalf("after %d: %v", i, rest)
		}
	}
	list, _ = run(`{"assistant_id":"shop","command":{"resume":true},"stream_mode":["values","messages-tuple","messages"]}`)
	want = "metadata values messages/metadata messages messages/partial messages messages/partial messages/complete values"
	if got := names(list); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	for i, text := range map[int]string{3: `"content":"it is "`, 6: `"content":"it is paid"`, 8: `"id":"m-book"`} {
		if !strings.Contains(list[i].data, text) || !strings.Contains(list[i].data, `"id":"m-book"`) {
			t.Errorf("%d: %s", i, list[i].data)
		}
	}
	if list[1].id != "" {
		t.Error("ids without stream_resumable")
	}
	list, _ = run(`{"assistant_id":"shop","input":{"item":"bad"},"stream_mode":"updates"}`)
	if names(list) != "metadata error" || !strings.Contains(list[1].data, "no such item") {
		t.Errorf("%v", list)
	}
	list, _ = run(`{"assistant_id":"shop","input":{"item":"pen"},"interrupt_before":["pay"],"stream_mode":["updates"]}`)
	if names(list) != "metadata updates updates" || list[2].data != `{"__interrupt__":[]}` {
		t.Errorf("%v", list)
	}
	list, _ = run(`{"assistant_id":"shop","input":{"item":"pen"},"config":{"recursion_limit":1},"stream_mode":["updates"]}`)
	if names(list) != "metadata updates error" || !strings.Contains(list[2].data, "GraphRecursionError") {
		t.Errorf("%v", list)
	}
}

// TestRestart: another process finds the runs of the log, also the call that answered.
func TestRestart(t *testing.T) {
	t.Parallel()
	g := shop(t)
	f := serve(t, map[string]untyped.Runner{"shop": g})
	id := f.thread()
	f.do(200, "POST", "/threads/"+id+"/runs/wait", `{"assistant_id":"shop","input":{"item":"book"}}`)
	resume := `{"assistant_id":"shop","command":{"resume":true},"stream_mode":"values","stream_resumable":true}`
	list, header := f.stream(t.Context(), nil, "POST", "/threads/"+id+"/runs/stream", resume)
	other := serve(t, map[string]untyped.Runner{"shop": g})
	again, _ := other.stream(t.Context(), nil, "GET", header.Get("Location"), "", "Last-Event-ID", list[1].id)
	if len(again) != 1 || again[0] != list[2] {
		t.Errorf("got %v\nof %v", again, list)
	}
	if out := other.do(200, "GET", header.Get("Content-Location")+"/join", ""); at(out, "paid") != true {
		t.Errorf("%v", out)
	}
	if row := other.do(200, "GET", header.Get("Content-Location"), ""); at(row, "status") != "success" {
		t.Errorf("%v", row)
	}
	first := at(f.do(200, "GET", "/threads/"+id+"/runs", ""), 1, "run_id").(string)
	if out := other.do(200, "GET", "/threads/"+id+"/runs/"+first+"/join", ""); at(out, "__interrupt__", 0, "id") != "pay/pay" {
		t.Errorf("%v", out)
	}
	other.do(404, "GET", "/threads/"+id+"/runs/nope", "")
	other.do(404, "POST", "/threads/"+id+"/runs/"+first+"/cancel", "")
}

// TestTwoServers: a run is followed, and ended, at the server that does not work on it.
func TestTwoServers(t *testing.T) {
	t.Parallel()
	g := shop(t)
	f, other := serve(t, map[string]untyped.Runner{"shop": g}), serve(t, map[string]untyped.Runner{"shop": g})
	id := f.thread()
	path := "/threads/" + id + "/runs/" + at(f.do(200, "POST", "/threads/"+id+"/runs", `{"assistant_id":"shop","input":{"item":"slow"}}`), "run_id").(string)
	eventually(t, "running", func() bool { return at(f.do(200, "GET", "/threads/"+id+"/state", ""), "next", 0) == "price" })
	ctx, leave := context.WithCancel(t.Context())
	list, _ := other.stream(ctx, func(e sent) bool { return e.event == "values" }, "GET", path+"/stream", "")
	leave()
	if names(list) != "metadata values" || at(other.do(200, "GET", path, ""), "status") != "running" {
		t.Errorf("%v", list)
	}
	ended := make(chan string, 1)
	go func() {
		rest, _ := other.stream(t.Context(), nil, "GET", path+"/stream", "")
		ended <- names(rest)
	}()
	events := other.request(t.Context(), "POST", "/threads/"+id+"/stream/events", `{"channels":["lifecycle"]}`)
	defer events.Body.Close()
	ctx, leave = context.WithCancel(t.Context())
	other.stream(ctx, func(e sent) bool { return e.event == "values" }, "GET", path+"/stream?cancel_on_disconnect=1", "")
	leave()
	if got := <-ended; got != "metadata values" {
		t.Error(got)
	}
	if _, got := other.told(events, `"event":"interrupted"`); strings.Join(got, " ") != "lifecycle:running lifecycle:interrupted" {
		t.Error(got)
	}
	eventually(t, "cancelled", func() bool { return at(f.do(200, "GET", path, ""), "status") == "interrupted" })
}

// eventually fails unless a condition holds soon.
func eventually(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !holds(); time.Sleep(5 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal(what)
		}
	}
}

// TestLeaving: a run continues when its reader leaves, unless it shall not.
func TestLeaving(t *testing.T) {
	t.Parallel()
	f := serve(t, map[string]untyped.Runner{"shop": shop(t)})
	for policy, want := range map[string]string{"": "running", "cancel": "interrupted"} {
		id := f.thread()
		ctx, cancel := context.WithCancel(t.Context())
		body := `{"assistant_id":"shop","input":{"item":"slow"},"on_disconnect":"` + policy + `","stream_mode":"custom"}`
		_, header := f.stream(ctx, func(e sent) bool { return e.event == "custom" }, "POST", "/threads/"+id+"/runs/stream", body)
		cancel()
		path := header.Get("Content-Location")
		began := time.Now()
		eventually(t, policy, func() bool { return at(f.do(200, "GET", path, ""), "status") == want })
		if want == "running" {
			if row := f.do(200, "GET", "/threads/"+id, ""); at(row, "status") != "busy" {
				t.Errorf("%v", row)
			}
			if s := f.do(200, "GET", "/threads/"+id+"/state", ""); at(s, "next", 0) != "price" {
				t.Errorf("next is empty while a run is active: %v", s)
			}
			f.do(409, "POST", "/threads/"+id+"/runs", `{"assistant_id":"shop","input":{"item":"x"},"multitask_strategy":"reject"}`)
			resp := f.request(t.Context(), "POST", path+"/cancel?wait=0&action=interrupt", "")
			_ = resp.Body.Close()
			if resp.StatusCode != 202 {
				t.Errorf("cancel: %d", resp.StatusCode)
			}
			eventually(t, "cancelled", func() bool { return at(f.do(200, "GET", path, ""), "status") == "interrupted" })
			f.do(404, "POST", path+"/cancel", "")
		} else if d := time.Since(began); d > 5*time.Second { // milliseconds on an idle machine
			t.Errorf("cancelled after %v", d)
		}
	}
}

// TestMultitask: what a second run does to the first.
func TestMultitask(t *testing.T) {
	t.Parallel()
	f := serve(t, map[string]untyped.Runner{"shop": shop(t)})
	for strategy, first := range map[string]string{"interrupt": "interrupted", "rollback": "interrupted", "enqueue": "interrupted"} {
		id := f.thread()
		path := "/threads/" + id + "/runs"
		slow := at(f.do(200, "POST", path, `{"assistant_id":"shop","input":{"item":"slow","price":7}}`), "run_id").(string)
		eventually(t, "running", func() bool { return at(f.do(200, "GET", "/threads/"+id+"/state", ""), "next", 0) == "price" })
		next := at(f.do(200, "POST", path, `{"assistant_id":"shop","input":{"item":"pen"},"multitask_strategy":"`+strategy+`"}`), "run_id").(string)
		if strategy == "enqueue" {
			if row := f.do(200, "GET", path+"/"+next, ""); at(row, "status") != "pending" {
				t.Errorf("%v", row)
			}
			f.do(204, "POST", path+"/"+slow+"/cancel?wait=1", "")
		}
		if out := f.do(200, "GET", path+"/"+next+"/join", ""); at(out, "price") != 3.0 {
			t.Errorf("%s: %v", strategy, out)
		}
		eventually(t, strategy, func() bool { return at(f.do(200, "GET", path+"/"+slow, ""), "status") == first })
	}
}

// TestStateless: runs without a thread leave nothing behind.
func TestStateless(t *testing.T) {
	t.Parallel()
	f := serve(t, map[string]untyped.Runner{"shop": shop(t)})
	if out := f.do(200, "POST", "/runs/wait", `{"assistant_id":"shop","input":{"item":"x"}}`); at(out, "price") != 1.0 {
		t.Errorf("%v", out)
	}
	list, _ := f.stream(t.Context(), nil, "POST", "/runs/stream", `{"assistant_id":"shop","input":{"item":"x"}}`)
	if got := names(list); got != "metadata values values values" {
		t.Error(got)
	}
	if out := f.do(200, "POST", "/runs/batch", `[{"assistant_id":"shop","input":{"item":"x"}},{"assistant_id":"shop","input":{"item":"y"}}]`); len(out.([]any)) != 2 {
		t.Errorf("%v", out)
	}
	eventually(t, "threads are left", func() bool { return f.do(200, "POST", "/threads/count", `{}`) == 0.0 })
	f.do(200, "POST", "/runs/wait", `{"assistant_id":"shop","input":{"item":"x"},"on_completion":"keep"}`)
	if n := f.do(200, "POST", "/threads/count", `{}`); n != 1.0 {
		t.Errorf("%v", n)
	}
}

// TestThreadStream: the runs of a thread, one after the other, in one stream.
func TestThreadStream(t *testing.T) {
	t.Parallel()
	f := serve(t, map[string]untyped.Runner{"shop": shop(t)})
	id := f.thread()
	f.do(200, "POST", "/threads/"+id+"/runs", `{"assistant_id":"shop","input":{"item":"book"},"stream_mode":["updates"]}`)
	var resumed sync.WaitGroup
	defer resumed.Wait()
	resumed.Go(func() {
		time.Sleep(50 * time.Millisecond)
		resp := f.request(t.Context(), "POST", "/threads/"+id+"/runs/wait", `{"assistant_id":"shop","command":{"resume":true}}`)
		_ = resp.Body.Close()
	})
	list, _ := f.stream(t.Context(), func(e sent) bool { return strings.Contains(e.data, `"paid":true`) }, "GET", "/threads/"+id+"/stream", "")
	if got := names(list); got != "updates updates values values" || list[3].id == "" {
		t.Errorf("%s: %v", got, list)
	}
	f.do(422, "GET", "/threads/"+id+"/stream?stream_mode=lifecycle", "")
}

// TestLongWait: empty lines keep the connection of a client that waits, and the answer follows.
func TestLongWait(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("takes more than a heartbeat")
	}
	f := serve(t, map[string]untyped.Runner{"shop": shop(t)})
	id := f.thread()
	resp := f.request(t.Context(), "POST", "/threads/"+id+"/runs/wait", `{"assistant_id":"shop","input":{"item":"slow"}}`)
	defer resp.Body.Close()
	first := make([]byte, 1)
	if _, err := io.ReadFull(resp.Body, first); err != nil || first[0] != '\n' {
		t.Fatalf("%q %v", first, err)
	}
	f.do(204, "POST", "/runs/cancel", `{"thread_id":"`+id+`","status":"all"}`)
	rest, err := io.ReadAll(resp.Body)
	if err != nil || !strings.Contains(string(rest), `"item":"slow"`) {
		t.Errorf("%q %v", rest, err)
	}
}
