package chain

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
	"example.com/ragflow/llm"
	"example.com/ragflow/search"
	"example.com/ragflow/search/text"
)

// Keys of [graph.Call.Counts] of a call to a model.
const (
	CountInput      = "input_tokens"
	CountOutput     = "output_tokens"
	countRetries    = "retries"
	countFirstToken = "first_token_ms"
	countChunks     = "chunks"
	CountCost       = "cost_nanousd" // absent where the price is not known
)

// Embedder is an embedding model as packages search and ingest use it. Calls for
// questions are counted with the task under way.
type Embedder struct{ llm.Embedder }

// EmbedQuery implements search.Embedder.
func (e Embedder) EmbedQuery(ctx context.Context, question string) ([]float32, error) {
	begun := time.Now()
	out, err := e.Embed(ctx, []string{question}, llm.Query)
	if err == nil && len(out.Vectors) != 1 {
		err = fmt.Errorf("%s gave %d vectors for one text", e.Model(), len(out.Vectors))
	}
	count(ctx, e.Model(), begun, err, map[string]int64{CountInput: out.Usage.Input, countRetries: int64(out.Retries)}, out.Priced, out.CostUSD)
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
	begun := time.Now()
	out, err := r.Reranker.Rerank(ctx, question, passages)
	count(ctx, r.Model(), begun, err, map[string]int64{CountInput: out.Usage.Input, countRetries: int64(out.Retries)}, false, 0)
	return out.Values, err
}

// count notes a call to a model with the task under way.
func count(ctx context.Context, model string, begun time.Time, err error, counts map[string]int64, priced bool, usd float64) {
	call := graph.Call{Name: model, Duration: time.Since(begun).Truncate(time.Microsecond), Counts: counts}
	if priced {
		counts[CountCost] = int64(math.Round(usd * 1e9))
	}
	if err != nil {
		call.Error, call.Counts = err.Error(), nil
		if e, ok := errors.AsType[*llm.Error](err); ok {
			call.Counts = map[string]int64{countRetries: int64(e.Retries)}
		}
	}
	graph.Count(ctx, call)
}

// Chat notes each call with the task under way, so that trace and usage
// show it. It asks with the temperature and the tokens of the task, where it has some.
type Chat struct {
	llm.Chat
	Task Task
}

// Complete implements llm.Chat.
func (c Chat) Complete(ctx context.Context, r llm.Request, token func(string)) (llm.Response, error) {
	if c.Task.Temperature != nil {
		r.Temperature = *c.Task.Temperature
	}
	r.MaxTokens = cmp.Or(c.Task.Tokens, r.MaxTokens)
	begun := time.Now()
	out, err := c.Chat.Complete(ctx, r, token)
	if e, ok := errors.AsType[*llm.Error](err); ok && e.Skipped {
		return out, err // nothing was called
	}
	count(ctx, c.Model(), begun, err, map[string]int64{
		CountInput: out.Usage.Input, CountOutput: out.Usage.Output, countRetries: int64(out.Retries),
		countFirstToken: out.FirstToken.Milliseconds(), countChunks: int64(out.Chunks),
	}, out.Priced, out.CostUSD)
	if err != nil {
		return out, err
	}
	if expected := promptTokens(r.Messages); out.Usage.Input > 0 && expected > leastWindow && float64(out.Usage.Input) < readShare*float64(expected) {
		graph.Warn(ctx, fmt.Sprintf("The server of the model %q read only %d of about %d tokens; the context window it uses is too small. "+
			"Set the window there (for Ollama OLLAMA_CONTEXT_LENGTH), or its size here with LLM_CONTEXT_TOKENS.", c.Model(), out.Usage.Input, expected))
	}
	if token != nil && out.Finish == llm.FinishLength {
		graph.Warn(ctx, fmt.Sprintf("The model %q stopped at its limit of %d tokens; its answer ends with the last whole sentence.", c.Model(), r.MaxTokens))
	}
	return out, nil
}

// readShare is the smallest share of the tokens counted here that a server counts when it
// reads the whole prompt: tokenizers differ. A prompt below leastWindow fits everywhere.
const (
	readShare   = 0.5
	leastWindow = 1500
)

func promptTokens(messages []llm.Message) int {
	n := 0
	for _, m := range messages {
		n += text.Count(m.Content)
	}
	return n
}
