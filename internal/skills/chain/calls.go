// Package chain adapts embedding and reranking models to packages search and ingest.
package chain

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"example.com/ragflow/ingest"
	"example.com/ragflow/llm"
	"example.com/ragflow/search"
)

// Embedder is an embedding model as packages search and ingest use it.
type Embedder struct{ llm.Embedder }

// EmbedQuery implements search.Embedder.
func (e Embedder) EmbedQuery(ctx context.Context, question string) ([]float32, error) {
	out, err := e.Embed(ctx, []string{question}, llm.Query)
	if err == nil && len(out.Vectors) != 1 {
		err = fmt.Errorf("%s gave %d vectors for one text", e.Model(), len(out.Vectors))
	}
	if err != nil {
		return nil, err
	}
	return out.Vectors[0], nil
}

// EmbedPassages implements ingest.Embedder.
func (e Embedder) EmbedPassages(ctx context.Context, texts []string) (ingest.Embeddings, error) {
	out, err := e.Embed(ctx, texts, llm.Passage)
	// llm.ErrRefused is about the texts and not the service. llama.cpp has no status of
	// its own for a text that is too long.
	if failed, ok := errors.AsType[*llm.Error](err); ok &&
		(errors.Is(failed.Kind, llm.ErrRefused) || strings.Contains(failed.Detail, "too large to process")) {
		err = fmt.Errorf("%w: %w", search.ErrTextRefused, err)
	}
	return ingest.Embeddings{Vectors: out.Vectors, Calls: out.Calls, InputTokens: out.Usage.Input}, err
}

// Reranker is a reranking model as package search uses it.
type Reranker struct{ llm.Reranker }

// Rerank implements search.Reranker.
func (r Reranker) Rerank(ctx context.Context, question string, passages []string) ([]float64, error) {
	out, err := r.Reranker.Rerank(ctx, question, passages)
	return out.Values, err
}
