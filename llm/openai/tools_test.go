package openai_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
)

func TestToolCalls(t *testing.T) {
	s := llmtest.NewServer(llmtest.CallTools(llmtest.ToolCalls()...), llmtest.Say("It rains."))
	defer s.Close()
	chat := client(t, s, nil).Chat("small")
	r, err := chat.Complete(t.Context(), llmtest.AskForTools(t, chat, ""), nil)
	if err != nil || r.Text != "It rains." || r.Calls != nil {
		t.Fatal(r, err)
	}
	var body struct{ Messages, Tools []any }
	if err := json.Unmarshal([]byte(s.Calls()[1].Body), &body); err != nil {
		t.Fatal(err)
	}
	call := func(i int) any {
		return map[string]any{"id": llmtest.ToolCalls()[i].ID, "type": "function", "function": map[string]any{"name": llmtest.ToolCalls()[i].Name, "arguments": llmtest.ToolCalls()[i].Arguments}}
	}
	want := []any{
		map[string]any{"role": "assistant", "tool_calls": []any{call(0), call(1)}},
		map[string]any{"role": "tool", "content": "rain", "tool_call_id": "c1"},
		map[string]any{"role": "tool", "content": "noon", "tool_call_id": "c2"},
	}
	if diff := cmp.Diff(want, body.Messages[len(body.Messages)-3:]); diff != "" {
		t.Error(diff)
	}
	if len(body.Tools) != 2 {
		t.Errorf("tools %v", body.Tools)
	}
}

// Servers that speak the protocol a little differently.
func TestToolCallsOfOtherServers(t *testing.T) {
	deltas := func(finish string, calls ...string) llmtest.Behaviour {
		var b strings.Builder
		for _, c := range calls {
			b.WriteString(`data: {"choices":[{"index":0,"delta":{"tool_calls":[` + c + `]}}]}` + "\n\n")
		}
		b.WriteString(`data: {"choices":[{"index":0,"delta":{},"finish_reason":"` + finish + `"}]}` + "\n\ndata: [DONE]\n\n")
		return llmtest.Body("text/event-stream", b.String())
	}
	a, b := `{"index":0,"id":"x","function":{"name":"a","arguments":"{}"}}`, `{"index":0,"id":"y","function":{"name":"b","arguments":"{}"}}`
	for name, test := range map[string]struct {
		answer llmtest.Behaviour
		want   []llm.ToolCall
		finish llm.FinishReason
	}{
		"index 0 for all":  {deltas("stop", a, b), []llm.ToolCall{{ID: "x", Name: "a", Arguments: "{}"}, {ID: "y", Name: "b", Arguments: "{}"}}, llm.FinishTools},
		"no ids":           {deltas("tool_calls", strings.Replace(a, `"id":"x",`, "", 1), strings.Replace(b, `"id":"y",`, "", 1)), []llm.ToolCall{{ID: "call_1", Name: "a", Arguments: "{}"}, {ID: "call_2", Name: "b", Arguments: "{}"}}, llm.FinishTools},
		"one id for two":   {deltas("stop", a, strings.NewReplacer(`"index":0`, `"index":1`, `"y"`, `"x"`).Replace(b)), []llm.ToolCall{{ID: "x", Name: "a", Arguments: "{}"}, {ID: "x_2", Name: "b", Arguments: "{}"}}, llm.FinishTools},
		"cut off":          {deltas("length", `{"index":0,"id":"x","function":{"name":"a","arguments":"{\"ci"}}`), []llm.ToolCall{{ID: "x", Name: "a", Arguments: `{"ci`}}, llm.FinishLength},
		"without a stream": {llmtest.Body("application/json", `{"choices":[{"index":0,"message":{"role":"assistant","content":null,"tool_calls":[{"id":"x","type":"function","function":{"name":"a","arguments":"{}"}},{"id":"y","type":"function","function":{"name":"b","arguments":"{}"}}]},"finish_reason":"tool_calls"}]}`), []llm.ToolCall{{ID: "x", Name: "a", Arguments: "{}"}, {ID: "y", Name: "b", Arguments: "{}"}}, llm.FinishTools},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewServer(test.answer)
			defer s.Close()
			r, err := client(t, s, nil).Chat("small").Complete(t.Context(), llmtest.ToolQuestion(), nil)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(test.want, r.Calls); diff != "" || r.Finish != test.finish {
				t.Errorf("finish %q %s", r.Finish, diff)
			}
		})
	}
}

// A text beside calls of tools that were not offered is the answer.
func TestToolCallsBesideAText(t *testing.T) {
	s := llmtest.NewServer(llmtest.Body("application/json", `{"object":"chat.completion","model":"m","choices":[{"index":0,"finish_reason":"tool_calls",
		"message":{"role":"assistant","content":"Warm.","tool_calls":[{"id":"1","type":"function","function":{"name":"weather","arguments":"{}"}}]}}]}`))
	defer s.Close()
	got, err := client(t, s, nil).Chat("small").Complete(t.Context(), llmtest.Question(), nil)
	if err != nil || got.Text != "Warm." || got.Calls != nil || got.Finish != llm.FinishStop {
		t.Errorf("%+v, %v", got, err)
	}
}

func TestToolCallsThatAreRefused(t *testing.T) {
	many := make([]llm.ToolCall, 100)
	for i := range many {
		many[i] = llm.ToolCall{ID: strings.Repeat("x", i+1), Name: "a", Arguments: "{}"}
	}
	for name, test := range map[string]struct {
		answer llmtest.Behaviour
		q      llm.Request
		want   string
	}{
		"not offered": {llmtest.CallTools(llmtest.ToolCalls()...), llmtest.Question(), "none was offered"}, // and there is no text
		"too many":    {llmtest.CallTools(many...), llmtest.ToolQuestion(), "more than 64 tools"},
		"too long":    {llmtest.CallTool("a", strings.Repeat("x", 256<<10+1)), llmtest.ToolQuestion(), "bytes of arguments"},
	} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewServer(test.answer)
			defer s.Close()
			c := client(t, s, func(c *openai.Config) { c.MaxBytes = 64 << 20 })
			if _, err := c.Chat("small").Complete(t.Context(), test.q, nil); err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v", err)
			}
		})
	}
}
