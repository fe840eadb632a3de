package search

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/ragflow/llm"
	"example.com/ragflow/state"
)

// Legs are asked side by side. Each waits here for all others.
func TestLegsSideBySide(t *testing.T) {
	var all sync.WaitGroup
	all.Add(3)
	leg := func(name string) legCall {
		return legCall{name: name, weight: 1, depth: 4, find: func(_ context.Context, k int) ([]state.Hit, []string, error) {
			all.Done()
			all.Wait()
			return []state.Hit{{Chunk: name, Score: float64(k)}}, []string{"said by " + name}, nil
		}}
	}
	failing := legCall{name: "failing", optional: true, find: func(context.Context, int) ([]state.Hit, []string, error) {
		return nil, nil, errors.New("no service")
	}}
	lists, warnings, err := askAll(t.Context(), []legCall{leg("a"), leg("b"), leg("c"), failing})
	if err != nil || len(lists) != 4 || lists[2][0].Chunk != "c" || lists[2][0].Score != 4 {
		t.Errorf("got %v, %v", lists, err)
	}
	want := []string{"said by a", "said by b", "said by c", "Dense search left out, searched by words only: no service"}
	if !slices.Equal(warnings, want) {
		t.Errorf("warnings %q", warnings)
	}
	failing.optional = false
	if _, _, err := askAll(t.Context(), []legCall{failing}); err == nil {
		t.Error("a leg that failed is no error")
	}
}

// TestPanickingLeg: a leg that panics leaves its weight to the others.
func TestPanickingLeg(t *testing.T) {
	panics := legCall{name: "dense", optional: true, find: func(context.Context, int) ([]state.Hit, []string, error) { panic("out of range") }}
	other := legCall{name: "lexical", find: func(context.Context, int) ([]state.Hit, []string, error) {
		return []state.Hit{{Chunk: "a"}}, nil, nil
	}}
	lists, warnings, err := askAll(t.Context(), []legCall{other, panics})
	if err != nil || len(lists[0]) != 1 || len(warnings) != 1 || !strings.Contains(warnings[0], "out of range") {
		t.Errorf("legs: %v, %q, %v", lists, warnings, err)
	}
}

// flaky is a snapshot whose vectors cannot be read the first time.
type flaky struct {
	Snapshot
	reads int
}

func (f *flaky) Vectors(context.Context, VectorSpec) (Vectors, error) {
	f.reads++
	if f.reads == 1 {
		return nil, errors.New("the disk is away")
	}
	return someVectors{}, nil
}

// someVectors are vectors of one chunk.
type someVectors struct{ Vectors }

func (someVectors) Len() int { return 1 }

// TestVectorsLoadAgain: if loading vectors fails, the next search tries again.
func TestVectorsLoadAgain(t *testing.T) {
	d := &denseLeg{snapshot: &flaky{}, o: Options{Embedder: named{}}}
	for _, fails := range []bool{true, false, false} {
		if _, err := d.load(t.Context()); (err != nil) != fails {
			t.Errorf("load: %v, want a failure: %v", err, fails)
		}
	}
}

// named is an embedder that has a name only.
type named struct{ llm.Embedder }

func (named) Model() string { return "named" }

// mute is an embedder that is never asked.
type mute struct{ llm.Embedder }

// The legs of a search for k hits are asked for 2k each, that
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
			e := &Engine{Snapshot: &flaky{}, o: Options{Retrieval: tt.r, Embedder: mute{}}}
			got := map[string]int{}
			for _, s := range e.legs(state.Query{Text: "x"}, 7, tt.leg) {
				got[s.name] = s.depth
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
