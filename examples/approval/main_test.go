package main

import (
	"strings"
	"testing"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm/providers"
)

func TestRun(t *testing.T) {
	for verdict, want := range map[string]string{"approve": "Paid 12.00 EUR to Ann", "reject": "A person refused"} {
		s := llmtest.NewServer(llmtest.CallTool("pay", `{"to":"Ann","eur":12}`), llmtest.Say("Done."))
		defer s.Close()
		chat, err := providers.FromEnvironment(func(name string) string {
			return map[string]string{"SMART_LLM_MODEL": "played", "OPENAI_BASE_URL": s.URL()}[name]
		})
		if err != nil {
			t.Fatal(err)
		}
		var out strings.Builder
		if err := run(t.Context(), chat, strings.NewReader(verdict+"\n"), &out); err != nil || !strings.Contains(out.String(), "Done.") {
			t.Errorf("%s: %q %v", verdict, out.String(), err)
		}
		if body := s.Calls()[1].Body; !strings.Contains(body, want) {
			t.Errorf("%s: the model saw %s", verdict, body)
		}
	}
}
