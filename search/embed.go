package search

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"

	"example.com/ragflow/internal/text"
)

// minPassage is the lowest number of tokens that a refused text is cut to.
const minPassage = 16

// EmbedRun makes the vectors of items T, for implementations of [Backend.Embed].
type EmbedRun[T any] struct {
	EmbedOptions
	Spec   VectorSpec // its dimension is 0 until the first vector comes
	Begun  bool       // the model has made vectors in this run or before
	Report EmbedReport
	// Read returns the texts of items, with those items that still exist.
	Read func(ctx context.Context, list []T) (texts []string, kept []T, err error)
	// Save stores vectors of length 1. Its context is not cancelled, because the vectors were
	// paid for.
	Save func(ctx context.Context, list []T, vectors [][]float32) error
}

// Run embeds items, with as many concurrent batches as there are workers, and saves all that
// succeed. The first error ends it.
func (r *EmbedRun[T]) Run(ctx context.Context, todo []T) error {
	r.Batch, r.Workers = cmp.Or(max(0, r.Batch), 16), cmp.Or(max(0, r.Workers), 4)
	for round := range slices.Chunk(todo, r.Batch*r.Workers) {
		if err := r.round(ctx, round); err != nil {
			return err
		}
		if r.Progress != nil {
			r.Progress(r.Report.Embedded+r.Report.Refused, len(todo))
		}
	}
	return nil
}

func (r *EmbedRun[T]) round(ctx context.Context, round []T) error {
	texts, list, err := r.Read(ctx, round)
	if err != nil {
		return err
	}
	batches := slices.Collect(slices.Chunk(texts, r.Batch))
	made, refusals, faults := make([][][]float32, len(batches)), make([]error, len(batches)), make([]error, len(batches))
	var workers sync.WaitGroup
	for i, batch := range batches {
		workers.Go(func() { made[i], refusals[i], faults[i] = r.vectors(ctx, batch) })
	}
	workers.Wait()
	var kept []T
	var units [][]float32
	refused := 0
	for i := range batches {
		before := len(kept)
		for n, v := range made[i] {
			if v == nil {
				refused++
				continue
			}
			unit, err := r.Spec.Unit(v)
			if err != nil { // nothing of the batch can be trusted
				faults[i], kept, units = err, kept[:before], units[:before]
				break
			}
			kept, units = append(kept, list[i*r.Batch+n]), append(units, unit)
		}
	}
	failed := cmp.Or(faults...)
	if len(kept) > 0 {
		r.Begun = true
		if err := r.Save(context.WithoutCancel(ctx), kept, units); err != nil {
			return err
		}
	} else if refused > 0 && !r.Begun {
		return cmp.Or(failed, cmp.Or(refusals...)) // the model would refuse all others too
	}
	r.Report.Embedded += len(kept)
	r.Report.Refused += refused
	return cmp.Or(failed, context.Cause(ctx))
}

// vectors returns the vectors of texts. If the model refuses them, each is tried alone, and
// halved until it is accepted; a text that is refused in the end has a nil vector. refusal is
// the first refusal.
func (r *EmbedRun[T]) vectors(ctx context.Context, texts []string) (out [][]float32, refusal, err error) {
	if out, err = r.call(ctx, texts); !errors.Is(err, ErrTextRefused) {
		return out, nil, err
	}
	refusal, out = err, nil
	for _, t := range texts { // one of them was refused
		v, err := r.shortened(ctx, r.Spec, t)
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

// shortened embeds a text, or its first half if it is refused, and so on; nil if none is
// accepted.
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
		if n/2 < minPassage {
			return nil, nil
		}
		passage = spec.Prefix + text.Trim(whole, n/2)
	}
}

// errNoDirection is the error of a vector that has no direction.
var errNoDirection = errors.New("the model gave a vector that is zero or not finite")

// Unit returns vector scaled to length 1. The first vector sets v.Dimension. The error may be a
// [*DimensionError].
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
