package ragflow

import (
	"context"

	"golang.org/x/sync/semaphore"

	"example.com/ragflow/internal/index"
	"example.com/ragflow/internal/lru"
	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/llm"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// reading compares questions and passages by the built-in model. It is safe for concurrent use.
type reading struct {
	model *questions
	spec  search.VectorSpec
	known knownVectors // of the index; nil: it keeps none
	made  *lru.Cache[string, []float32]
	turn  *semaphore.Weighted // of the one question whose vectors are made
}

var _ offline.Reader = (*reading)(nil)

// knownVectors returns the vectors that an index has of chunks, in their order, and nil for others.
type knownVectors func(ctx context.Context, e search.VectorSpec, chunks []state.Chunk) ([][]float32, error)

// order orders passages by words, and the first ones by meaning as well.
type order struct {
	words   *offline.Reranker
	reading *reading
	read    int     // passages that are compared by meaning
	least   float64 // probability of a passage without a word of the question
}

var _ search.Orderer = (*order)(nil)

// Rerank implements search.Orderer.
func (o *order) Rerank(ctx context.Context, queries []state.Query, candidates []state.Source) ([]state.Source, error) {
	out, err := o.words.Rerank(ctx, queries, candidates)
	if err != nil {
		return nil, err
	}
	for i := range out {
		out[i].Score = (out[i].Score + o.least) / (1 + o.least*float64(len(out)))
	}
	return offline.ByMeaning(ctx, o.reading, queries, out, o.read)
}

// keptVectors is how many vectors are kept of passages that have none in the index, each of 1.5 kB beside a text.
const keptVectors = 2000

// over returns a reading of the passages of a snapshot, with the same kept vectors.
func (r *reading) over(s search.Snapshot) *reading {
	out := *r
	if known, ok := s.(interface {
		Known(ctx context.Context, e search.VectorSpec, chunks []state.Chunk) ([][]float32, error)
	}); ok {
		out.known = known.Known
	}
	return &out
}

// Near implements offline.Reader. Vectors that the index does not have are made.
func (r *reading) Near(ctx context.Context, question string, passages []state.Source) ([]float64, error) {
	asked, err := r.model.Embed(ctx, []string{question}, llm.Query)
	if err != nil {
		return nil, err
	}
	vectors, err := r.vectors(ctx, passages)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(vectors))
	for i, v := range vectors {
		for k, x := range v {
			out[i] += float64(x) * float64(asked.Vectors[0][k])
		}
	}
	return out, nil
}

// vectors returns the vectors of passages, those that are made now rounded as those of the index. Questions make theirs
// one after the other, in the order they came: side by side a hundred would all end when the last one does, and make
// what they share several times.
func (r *reading) vectors(ctx context.Context, passages []state.Source) (out [][]float32, err error) {
	chunks := make([]state.Chunk, len(passages))
	for i, p := range passages {
		chunks[i] = p.Chunk
	}
	if out = make([][]float32, len(chunks)); r.known != nil {
		if out, err = r.known(ctx, r.spec, chunks); err != nil {
			return nil, err
		}
	}
	at := r.missing(chunks, out)
	if len(at) > 0 {
		if err := r.turn.Acquire(ctx, 1); err != nil {
			return nil, err
		}
		defer r.turn.Release(1)
		at = r.missing(chunks, out) // without those that others have made meanwhile
	}
	if len(at) == 0 {
		return out, nil
	}
	texts := make([]string, len(at))
	for k, i := range at {
		texts[k] = r.spec.Passage(chunks[i])
	}
	made, err := r.model.Embed(ctx, texts, llm.Passage)
	for k, v := range made.Vectors {
		out[at[k]] = index.Rounded(v)
		r.made.Put(texts[k], out[at[k]], 0, keptVectors, 0)
	}
	return out, err
}

// missing fills in the kept vectors and returns the places of those that are not kept.
func (r *reading) missing(chunks []state.Chunk, out [][]float32) (at []int) {
	for i, c := range chunks {
		if out[i] == nil {
			out[i], _ = r.made.Get(r.spec.Passage(c))
		}
		if out[i] == nil {
			at = append(at, i)
		}
	}
	return at
}
