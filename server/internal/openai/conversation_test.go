package openai_test

import (
	"net/http"
	"strings"
	"testing"

	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server/internal/door"
)

// threads returns the thread ids of the fixture.
func (f *fixture) threads() (ids []string) {
	f.t.Helper()
	all, err := f.a.Threads().All(f.t.Context())
	if err != nil {
		f.t.Fatal(err)
	}
	for _, info := range all {
		ids = append(ids, info.ID)
	}
	return ids
}

// TestThreads: a client that sends all messages continues its thread; one that edited them gets another.
func TestThreads(t *testing.T) {
	t.Parallel()
	f := serve(t, door.Rules{}, nil)
	ask := func(messages ...object) object {
		whole := f.json("POST", "/v1/chat/completions", chat(messages...))
		return say("assistant", text(whole, "choices", 0, "message", "content"))
	}
	first := say("user", leave)
	answer := ask(first)
	second := say("user", "What does parking cost?")
	answer["content"] = strings.ReplaceAll(text(answer, "content"), "\n", "  \n") // as some clients do
	next := ask(first, answer, second)
	if n := len(f.threads()); n != 1 {
		t.Fatalf("%d threads after two turns", n)
	}
	whole, err := f.a.Threads().Thread(t.Context(), f.threads()[0])
	if err != nil || len(whole.Messages) != 4 {
		t.Fatalf("%+v, %v", whole, err)
	}
	ask(first, answer, second, next, say("user", "And in winter?"))
	ask(first, answer, say("user", "edited"))
	ids := f.threads()
	if len(ids) != 2 {
		t.Fatalf("%d threads after an edit", len(ids))
	}
	whole, err = f.a.Threads().Thread(t.Context(), ids[0])
	if err != nil || len(whole.Messages) != 4 || whole.Messages[0].Content != leave || strings.Contains(whole.Messages[1].Content, "](") {
		t.Fatalf("the fork has %+v, %v", whole.Messages, err)
	}
}

// TestNamedThreads: a client may name its thread or its chat.
func TestNamedThreads(t *testing.T) {
	t.Parallel()
	f := serve(t, door.Rules{}, nil)
	f.header.Set("X-Openwebui-Chat-Id", "c1")
	answer := f.json("POST", "/v1/chat/completions", chat(say("user", leave)))
	said := say("assistant", text(answer, "choices", 0, "message", "content"))
	f.json("POST", "/v1/chat/completions", chat(say("user", leave), said, say("user", "And parking?")))
	if n := len(f.threads()); n != 1 {
		t.Errorf("%d threads of one chat", n)
	}
	f.json("POST", "/v1/chat/completions", chat(say("user", "edited")))
	if n := len(f.threads()); n != 2 {
		t.Errorf("%d threads after an edit", n)
	}
	f.header.Del("X-Openwebui-Chat-Id")
	f.header.Set("X-Ragflow-Thread", "work")
	for range 2 {
		_, header, _ := f.do("POST", "/v1/chat/completions", chat(say("user", leave), said, say("user", "And parking?")))
		f.header.Set("X-Ragflow-Thread", header.Get("X-Ragflow-Thread"))
	}
	f.header.Del("X-Ragflow-Thread")
	body := chat(say("user", leave))
	body["metadata"] = object{"thread_id": "work"}
	f.json("POST", "/v1/chat/completions", body)
	if n := len(f.threads()); n != 3 {
		t.Errorf("%d threads, one of them named", n)
	}
}

// TestOwners: the same messages of another owner are another thread, also for a caller who sees all of them.
func TestOwners(t *testing.T) {
	t.Parallel()
	f := serve(t, door.Rules{}, nil)
	f.use(tokens.Token{Name: "anna", Owner: "anna", Scopes: []tokens.Scope{tokens.Ask}})
	messages := []object{say("user", leave), say("assistant", text(f.json("POST", "/v1/chat/completions", chat(say("user", leave))), "choices", 0, "message", "content"))}
	f.header = http.Header{}
	f.json("POST", "/v1/chat/completions", chat(append(messages, say("user", "And parking?"))...))
	if n := len(f.threads()); n != 2 {
		t.Errorf("%d threads", n)
	}
}
