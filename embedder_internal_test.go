package ragflow

import (
	"context"
	"slices"
	"strings"
	"sync"
	"testing"

	"example.com/ragflow/llm"
)

// counted is an embedder that notes the texts it was given. It panics at the first one of a list.
type counted struct {
	mu     sync.Mutex
	asked  []string
	panics bool
}

func (*counted) Model() string { return "counted" }

func (e *counted) Embed(_ context.Context, texts []string, _ llm.Purpose) (llm.Embeddings, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.asked = append(e.asked, texts...)
	if e.panics {
		e.panics = false
		panic("out of range")
	}
	return llm.Embeddings{Vectors: make([][]float32, len(texts))}, nil
}

// A question is embedded once for all callers; a passage each time, because the index keeps those.
func TestQuestionIsEmbeddedOnce(t *testing.T) {
	c := &counted{}
	e := &questions{Embedder: c}
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			if out, err := e.Embed(t.Context(), []string{"water basil"}, llm.Query); err != nil || len(out.Vectors) != 1 {
				t.Errorf("%d vectors, %v", len(out.Vectors), err)
			}
		})
	}
	wg.Wait()
	for range 2 {
		if _, err := e.Embed(t.Context(), []string{"Basil."}, llm.Passage); err != nil {
			t.Fatal(err)
		}
	}
	if want := []string{"water basil", "Basil.", "Basil."}; !slices.Equal(c.asked, want) {
		t.Errorf("embedded %q, want %q", c.asked, want)
	}
}

// An embedder that panics once is an error of that question. The next one with the same text asks it again.
func TestPanickingEmbedder(t *testing.T) {
	e := &questions{Embedder: &counted{panics: true}}
	if _, err := e.Embed(t.Context(), []string{"mint"}, llm.Query); err == nil || !strings.Contains(err.Error(), "panicked: out of range") {
		t.Errorf("error %v, want the panic", err)
	}
	if out, err := e.Embed(t.Context(), []string{"mint"}, llm.Query); err != nil || len(out.Vectors) != 1 {
		t.Errorf("asked again: %d vectors, %v", len(out.Vectors), err)
	}
}
