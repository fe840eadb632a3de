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
	Pause    time.Duration    // time without calls after a failure, see [Retry]; default [DefaultPause]
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
	if o.Pause <= 0 {
		o.Pause = DefaultPause
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
//
// It is a circuit breaker, too: after a call failed without a connection, by a timeout, by a
// rate limit or because of an invalid key or model name, all calls fail at once with the same
// error for the time Pause. So a turn with several calls, also side by side, sends no more
// requests to a dead provider than one call does.
func Retry(c Chat, o RetryOptions) Chat { return &retryChat{chat: c, retries: o.start()} }

type retryChat struct {
	chat    Chat
	retries retries
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
	count, err := r.retries.run(ctx, r.retries.breaker, func() error {
		var err error
		out, err = r.chat.Complete(ctx, q, listen)
		return err
	}, func() bool { return !said })
	if err != nil {
		return Response{}, err
	}
	out.Retries = count
	return out, nil
}

// RetryEmbedder is [Retry] for an [Embedder]. The pause is for queries: while an index is made,
// each batch is retried.
func RetryEmbedder(e Embedder, o RetryOptions) Embedder {
	return &retryEmbedder{embedder: e, retries: o.start()}
}

type retryEmbedder struct {
	embedder Embedder
	retries  retries
}

func (r *retryEmbedder) Model() string { return r.embedder.Model() }

func (r *retryEmbedder) Embed(ctx context.Context, texts []string, p Purpose) (Embeddings, error) {
	var out Embeddings
	var b *breaker
	if p == Query {
		b = r.retries.breaker
	}
	count, err := r.retries.run(ctx, b, func() error {
		var err error
		out, err = r.embedder.Embed(ctx, texts, p)
		return err
	}, func() bool { return true })
	if err != nil {
		return Embeddings{}, err
	}
	out.Retries = count
	return out, nil
}

// RetryReranker is [Retry] for a [Reranker].
func RetryReranker(r Reranker, o RetryOptions) Reranker {
	return &retryReranker{reranker: r, retries: o.start()}
}

type retryReranker struct {
	reranker Reranker
	retries  retries
}

func (r *retryReranker) Model() string { return r.reranker.Model() }

func (r *retryReranker) Rerank(ctx context.Context, query string, texts []string) (Scores, error) {
	var out Scores
	count, err := r.retries.run(ctx, r.retries.breaker, func() error {
		var err error
		out, err = r.reranker.Rerank(ctx, query, texts)
		return err
	}, func() bool { return true })
	if err != nil {
		return Scores{}, err
	}
	out.Retries = count
	return out, nil
}

// retries are the options of a model and what is known of its failures.
type retries struct {
	RetryOptions
	breaker *breaker
}

func (o RetryOptions) start() retries {
	o = o.withDefaults()
	return retries{o, &breaker{pause: o.Pause, clock: o.Clock}}
}

// run makes a call and retries it if useful. It returns the number of retries.
func (o retries) run(ctx context.Context, b *breaker, call func() error, may func() bool) (int, error) {
	if err := b.open(); err != nil {
		return 0, err
	}
	backoff, begun := o.Backoff, o.Clock()
	for count := 0; ; count++ {
		err := call()
		e, ok := errors.AsType[*Error](err)
		if !ok {
			if err == nil {
				b.note(nil, true)
			}
			return count, err
		}
		e.Retries = count
		pause := max(time.Duration((0.5+o.Jitter()/2)*float64(backoff)), e.RetryAfter)
		last := !e.Transient || count == MaxRetries || !may() || e.RetryAfter > o.MaxBackoff || o.Clock().Add(pause).Sub(begun) > o.Patience
		if b.note(e, last) {
			return count, err
		}
		if err := o.Wait(ctx, pause); err != nil {
			return count, fmt.Errorf("ask %s: %w", e.Provider, err)
		}
		if b.open() != nil { // others failed meanwhile
			return count, err
		}
		backoff = min(2*backoff, o.MaxBackoff)
	}
}
