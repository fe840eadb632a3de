package main

import (
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm/providers"
)

func TestHandler(t *testing.T) {
	model := llmtest.NewServer(llmtest.Say("I am a program."), llmtest.Say("As I said."), llmtest.Status(400, "broken"))
	defer model.Close()
	chat, err := providers.FromEnvironment(func(name string) string {
		return map[string]string{"SMART_LLM_MODEL": "played", "OPENAI_BASE_URL": model.URL()}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	h, err := handler(chat)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(h)
	defer server.Close()
	if got := ask(t, server.URL, ""); !strings.Contains(got, "at most 64 KiB") {
		t.Error(got)
	}
	first := ask(t, server.URL, "Who are you?")
	if strings.Count(first, "event: token\n") < 2 || !strings.HasSuffix(first, "event: end\ndata: \"completed\"\n\n") {
		t.Error(first)
	}
	ask(t, server.URL, "Say it again.")
	if body := model.Calls()[1].Body; !strings.Contains(body, "I am a program.") {
		t.Errorf("the second turn does not know the first: %s", body)
	}
	if got := ask(t, server.URL, "And now?"); !strings.Contains(got, "event: error\ndata: \"the answer failed\"") {
		t.Error(got)
	}
}

func ask(t *testing.T, url, question string) string {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url+"/threads/mine", strings.NewReader(question))
	if err != nil {
		t.Fatal(err)
	}
	r, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Body.Close()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	return string(body)
}
