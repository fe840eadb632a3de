package untyped_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
	"example.com/ragflow/graph/untyped"
)

type order struct {
	Item  string `json:"item,omitempty"`
	Price int    `json:"price,omitempty"`
	Paid  bool   `json:"paid,omitempty"`
}

// shop is a graph that asks before it pays.
func shop(t *testing.T) untyped.Runner {
	t.Helper()
	plan, err := graph.Compile(graph.Graph[order, order]{
		Name: "shop",
		Apply: func(s, u order) (order, error) {
			if u.Item != "" {
				s.Item = u.Item
			}
			if u.Price != 0 {
				s.Price = u.Price
			}
			s.Paid = s.Paid || u.Paid
			return s, nil
		},
		Nodes: map[string]graph.Task[order, order]{
			"price": {Run: func(ctx context.Context, s order) (order, error) {
				graph.EmitToken(ctx, s.Item)
				return order{Price: len(s.Item)}, nil
			}},
			"pay": {Run: func(ctx context.Context, s order) (order, error) {
				yes, err := graph.Ask[bool](ctx, "pay", fmt.Sprint("pay ", s.Price, "?"))
				return order{Paid: yes}, err
			}},
		},
		Edges: graph.Chain(graph.Start, "price", "pay", graph.End),
	})
	if err != nil {
		t.Fatal(err)
	}
	return untyped.Of(plan.Runner(graph.Options{Store: memstore.New()}))
}

// call sends a request of JSON and returns each event as JSON, without what differs from run to run.
func call(t *testing.T, g untyped.Runner, req untyped.Request) (lines []string, err error) {
	t.Helper()
	for e, fault := range g.Stream(t.Context(), req) {
		if err = fault; err != nil {
			break
		}
		short := map[string]any{"kind": e.Kind}
		body, fault := json.Marshal(e)
		var all map[string]any
		if err := errors.Join(fault, json.Unmarshal(body, &all)); err != nil {
			t.Fatal(err)
		}
		for _, key := range []string{"state", "node", "value", "status", "next"} {
			if v, ok := all[key]; ok {
				short[key] = v
			}
		}
		if e.Interrupt != nil {
			short["asks"] = string(e.Interrupt.Questions[0].Ask)
		}
		line, _ := json.Marshal(short)
		lines = append(lines, string(line))
	}
	return lines, err
}

// A graph runs, asks, and continues through JSON only.
func TestRunner(t *testing.T) {
	t.Parallel()
	g := shop(t)
	got, err := call(t, g, untyped.Request{Thread: "t", Run: "r", Input: json.RawMessage(`{"item":"book"}`), Modes: graph.Values | graph.Tokens})
	if _, waits := errors.AsType[*graph.InterruptError](err); !waits {
		t.Fatal(err)
	}
	more, err := call(t, g, untyped.Request{Thread: "t", Resume: true, Answers: map[string]any{"pay": json.RawMessage("true")}, Modes: graph.Values})
	if err != nil {
		t.Fatal(err)
	}
	want := `{"kind":"run_started","next":["price"],"state":{"item":"book"},"status":"running"}
{"kind":"token","node":"price","value":"book"}
{"kind":"step_done","next":["pay"],"state":{"item":"book","price":4},"status":"running"}
{"kind":"task_done","node":"pay"}
{"asks":"\"pay 4?\"","kind":"run_ended","next":["pay"],"state":{"item":"book","price":4},"status":"interrupted"}
{"kind":"run_started","next":["pay"],"state":{"item":"book","price":4},"status":"running"}
{"kind":"step_done","state":{"item":"book","paid":true,"price":4},"status":"completed"}
{"kind":"run_ended","state":{"item":"book","paid":true,"price":4},"status":"completed"}`
	if got := strings.Join(append(got, more...), "\n"); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	n := 0
	for e, err := range g.Events(t.Context(), "t", "r", 0, 0) {
		if err != nil || len(e.State) == 0 {
			t.Errorf("%v %s", err, e.State)
		}
		n++
	}
	if n != 6 {
		t.Errorf("%d events in the log, want 6", n)
	}
}

func TestStates(t *testing.T) {
	t.Parallel()
	g := shop(t)
	if _, err := call(t, g, untyped.Request{Thread: "t", Input: json.RawMessage(`{"item":"book"}`)}); err == nil {
		t.Fatal("no question")
	}
	if s, _, err := g.Update(t.Context(), untyped.Edit{Thread: "t", Updates: []json.RawMessage{json.RawMessage(`{"price":3}`)}}); err != nil || string(s) != `{"item":"book","price":3}` {
		t.Errorf("updated: %s, %v", s, err)
	}
	page, err := g.History(t.Context(), "t", 0, 9)
	if err != nil || len(page) != 4 || string(page[3].State) != `{"item":"book"}` {
		t.Fatalf("history: %v, %v", page, err)
	}
	if s, err := g.StateAt(t.Context(), "t", page[1].Commit.ID); err != nil || string(s) != `{"item":"book","price":4}` {
		t.Errorf("earlier: %s, %v", s, err)
	}
	if err := g.Cancel(t.Context(), "t", ""); err != nil {
		t.Error(err)
	}
	if s, head, err := g.State(t.Context(), "t"); err != nil || head.Status != graph.Cancelled || string(s) != `{"item":"book","price":3}` {
		t.Errorf("state: %s, %s, %v", s, head.Status, err)
	}
	if page, err := g.Threads(t.Context(), graph.ThreadQuery{}); err != nil || len(page.Threads) != 1 {
		t.Errorf("threads: %v, %v", page, err)
	}
	state, update, err := g.Schemas()
	if err != nil || !strings.Contains(string(state), `"price"`) || string(state) != string(update) || g.Shape().Name != "shop" {
		t.Errorf("%s: %s, %s, %v", g.Shape().Name, state, update, err)
	}
}

func TestBadJSON(t *testing.T) {
	t.Parallel()
	g := shop(t)
	for _, body := range []string{`{"item"`, `{"itme":"book"}`, `{"price":"four"}`, `{} {}`, `[]`} {
		_, err := call(t, g, untyped.Request{Thread: "t", Input: json.RawMessage(body)})
		if bad, ok := errors.AsType[*graph.EntryError](err); !ok || bad.Field != "input" {
			t.Errorf("%s: %v", body, err)
		}
		if _, _, err := g.Update(t.Context(), untyped.Edit{Thread: "t", Create: true, Updates: []json.RawMessage{json.RawMessage(body)}}); err == nil {
			t.Errorf("update %s: no error", body)
		}
	}
	if _, _, err := g.State(t.Context(), "t"); !errors.Is(err, graph.ErrNotFound) {
		t.Errorf("something was saved: %v", err)
	}
	if _, err := call(t, g, untyped.Request{Thread: "t", Input: json.RawMessage(`{"item":"book"}`)}); err == nil {
		t.Fatal("no question")
	}
	for _, answer := range []string{`"yes"`, `tru`} {
		_, err := call(t, g, untyped.Request{Thread: "t", Resume: true, Answers: map[string]any{"pay": json.RawMessage(answer)}})
		if _, ok := errors.AsType[*graph.AnswerError](err); !ok {
			t.Errorf("answer %s: %v", answer, err)
		}
	}
}
