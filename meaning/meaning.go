package meaning

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"example.com/ragflow/llm"
)

const (
	// modelName changes with the weights and the vocabulary, because vectors of different models cannot be compared. The
	// part before the slash stays.
	modelName = "built-in/s6-80000"
	provider  = "built in"
	// maxQuery is how many tokens of a question are judged, as in training.
	maxQuery = 64
	workers  = 2
)

// Transformer is the built-in model, an [llm.Embedder] and [llm.Reranker]. It is safe for concurrent use: all calls
// together compute two texts at a time.
type Transformer struct {
	words      *tokenizer
	free       chan *machine // nil for one that was not needed yet
	newMachine func() *machine
}

// Open returns the built-in model. All callers share it.
func Open() (*Transformer, error) { return shared() }

var shared = sync.OnceValues(func() (*Transformer, error) { return open(weightsFile, piecesFile, fastest()) })

func open(weights, pieces []byte, k kernel) (*Transformer, error) {
	n, err := loadNetwork(weights)
	if err != nil {
		return nil, err
	}
	words, err := loadTokenizer(pieces)
	if err != nil {
		return nil, err
	}
	if len(words.score) != n.words {
		return nil, fmt.Errorf("load weights: %d words, but the vocabulary has %d", n.words, len(words.score))
	}
	t := &Transformer{words: words, free: make(chan *machine, workers), newMachine: func() *machine { return newMachine(n, k) }}
	for range workers {
		t.free <- nil
	}
	return t, nil
}

func fastest() kernel {
	list := kernels()
	return list[len(list)-1]
}

// Fast reports whether this processor has the instructions that the model needs to be quick. Without them the results
// are the same, but a passage takes about a second.
func Fast() bool { return len(kernels()) > 1 }

// Model returns the name of the model.
func (*Transformer) Model() string { return modelName }

// Embed returns a vector of length 1 for each text. Tokens after the 512th do not count. If the context ends, its
// error is returned.
func (t *Transformer) Embed(ctx context.Context, texts []string, p llm.Purpose) (llm.Embeddings, error) {
	start := time.Now()
	prefix := "passage: "
	if p == llm.Query {
		prefix = "query: "
	}
	for i, text := range texts {
		if text == "" {
			return llm.Embeddings{}, fmt.Errorf("embed: text %d of %d is empty", i+1, len(texts))
		}
	}
	vectors := make([][]float32, len(texts))
	var tokens atomic.Int64
	err := t.each(ctx, len(texts), func(m *machine, i int) (err error) {
		ids := t.sequence(prefix+texts[i], maxTokens)
		tokens.Add(int64(len(ids)))
		vectors[i], err = m.embed(ctx, ids)
		return err
	})
	if err != nil {
		return llm.Embeddings{}, err
	}
	return llm.Embeddings{Vectors: vectors, Model: modelName, Provider: provider, Usage: llm.Usage{Input: tokens.Load()}, Latency: time.Since(start)}, nil
}

// Rerank returns for each text how well it answers the question, as a logit. The first 64 tokens of the question
// count, and so many of the text that both have 512.
func (t *Transformer) Rerank(ctx context.Context, query string, texts []string) (llm.Scores, error) {
	start := time.Now()
	question := t.sequence(query, maxQuery+2)
	values := make([]float64, len(texts))
	var tokens atomic.Int64
	err := t.each(ctx, len(texts), func(m *machine, i int) error {
		passage := t.sequence(texts[i], maxTokens-len(question))
		passage[0] = t.words.end
		ids := slices.Concat(question, passage)
		tokens.Add(int64(len(ids)))
		logit, err := m.judge(ctx, ids, len(question))
		values[i] = float64(logit)
		return err
	})
	if err != nil {
		return llm.Scores{}, err
	}
	return llm.Scores{Values: values, Model: modelName, Provider: provider, Usage: llm.Usage{Input: tokens.Load()}, Latency: time.Since(start)}, nil
}

// sequence returns the tokens of a text between the marks of its beginning and end, cut to a number of tokens.
func (t *Transformer) sequence(text string, most int) []int32 {
	ids := t.words.encode(text)
	return slices.Concat([]int32{t.words.begin}, ids[:min(len(ids), most-2)], []int32{t.words.end})
}

// each calls f for the numbers below n, for two at a time. It ends at the first error.
func (t *Transformer) each(ctx context.Context, n int, f func(m *machine, i int) error) error {
	var (
		next   atomic.Int64
		group  sync.WaitGroup
		failed [workers]error
	)
	for w := range min(workers, n) {
		group.Go(func() {
			for i := int(next.Add(1)) - 1; i < n && failed[w] == nil; i = int(next.Add(1)) - 1 {
				failed[w] = t.with(ctx, func(m *machine) error { return f(m, i) })
			}
		})
	}
	group.Wait()
	return cmp.Or(failed[:]...)
}

// with waits for a machine and calls f with it. A call takes one for each text, so that a question does not wait for
// the end of a long list.
func (t *Transformer) with(ctx context.Context, f func(m *machine) error) error {
	select {
	case m := <-t.free:
		if m == nil {
			m = t.newMachine()
		}
		defer func() { t.free <- m }()
		return f(m)
	case <-ctx.Done():
		return ctx.Err()
	}
}
