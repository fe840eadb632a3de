package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"example.com/ragflow/search"
)

// DenseReport says what embedding did.
type DenseReport struct {
	Model       string `json:"model"`
	Dimension   int    `json:"dimension"`    // 0 where nothing has been embedded yet
	Vectors     string `json:"vectors"`      // what is embedded: always "passage"
	Chunks      int    `json:"chunks"`       // of the documents
	Embedded    int    `json:"embedded"`     // texts sent to the model now; all others were known
	Missing     int    `json:"missing"`      // chunks that the dense search cannot find
	Refused     int    `json:"refused"`      // texts that the model refused
	Calls       int64  `json:"calls"`        // of the model
	InputTokens int64  `json:"input_tokens"` // as the provider counts them; 0 where it does not
	Pruned      int    `json:"pruned"`       // vectors of other models and of deleted texts that were deleted
	Error       string `json:"error"`        // why embedding ended early; empty where it did not
}

// Reembed gives all passages the vectors of the configured embedder. They are made
// beside those of another one, and when all are there, searches switch over at once.
// What was done before an error or the end of ctx is kept, and the next call goes on
// from there. Vectors that nothing needs any more are deleted. No document is read.
func (l *Library) Reembed(ctx context.Context) (*DenseReport, error) {
	if l.o.Embedder == nil {
		return nil, fmt.Errorf("%w: no embedding model is configured", search.ErrNoDense)
	}
	if err := l.lock(ctx); err != nil {
		return nil, err
	}
	defer l.unlock()
	roots, err := l.indexedRoots(ctx)
	if err != nil {
		return nil, err
	}
	report, err := l.embed(ctx, roots, true)
	if err != nil {
		return report, err
	}
	if report.Pruned, err = l.index.PruneVectors(ctx); err != nil {
		return report, err
	}
	return report, l.publish(ctx, &Report{Roots: roots}, true)
}

// indexedRoots returns those of the configured documents that are indexed, or all.
func (l *Library) indexedRoots(ctx context.Context) ([]string, error) {
	collections, err := l.index.Collections(ctx)
	if err != nil {
		return nil, err
	}
	wanted := l.wanted()
	var roots []string
	for _, c := range collections {
		if wanted == nil || wanted[c.Root] {
			roots = append(roots, c.Root)
		}
	}
	if len(roots) == 0 {
		return nil, ErrNoDocuments
	}
	return roots, nil
}

// embedIndexed embeds what was indexed. A failure is reported and is no error, because
// the lexical leg works without.
func (l *Library) embedIndexed(ctx context.Context, report *Report) error {
	if l.o.Embedder == nil || l.o.Dense.Leg == search.LegLexical || len(report.Roots) == 0 {
		return nil
	}
	var err error
	report.Dense, err = l.embed(ctx, report.Roots, l.o.Dense.Rebuild)
	if err == nil || ctx.Err() != nil {
		return err
	}
	report.Dense.Error = err.Error()
	return nil
}

// embed gives the passages of roots the vectors they lack. The report is never nil.
func (l *Library) embed(ctx context.Context, roots []string, replace bool) (*DenseReport, error) {
	report := &DenseReport{Model: l.o.Embedder.Model(), Vectors: "passage"}
	var calls, tokens atomic.Int64
	done, err := l.index.Embed(ctx, l.o.Dense.Spec(report.Model), roots, search.EmbedOptions{
		Batch: l.o.Dense.Batch, Workers: l.o.Dense.Workers, Switch: replace,
		Embed: func(ctx context.Context, texts []string) ([][]float32, error) {
			out, err := l.o.Embedder.EmbedPassages(ctx, texts)
			calls.Add(int64(max(1, out.Calls)))
			tokens.Add(out.InputTokens)
			return out.Vectors, err
		},
		Progress: func(done, total int) { l.progress(Progress{Stage: StageEmbedding, Done: done, Total: total}) },
	})
	report.Calls, report.InputTokens = calls.Load(), tokens.Load()
	if done != nil {
		report.Dimension, report.Chunks, report.Embedded, report.Refused = done.Embedder.Dimension, done.Chunks, done.Embedded, done.Refused
	}
	missing, countErr := l.missing(ctx, roots, report.Chunks)
	report.Missing = missing
	return report, cmp.Or(err, countErr)
}

// missing counts the chunks of roots that the dense search cannot find.
func (l *Library) missing(ctx context.Context, roots []string, all int) (int, error) {
	ctx = context.WithoutCancel(ctx)
	s, err := l.index.Snapshot(ctx, slices.Clone(roots)...)
	if err != nil {
		return all, err
	}
	v, err := s.Vectors(ctx, l.o.Dense.Spec(l.o.Embedder.Model()))
	if errors.Is(err, search.ErrEmbedderChanged) {
		return s.Docs(), nil
	}
	if err != nil {
		return all, err
	}
	return v.Missing(), nil
}
