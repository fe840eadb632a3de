package ragflow

import (
	"context"
	"errors"
	"sync"
	"time"

	"example.com/ragflow/ingest"
	"example.com/ragflow/llm"
	"example.com/ragflow/meaning"
	"example.com/ragflow/search"
)

// passageTokens is the number of tokens of a passage that the built-in model is given: no fewer than it reads. 200 take
// two thirds of the time, but then worse passages come first in dialogues; see docs/search-ablation.md.
const passageTokens = 600

// ownDense is how the built-in model embeds if no other embedder is configured.
func (c Config) ownDense() search.Dense {
	return search.Dense{Leg: c.Dense.Leg, Tokens: passageTokens, Rebuild: c.Dense.Rebuild}
}

// readsByMeaning reports whether the built-in model orders passages: no other order and no other embedder was chosen.
func (c Config) readsByMeaning() bool {
	order, e := c.Retrieval.Rerank, c.Models.Embedder
	_, own := e.(*meaning.Transformer)
	return meaning.Fast() && (e == nil || own) && (order == "" || order == search.RerankAuto)
}

// keepsVectors reports whether the built-in model makes the vectors of the whole index, too.
func (c Config) keepsVectors() bool { return c.readsByMeaning() && c.Dense.Leg != search.LegLexical }

const (
	readFirst = 20 // passages that are compared by meaning if vectors must be made
	readAll   = 60 // and if the index has them
	nearest   = 20 // passages that are found by meaning
	nearShare = .1 // of their ranks, beside 1 of those by words; the order by meaning comes later
	listed    = 40 // passages of a list that are ordered by meaning
	// least keeps a passage that shares no word with the question within reach of the order by meaning. From 1e-3 on, a
	// first passage that words were sure of is lost.
	least = 1e-4
	// enough is the least share of passages with a vector for a search by meaning. Below it the same question would find
	// other passages from minute to minute.
	enough = 0.9
)

// byMeaning makes o order passages by meaning, too, and find them so if the index has the vectors.
func (a *Assistant) byMeaning(ctx context.Context, b *bound, s search.Snapshot, o *search.Options) {
	b.order = &order{words: b.offline.Reranker, reading: a.reading.over(s), read: readFirst}
	o.Offline = b.order
	if !a.config.keepsVectors() {
		return
	}
	v, err := s.Vectors(ctx, a.reading.spec)
	switch {
	case errors.Is(err, search.ErrEmbedderChanged): // of an embedder that is not configured now
		return
	case err != nil:
		a.config.Logger.WarnContext(ctx, "searched by words, because vectors cannot be read", "error", err)
		return
	case v.Len() == 0 || float64(v.Missing()) > (1-enough)*float64(v.Len()+v.Missing()):
		return
	}
	o.Embedder, o.Dense, b.order.least = a.reading.model, a.config.ownDense(), least
	if b.order.reading.known != nil {
		b.order.read = readAll
	}
	plain, _ := search.Options{}.WithDefaults() // the zero value has no fault
	if r := &o.Retrieval; r.Fusion == plain.Retrieval.Fusion && r.Weights == plain.Retrieval.Weights {
		o.ListDepth = listed
		o.Retrieval = search.Retrieval{
			TopK: r.TopK, Hops: r.Hops, Ranking: r.Ranking, DenseDepth: nearest, Rerank: r.Rerank,
			Fusion: search.Fusion{Method: "reciprocal-rank-fusion"}, Weights: search.Weights{Lexical: 1, Dense: nearShare},
		}
	}
}

// quietTime is how long nothing was asked before vectors are made in the background, so that a program that answers one
// question makes none.
const quietTime = time.Second

// quiet tells when nothing is asked. It is safe for concurrent use.
type quiet struct {
	mu    sync.Mutex
	asked int       // questions under way
	ended time.Time // when the last one ended
}

// ask begins a question; the function that it returns ends it.
func (q *quiet) ask() (end func()) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.asked++
	return func() {
		q.mu.Lock()
		defer q.mu.Unlock()
		q.asked--
		q.ended = time.Now()
	}
}

// wait returns when no question has been under way for the quiet time. The error is that of ctx.
func (q *quiet) wait(ctx context.Context) error {
	for {
		q.mu.Lock()
		left := quietTime - time.Since(q.ended)
		if q.asked > 0 {
			left = quietTime
		}
		q.mu.Unlock()
		if left <= 0 {
			return context.Cause(ctx)
		}
		select {
		case <-time.After(left):
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// patient is the built-in model for vectors of the whole index. It waits before each text until nothing is asked.
type patient struct {
	builtIn
	quiet *quiet
}

// Embed implements llm.Embedder.
func (p patient) Embed(ctx context.Context, texts []string, purpose llm.Purpose) (out llm.Embeddings, err error) {
	for _, text := range texts {
		if err := p.quiet.wait(ctx); err != nil {
			return out, err
		}
		one, err := p.builtIn.Embed(ctx, []string{text}, purpose)
		if err != nil {
			return out, err
		}
		out.Vectors = append(out.Vectors, one.Vectors...)
		out.Usage.Input += one.Usage.Input
	}
	return out, nil
}

// embedWhenQuiet makes the vectors that passages of a library lack, now and after each change, while nothing is asked.
// It returns when ctx ends.
func (a *Assistant) embedWhenQuiet(ctx context.Context, l *ingest.Library) {
	for ctx.Err() == nil {
		changed := l.Changed()
		if len(l.View().Roots) > 0 {
			select {
			case <-time.After(quietTime): // a question may follow at once
			case <-ctx.Done():
				return
			}
			if a.quiet.wait(ctx) != nil {
				return
			}
			if _, err := l.StartEmbed(ctx).Wait(ctx); err != nil && ctx.Err() == nil && !errors.Is(err, context.Canceled) {
				a.config.Logger.WarnContext(ctx, "vectors cannot be made", "error", err)
			}
		}
		select {
		case <-changed:
		case <-ctx.Done():
		}
	}
}
