package ragflow

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"golang.org/x/sync/semaphore"

	"example.com/ragflow/internal/lru"
	"example.com/ragflow/llm"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// paused is an embedder that notes which passages it is asked for, and answers when it is released or the context ends.
type paused struct {
	asked   []string
	release chan struct{}
}

func (*paused) Model() string { return "paused" }

func (p *paused) Embed(ctx context.Context, texts []string, purpose llm.Purpose) (llm.Embeddings, error) {
	out := llm.Embeddings{Vectors: make([][]float32, len(texts))}
	for i := range texts {
		out.Vectors[i] = []float32{1}
	}
	if purpose == llm.Query {
		return out, nil
	}
	p.asked = append(p.asked, strings.Join(texts, "+"))
	select {
	case <-p.release:
		return out, nil
	case <-ctx.Done():
		return llm.Embeddings{}, ctx.Err()
	}
}

// TestVectorsInTurn: questions that need vectors at the same time make them one after the other, each passage once, and
// one that is cancelled lets the next one go on.
func TestVectorsInTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &paused{release: make(chan struct{})}
		r := &reading{model: &questions{Embedder: p}, made: &lru.Cache[string, []float32]{}, turn: semaphore.NewWeighted(1)}
		r.spec, _ = search.Dense{}.Spec("paused").WithDefaults()
		near := func(ctx context.Context, texts ...string) <-chan error {
			var passages []state.Source
			for _, text := range texts {
				passages = append(passages, state.Source{Chunk: state.Chunk{Text: text}})
			}
			ended := make(chan error, 1)
			go func() {
				found, err := r.Near(ctx, "how", passages)
				if err == nil && len(found) != len(texts) {
					err = errors.New("a passage is missing")
				}
				ended <- err
			}()
			synctest.Wait()
			return ended
		}
		ctx, cancel := context.WithCancel(t.Context())
		first := near(t.Context(), "mint", "basil")
		second := near(ctx, "thyme")
		third := near(t.Context(), "basil", "sage")
		fourth := near(t.Context(), "mint")
		cancel()
		if err := <-second; !errors.Is(err, context.Canceled) {
			t.Errorf("a cancelled question: %v", err)
		}
		close(p.release)
		for i, ended := range []<-chan error{first, third, fourth} {
			if err := <-ended; err != nil {
				t.Errorf("question %d: %v", i, err)
			}
		}
		if want := []string{"mint+basil", "sage"}; !slices.Equal(p.asked, want) {
			t.Errorf("made the vectors of %q, want %q", p.asked, want)
		}
	})
}
