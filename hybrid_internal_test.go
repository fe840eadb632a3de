package ragflow

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/google/go-cmp/cmp"

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
	lists, warnings, err := askAll(t.Context(), []source{leg("a"), leg("b"), leg("c"), failing}, nil)
	if err != nil || len(lists) != 4 || lists[2][0].Chunk != "c" || lists[2][0].Score != 4 {
		t.Errorf("got %v, %v", lists, err)
	}
	want := []string{"said by a", "said by b", "said by c", "Dense search left out, searched by words only: no service"}
	if !slices.Equal(warnings, want) {
		t.Errorf("warnings %q", warnings)
	}
	failing.optional = false
	if _, _, err := askAll(t.Context(), []source{failing}, nil); err == nil {
		t.Error("a leg that failed is no error")
	}
}

// While a leg is busy, who asked one that counts for more learns what that found, and
// nobody learns of one that counts for less.
func TestMeanwhile(t *testing.T) {
	for range 50 {
		var calls atomic.Int32
		strong := source{leg: "strong", weight: 0.7, find: func(context.Context, int) ([]state.Hit, []string, error) {
			return []state.Hit{{Chunk: "strong"}}, nil, nil
		}}
		weak := source{leg: "weak", weight: 0.3, find: func(context.Context, int) ([]state.Hit, []string, error) {
			runtime.Gosched()
			return []state.Hit{{Chunk: "weak"}}, nil, nil
		}}
		lists, _, err := askAll(t.Context(), []source{strong, weak}, func(found []state.Hit, _ func() bool) {
			calls.Add(1)
			if len(found) != 1 || found[0].Chunk != "strong" {
				t.Errorf("meanwhile is told of %v", found)
			}
		})
		if err != nil || lists[0][0].Chunk != "strong" || lists[1][0].Chunk != "weak" || calls.Load() > 1 {
			t.Fatalf("%v after %d calls, %v", lists, calls.Load(), err)
		}
	}
}

// What is read ahead is what is read: the same passages, once each.
func TestReadAhead(t *testing.T) {
	a, err := Open(t.Context(), Config{DataDir: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	if _, err := a.IndexRecords(t.Context(), "records", 0, func(yield func(Record, error) bool) {
		for i := range 60 {
			if !yield(Record{ID: strconv.Itoa(i), Text: fmt.Sprintf("Volume %d keeps the backup of container %d.", i, i+1)}, nil) {
				return
			}
		}
	}); err != nil {
		t.Fatal(err)
	}
	read := func(ahead int) map[string]state.Chunk {
		e, err := a.current(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		hits, err := e.searcher.Search(t.Context(), state.Query{Text: "volume backup container"}, 40)
		if err != nil || len(hits) != 40 {
			t.Fatal(len(hits), err)
		}
		if ahead > 0 {
			left := ahead
			e.searcher.readAhead(t.Context(), 40)(hits, func() bool { left--; return left >= 0 })
		}
		chunks, err := e.chunksOf(t.Context(), hits)
		if err != nil || len(chunks) != 40 {
			t.Fatal(len(chunks), err)
		}
		return chunks
	}
	want := read(0)
	for ahead := range 4 {
		if d := cmp.Diff(want, read(ahead)); d != "" {
			t.Errorf("%d times ahead: (-want +got)\n%s", ahead, d)
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
