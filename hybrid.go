package ragflow

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/index"
	"example.com/ragflow/llm"
	"example.com/ragflow/nodes"
	"example.com/ragflow/rank"
	"example.com/ragflow/state"
	"example.com/ragflow/text"
)

// Ways to search, for Dense.Leg and [Assistant.SearchLeg].
const (
	LegHybrid  = "hybrid"         // by words and by meaning, fused
	LegLexical = index.LegLexical // by words
	LegDense   = index.LegDense   // by meaning: the vectors of an embedder
)

// ErrEmbedderChanged tells that the vectors in the index were made by another
// embedder than the configured one. Searches go on by words; [Assistant.Reembed]
// makes the vectors anew.
var ErrEmbedderChanged = index.ErrEmbedderChanged

// ErrNoDense tells that a dense search was asked for where there is none: no
// embedder is configured, or nothing was embedded yet.
var ErrNoDense = errors.New("there is no dense search")

// Dense says how the dense leg works. The zero value is right for models that
// want no prefixes.
type Dense struct {
	Leg           string  // LegHybrid, LegLexical or LegDense; default LegHybrid
	Alpha         float64 // weight of the dense leg where both found something, the rest is the lexical leg's; in (0, 1), default 0.5
	Dimension     int     // EMBEDDING_DIMENSION: the only one accepted; 0: that of the first vector
	QueryPrefix   string  // before a question, such as "query: "
	PassagePrefix string  // before a passage, such as "passage: "
	Tokens        int     // of a passage that are embedded; default 400
	Batch         int     // passages of one request; default 16
	Workers       int     // requests side by side while indexing; default 4
	Rebuild       bool    // REBUILD_INDEX: where the embedder changed, Index does what Reembed does
}

func (d Dense) withDefaults() (Dense, error) {
	if d.Leg == "" {
		d.Leg = LegHybrid
	}
	if d.Alpha == 0 {
		d.Alpha = 0.5
	}
	if d.Tokens == 0 {
		d.Tokens = index.DefaultPassageTokens
	}
	var faults []error
	if !slices.Contains([]string{LegHybrid, LegLexical, LegDense}, d.Leg) {
		faults = append(faults, fmt.Errorf("search leg %q is not one of hybrid, lexical and dense", d.Leg))
	}
	if !(d.Alpha > 0 && d.Alpha < 1) {
		faults = append(faults, fmt.Errorf("alpha %v is not between 0 and 1; for one leg alone choose that leg", d.Alpha))
	}
	if d.Dimension < 0 || d.Tokens < 0 || d.Batch < 0 || d.Workers < 0 {
		faults = append(faults, errors.New("embedding dimension, tokens, batch and workers must not be negative"))
	}
	return d, errors.Join(faults...)
}

// embedder is what makes the vectors of c.
func (c Config) embedder() index.Embedder {
	return index.Embedder{
		Model: c.Embedder.Model(), Dimension: c.Dense.Dimension, Prefix: c.Dense.PassagePrefix, Tokens: c.Dense.Tokens,
	}
}

// hybrid searches by words and by meaning. It is bound to one snapshot of the
// index, as its Searcher is.
type hybrid struct {
	*index.Searcher
	config  Config
	queries *queryVectors

	mu      sync.Mutex // held while vectors are loaded
	vectors *index.Vectors
	fault   error // why there are none; not asked for again
}

var _ nodes.Searcher = (*hybrid)(nil)

// newHybrid returns the searcher of an engine. An embedder that does not fit
// the index is found out here, once.
func (a *Assistant) newHybrid(ctx context.Context, s *index.Searcher) (*hybrid, error) {
	h := &hybrid{Searcher: s, config: a.config, queries: a.queries}
	if a.config.Embedder == nil {
		h.fault = fmt.Errorf("%w: no embedding model is configured", ErrNoDense)
		return h, nil
	}
	err := s.CheckEmbedder(ctx, a.config.embedder())
	if errors.Is(err, ErrEmbedderChanged) {
		h.fault, err = err, nil
	}
	return h, err
}

// Search implements nodes.Searcher. What kept the dense leg from taking part
// becomes a warning of the task; words are always searched by then.
func (h *hybrid) Search(ctx context.Context, q state.Query, k int) ([]state.Hit, error) {
	hits, warnings, err := h.search(ctx, q, k, h.config.Dense.Leg)
	if err != nil && ctx.Err() == nil && h.config.Dense.Leg == LegDense {
		warnings = []string{leftOut(err)}
		hits, err = h.Searcher.Search(ctx, q, k)
	}
	for _, w := range warnings {
		graph.Warn(ctx, w)
	}
	return hits, err
}

// search searches by one leg, or by both side by side: each for twice as many
// hits as asked for, fused by reciprocal rank. A leg that cannot take part, or
// finds nothing, leaves its weight to the other. Only where the dense leg was
// asked for by name is its failure an error.
func (h *hybrid) search(ctx context.Context, q state.Query, k int, leg string) (hits []state.Hit, warnings []string, err error) {
	switch {
	case leg == LegLexical || leg == LegHybrid && h.config.Embedder == nil:
		hits, err = h.Searcher.Search(ctx, q, k)
		return hits, nil, err
	case leg == LegDense:
		return h.searchDense(ctx, q, k)
	case leg != LegHybrid:
		return nil, nil, fmt.Errorf("unknown search leg %q: use hybrid, lexical or dense", leg)
	}
	var dense []state.Hit
	var wg sync.WaitGroup
	wg.Go(func() {
		var fault error
		if dense, warnings, fault = h.searchDense(ctx, q, 2*k); fault != nil {
			warnings = []string{leftOut(fault)}
		}
	})
	lexical, err := h.Searcher.Search(ctx, q, 2*k)
	wg.Wait()
	if err == nil {
		err = context.Cause(ctx)
	}
	if err != nil {
		return nil, nil, err
	}
	if len(dense) > 0 && len(lexical) > 0 {
		share(dense, h.config.Dense.Alpha)
		share(lexical, 1-h.config.Dense.Alpha)
	}
	fused := rank.RRF(rank.Merge(lexical, dense), func(l state.Leg) float64 { return l.Of(1) })
	return fused[:min(k, len(fused))], warnings, nil
}

// leftOut tells that the dense leg did not take part.
func leftOut(err error) string {
	return "Dense search left out, searched by words only: " + err.Error()
}

// share gives each leg of a list its share of the query's weight. It owns hits.
func share(hits []state.Hit, alpha float64) {
	for _, h := range hits {
		for i := range h.Legs {
			h.Legs[i].Share = alpha
		}
	}
}

func (h *hybrid) searchDense(ctx context.Context, q state.Query, k int) ([]state.Hit, []string, error) {
	v, err := h.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	query, err := h.queries.vector(ctx, h.config, denseText(q))
	if err != nil {
		return nil, nil, err
	}
	hits, err := v.Search(ctx, query, k, index.MinCosine)
	if err != nil {
		return nil, nil, err
	}
	if v.Missing() > 0 {
		return hits, []string{fmt.Sprintf("Dense search is incomplete: %d of %d passages have no vector yet and are found by their words only; "+
			"\"ragflow index\" goes on embedding", v.Missing(), v.Missing()+v.Len())}, nil
	}
	return hits, nil, nil
}

// load returns the vectors of the snapshot, which the first search reads.
func (h *hybrid) load(ctx context.Context) (*index.Vectors, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.vectors != nil || h.fault != nil {
		return h.vectors, h.fault
	}
	v, err := h.Vectors(ctx, h.config.embedder())
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, err // another search may have more time
	case err == nil && v.Len() == 0:
		err = fmt.Errorf("%w: no passage has been embedded yet; \"ragflow index\" does it", ErrNoDense)
	}
	h.vectors, h.fault = v, err
	return v, err
}

// leaning is the weight above which a boost is context that the question leans
// on, and not another word for what it says (REQUIREMENTS W2).
const leaning = 0.3

// denseText is what a query means, in one text: what it borrows from earlier
// questions, oldest first, and then its own words.
func denseText(q state.Query) string {
	var parts []string
	for _, b := range slices.Backward(q.Boosts) {
		if b.Weight > leaning && !slices.Contains(parts, b.Text) {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(append(parts, q.Text), ". ")
}

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
	if len(question) > c.Dense.Tokens {
		question = text.Trim(question, c.Dense.Tokens)
	}
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

// embedQuery asks the embedder, and notes the call with the task under way.
func embedQuery(ctx context.Context, c Config, question string) ([]float32, error) {
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
