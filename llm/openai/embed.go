package openai

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	sdk "github.com/openai/openai-go/v3"

	"example.com/ragflow/llm"
)

// DefaultBatch is the default number of texts in one request.
const DefaultBatch = 64

// EmbedderConfig configures an embedder.
type EmbedderConfig struct {
	Model      string
	QueryModel string // model for queries, for servers with a separate name for them; default Model
	Batch      int    // texts in a request; default [DefaultBatch]
}

type embedder struct {
	client *Client
	config EmbedderConfig
}

// Embedder returns an embedding model. Batches are sent one after the other; the first
// failure ends the call.
func (c *Client) Embedder(e EmbedderConfig) llm.Embedder {
	if e.Batch <= 0 {
		e.Batch = DefaultBatch
	}
	if e.QueryModel == "" {
		e.QueryModel = e.Model
	}
	return &embedder{client: c, config: e}
}

// Model implements llm.Embedder.
func (e *embedder) Model() string { return e.config.Model }

// Embed implements llm.Embedder.
func (e *embedder) Embed(ctx context.Context, texts []string, p llm.Purpose) (llm.Embeddings, error) {
	start := time.Now()
	out := llm.Embeddings{
		Model: e.config.Model, Provider: e.client.Provider(),
		Vectors: make([][]float32, 0, len(texts)),
	}
	for i, t := range texts {
		if t == "" {
			return llm.Embeddings{}, fmt.Errorf("embed: text %d of %d is empty", i+1, len(texts))
		}
	}
	for from := 0; from < len(texts); from += e.config.Batch {
		batch := texts[from:min(from+e.config.Batch, len(texts))]
		if err := e.batch(ctx, batch, p, &out); err != nil {
			return llm.Embeddings{}, err
		}
	}
	out.Latency = time.Since(start)
	return out, nil
}

func (e *embedder) batch(ctx context.Context, texts []string, p llm.Purpose, out *llm.Embeddings) error {
	model := e.config.Model
	if p == llm.Query {
		model = e.config.QueryModel
	}
	var response *sdk.CreateEmbeddingResponse
	err := e.client.http.Do(ctx, model, func(ctx context.Context) (err error) {
		service := sdk.NewEmbeddingService(e.client.http.Requests()...)
		response, err = service.New(ctx, sdk.EmbeddingNewParams{
			Model:          model,
			Input:          sdk.EmbeddingNewParamsInputUnion{OfArrayOfStrings: texts},
			EncodingFormat: sdk.EmbeddingNewParamsEncodingFormatFloat,
		})
		return err
	})
	if err != nil {
		return err
	}
	if response == nil || len(response.Data) != len(texts) {
		return e.client.http.Bad(model, fmt.Sprintf("want %d vectors", len(texts)))
	}
	vectors := make([][]float32, len(texts))
	for _, d := range response.Data {
		if d.Index < 0 || d.Index >= int64(len(texts)) || vectors[d.Index] != nil {
			return e.client.http.Bad(model, fmt.Sprintf("a vector for text %d of %d, or two", d.Index+1, len(texts)))
		}
		if vectors[d.Index], err = vector(d.Embedding); err != nil {
			return e.client.http.Bad(model, err.Error())
		}
	}
	for _, v := range vectors {
		if len(out.Vectors) > 0 && len(v) != len(out.Vectors[0]) {
			return e.client.http.Bad(model, fmt.Sprintf("vectors of %d and of %d dimensions", len(out.Vectors[0]), len(v)))
		}
		out.Vectors = append(out.Vectors, v)
	}
	if response.Model != "" {
		out.Model = response.Model
	}
	out.Usage.Add(llm.Usage{Input: response.Usage.PromptTokens})
	out.Calls++
	return nil
}

// vector converts a vector to float32. An empty vector or one with NaN or infinity is an error.
func vector(in []float64) ([]float32, error) {
	if len(in) == 0 {
		return nil, errors.New("a vector without dimensions")
	}
	out := make([]float32, len(in))
	for i, x := range in {
		f := float32(x)
		if math.IsNaN(float64(f)) || math.IsInf(float64(f), 0) {
			return nil, fmt.Errorf("a vector with an invalid number at position %d", i)
		}
		out[i] = f
	}
	return out, nil
}
