package ragflow

import (
	"context"
	"errors"
	"runtime"
	"slices"
	"sync"
	"testing"

	"example.com/ragflow/llm"
	"example.com/ragflow/state"
)

// REQUIREMENTS R14: legs are asked side by side. Each waits here for all others.
func TestLegsSideBySide(t *testing.T) {
	var all sync.WaitGroup
	all.Add(3)
	leg := func(name string) source {
		return source{leg: name, weight: 1, depth: 4, find: func(_ context.Context, k int) ([]state.Hit, []string, error) {
			all.Done()
			all.Wait()
			return []state.Hit{{Chunk: name, Score: float64(k)}}, []string{"said by " + name}, nil
		}}
	}
	failing := source{leg: "failing", optional: true, find: func(context.Context, int) ([]state.Hit, []string, error) {
		return nil, nil, errors.New("no service")
	}}
	lists, warnings, err := askAll(t.Context(), []source{leg("a"), leg("b"), leg("c"), failing})
	if err != nil || len(lists) != 4 || lists[2][0].Chunk != "c" || lists[2][0].Score != 4 {
		t.Errorf("got %v, %v", lists, err)
	}
	want := []string{"said by a", "said by b", "said by c", "Dense search left out, searched by words only: no service"}
	if !slices.Equal(warnings, want) {
		t.Errorf("warnings %q", warnings)
	}
	failing.optional = false
	if _, _, err := askAll(t.Context(), []source{failing}); err == nil {
		t.Error("a leg that failed is no error")
	}
}

// A leg that is quick is asked by who asks the only other one: all in turn, whatever
// goroutines there are.
func TestQuickLegs(t *testing.T) {
	for _, tt := range []struct {
		quick  []bool
		inTurn bool
	}{{[]bool{false, true}, true}, {[]bool{true, true, true}, true}, {[]bool{false}, true}, {[]bool{false, true, false}, false}} {
		var list []source
		var order []string
		before, more := runtime.NumGoroutine(), false
		for i, quick := range tt.quick {
			name := string(rune('a' + i))
			list = append(list, source{leg: name, weight: 1, quick: quick, find: func(context.Context, int) ([]state.Hit, []string, error) {
				if tt.inTurn {
					order = append(order, name)
					more = more || runtime.NumGoroutine() > before
				}
				return []state.Hit{{Chunk: name}}, nil, nil
			}})
		}
		lists, _, err := askAll(t.Context(), list)
		if err != nil || len(lists) != len(list) || lists[len(lists)-1][0].Chunk != list[len(list)-1].leg {
			t.Errorf("%v: got %v, %v", tt.quick, lists, err)
		}
		if more || tt.inTurn && (len(order) != len(list) || !slices.IsSorted(order)) {
			t.Errorf("%v: asked in the order %v, goroutines for them: %v", tt.quick, order, more)
		}
	}
}

// mute is an embedder that is never asked.
type mute struct{ llm.Embedder }

// REQUIREMENTS R02, F04: the legs of a search for k hits are asked for 2k each, that
// by names for 50; one of weight 0 is not among them.
func TestLegsAndDepths(t *testing.T) {
	for _, tt := range []struct {
		name string
		r    Retrieval
		leg  string
		want map[string]int
	}{
		{"both", Retrieval{Weights: Weights{Dense: 0.7, Lexical: 0.3}}, LegHybrid, map[string]int{LegDense: 14, LegLexical: 14}},
		{"three", Retrieval{Weights: Weights{Dense: 0.7, Lexical: 0.3, Graph: 0.1}}, LegHybrid, map[string]int{LegDense: 14, LegLexical: 14, LegGraph: 50}},
		{"depths", Retrieval{Weights: Weights{Dense: 1, Lexical: 1}, DenseDepth: 20, LexicalDepth: 10}, LegHybrid, map[string]int{LegDense: 20, LegLexical: 10}},
		{"no words", Retrieval{Weights: Weights{Dense: 0.7, Graph: 0.1}}, LegHybrid, map[string]int{LegDense: 14, LegGraph: 50}},
		{"one by name", Retrieval{Weights: Weights{Dense: 0.7, Graph: 0.1}}, LegLexical, map[string]int{LegLexical: 14}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			h := &hybrid{config: Config{Retrieval: tt.r, Embedder: mute{}}}
			got := map[string]int{}
			for _, s := range h.sources(state.Query{Text: "x"}, 7, tt.leg) {
				got[s.leg] = s.depth
			}
			if len(got) != len(tt.want) {
				t.Errorf("asked %v, want %v", got, tt.want)
			}
			for leg, depth := range tt.want {
				if got[leg] != depth {
					t.Errorf("%s is asked for %d, want %d", leg, got[leg], depth)
				}
			}
		})
	}
}
