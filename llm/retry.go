package llm

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"
)

// Presets of [RetryOptions].
const (
	MaxRetries        = 3 // that a call is asked again, at most
	DefaultBackoff    = 500 * time.Millisecond
	DefaultMaxBackoff = 20 * time.Second
	DefaultPatience   = time.Minute
)

// RetryOptions says how failed calls are asked again. The zero value is meant
// to be used.
type RetryOptions struct {
	Backoff    time.Duration // before the first retry; doubles with each; default [DefaultBackoff]
	MaxBackoff time.Duration // bounds a wait, and what Retry-After may ask for; default [DefaultMaxBackoff]
	// Patience is how long after the first call began another may begin; default
	// [DefaultPatience]. A provider that times out slowly is not asked four times.
	Patience time.Duration
	Clock    func() time.Time // default time.Now
	// Wait waits for d or until the context ends, and then returns its error;
	// default a timer.
	Wait func(ctx context.Context, d time.Duration) error
	// Jitter is a number in [0, 1); default math/rand/v2. A wait is between half
	// of the backoff and all of it.
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

// Retry asks again, up to [MaxRetries] times, when a call failed in passing: a
// limited rate, a server in trouble, a connection that broke, a response that
// was cut off. It never does once a token was handed on, and not when
// Retry-After asks for more than MaxBackoff: whoever waits for an answer is
// better served by another one now. Response.Retries and Error.Retries count.
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

// RetryEmbedder does for an [Embedder] what [Retry] does for a [Chat].
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

// RetryReranker does for a [Reranker] what [Retry] does for a [Chat].
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

// run calls once and then again while it may help, and tells how often again.
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
