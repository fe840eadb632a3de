package openai_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/server/internal/door"
)

// TestResponse: the events of a stream come in the order that clients need, and their text is that of the response.
func TestResponse(t *testing.T) {
	t.Parallel()
	answers, _ := model(t, llmtest.Say("There are 28 days of leave. [Source 1] Parking costs 20 euros. [Source 1]"))
	f := serve(t, door.Rules{}, answers)
	events, _ := f.stream("/v1/responses", object{"model": "ragflow", "input": []object{say("user", leave)}})
	var order []string
	said := ""
	for i, e := range events {
		if text(e.data, "type") != e.name || at(e.data, "sequence_number") != float64(i) {
			t.Errorf("event %d %s: %v", i, e.name, e.data)
		}
		if order = append(order, e.name); e.name == "response.output_text.delta" {
			said += text(e.data, "delta")
		}
	}
	want := []string{
		"created", "in_progress", "output_item.added", "content_part.added", "output_text.delta", "output_text.annotation.added",
		"output_text.done", "content_part.done", "output_item.done", "completed",
	}
	for i := range want {
		want[i] = "response." + want[i]
	}
	if got := slices.Compact(order); !slices.Equal(got, want) {
		t.Errorf("%v", got)
	}
	response := at(events[len(events)-1].data, "response")
	if got := text(response, "output", 0, "content", 0, "text"); got != said || strings.Count(said, "[1]") != 3 {
		t.Errorf("streamed %q, response %q", said, got)
	}
	for _, a := range at(response, "output", 0, "content", 0, "annotations").([]any) { //nolint:forcetypeassert // the test fails
		start, end := int(at(a, "start_index").(float64)), int(at(a, "end_index").(float64)) //nolint:forcetypeassert // the test fails
		if got := string([]rune(said)[start:end]); got != "[1]" {
			t.Errorf("annotation at %q", got)
		}
	}
	if _, ok := at(response, "metadata").(object); !ok {
		t.Errorf("metadata is %v", at(response, "metadata"))
	}
	again := f.json("GET", "/v1/responses/"+text(response, "id"), nil)
	if text(again, "output", 0, "content", 0, "text") != said || at(again, "usage", "output_tokens") == nil {
		t.Errorf("%v", again)
	}
}

// TestPrevious: a response continues the thread of another one, or forks it.
func TestPrevious(t *testing.T) {
	t.Parallel()
	f := serve(t, door.Rules{}, nil)
	ask := func(body object) string {
		body["model"] = "ragflow"
		return text(f.json("POST", "/v1/responses", body), "id")
	}
	first := ask(object{"input": leave})
	second := ask(object{"input": "And parking?", "previous_response_id": first})
	if n := len(f.threads()); n != 1 {
		t.Errorf("%d threads", n)
	}
	for _, id := range []string{first, second} {
		ask(object{"input": "And in winter?", "previous_response_id": id, "store": false})
	}
	if n := len(f.threads()); n != 1 {
		t.Errorf("%d threads after some that were not stored", n)
	}
	ask(object{"input": "And in winter?", "previous_response_id": first})
	if n := len(f.threads()); n != 2 {
		t.Errorf("%d threads after a fork", n)
	}
}

// TestConversation keeps its messages; before its first response it is empty.
func TestConversation(t *testing.T) {
	t.Parallel()
	f := serve(t, door.Rules{}, nil)
	id := text(f.json("POST", "/v1/conversations", object{}), "id")
	items := "/v1/conversations/" + id + "/items?order=asc"
	if got := f.json("GET", "/v1/conversations/"+id, nil); text(got, "id") != id || at(got, "created_at").(float64) < 1.7e9 { //nolint:forcetypeassert // the test fails
		t.Errorf("%v", got)
	}
	if list := f.json("GET", items, nil); len(at(list, "data").([]any)) != 0 { //nolint:forcetypeassert // the test fails
		t.Errorf("%v", list)
	}
	messages := []object{say("user", "Hello"), say("assistant", "What do you want to know?"), say("user", leave)}
	response := f.json("POST", "/v1/responses", object{"model": "ragflow", "input": messages, "conversation": object{"id": id}})
	if text(response, "conversation", "id") != id {
		t.Errorf("%v", response)
	}
	f.json("POST", "/v1/responses", object{"model": "ragflow", "input": "And parking?", "conversation": id})
	list := f.json("GET", items, nil)
	if n := len(at(list, "data").([]any)); n != 6 || text(list, "data", 2, "content", 0, "text") != leave { //nolint:forcetypeassert // the test fails
		t.Errorf("%v", list)
	}
	if status, _, said := f.do("POST", "/v1/conversations", object{"items": messages}); status != http.StatusBadRequest {
		t.Errorf("items: %d %s", status, said)
	}
}

// TestFailed: an answer that ends early is told as an error in its place.
func TestFailed(t *testing.T) {
	t.Parallel()
	for _, path := range []string{"/v1/chat/completions", "/v1/responses"} {
		asked, release := make(chan struct{}), make(chan struct{})
		answers, played := model(t, llmtest.Say("never"))
		f := serve(t, door.Rules{}, answers)
		played.Then(func(w http.ResponseWriter, r *http.Request) {
			close(asked)
			llmtest.SayThen("SCORE: 0.9", release, "")(w, r)
		})
		go func() {
			<-asked
			f.a.Runs().Drain()
			played.Then(llmtest.Say("x"))
			close(release)
		}()
		body := chat(say("user", leave))
		body["input"] = leave
		events, done := f.stream(path, body)
		last := events[len(events)-1]
		switch path {
		case "/v1/responses":
			if last.name != "response.failed" || text(last.data, "response", "error", "message") == "" || text(last.data, "response", "status") != "failed" {
				t.Errorf("%v", last)
			}
		default:
			if text(last.data, "error", "message") == "" || at(last.data, "choices") != nil || done {
				t.Errorf("%v", last)
			}
		}
		if status, header, said := f.do("POST", path, body); status != http.StatusServiceUnavailable || header.Get("Retry-After") == "" {
			t.Errorf("a server that ends: %d %v %s", status, header, said)
		}
	}
}
