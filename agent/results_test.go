package agent_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"example.com/ragflow/agent"
	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
	"example.com/ragflow/llm"
	"example.com/ragflow/state"
)

// speaker is a model that is a function.
type speaker func(llm.Request) llm.Response

func (speaker) Model() string { return "speaker" }

func (f speaker) Complete(_ context.Context, r llm.Request, _ func(string)) (llm.Response, error) {
	return f(r), nil
}

// callsThenTells is a model that makes calls and then repeats the results that it was told.
func callsThenTells(calls ...llm.ToolCall) speaker {
	return func(r llm.Request) llm.Response {
		var told []string
		for _, m := range r.Messages {
			if m.Role == llm.ToolResult {
				told = append(told, m.CallID+": "+m.Content)
			}
		}
		if told == nil {
			return llm.Response{Calls: calls}
		}
		return llm.Response{Text: strings.Join(told, "; ")}
	}
}

type letter struct {
	To string `json:"to,omitempty"`
}

// office has a mail that goes out at once and a payment that a person approves.
func office(mail func(context.Context, letter) (string, error)) []agent.Tool {
	pay := agent.Func("pay", "", func(_ context.Context, in struct {
		EUR int `json:"eur"`
	},
	) (string, error) {
		return fmt.Sprintf("paid %d", in.EUR), nil
	})
	pay.Approve = agent.Always
	return []agent.Tool{agent.Func("mail", "", mail), pay}
}

func sent(context.Context, letter) (string, error) { return "sent", nil }

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

// A person who writes something else while a call waits does not make the model forget what the others did.
func TestDeedsOfASupersededRun(t *testing.T) {
	calls := []llm.ToolCall{call("m", "mail", `{}`), call("p", "pay", `{"eur":500}`)}
	type request = graph.Request[agent.Update]
	waits := func(t *testing.T, r runner, _ context.CancelFunc) {
		t.Helper()
		_, err := r.Invoke(t.Context(), request{Thread: "t", Input: agent.Say("Do both.")})
		open(t, err)
	}
	for name, test := range map[string]struct {
		mail  func(context.Context, letter) (string, error)
		first func(*testing.T, runner, context.CancelFunc)
		want  string
	}{
		"waits": {sent, waits, "m: sent; p: This call was not carried out."},
		"edited": {sent, func(t *testing.T, r runner, stop context.CancelFunc) {
			t.Helper()
			waits(t, r, stop)
			_, _, err := r.Update(t.Context(), graph.Edit[agent.State, agent.Update]{Thread: "t", Updates: []agent.Update{agent.Say("By the way.")}})
			if err != nil {
				t.Fatal(err)
			}
		}, "m: sent; p: This call was not carried out."},
		"cancelled": {nil, func(t *testing.T, r runner, _ context.CancelFunc) {
			t.Helper()
			ctx, cancel := context.WithCancel(t.Context())
			ctx = context.WithValue(ctx, cancelKey{}, cancel)
			if _, err := r.Invoke(ctx, request{Thread: "t", Input: agent.Say("Do both.")}); !errors.Is(err, context.Canceled) {
				t.Fatal(err)
			}
		}, "m: This call may have been carried out. Its result was lost.; p: This call was not carried out."},
	} {
		t.Run(name, func(t *testing.T) {
			if test.mail == nil {
				test.mail = func(ctx context.Context, _ letter) (string, error) {
					if cancel, ok := ctx.Value(cancelKey{}).(context.CancelFunc); ok {
						cancel() // after the mail left
					}
					<-ctx.Done()
					return "", ctx.Err()
				}
			}
			r := compiled(t, graph.Options{}, agent.Agent{Chat: callsThenTells(calls...), Tools: office(test.mail)})
			test.first(t, r, nil)
			s := say(t, r, "Never mind.")
			if s.Reply() != test.want {
				t.Errorf("told %q, want %q", s.Reply(), test.want)
			}
		})
	}
}

type cancelKey struct{}

// A message that comes by an update while a call waits stands after the results, and no result is lost.
func TestMessageWhileACallWaits(t *testing.T) {
	chat := callsThenTells(call("m", "mail", `{}`), call("p", "pay", `{"eur":500}`))
	r := compiled(t, graph.Options{}, agent.Agent{Chat: chat, Tools: office(sent)})
	_, err := r.Invoke(t.Context(), graph.Request[agent.Update]{Thread: "t", Input: agent.Say("Do both.")})
	ids := open(t, err)
	s, err := r.Invoke(t.Context(), graph.Request[agent.Update]{
		Thread: "t", Resume: true, Updates: []agent.Update{agent.Say("Hurry.")},
		Answers: map[string]any{ids[0]: agent.Decision{Verdict: "edit", Arguments: json.RawMessage(`{"eur":5}`)}},
	})
	want := `m: sent; p: A person changed the arguments of this call to {"eur":5}. Its result:` + "\npaid 5"
	if err != nil || s.Reply() != want {
		t.Errorf("told %q, %v; want %q", s.Reply(), err, want)
	}
}

// Each approval is answered by itself: its tool runs at once, and only the others stay open.
func TestApprovalsOneByOne(t *testing.T) {
	var paid []string
	pay := agent.Func("pay", "", func(_ context.Context, in letter) (string, error) {
		paid = append(paid, in.To)
		return "paid " + in.To, nil
	})
	pay.Approve = agent.Always
	store := memstore.New()
	chat := callsThenTells(call("a", "pay", `{"to":"Ann"}`), call("b", "pay", `{"to":"Ben"}`), call("c", "pay", `{"to":"Cai"}`))
	answer := func(q graph.Request[agent.Update]) (agent.State, error) { // as another process
		q.Thread = "t"
		return compiled(t, graph.Options{Store: store}, agent.Agent{Chat: chat, Tools: []agent.Tool{pay}}).Invoke(t.Context(), q)
	}
	_, err := answer(graph.Request[agent.Update]{Input: agent.Say("Pay them.")})
	for _, step := range []struct{ open, paid []string }{
		{[]string{"tools[0]/approve a", "tools[1]/approve b", "tools[2]/approve c"}, nil},
		{[]string{"tools[0]/approve a", "tools[1]/approve b"}, []string{"Cai"}},
		{[]string{"tools[0]/approve a"}, []string{"Cai", "Ben"}},
	} {
		ids := open(t, err)
		if !slices.Equal(ids, step.open) || !slices.Equal(paid, step.paid) {
			t.Fatalf("open %q, paid %q; want %q, %q", ids, paid, step.open, step.paid)
		}
		_, err = answer(graph.Request[agent.Update]{Resume: true, Answers: map[string]any{ids[len(ids)-1]: agent.Decision{Verdict: "approve"}}})
	}
	s, headErr := answer(graph.Request[agent.Update]{Input: agent.Say("Thanks.")})
	if want := "a: paid Ann; b: paid Ben; c: paid Cai"; err != nil || headErr != nil || s.Reply() != want || len(paid) != 3 {
		t.Errorf("%q, %v, %v; paid %q", s.Reply(), err, headErr, paid)
	}
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

// A result is cut before it is saved, with its sources, in whole runes.
func TestResultIsCutBeforeItIsSaved(t *testing.T) {
	const most, huge = 1 << 10, 1 << 22
	long := strings.Repeat("ä", huge)
	passage := func(id, text string) state.Source {
		return state.Source{Chunk: state.Chunk{ID: id, Source: id, Title: "T", Text: text, Start: 7, End: 7 + len(text)}}
	}
	for name, test := range map[string]struct {
		result agent.Result
		err    error
		kept   int // sources
	}{
		"text":         {agent.Result{Text: long}, nil, 0},
		"error":        {agent.Result{}, errors.New(long), 0},
		"source":       {agent.Result{Sources: []state.Source{passage("a", long), passage("b", "b")}}, nil, 1},
		"many":         {agent.Result{Sources: slices.Repeat([]state.Source{passage("a", "abc")}, 1<<12)}, nil, 1},
		"both":         {agent.Result{Text: long, Sources: []state.Source{passage("a", long)}}, nil, 0},
		"text, source": {agent.Result{Text: "short", Sources: []state.Source{passage("a", "one"), passage("b", long)}}, nil, 2},
		"title":        {agent.Result{Sources: []state.Source{{Chunk: state.Chunk{ID: "a", Title: long, Text: "a"}}}}, nil, 0},
	} {
		t.Run(name, func(t *testing.T) {
			find := agent.Func("find", "", func(context.Context, struct{}) (agent.Result, error) { return test.result, test.err })
			wait := agent.Func("wait", "", func(context.Context, struct{}) (string, error) { return "", nil })
			wait.Approve = agent.Always
			store := memstore.New()
			r := compiled(t, graph.Options{Store: store}, agent.Agent{
				Chat: callsThenTells(call("1", "find", `{}`), call("2", "wait", `{}`)), Tools: []agent.Tool{find, wait}, Limits: agent.Limits{Result: most},
			})
			_, err := r.Invoke(t.Context(), graph.Request[agent.Update]{Thread: "t", Input: agent.Say("?")})
			id := open(t, err)[0]
			pending, err := store.Pending(t.Context(), "t")
			if err != nil || len(pending) < 2 {
				t.Fatal(pending, err)
			}
			for _, p := range pending {
				if n := len(p.Delta.Body); n > 64*most {
					t.Errorf("%s has %d bytes", p.Delta.Node, n)
				}
			}
			s, err := r.Invoke(t.Context(), graph.Request[agent.Update]{Thread: "t", Resume: true, Answers: map[string]any{id: agent.Decision{Verdict: "reject"}}})
			if err != nil {
				t.Fatal(err)
			}
			told := results(s)[0]
			if len(told) > most+100 || !strings.Contains(told, "(cut: ") || !utf8.ValidString(told) || strings.ContainsRune(told, utf8.RuneError) {
				t.Errorf("told %d bytes, … %q", len(told), told[max(0, len(told)-100):])
			}
			if len(s.Sources) != test.kept {
				t.Errorf("%d sources, want %d", len(s.Sources), test.kept)
			}
			for _, source := range s.Sources {
				if len(source.Text) > most || !utf8.ValidString(source.Text) || source.End-source.Start != len(source.Text) {
					t.Errorf("source of %d bytes from %d to %d", len(source.Text), source.Start, source.End)
				}
			}
		})
	}
}
