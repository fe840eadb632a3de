package ragflow

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"example.com/ragflow/search/index"
	"example.com/ragflow/state"
)

// Dense says how the dense leg works. The zero value is right for models that
// want no prefixes.
type Dense struct {
	Leg           string  // LegHybrid, LegLexical, LegDense or LegGraph; default LegHybrid
	Alpha         float64 // weight of the dense leg where both found something, the rest is the lexical leg's; in (0, 1); 0: see Retrieval.Weights
	Dimension     int     // EMBEDDING_DIMENSION: the only one accepted; 0: that of the first vector
	QueryPrefix   string  // before a question, such as "query: "
	PassagePrefix string  // before a passage, such as "passage: "
	Tokens        int     // of a passage that are embedded; default 400
	Batch         int     // passages of one request; default 16
	Workers       int     // requests side by side while indexing; default 4
	Rebuild       bool    // REBUILD_INDEX: where the embedder changed, Index does what Reembed does
}

func (d Dense) withDefaults() (Dense, error) {
	d.Leg = cmp.Or(d.Leg, LegHybrid)
	if d.Tokens == 0 {
		d.Tokens = index.DefaultPassageTokens
	}
	var faults []error
	if !slices.Contains(legs(), d.Leg) {
		faults = append(faults, fmt.Errorf("search leg %q is not one of %s", d.Leg, strings.Join(legs(), ", ")))
	}
	if d.Alpha != 0 && !(d.Alpha > 0 && d.Alpha < 1) {
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

func (h *hybrid) searchDense(ctx context.Context, q state.Query, k int) ([]state.Hit, []string, error) {
	v, err := h.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	query, err := h.queries.vector(ctx, h.config, denseText(q))
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrEmbedding, err)
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
	if h.whole != nil {
		v, err := h.whole.load(ctx)
		if err != nil {
			return nil, err
		}
		return v.Of(h.Searcher), nil
	}
	if v := h.vectors.Load(); v != nil {
		return v, nil
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if v := h.vectors.Load(); v != nil || h.fault != nil {
		return v, h.fault
	}
	v, err := h.Vectors(ctx, h.config.embedder())
	if err != nil {
		return nil, err // the next search tries again
	}
	if v.Len() == 0 {
		h.fault = fmt.Errorf("%w: no passage has been embedded yet; \"ragflow index\" does it", ErrNoDense)
		return nil, h.fault
	}
	h.vectors.Store(v)
	return v, nil
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
