package ragflow

import (
	"context"

	"example.com/ragflow/internal/lru"
	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/llm"
	"example.com/ragflow/meaning"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
)

// reading compares texts by the built-in model, and keeps their vectors. It is safe for concurrent use.
type reading struct {
	vectors lru.Cache[embedded, []float32]
}

var _ offline.Reader = (*reading)(nil)

type embedded struct {
	text    string
	purpose llm.Purpose
}

// keptVectors is how many vectors are kept, each of 1.5 kB beside a text of about as much.
const keptVectors = 2000

// Near implements offline.Reader.
func (r *reading) Near(ctx context.Context, question string, passages []state.Source) ([]float64, error) {
	texts := make([]string, len(passages))
	for i, p := range passages {
		texts[i] = search.Passage(p.Chunk)
	}
	asked, err := r.embed(ctx, []string{question}, llm.Query)
	if err != nil {
		return nil, err
	}
	vectors, err := r.embed(ctx, texts, llm.Passage)
	if err != nil {
		return nil, err
	}
	out := make([]float64, len(vectors))
	for i, v := range vectors {
		for k, x := range v {
			out[i] += float64(x) * float64(asked[0][k])
		}
	}
	return out, nil
}

// embed returns the vectors of texts, and makes those that are not kept.
func (r *reading) embed(ctx context.Context, texts []string, p llm.Purpose) ([][]float32, error) {
	out := make([][]float32, len(texts))
	var missing []string
	var at []int
	for i, s := range texts {
		var ok bool
		if out[i], ok = r.vectors.Get(embedded{s, p}); !ok {
			missing, at = append(missing, s), append(at, i)
		}
	}
	if len(missing) == 0 {
		return out, nil
	}
	model, err := meaning.Open()
	if err != nil {
		return nil, err
	}
	made, err := model.Embed(ctx, missing, p)
	for k, v := range made.Vectors {
		out[at[k]] = v
		r.vectors.Put(embedded{missing[k], p}, v, 0, keptVectors, 0)
	}
	return out, err
}
