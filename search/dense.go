package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"

	"example.com/ragflow/internal/text"
	"example.com/ragflow/llm"
	"example.com/ragflow/state"
)

// Errors of the dense leg; match them with errors.Is.
var (
	ErrNoDense   = errors.New("there is no dense search")        // no embedder is configured, or nothing was embedded yet
	ErrEmbedding = errors.New("the question cannot be embedded") // the error also wraps that of the embedder
)

// denseLeg searches by vectors.
type denseLeg struct {
	snapshot Snapshot
	o        Options
	whole    *denseLeg // the leg of the snapshot that this one narrows; nil: not narrowed

	mu      sync.Mutex // guards the fields below
	vectors Vectors    // nil: not loaded yet
	fault   error      // why there are no vectors
}

func (d *denseLeg) search(ctx context.Context, q state.Query, k int) ([]state.Hit, []string, error) {
	v, vector, err := d.ready(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	hits, err := v.Search(ctx, vector, k, MinCosine)
	if d.o.ListDepth > 0 {
		return hits, nil, err
	}
	return hits, incomplete(v, "found by their words only"), err
}

// searchHybrid lets the server rank by words and vectors. If that fails, it searches by words.
func (d *denseLeg) searchHybrid(ctx context.Context, q state.Query, k int) (hits []state.Hit, warnings []string, err error) {
	v, vector, err := d.ready(ctx, q)
	if err == nil {
		warnings = incomplete(v, "not found")
		hybrid, ok := v.(HybridVectors)
		if !ok {
			return nil, nil, errors.New("the vectors of this index are not searched with words")
		}
		hits, err = hybrid.SearchHybrid(ctx, q, vector, k)
	}
	if err != nil && ctx.Err() == nil {
		warnings = []string{denseFailed(err)}
		hits, err = d.snapshot.SearchWords(ctx, q, k)
	}
	return hits, warnings, err
}

// ready returns the vectors of the snapshot and the vector of a query.
func (d *denseLeg) ready(ctx context.Context, q state.Query) (Vectors, []float32, error) {
	v, err := d.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	vector, err := d.o.embedQuery(ctx, cmp.Or(q.Passage, denseText(q)))
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrEmbedding, err)
	}
	return v, vector, nil
}

// incomplete returns the warning that passages without a vector are affected as given.
func incomplete(v Vectors, effect string) []string {
	if v.Missing() == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Dense search is incomplete: %d of %d passages have no vector yet and are %s; "+
		"\"ragflow index\" goes on embedding", v.Missing(), v.Missing()+v.Len(), effect)}
}

// load returns the vectors of the snapshot, which the first search reads. After an error the
// next search tries again.
func (d *denseLeg) load(ctx context.Context) (Vectors, error) {
	if d.whole != nil {
		v, err := d.whole.load(ctx)
		if err != nil {
			return nil, err
		}
		return v.Of(d.snapshot), nil
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.vectors != nil || d.fault != nil {
		return d.vectors, d.fault
	}
	v, err := d.snapshot.Vectors(ctx, d.o.Dense.Spec(d.o.Embedder.Model()))
	if err != nil {
		return nil, err
	}
	if v.Len() == 0 {
		d.fault = fmt.Errorf("%w: no passage has been embedded yet; \"ragflow index\" does it", ErrNoDense)
		return nil, d.fault
	}
	d.vectors = v
	return v, nil
}

// denseText returns the text to embed for a query: its own, behind the question that it continues.
func denseText(q state.Query) string {
	return strings.TrimSpace(q.Topic + " " + q.Text)
}

// embedQuery returns the vector of a question, which the caller must not change.
func (o Options) embedQuery(ctx context.Context, question string) ([]float32, error) {
	if len(question) > o.Dense.Tokens { // a token has at least one byte
		question = text.Trim(question, o.Dense.Tokens)
	}
	out, err := o.Embedder.Embed(ctx, []string{o.Dense.QueryPrefix + question}, llm.Query)
	if err == nil && len(out.Vectors) != 1 {
		err = fmt.Errorf("%s gave %d vectors for one text", o.Embedder.Model(), len(out.Vectors))
	}
	if err != nil {
		return nil, err
	}
	return out.Vectors[0], nil
}
