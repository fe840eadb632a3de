package main

import (
	"strings"
	"testing"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm/providers"
)

func TestRun(t *testing.T) {
	say := llmtest.Say
	for name, test := range map[string]struct {
		play []llmtest.Behaviour
		want Text
	}{
		"improves": {[]llmtest.Behaviour{say("one"), say("Too short."), say("two"), say("GOOD")}, Text{"light", "two", 2, true, "GOOD"}},
		"gives up": {[]llmtest.Behaviour{say("one"), say("No."), say("two"), say("No."), say("three"), say("No.")}, Text{"light", "three", 3, false, "No."}},
	} {
		s := llmtest.NewServer(test.play...)
		defer s.Close()
		chat, err := providers.FromEnvironment(func(name string) string {
			return map[string]string{"SMART_LLM_MODEL": "played", "OPENAI_BASE_URL": s.URL()}[name]
		})
		if err != nil {
			t.Fatal(err)
		}
		got, err := run(t.Context(), chat, "light")
		if err != nil || got != test.want || len(s.Calls()) != len(test.play) {
			t.Errorf("%s: %+v %v", name, got, err)
		}
		if !strings.Contains(s.Calls()[2].Body, "Your last draft") {
			t.Errorf("%s: the critique was not shown", name)
		}
	}
}
