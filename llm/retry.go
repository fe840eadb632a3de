package llm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Limits and defaults of [RetryOptions].
const (
	MaxRetries        = 3                      // maximum retries of a call
	DefaultBackoff    = 400 * time.Millisecond // three waits take at most 2.8 s
	DefaultMaxBackoff = 20 * time.Second
	DefaultPatience   = time.Minute
)

// RetryOptions configure retries. The zero value is ready to use.
type RetryOptions struct {
	Backoff    time.Duration // wait before the first retry; doubled before each further one; default [DefaultBackoff]
	MaxBackoff time.Duration // maximum wait, also for Retry-After; default [DefaultMaxBackoff]
	// Patience is the time after the start of the first call in which retries can start;
	// default [DefaultPatience]. So a provider that times out slowly is not called four
	// times.
	Patience time.Duration
	Clock    func() time.Time // default time.Now
	// Wait waits for d. If the context ends first, it returns the error of the context;
	// default a timer.
	Wait func(ctx context.Context, d time.Duration) error
	// Jitter returns a random number in [0, 1); default math/rand/v2. A wait is between
	// half of the backoff and the full backoff.
	Jitter func() float64
}

func (o RetryOptions) withDefaults() RetryOptions {
	if o.Backoff <= 0 {
		o.Backoff = DefaultBackoff
	}
	if o.MaxBackoff <= 0 {
		o.MaxBackoff = DefaultMaxBackoff
	}
	if o.Patience <= 0 {
		o.Patience = DefaultPatience
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	if o.Wait == nil {
		o.Wait = wait
	}
	if o.Jitter == nil {
		o.Jitter = rand.Float64
	}
	return o
}

func wait(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}

// Retry repeats a call up to [MaxRetries] times after a temporary failure: a rate limit, a
// server error, a broken connection or a response that was cut off. It never retries after
// the first token, or the first piece of a tool call, was streamed. It does not retry if Retry-After is longer than MaxBackoff,
// because an answer without the model is then faster. Response.Retries and Error.Retries
// count the retries.
func Retry(c Chat, o RetryOptions) Chat { return &retryChat{chat: c, options: o.withDefaults()} }

type retryChat struct {
	chat    Chat
	options RetryOptions
}

func (r *retryChat) Model() string { return r.chat.Model() }

func (r *retryChat) Complete(ctx context.Context, q Request, token func(string)) (Response, error) {
	said := false
	listen := token
	if token != nil {
		listen = func(s string) {
			said = true
			token(s)
		}
	}
	if calling := q.Calling; calling != nil {
		q.Calling = func(c ToolCall) {
			said = true
			calling(c)
		}
	}
	var out Response
	retries, err := r.options.run(ctx, func() error {
		var err error
		out, err = r.chat.Complete(ctx, q, listen)
		return err
	}, func() bool { return !said })
	if err != nil {
		return Response{}, err
	}
	out.Retries = retries
	return out, nil
}

// RetryEmbedder is [Retry] for an [Embedder].
func RetryEmbedder(e Embedder, o RetryOptions) Embedder {
	return &retryEmbedder{embedder: e, options: o.withDefaults()}
}

type retryEmbedder struct {
	embedder Embedder
	options  RetryOptions
}

func (r *retryEmbedder) Model() string { return r.embedder.Model() }

func (r *retryEmbedder) Embed(ctx context.Context, texts []string, p Purpose) (Embeddings, error) {
	var out Embeddings
	retries, err := r.options.run(ctx, func() error {
		var err error
		out, err = r.embedder.Embed(ctx, texts, p)
		return err
	}, func() bool { return true })
	if err != nil {
		return Embeddings{}, err
	}
	out.Retries = retries
	return out, nil
}

// RetryReranker is [Retry] for a [Reranker].
func RetryReranker(r Reranker, o RetryOptions) Reranker {
	return &retryReranker{reranker: r, options: o.withDefaults()}
}

type retryReranker struct {
	reranker Reranker
	options  RetryOptions
}

func (r *retryReranker) Model() string { return r.reranker.Model() }

func (r *retryReranker) Rerank(ctx context.Context, query string, texts []string) (Scores, error) {
	var out Scores
	retries, err := r.options.run(ctx, func() error {
		var err error
		out, err = r.reranker.Rerank(ctx, query, texts)
		return err
	}, func() bool { return true })
	if err != nil {
		return Scores{}, err
	}
	out.Retries = retries
	return out, nil
}

// run makes a call and retries it if useful. It returns the number of retries.
func (o RetryOptions) run(ctx context.Context, call func() error, may func() bool) (int, error) {
	backoff, begun := o.Backoff, o.Clock()
	for retries := 0; ; retries++ {
		err := call()
		if err == nil {
			return retries, nil
		}
		e, ok := errors.AsType[*Error](err)
		if !ok {
			return retries, err
		}
		e.Retries = retries
		if !e.Transient || retries == MaxRetries || !may() || e.RetryAfter > o.MaxBackoff {
			return retries, err
		}
		pause := max(time.Duration((0.5+o.Jitter()/2)*float64(backoff)), e.RetryAfter)
		if o.Clock().Add(pause).Sub(begun) > o.Patience {
			return retries, err
		}
		if err := o.Wait(ctx, pause); err != nil {
			return retries, fmt.Errorf("ask %s: %w", e.Provider, err)
		}
		backoff = min(2*backoff, o.MaxBackoff)
	}
}
