package agent_test

import (
	"context"
	"errors"
	"slices"
	"testing"

	"example.com/ragflow/agent"
	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
	"example.com/ragflow/llm"
)

// speaker is a model that is a function.
type speaker func(llm.Request) llm.Response

func (speaker) Model() string { return "speaker" }

func (f speaker) Complete(_ context.Context, r llm.Request, _ func(string)) (llm.Response, error) {
	return f(r), nil
}

func open(t *testing.T, err error) (ids []string) {
	t.Helper()
	waits, ok := errors.AsType[*graph.InterruptError](err)
	if !ok {
		t.Fatalf("got %v, want questions", err)
	}
	for _, q := range waits.Questions {
		ids = append(ids, q.ID())
	}
	return ids
}

// The answer of a model without tools is its text, whatever it calls.
func TestCallsBesideTheAnswer(t *testing.T) {
	chat := speaker(func(llm.Request) llm.Response {
		return llm.Response{Text: "Two.", Calls: []llm.ToolCall{call("1", "add", `{"a":1,"b":1}`)}}
	})
	s := say(t, compiled(t, graph.Options{}, agent.Agent{Chat: chat, Tools: []agent.Tool{adder}, Limits: agent.Limits{Steps: 2}}), "1 + 1?")
	if s.Reply() != "Two." || s.Turn.Steps != 2 || len(results(s)) != 1 {
		t.Errorf("%+v", s)
	}
}

// Calls get IDs of their own, which a resume keeps.
func TestIDsOfCalls(t *testing.T) {
	asked := 0
	chat := speaker(func(r llm.Request) llm.Response {
		if r.Messages[len(r.Messages)-1].Role == llm.ToolResult {
			return llm.Response{Text: "Done."}
		}
		asked++
		return llm.Response{Calls: []llm.ToolCall{call("", "add", `{"a":1,"b":1}`), call("x", "add", `{"a":2,"b":1}`), call("x", "ask", `{}`), call("\x00", "add", `{"a":3,"b":1}`)}}
	})
	ask := agent.Func("ask", "", func(context.Context, struct{}) (string, error) { return "asked", nil })
	ask.Approve = agent.Always
	store := memstore.New()
	r := compiled(t, graph.Options{Store: store}, agent.Agent{Chat: chat, Tools: []agent.Tool{adder, ask}})
	var s agent.State
	for range 2 {
		_, err := r.Invoke(t.Context(), graph.Request[agent.Update]{Thread: "t", Input: agent.Say("?")})
		ids := open(t, err)
		r = compiled(t, graph.Options{Store: store}, agent.Agent{Chat: chat, Tools: []agent.Tool{adder, ask}})
		if s, err = r.Invoke(t.Context(), graph.Request[agent.Update]{Thread: "t", Resume: true, Answers: map[string]any{ids[0]: agent.Decision{Verdict: "approve"}}}); err != nil {
			t.Fatal(err)
		}
	}
	seen := map[string]bool{"": true, "\x00": true}
	var made, answered []string
	for _, m := range s.Messages {
		for _, c := range m.Calls {
			if seen[c.ID] {
				t.Errorf("the ID %q is not of its own", c.ID)
			}
			seen[c.ID], made = true, append(made, c.ID)
		}
		if m.Result != nil {
			answered = append(answered, m.Result.Call)
		}
	}
	if !slices.Equal(made, answered) || len(made) != 8 || made[1] != "x" || !slices.Equal(results(s)[:4], []string{"2", "3", "asked", "4"}) {
		t.Errorf("calls %q, results %q of %q", made, results(s), answered)
	}
}
