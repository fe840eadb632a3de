package ragflow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/llm"
	"example.com/ragflow/search/text"
)

// rememberedQueries is how many vectors of questions are kept.
const rememberedQueries = 512

// queryVectors remembers the vectors of questions. Searches that ask for the
// same text at the same time embed it once.
type queryVectors struct {
	mu    sync.Mutex
	known map[string]*queryVector
	order []string // oldest first
}

// queryVector is done, or under way until done is closed.
type queryVector struct {
	done   chan struct{}
	vector []float32
	err    error
}

// vector returns the vector of a question, which the caller must not change.
func (m *queryVectors) vector(ctx context.Context, c Config, question string) ([]float32, error) {
	question = embedded(c, question)
	for {
		v, mine := m.claim(question)
		if mine {
			v.vector, v.err = embedQuery(ctx, c, question)
			if v.err != nil {
				m.forget(question)
			}
			close(v.done)
			return v.vector, v.err
		}
		select {
		case <-v.done:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
		if v.err == nil || !errors.Is(v.err, context.Canceled) && !errors.Is(v.err, context.DeadlineExceeded) {
			return v.vector, v.err
		} // whoever asked left; ask again
	}
}

// embedded is what of a question is embedded.
func embedded(c Config, question string) string {
	if len(question) > c.Dense.Tokens {
		question = text.Trim(question, c.Dense.Tokens)
	}
	return question
}

// claim returns the entry of a text, and whether it is the caller's to fill.
func (m *queryVectors) claim(question string) (v *queryVector, mine bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if known, ok := m.known[question]; ok {
		return known, false
	}
	if m.known == nil {
		m.known = map[string]*queryVector{}
	}
	if len(m.order) >= rememberedQueries {
		delete(m.known, m.order[0])
		m.order = m.order[1:]
	}
	v = &queryVector{done: make(chan struct{})}
	m.known[question] = v
	m.order = append(m.order, question)
	return v, true
}

func (m *queryVectors) forget(question string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.known, question)
	if i := slices.Index(m.order, question); i >= 0 {
		m.order = slices.Delete(m.order, i, i+1)
	}
}

// embedQuery asks the embedder, and notes the call with the task under way. A panic
// of the embedder is an error, so that those who wait for the vector go on.
func embedQuery(ctx context.Context, c Config, question string) (vector []float32, err error) {
	defer func() {
		if r := recover(); r != nil {
			vector, err = nil, fmt.Errorf("%s panicked: %v", c.Embedder.Model(), r)
		}
	}()
	begun := time.Now()
	out, err := c.Embedder.Embed(ctx, []string{c.Dense.QueryPrefix + question}, llm.Query)
	if err == nil && len(out.Vectors) != 1 {
		err = fmt.Errorf("%s gave %d vectors for one text", c.Embedder.Model(), len(out.Vectors))
	}
	call := graph.Call{Name: c.Embedder.Model(), Duration: time.Since(begun).Truncate(time.Microsecond)}
	if err != nil {
		call.Error = err.Error()
		graph.Count(ctx, call)
		return nil, err
	}
	call.Counts = map[string]int64{countInput: out.Usage.Input, countRetries: int64(out.Retries)}
	if out.Priced {
		call.Counts[countCost] = int64(math.Round(out.CostUSD * 1e9))
	}
	graph.Count(ctx, call)
	return out.Vectors[0], nil
}
