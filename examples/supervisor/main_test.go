package main

import (
	"testing"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm/providers"
)

func TestRun(t *testing.T) {
	s := llmtest.NewServer(llmtest.CallTool("hand_over_to_sums", `{"task":"12 * 7"}`), llmtest.CallTool("multiply", `{"a":12,"b":7}`), llmtest.Say("84"))
	defer s.Close()
	chat, err := providers.FromEnvironment(func(name string) string {
		return map[string]string{"SMART_LLM_MODEL": "played", "OPENAI_BASE_URL": s.URL()}[name]
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := run(t.Context(), chat, "What is 12 * 7?")
	if err != nil || got.Agent != "sums" || got.Reply() != "84" || got.Messages[4].Content != "84" {
		t.Errorf("%+v %v", got, err)
	}
}
