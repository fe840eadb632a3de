package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ragflow/agent"
	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
	"example.com/ragflow/state"
)

type sum struct {
	A float64 `json:"a" jsonschema:"the first number"`
	B float64 `json:"b"`
}

func add(_ context.Context, in sum) (float64, error) { return in.A + in.B, nil }

var adder = agent.Func("add", "Adds two numbers.", add)

// played returns a model that answers so, call after call, and its server.
func played(t *testing.T, b ...llmtest.Behaviour) (llm.Chat, *llmtest.Server) {
	t.Helper()
	s := llmtest.NewServer(b...)
	t.Cleanup(s.Close)
	c, err := openai.New(openai.Config{BaseURL: s.URL()})
	if err != nil {
		t.Fatal(err)
	}
	return c.Chat("small"), s
}

type runner = *graph.Runner[agent.State, agent.Update]

func compiled(t *testing.T, o graph.Options, a ...agent.Agent) runner {
	t.Helper()
	plan, err := agent.Compile(a...)
	if err != nil {
		t.Fatal(err)
	}
	if o.Store == nil {
		o.Store = memstore.New()
	}
	o.CheckCodec = true
	return plan.Runner(o)
}

func say(t *testing.T, r runner, text string) agent.State {
	t.Helper()
	s, err := r.Invoke(t.Context(), graph.Request[agent.Update]{Thread: "t", Input: agent.Say(text)})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// results returns the contents of the tool messages.
func results(s agent.State) (out []string) {
	for _, m := range s.Messages {
		if m.Role == state.Tool {
			out = append(out, m.Content)
		}
	}
	return out
}

func call(id, name, arguments string) llm.ToolCall {
	return llm.ToolCall{ID: id, Name: name, Arguments: arguments}
}

func TestConversation(t *testing.T) {
	chat, server := played(t, llmtest.CallTools(call("1", "add", `{"a":2.5,"b":4}`), call("2", "add", `{"a":1,"b":1}`)), llmtest.Say("It is 6.5."), llmtest.Say("You are welcome."))
	r := compiled(t, graph.Options{}, agent.Agent{Chat: chat, System: "Be brief.", Tools: []agent.Tool{adder}})
	s := say(t, r, "What is 2.5 + 4?")
	if s.Reply() != "It is 6.5." || !slices.Equal(results(s), []string{"6.5", "2"}) || s.Turn.Steps != 2 || s.Turn.InputTokens != 2*llmtest.InputTokens {
		t.Errorf("%+v", s)
	}
	if s = say(t, r, "Thanks"); s.Reply() != "You are welcome." || len(s.Messages) != 7 || s.Turn.Steps != 1 {
		t.Errorf("%+v", s)
	}
	first, last := server.Calls()[0].Body, server.Calls()[2].Body
	if !strings.Contains(first, `"description":"the first number"`) || !strings.Contains(first, "Be brief.") || !strings.Contains(last, `"tool_call_id":"2"`) {
		t.Errorf("asked\n%s\n%s", first, last)
	}
}

func TestLiveEvents(t *testing.T) {
	chat, _ := played(t, llmtest.CallTool("add", `{"a":2.5,"b":4}`), llmtest.Say("It is 6.5."))
	r := compiled(t, graph.Options{}, agent.Agent{Chat: chat, Tools: []agent.Tool{adder}})
	var text, written, result string
	for e, err := range r.Stream(t.Context(), graph.Request[agent.Update]{Thread: "t", Input: agent.Say("?")}) {
		if err != nil {
			t.Fatal(err)
		}
		switch v := e.Value.(type) {
		case string:
			text += v
		case llm.ToolCall:
			written += v.Arguments
		case state.Message:
			result = v.Content
		}
	}
	if text != "It is 6.5." || written != `{"a":2.5,"b":4}` || result != "6.5" {
		t.Errorf("text %q, arguments %q, result %q", text, written, result)
	}
}

// TestFaultsAreTold checks that the model learns of every mistake of a model or a tool, and continues.
func TestFaultsAreTold(t *testing.T) {
	tools := []agent.Tool{
		adder,
		agent.Func("panics", "", func(context.Context, struct{}) (string, error) { panic("out of paper") }),
		agent.Func("fails", "", func(context.Context, struct{}) (string, error) { return "", errors.New("no such city") }),
		agent.Func("long", "", func(context.Context, struct{}) (string, error) { return strings.Repeat("ä", 1<<14), nil }),
	}
	slow := agent.Func("slow", "", func(ctx context.Context, _ struct{}) (string, error) { <-ctx.Done(); return "", ctx.Err() })
	slow.Timeout = time.Millisecond
	picky := agent.Func("picky", "", func(context.Context, struct{}) (string, error) { return "", nil })
	picky.Approve = func(json.RawMessage) bool { panic("cannot decide") }
	tools = append(tools, slow, picky)
	for _, test := range []struct{ name, arguments, want string }{
		{"subtract", `{}`, `There is no tool "subtract". The tools are: add, `},
		{"add", `{"a":1`, "do not match the schema of add"},
		{"add", `{"a":1}`, `required: missing properties: ["b"]`},
		{"add", `{"a":"one","b":2}`, "want \"number\""},
		{"add", `{"a":1,"b":2,"c":3}`, "add"},
		{"add", `[]`, "do not match"},
		{"add", `{"a":` + strings.Repeat(" ", 70<<10) + `1,"b":2}`, "at most 65536"},
		{"panics", ``, "The tool failed: out of paper"},
		{"fails", `{}`, "The tool failed: no such city"},
		{"slow", `{}`, "did not finish within 1ms"},
		{"picky", `{}`, "cannot decide"},
		{"long", `{}`, "(cut: 16384 of 32768 bytes)"},
	} {
		t.Run(test.name, func(t *testing.T) {
			chat, server := played(t, llmtest.CallTools(call("1", test.name, test.arguments), call("2", "add", `{"a":1,"b":1}`)), llmtest.Say("Sorry."))
			s := say(t, compiled(t, graph.Options{}, agent.Agent{Chat: chat, Tools: tools}), "?")
			got := results(s)
			if s.Reply() != "Sorry." || len(got) != 2 || !strings.Contains(got[0], test.want) || got[1] != "2" {
				t.Errorf("got %.300q", got)
			}
			if failed := s.Messages[2].Result.Failed; failed == (test.name == "long") {
				t.Errorf("failed: %v", failed)
			}
			if !json.Valid([]byte(server.Calls()[1].Body)) {
				t.Error("the next request is no JSON")
			}
		})
	}
}

// The model has its steps and its tries, and then has to answer without tools.
func TestLimits(t *testing.T) {
	again, bad := llmtest.CallTool("add", `{"a":1,"b":1}`), llmtest.CallTool("add", `{`)
	for name, test := range map[string]struct {
		limits agent.Limits
		play   []llmtest.Behaviour
		calls  int
	}{
		"steps":  {agent.Limits{Steps: 3}, []llmtest.Behaviour{again, again, llmtest.Say("Done.")}, 3},
		"faults": {agent.Limits{Faults: 2}, []llmtest.Behaviour{again, bad, bad, llmtest.Say("Done.")}, 4},
	} {
		t.Run(name, func(t *testing.T) {
			chat, server := played(t, test.play...)
			s := say(t, compiled(t, graph.Options{}, agent.Agent{Chat: chat, Tools: []agent.Tool{adder}, Limits: test.limits}), "?")
			calls := server.Calls()
			if s.Reply() != "Done." || len(calls) != test.calls {
				t.Fatalf("%q after %d calls", s.Reply(), len(calls))
			}
			for i, c := range calls {
				if last := i == len(calls)-1; strings.Contains(c.Body, `"tools"`) == last || strings.Contains(c.Body, "No more tools") != last {
					t.Errorf("call %d: %s", i, c.Body)
				}
			}
		})
	}
	for name, test := range map[string]struct {
		limits agent.Limits
		play   []llmtest.Behaviour
		want   string
		calls  int
	}{
		"steps":        {agent.Limits{Steps: 3}, []llmtest.Behaviour{again}, "The model gave no answer: it called the tool add again", 3},
		"faults":       {agent.Limits{Faults: 1}, []llmtest.Behaviour{bad, again, llmtest.Say("Two.")}, "Two.", 3},
		"faults again": {agent.Limits{Faults: 1}, []llmtest.Behaviour{bad, again}, "The model gave no answer", 3},
	} {
		t.Run("calls without tools: "+name, func(t *testing.T) {
			chat, server := played(t, test.play...)
			s := say(t, compiled(t, graph.Options{}, agent.Agent{Chat: chat, Tools: []agent.Tool{adder}, Limits: test.limits}), "?")
			if n := len(server.Calls()); !strings.HasPrefix(s.Reply(), test.want) || n != test.calls || s.Turn.Steps != n {
				t.Errorf("%q after %d calls, %d steps", s.Reply(), n, s.Turn.Steps)
			}
		})
	}
	priced := func(c llm.Chat) llm.Chat { return llm.Price(c, llm.PerMillion{Input: 1e6, Output: 1e6}) }
	for name, l := range map[string]agent.Limits{"tokens": {Tokens: 20}, "cost": {USD: 30}} {
		t.Run(name, func(t *testing.T) {
			chat, _ := played(t, again)
			store := memstore.New()
			request := graph.Request[agent.Update]{Thread: "t", Input: agent.Say("?")}
			_, err := compiled(t, graph.Options{Store: store}, agent.Agent{Chat: priced(chat), Tools: []agent.Tool{adder}, Limits: l}).Invoke(t.Context(), request)
			if e, ok := errors.AsType[*agent.LimitError](err); !ok || e.Limit != name {
				t.Fatalf("got %v", err)
			}
			chat, _ = played(t, llmtest.Say("Done."))
			r := compiled(t, graph.Options{Store: store}, agent.Agent{Chat: priced(chat), Tools: []agent.Tool{adder}})
			if s, err := r.Invoke(t.Context(), graph.Request[agent.Update]{Thread: "t", Resume: true}); err != nil || s.Reply() != "Done." {
				t.Errorf("%q %v", s.Reply(), err)
			}
		})
	}
	chat, _ := played(t, again)
	_, err := compiled(t, graph.Options{}, agent.Agent{Chat: chat, Limits: agent.Limits{USD: 1}, Tools: []agent.Tool{adder}}).
		Invoke(t.Context(), graph.Request[agent.Update]{Thread: "t", Input: agent.Say("?")})
	if err == nil || !strings.Contains(err.Error(), "price of the model") {
		t.Errorf("got %v", err)
	}
}

// While a person decides about one call, the others are done; they are done once.
func TestApproval(t *testing.T) {
	for _, test := range []struct {
		decision agent.Decision
		want     string
		paid     int64
	}{
		{agent.Decision{Verdict: "approve"}, "paid 5", 1},
		{agent.Decision{Verdict: "edit", Arguments: json.RawMessage(`{"amount":3}`)}, "paid 3", 1},
		{agent.Decision{Verdict: "edit", Arguments: json.RawMessage(`{"amount":"3"}`)}, "do not match the schema", 0},
		{agent.Decision{Verdict: "reject", Reason: "Too much."}, "A person refused this call. Too much.", 0},
	} {
		t.Run(test.want, func(t *testing.T) {
			var added, paid atomic.Int64
			counted := agent.Func("add", "", func(ctx context.Context, in sum) (float64, error) { added.Add(1); return add(ctx, in) })
			pay := agent.Func("pay", "", func(ctx context.Context, in struct {
				Amount int `json:"amount"`
			},
			) (string, error) {
				paid.Add(1)
				if agent.IdempotencyKey(ctx) == "" {
					t.Error("no key")
				}
				return fmt.Sprintf("paid %d", in.Amount), nil
			})
			pay.Approve = agent.Always
			chat, _ := played(t, llmtest.CallTools(call("1", "pay", `{"amount":5}`), call("2", "add", `{"a":1,"b":1}`)), llmtest.Say("Done."))
			store := memstore.New()
			a := agent.Agent{Chat: chat, Tools: []agent.Tool{counted, pay}}
			_, err := compiled(t, graph.Options{Store: store}, a).Invoke(t.Context(), graph.Request[agent.Update]{Thread: "t", Input: agent.Say("?")})
			waits, ok := errors.AsType[*graph.InterruptError](err)
			if !ok || len(waits.Questions) != 1 || string(waits.Questions[0].Ask) != `{"tool":"pay","arguments":{"amount":5}}` {
				t.Fatalf("got %v", err)
			}
			s, err := compiled(t, graph.Options{Store: store}, a).Invoke(t.Context(), graph.Request[agent.Update]{
				Thread: "t", Resume: true, Answers: map[string]any{waits.Questions[0].ID(): test.decision},
			})
			if err != nil || s.Reply() != "Done." || !strings.Contains(results(s)[0], test.want) {
				t.Errorf("%q %v", results(s), err)
			}
			if added.Load() != 1 || paid.Load() != test.paid {
				t.Errorf("added %d times, paid %d times", added.Load(), paid.Load())
			}
		})
	}
}

func TestToolAsksAPerson(t *testing.T) {
	chat, _ := played(t, llmtest.CallTool("where", `{}`), llmtest.Say("Done."))
	where := agent.Func("where", "", func(ctx context.Context, _ struct{}) (string, error) {
		return graph.Ask[string](ctx, "city", "Which city?")
	})
	r := compiled(t, graph.Options{}, agent.Agent{Chat: chat, Tools: []agent.Tool{where}})
	_, err := r.Invoke(t.Context(), graph.Request[agent.Update]{Thread: "t", Input: agent.Say("?")})
	if _, ok := errors.AsType[*graph.InterruptError](err); !ok {
		t.Fatalf("got %v", err)
	}
	s, err := r.Invoke(t.Context(), graph.Request[agent.Update]{Thread: "t", Resume: true, Answers: map[string]any{"city": "Brno"}})
	if err != nil || !slices.Equal(results(s), []string{"Brno"}) {
		t.Errorf("%v %v", results(s), err)
	}
}

// TestUnfinishedCallsAreClosed checks a person who continues without waiting: the open call gets a result,
// because providers refuse calls without one.
func TestUnfinishedCallsAreClosed(t *testing.T) {
	chat, server := played(t, llmtest.CallTool("pay", `{}`), llmtest.Say("Then not."))
	pay := agent.Func("pay", "", func(context.Context, struct{}) (string, error) { return "", nil })
	pay.Approve = agent.Always
	r := compiled(t, graph.Options{}, agent.Agent{Chat: chat, Tools: []agent.Tool{pay}})
	if _, err := r.Invoke(t.Context(), graph.Request[agent.Update]{Thread: "t", Input: agent.Say("Pay.")}); err == nil {
		t.Fatal("it did not wait")
	}
	if s := say(t, r, "Never mind."); s.Reply() != "Then not." || !strings.Contains(server.Calls()[1].Body, "This call was not carried out.") {
		t.Errorf("%q", s.Reply())
	}
}

func TestHandOver(t *testing.T) {
	chat, server := played(t, llmtest.CallTools(call("1", "hand_over_to_sums", `{"task":"add"}`), call("2", "hand_over_to_sums", `{"task":"add"}`)),
		llmtest.CallTool("add", `{"a":1,"b":2}`), llmtest.Say("3"), llmtest.Say("Still here."))
	r := compiled(
		t, graph.Options{}, agent.Agent{Name: "desk", Chat: chat, System: "You are the desk.", HandOver: []string{"sums"}},
		agent.Agent{Name: "sums", Chat: chat, System: "You add.", Tools: []agent.Tool{adder}, HandOver: []string{"desk"}},
	)
	s := say(t, r, "1 + 2?")
	if s.Reply() != "3" || s.Agent != "sums" || !strings.Contains(results(s)[1], "already") || server.Calls()[1].System != "You add." {
		t.Errorf("%+v", s)
	}
	if s = say(t, r, "Hello"); s.Reply() != "Still here." || server.Calls()[3].System != "You add." {
		t.Errorf("%+v", s)
	}
}

func TestStructuredAnswer(t *testing.T) {
	type verdict struct {
		Sum  float64 `json:"sum"`
		Even bool    `json:"even"`
	}
	chat, server := played(t, llmtest.CallTool("add", `{"a":1,"b":1}`), llmtest.Say("It is two."), llmtest.Say(`{"sum":"two"}`), llmtest.Say("```json\n{\"sum\":2,\"even\":true}\n```"), llmtest.Say("x"))
	a := agent.Agent{Chat: chat, Tools: []agent.Tool{adder}, Answer: agent.AnswerOf[verdict]()}
	r := compiled(t, graph.Options{}, a)
	v, err := agent.Decode[verdict](say(t, r, "1 + 1?"))
	if err != nil || v != (verdict{2, true}) {
		t.Errorf("%+v %v", v, err)
	}
	if body := server.Calls()[3].Body; !strings.Contains(body, "json_schema") || !strings.Contains(body, "That does not match the schema") {
		t.Error(body)
	}
	_, err = r.Invoke(t.Context(), graph.Request[agent.Update]{Thread: "t", Input: agent.Say("?")})
	if err == nil || !strings.Contains(err.Error(), "no answer that matches the schema") {
		t.Errorf("got %v", err)
	}
}

type shelf map[string][]string

func (s shelf) Retrieve(_ context.Context, query string) (out []state.Source, err error) {
	for _, id := range s[query] {
		out = append(out, state.Source{Chunk: state.Chunk{ID: id, Source: id + ".md", Title: id, Text: "About " + id + ". [Source 9]"}})
	}
	return out, nil
}

// Sources are numbered over the calls, in their order, and each is shown once.
func TestSearch(t *testing.T) {
	find := func(id, q string) llm.ToolCall { return call(id, "search", `{"query":"`+q+`"}`) }
	chat, _ := played(t, llmtest.CallTools(find("1", "x"), find("2", "y")), llmtest.CallTools(find("3", "y"), find("4", "nothing")), llmtest.Say("A [Source 1], C [Source 3]."))
	r := compiled(t, graph.Options{}, agent.Agent{Chat: chat, Tools: []agent.Tool{agent.Search("search", "Finds.", shelf{"x": {"a", "b"}, "y": {"b", "c"}})}})
	s := say(t, r, "?")
	var ids []string
	for _, source := range s.Sources {
		ids = append(ids, source.ID)
	}
	got := results(s)
	if !slices.Equal(ids, []string{"a", "b", "c"}) {
		t.Errorf("sources %v", ids)
	}
	if !strings.Contains(got[1], "[Source 2] b (b.md)\n(as above)") || !strings.Contains(got[1], "[Source 3] c (c.md)\nAbout c. \\[Source 9]") || !strings.Contains(got[3], "Nothing was found") {
		t.Errorf("%q", got)
	}
}

func TestFaultsOfAgents(t *testing.T) {
	chat, _ := played(t, llmtest.Say("x"))
	type loop struct{ Next func() }
	_, err := agent.Compile(
		agent.Agent{Name: "a", Tools: []agent.Tool{adder, adder, {Name: "two words"}, {Name: "idle"}, {Name: "list", Schema: json.RawMessage(`{"type":"array"}`), Run: adder.Run}}, HandOver: []string{"c"}},
		agent.Agent{Name: "a", Chat: chat, Limits: agent.Limits{Steps: -1}, Tools: []agent.Tool{agent.Func("f", "", func(context.Context, loop) (string, error) { return "", nil })}},
	)
	for _, want := range []string{
		"it has no Chat", `two tools have the name "add"`, `tool "two words"`, `tool "idle": Run is missing`, "that of an object",
		`hand over to "c"`, "same name", "must not be negative", `tool "f"`,
	} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}

// Small models write calls as text.
func TestCallsAsText(t *testing.T) {
	for text, calls := range map[string]int{
		"```json\n{\"name\": \"add\", \"arguments\": {\"a\":1,\"b\":1}}\n```":                           1,
		`<tool_call>{"name":"add","parameters":{"a":1,"b":1}}</tool_call>{"name":"add","arguments":{}}`: 2,
		`{{"name":"add","arguments":{}}}}`:                                                              1, `{{"name":"add","arguments":{}}}`: 1, `{{"name":"add","arguments":{}}`: 1,
		`{"name":"add"}`: 0, `{"name":"Ada","arguments":{}}`: 0, `Call {"name":"add","arguments":{}}`: 0,
	} {
		chat, _ := played(t, llmtest.Say(text), llmtest.Say("Done."))
		s := say(t, compiled(t, graph.Options{}, agent.Agent{Chat: chat, Tools: []agent.Tool{adder}}), "?")
		if got := results(s); len(got) != calls || (calls == 0) != (s.Reply() == text) {
			t.Errorf("%s: %q, then %q", text, got, s.Reply())
		}
	}
}

// A small model may write nothing after a result. It is asked once more, within its limit.
func TestEmptyAnswer(t *testing.T) {
	use, nothing := llmtest.CallTool("add", `{"a":1,"b":1}`), llmtest.Say("")
	for name, test := range map[string]struct {
		steps int
		play  []llmtest.Behaviour
		want  string // empty: the run fails
	}{
		"once more": {0, []llmtest.Behaviour{use, nothing, llmtest.Say("Two.")}, "Two."},
		"again":     {0, []llmtest.Behaviour{use, nothing, nothing}, ""},
		"limit":     {2, []llmtest.Behaviour{use, nothing}, ""},
	} {
		chat, server := played(t, test.play...)
		r := compiled(t, graph.Options{}, agent.Agent{Chat: chat, Tools: []agent.Tool{adder}, Limits: agent.Limits{Steps: test.steps}})
		s, err := r.Invoke(t.Context(), graph.Request[agent.Update]{Thread: "t", Input: agent.Say("1 + 1?")})
		calls := server.Calls()
		if s.Reply() != test.want || len(calls) != len(test.play) || (err == nil) != (test.want != "") || err == nil && s.Turn.Steps != len(calls) {
			t.Errorf("%s: %q after %d calls: %v", name, s.Reply(), len(calls), err)
		}
		if last := calls[len(calls)-1].Body; len(calls) == 3 && (!strings.Contains(last, "You wrote nothing") || strings.Contains(last, `"tools"`)) {
			t.Errorf("%s: %s", name, last)
		}
	}
}

func TestFallback(t *testing.T) {
	broken, _ := played(t, llmtest.CallTool("add", `{"a":1,"b":1}`), llmtest.Status(400, "broken"))
	other, server := played(t, llmtest.Say("Two."))
	r := compiled(t, graph.Options{}, agent.Agent{Chat: llm.Fallback(broken, other), Tools: []agent.Tool{adder}})
	if s := say(t, r, "1 + 1?"); s.Reply() != "Two." || s.Turn.Steps != 2 || !strings.Contains(server.Calls()[0].Body, `"tool_call_id"`) {
		t.Errorf("%+v", s)
	}
	if _, err := r.Invoke(t.Context(), graph.Request[agent.Update]{Thread: "u", Input: agent.Say("?")}); err != nil {
		t.Errorf("the second turn: %v", err)
	}
}

// The context chooses the model, and a text that was cut off is not followed by that of another one.
func TestModelOfTheContext(t *testing.T) {
	cut, _ := played(t, llmtest.Cut("Half an ans"))
	other, _ := played(t, llmtest.Say("Two."))
	type key struct{}
	r := compiled(t, graph.Options{}, agent.Agent{ChatFor: func(ctx context.Context) llm.Chat { return ctx.Value(key{}).(llm.Chat) }})
	ctx := context.WithValue(t.Context(), key{}, llm.Task{Chat: llm.Fallback(cut, other)})
	said, reply, calls := "", "", 0
	for e, err := range r.Stream(ctx, graph.Request[agent.Update]{Thread: "t", Input: agent.Say("1 + 1?")}) {
		if err != nil {
			t.Fatal(err)
		}
		if text, ok := e.Value.(string); ok {
			said += text
		}
		if e.Kind == graph.TaskDone {
			calls += len(e.Tasks[0].Notes.Calls)
		}
		reply = e.State.Reply()
	}
	if said != "Half an ans" || reply != "Two." || calls != 2 {
		t.Errorf("said %q, replied %q after %d calls", said, reply, calls)
	}
}
