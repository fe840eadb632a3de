package search

import (
	"context"
	"errors"
	"fmt"
	"math"

	"example.com/ragflow/search/text"
)

// shortestPassage is the fewest tokens that a refused text is cut to.
const shortestPassage = 16

// Vectors returns the vectors of texts that spec made, for those who implement
// [Backend.Embed]. Where the model refuses them, each is tried alone, and one that is refused
// then is cut to the half, and so on; its vector is nil where that does not help. refusal says
// why some text was refused, nil if none was.
func (o EmbedOptions) Vectors(ctx context.Context, spec VectorSpec, texts []string) (out [][]float32, refusal, err error) {
	if out, err = o.call(ctx, texts); !errors.Is(err, ErrTextRefused) {
		return out, nil, err
	}
	refusal, out = err, nil
	for _, t := range texts { // one of them is meant
		v, err := o.shortened(ctx, spec, t)
		if err != nil {
			return out, refusal, err
		}
		out = append(out, v)
	}
	return out, refusal, nil
}

func (o EmbedOptions) call(ctx context.Context, texts []string) ([][]float32, error) {
	out, err := o.Embed(ctx, texts)
	if err == nil && len(out) != len(texts) {
		err = fmt.Errorf("%d vectors came for %d texts", len(out), len(texts))
	}
	return out, err
}

// shortened embeds a text, or where it is refused the first half of it, and so on. The vector
// is nil where that does not help.
func (o EmbedOptions) shortened(ctx context.Context, spec VectorSpec, passage string) ([]float32, error) {
	whole := passage[len(spec.Prefix):]
	for n := text.Count(whole); ; n /= 2 {
		if err := context.Cause(ctx); err != nil {
			return nil, err
		}
		out, err := o.call(ctx, []string{passage})
		if err == nil {
			return out[0], nil
		}
		if !errors.Is(err, ErrTextRefused) {
			return nil, err
		}
		if n/2 < shortestPassage {
			return nil, nil
		}
		passage = spec.Prefix + text.Trim(whole, n/2)
	}
}

// errNoDirection is returned for a vector that cannot be compared with others.
var errNoDirection = errors.New("the model gave a vector that is zero or not finite")

// Unit returns a vector that v made, scaled to length 1. The first vector sets v.Dimension.
// The error may be a [*DimensionError].
func (v *VectorSpec) Unit(vector []float32) ([]float32, error) {
	if v.Dimension == 0 {
		if len(vector) == 0 || len(vector) > MaxDimension {
			return nil, fmt.Errorf("the model gave a vector of %d dimensions", len(vector))
		}
		v.Dimension = len(vector)
	}
	if len(vector) != v.Dimension {
		return nil, &DimensionError{Model: v.Model, Got: len(vector), Want: v.Dimension}
	}
	var sum float64
	for _, f := range vector {
		sum += float64(f) * float64(f)
	}
	if !(sum > 0) || math.IsInf(sum, 1) {
		return nil, errNoDirection
	}
	length := math.Sqrt(sum)
	unit := make([]float32, len(vector))
	for i, f := range vector {
		unit[i] = float32(float64(f) / length)
	}
	return unit, nil
}
