package ragflow

import (
	"context"
	"database/sql"
	"errors"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ragflow/llm"
	"example.com/ragflow/search/index"
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

// TestPanickingEmbedder: an embedder that panics once is an error of that question;
// the next search with the same question asks it again.
func TestPanickingEmbedder(t *testing.T) {
	e := &panicsOnce{}
	c := Config{Embedder: e, Dense: Dense{Tokens: 10}}
	m := &queryVectors{}
	if _, err := m.vector(t.Context(), c, "mint"); err == nil || !strings.Contains(err.Error(), "panicked: out of range") {
		t.Errorf("error %v, want the panic", err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Second)
	defer cancel()
	if v, err := m.vector(ctx, c, "mint"); err != nil || len(v) != 1 {
		t.Errorf("asked again: %v, %v", v, err)
	}
	panics := source{leg: "dense", optional: true, find: func(context.Context, int) ([]state.Hit, []string, error) { panic("out of range") }}
	other := source{leg: "lexical", find: func(context.Context, int) ([]state.Hit, []string, error) {
		return []state.Hit{{Chunk: "a"}}, nil, nil
	}}
	lists, warnings, err := askAll(t.Context(), []source{other, panics})
	if err != nil || len(lists[0]) != 1 || len(warnings) != 1 || !strings.Contains(warnings[0], "out of range") {
		t.Errorf("legs: %v, %q, %v", lists, warnings, err)
	}
}

// panicsOnce is an embedder that panics at its first call.
type panicsOnce struct{ calls int }

func (*panicsOnce) Model() string { return "panics" }

func (e *panicsOnce) Embed(context.Context, []string, llm.Purpose) (llm.Embeddings, error) {
	e.calls++
	if e.calls == 1 {
		panic("out of range")
	}
	return llm.Embeddings{Vectors: [][]float32{{1}}}, nil
}

// TestVectorsLoadAgain: a load of vectors that failed is tried again by the next
// search.
func TestVectorsLoadAgain(t *testing.T) {
	ctx, file := t.Context(), filepath.Join(t.TempDir(), "index.db")
	db, err := index.Open(ctx, file, index.Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	e := &panicsOnce{calls: 1}
	c := Config{Embedder: e, Dense: Dense{Tokens: 10}}
	if err := db.Put(ctx, "/docs", []index.Entry{{File: index.File{Source: "a.md"}, Chunks: []state.Chunk{{ID: "1", Text: "mint"}}}}); err != nil {
		t.Fatal(err)
	}
	if _, err := db.Embed(ctx, c.embedder(), []string{"/docs"}, index.EmbedOptions{Embed: func(context.Context, []string) ([][]float32, error) {
		return [][]float32{{1}}, nil
	}}); err != nil {
		t.Fatal(err)
	}
	s, err := db.Searcher(ctx, "/docs")
	if err != nil {
		t.Fatal(err)
	}
	h := &hybrid{Searcher: s, config: c, queries: &queryVectors{}}
	raw, err := sql.Open(sql.Drivers()[0], file) // the driver of this build
	if err != nil {
		t.Fatal(err)
	}
	defer raw.Close()
	for _, rename := range []string{"ALTER TABLE vectors RENAME TO hidden", "ALTER TABLE hidden RENAME TO vectors"} {
		if _, err := raw.ExecContext(ctx, rename); err != nil {
			t.Fatal(err)
		}
		_, err = h.load(ctx)
		if failed := rename == "ALTER TABLE vectors RENAME TO hidden"; failed != (err != nil) {
			t.Errorf("after %s: %v", rename, err)
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
