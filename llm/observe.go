package llm

import (
	"context"
	"errors"
	"math"
	"time"
)

// Keys of [Call].Counts.
const (
	CountInput      = "input_tokens"
	CountOutput     = "output_tokens"
	CountRetries    = "retries"
	CountFirstToken = "first_token_ms"
	CountChunks     = "chunks"
	CountCost       = "cost_nanousd" // missing if the price is not known
)

// Call is one call of a model, with its retries.
type Call struct {
	Model    string           // configured name
	Duration time.Duration    // in whole microseconds
	Counts   map[string]int64 // by the Count keys; after an error retries only
	Err      error
}

// Observe reports each call of a chat, from the goroutine of the caller. The calls of a
// [Fallback] are reported one by one. A call that [Retry] skipped is not reported.
func Observe(c Chat, report func(context.Context, Call)) Chat {
	return Each(c, func(c Chat) Chat { return &observedChat{c, report} })
}

type observedChat struct {
	Chat
	report func(context.Context, Call)
}

func (c *observedChat) Complete(ctx context.Context, r Request, token func(string)) (Response, error) {
	begun := time.Now()
	out, err := c.Chat.Complete(ctx, r, token)
	report(ctx, c.report, c.Model(), begun, err, out.CostUSD, out.Priced, map[string]int64{
		CountInput: out.Usage.Input, CountOutput: out.Usage.Output, CountRetries: int64(out.Retries),
		CountFirstToken: out.FirstToken.Milliseconds(), CountChunks: int64(out.Chunks),
	})
	return out, err
}

// ObserveEmbedder is [Observe] for the queries of an [Embedder]. Passages are not reported.
func ObserveEmbedder(e Embedder, report func(context.Context, Call)) Embedder {
	return &observedEmbedder{e, report}
}

type observedEmbedder struct {
	Embedder
	report func(context.Context, Call)
}

func (e *observedEmbedder) Embed(ctx context.Context, texts []string, p Purpose) (Embeddings, error) {
	begun := time.Now()
	out, err := e.Embedder.Embed(ctx, texts, p)
	if p == Query {
		report(ctx, e.report, e.Model(), begun, err, out.CostUSD, out.Priced,
			map[string]int64{CountInput: out.Usage.Input, CountRetries: int64(out.Retries)})
	}
	return out, err
}

// ObserveReranker is [Observe] for a [Reranker].
func ObserveReranker(r Reranker, report func(context.Context, Call)) Reranker {
	return &observedReranker{r, report}
}

type observedReranker struct {
	Reranker
	report func(context.Context, Call)
}

func (r *observedReranker) Rerank(ctx context.Context, query string, texts []string) (Scores, error) {
	begun := time.Now()
	out, err := r.Reranker.Rerank(ctx, query, texts)
	report(ctx, r.report, r.Model(), begun, err, out.CostUSD, out.Priced,
		map[string]int64{CountInput: out.Usage.Input, CountRetries: int64(out.Retries)})
	return out, err
}

// report passes a call on. counts are those of a call without an error.
func report(ctx context.Context, to func(context.Context, Call), model string, begun time.Time, err error, usd float64, priced bool, counts map[string]int64) {
	if priced {
		counts[CountCost] = NanoUSD(usd)
	}
	if err != nil {
		counts = nil
		if failed, ok := errors.AsType[*Error](err); ok {
			if failed.Skipped {
				return
			}
			counts = map[string]int64{CountRetries: int64(failed.Retries)}
		}
	}
	to(ctx, Call{model, time.Since(begun).Truncate(time.Microsecond), counts, err})
}

// NanoUSD returns a cost in billionths of a US dollar, which add up without rounding errors.
func NanoUSD(usd float64) int64 { return int64(math.Round(usd * 1e9)) }
