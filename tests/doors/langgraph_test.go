package doors_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"testing"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/graph"
	"example.com/ragflow/graph/memstore"
	"example.com/ragflow/graph/untyped"
	"example.com/ragflow/longterm"
	"example.com/ragflow/server"
)

type lgMessage struct {
	ID      string `json:"id"`
	Type    string `json:"type"`
	Content string `json:"content"`
}

// lgOrder is the state and the update of the graph that langgraph/shop.py has for LangGraph itself.
type lgOrder struct {
	Messages []lgMessage `json:"messages"`
	Item     string      `json:"item,omitempty"`
	Price    int         `json:"price,omitempty"`
	Paid     bool        `json:"paid,omitempty"`

	Was json.RawMessage `json:"was,omitempty"` // of an update: the state to go back to
}

func (s lgOrder) with(u lgOrder) (lgOrder, error) {
	if u.Was != nil {
		s = lgOrder{}
		err := json.Unmarshal(u.Was, &s)
		return s, err
	}
	s.Messages = append(append([]lgMessage{}, s.Messages...), u.Messages...)
	if u.Item != "" {
		s.Item = u.Item
	}
	if u.Price != 0 {
		s.Price = u.Price
	}
	s.Paid = s.Paid || u.Paid
	return s, nil
}

func lgPrice(ctx context.Context, s lgOrder) (lgOrder, error) {
	graph.Emit(ctx, map[string]string{"seen": s.Item})
	switch s.Item {
	case "slow":
		select {
		case <-time.After(5 * time.Second):
		case <-ctx.Done():
			return lgOrder{}, ctx.Err()
		}
	case "bad":
		return lgOrder{}, errors.New("no such item")
	}
	return lgOrder{Price: len(s.Item)}, nil
}

func lgPay(ctx context.Context, s lgOrder) (lgOrder, error) {
	yes, err := graph.Ask[bool](ctx, "pay", map[string]int{"pay": s.Price})
	if err != nil {
		return lgOrder{}, err
	}
	m := lgMessage{ID: "m-" + s.Item, Type: "ai", Content: "kept"}
	if yes {
		m.Content = "it is paid"
		for _, word := range []string{"it is ", "paid"} {
			graph.Emit(ctx, map[string]string{"type": "AIMessageChunk", "id": m.ID, "content": word})
		}
	}
	return lgOrder{Paid: yes, Messages: []lgMessage{m}}, nil
}

func lgShop() untyped.Runner {
	plan := graph.MustCompile(graph.Graph[lgOrder, lgOrder]{
		Name: "shop", Apply: lgOrder.with,
		Restore: func(_, then lgOrder) ([]lgOrder, error) {
			body, err := json.Marshal(then)
			return []lgOrder{{Was: body}}, err
		},
		Nodes: map[string]graph.Task[lgOrder, lgOrder]{"price": {Run: lgPrice}, "pay": {Run: lgPay}},
		Edges: graph.Chain(graph.Start, "price", "pay", graph.End),
	})
	return untyped.Of(plan.Runner(graph.Options{Store: memstore.New()}))
}

// lgServe serves the shop, and an assistant with one document.
func lgServe(t *testing.T) (url string) {
	t.Helper()
	docs := t.TempDir()
	if err := os.WriteFile(filepath.Join(docs, "leave.md"), []byte(leave), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: t.TempDir(), Docs: []string{docs}})
	if err != nil {
		t.Fatal(err)
	}
	facts, err := longterm.Open(t.Context(), ":memory:", longterm.Options{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := errors.Join(facts.Close(), a.Close()); err != nil {
			t.Error(err)
		}
	})
	return serveHere(t, a, server.Options{Graphs: map[string]untyped.Runner{"shop": lgShop()}, Facts: facts})
}

// lgClient runs a script of a client and checks the lines that it prints: {"check": NAME, "error": TEXT}.
func lgClient(t *testing.T, url string, checks int, file string) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	c := script(ctx, t, "langgraph", file, url)
	out, err := c.Output()
	n := 0
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		var line struct{ Check, Error string }
		if json.Unmarshal(lines.Bytes(), &line) != nil || line.Check == "" {
			continue // a line of a library
		}
		if n++; line.Error != "" {
			t.Errorf("%s: %s", line.Check, line.Error)
		}
	}
	if err != nil || n != checks {
		t.Errorf("%d checks, want %d: %v", n, checks, err)
	}
}

func TestIntegrationLangGraph(t *testing.T) {
	url := lgServe(t)
	t.Run("sdk", func(t *testing.T) { lgClient(t, url, 12, "sdk.mjs") })
	t.Run("react", func(t *testing.T) { lgClient(t, url, 5, "react.mjs") })
	t.Run("python", func(t *testing.T) { lgClient(t, url, 9, "sdk.py") })
}
