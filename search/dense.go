package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"

	"golang.org/x/sync/singleflight"

	"example.com/ragflow/internal/lru"
	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// Facts about the dense leg; match them with errors.Is.
var (
	ErrNoDense   = errors.New("there is no dense search")        // no embedder is configured, or nothing was embedded yet
	ErrEmbedding = errors.New("the question cannot be embedded") // the error that wraps it wraps the embedder's too
)

// denseLeg searches by vectors.
type denseLeg struct {
	snapshot Snapshot
	o        Options
	whole    *denseLeg // has the vectors of the snapshot that this one narrows; nil: not narrowed

	mu      sync.Mutex // guards the fields below
	vectors Vectors    // nil: not loaded yet
	fault   error      // why this snapshot has none
}

func (d *denseLeg) search(ctx context.Context, q state.Query, k int) ([]state.Hit, []string, error) {
	v, vector, err := d.ready(ctx, q)
	if err != nil {
		return nil, nil, err
	}
	hits, err := v.Search(ctx, vector, k, MinCosine)
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

// ready returns the vectors of the snapshot and that of a query.
func (d *denseLeg) ready(ctx context.Context, q state.Query) (Vectors, []float32, error) {
	v, err := d.load(ctx)
	if err != nil {
		return nil, nil, err
	}
	vector, err := d.o.Vectors.get(ctx, d.o, cmp.Or(q.Passage, denseText(q)))
	if err != nil {
		return nil, nil, fmt.Errorf("%w: %w", ErrEmbedding, err)
	}
	return v, vector, nil
}

// incomplete is the warning that some passages have no vector, and what that does to them.
func incomplete(v Vectors, are string) []string {
	if v.Missing() == 0 {
		return nil
	}
	return []string{fmt.Sprintf("Dense search is incomplete: %d of %d passages have no vector yet and are %s; "+
		"\"ragflow index\" goes on embedding", v.Missing(), v.Missing()+v.Len(), are)}
}

// load returns the vectors of the snapshot. The first search reads them; where that
// fails, the next one tries again.
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

// contextWeight is the weight above which a boost is context of a follow-up, and not
// another word for what the question says.
const contextWeight = 0.3

// denseText is the text to embed for a query: what it borrows from earlier questions,
// oldest first, and then its own words.
func denseText(q state.Query) string {
	var parts []string
	for _, b := range slices.Backward(q.Boosts) {
		if b.Weight > contextWeight && !slices.Contains(parts, b.Text) {
			parts = append(parts, b.Text)
		}
	}
	return strings.Join(append(parts, q.Text), ". ")
}

// queryVectors is how many vectors of questions are remembered.
const queryVectors = 256

// QueryVectors remembers the vectors of questions. Searches that ask for the same
// text at the same time embed it once. The zero value is ready for use, and safe for
// concurrent use.
type QueryVectors struct {
	known lru.Cache[string, []float32]
	calls singleflight.Group
}

// get returns the vector of a question, which the caller must not change.
func (m *QueryVectors) get(ctx context.Context, o Options, question string) ([]float32, error) {
	if len(question) > o.Dense.Tokens { // a token has at least one byte
		question = text.Trim(question, o.Dense.Tokens)
	}
	question = o.Dense.QueryPrefix + question
	for {
		if v, ok := m.known.Get(question); ok {
			return v, nil
		}
		mine := false
		call := m.calls.DoChan(question, func() (any, error) {
			mine = true
			if v, ok := m.known.Get(question); ok { // since it was looked for above
				return v, nil
			}
			v, err := embedQuery(ctx, o.Embedder, question)
			if err != nil {
				return nil, err
			}
			m.known.Put(question, v, 0, queryVectors, 0)
			return v, nil
		})
		select {
		case r := <-call:
			if r.Err == nil {
				return r.Val.([]float32), nil
			}
			if mine || !errors.Is(r.Err, context.Canceled) && !errors.Is(r.Err, context.DeadlineExceeded) {
				return nil, r.Err
			} // the search that asked was cancelled: ask again
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// embedQuery asks the embedder. A panic is an error, so that searches that wait for
// the vector go on.
func embedQuery(ctx context.Context, e Embedder, question string) (vector []float32, err error) {
	defer func() {
		if r := recover(); r != nil {
			vector, err = nil, fmt.Errorf("%s panicked: %v", e.Model(), r)
		}
	}()
	return e.EmbedQuery(ctx, question)
}
