package ragflow

import (
	"context"
	"errors"
	"fmt"

	"golang.org/x/sync/singleflight"

	"example.com/ragflow/internal/lru"
	"example.com/ragflow/llm"
	"example.com/ragflow/meaning"
)

// builtIn is the model in the program, which is loaded when it is first used.
type builtIn struct{}

// Model implements llm.Embedder.
func (builtIn) Model() string { return (*meaning.Transformer)(nil).Model() }

// Embed implements llm.Embedder.
func (builtIn) Embed(ctx context.Context, texts []string, p llm.Purpose) (llm.Embeddings, error) {
	model, err := meaning.Open()
	if err != nil {
		return llm.Embeddings{}, err
	}
	return model.Embed(ctx, texts, p)
}

// keptQuestions is the number of questions whose vectors are kept.
const keptQuestions = 256

// questions is an embedder that keeps the vectors of questions. Concurrent calls with the same question embed it once.
// It is safe for concurrent use.
type questions struct {
	llm.Embedder

	known lru.Cache[string, []float32]
	calls singleflight.Group
}

// Embed implements llm.Embedder. The vectors of questions must not be changed.
func (e *questions) Embed(ctx context.Context, texts []string, p llm.Purpose) (llm.Embeddings, error) {
	if p != llm.Query || len(texts) != 1 {
		return e.Embedder.Embed(ctx, texts, p)
	}
	for {
		if v, ok := e.known.Get(texts[0]); ok {
			return llm.Embeddings{Model: e.Model(), Vectors: [][]float32{v}}, nil
		}
		mine := false
		call := e.calls.DoChan(texts[0], func() (any, error) {
			mine = true
			return e.ask(ctx, texts)
		})
		select {
		case r := <-call:
			if r.Err == nil {
				return r.Val.(llm.Embeddings), nil
			}
			if mine || !errors.Is(r.Err, context.Canceled) && !errors.Is(r.Err, context.DeadlineExceeded) {
				return llm.Embeddings{}, r.Err
			} // the search that asked was cancelled: ask again
		case <-ctx.Done():
			return llm.Embeddings{}, context.Cause(ctx)
		}
	}
}

// ask embeds a question and keeps its vector. A panic becomes an error, so that others who wait for the vector go on.
func (e *questions) ask(ctx context.Context, texts []string) (out llm.Embeddings, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%s panicked: %v", e.Model(), r)
		}
	}()
	if v, ok := e.known.Get(texts[0]); ok { // another call was faster
		return llm.Embeddings{Model: e.Model(), Vectors: [][]float32{v}}, nil
	}
	out, err = e.Embedder.Embed(ctx, texts, llm.Query)
	if err == nil && len(out.Vectors) == 1 {
		e.known.Put(texts[0], out.Vectors[0], 0, keptQuestions, 0)
	}
	return out, err
}
