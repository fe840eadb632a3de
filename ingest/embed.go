package ingest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"example.com/ragflow/llm"
	"example.com/ragflow/search"
)

// DenseReport counts vectors and texts of one sync.
type DenseReport struct {
	Model       string `json:"model"`
	Dimension   int    `json:"dimension"`    // 0 if nothing has been embedded yet
	Vectors     string `json:"vectors"`      // the embedded texts: always "passage"
	Chunks      int    `json:"chunks"`       // of the documents
	Embedded    int    `json:"embedded"`     // texts sent to the model now; all others were known
	Missing     int    `json:"missing"`      // chunks that the dense search cannot find
	Refused     int    `json:"refused"`      // texts that the model refused
	Calls       int64  `json:"calls"`        // of the model
	InputTokens int64  `json:"input_tokens"` // as the provider counts them; 0 if it does not
	Pruned      int    `json:"pruned"`       // vectors of other models and of deleted texts that were deleted
	Error       string `json:"error"`        // why embedding ended early; empty if it did not
}

// Reembed makes the vectors of all passages with the configured embedder. Searches use the
// vectors of another one until all are there. Progress before an error or the end of ctx is
// kept, and the next call continues. Vectors that nothing needs any more are deleted. No
// document is read.
func (l *Library) Reembed(ctx context.Context) (*DenseReport, error) {
	report, err := l.wait(ctx, l.join(ctx, JobStatus{Reembed: true}, false))
	return report.Dense, err
}

// StartReembed begins a [Library.Reembed] that the end of ctx does not cancel.
func (l *Library) StartReembed(ctx context.Context) *Job {
	return l.join(ctx, JobStatus{Reembed: true}, true)
}

func (l *Library) reembed(ctx context.Context, report *Report, progress func(Progress)) error {
	return l.embedAll(ctx, report, progress, func(roots []string) ([]string, error) { return roots, nil })
}

// StartEmbed begins to make the vectors that passages lack, with Options.Spare if there is no Embedder. It leaves out
// folders whose vectors another embedder made. The end of ctx does not cancel it; progress before an error or
// [Job.Cancel] is kept, and the next call continues.
func (l *Library) StartEmbed(ctx context.Context) *Job {
	return l.join(ctx, JobStatus{Reembed: true, lacking: true}, false)
}

func (l *Library) embedLacking(ctx context.Context, report *Report, progress func(Progress)) error {
	return l.embedAll(ctx, report, progress, func(roots []string) (ours []string, err error) {
		for _, root := range roots {
			may, err := l.replaces(ctx, root)
			if err != nil {
				return nil, err
			}
			if may {
				ours = append(ours, root)
			}
		}
		return ours, nil
	})
}

// embedAll makes the vectors of those of the indexed roots that are chosen, and deletes those that nothing needs.
func (l *Library) embedAll(ctx context.Context, report *Report, progress func(Progress), chosen func(roots []string) ([]string, error)) error {
	if l.embedder() == nil {
		return fmt.Errorf("%w: no embedding model is configured", search.ErrNoDense)
	}
	if err := l.embedding.Acquire(ctx, 1); err != nil {
		return context.Cause(ctx)
	}
	roots, err := l.indexedRoots(ctx)
	if err == nil {
		roots, err = chosen(roots)
	}
	if err != nil || len(roots) == 0 {
		l.embedding.Release(1)
		return err
	}
	if report.Dense, err = l.embedTurn(ctx, roots, true, progress); err == nil {
		report.Dense.Pruned, err = l.index.PruneVectors(ctx)
	}
	if err != nil {
		return err
	}
	return l.publish(ctx, report, report.Dense.Embedded > 0 || report.Dense.Pruned > 0, false)
}

// embedder returns what makes vectors; nil: nothing.
func (l *Library) embedder() llm.Embedder {
	if l.o.Embedder != nil {
		return l.o.Embedder
	}
	return l.o.Spare
}

// replaces reports whether the embedder may make the vectors of a root, which has none, or its own, or those of a spare
// one.
func (l *Library) replaces(ctx context.Context, root string) (bool, error) {
	stored, found, err := l.index.Embedder(ctx, root)
	if err != nil || !found {
		return true, err
	}
	spec, err := l.o.Dense.Spec(l.embedder().Model()).WithDefaults()
	return spec.Fits(stored) || l.o.Spare != nil && family(stored.Model) == family(l.o.Spare.Model()), err
}

// family returns what all versions of a model have in common.
func family(model string) string {
	name, _, _ := strings.Cut(search.ModelName(model), "/")
	return name
}

// indexedRoots returns the configured roots that are indexed, or all indexed roots if none are
// configured.
func (l *Library) indexedRoots(ctx context.Context) ([]string, error) {
	collections, err := l.index.Collections(ctx)
	if err != nil {
		return nil, err
	}
	wanted := l.wanted()
	var roots []string
	for _, c := range collections {
		if wanted(c.Root) {
			roots = append(roots, c.Root)
		}
	}
	if len(roots) == 0 {
		return nil, ErrNoDocuments
	}
	return roots, nil
}

// embedIndexed embeds roots that were indexed. A failure is in the report and is no error,
// because the search by words works without. While another job embeds, the roots are left
// to it, so that a small change does not wait for the vectors of a large folder.
func (l *Library) embedIndexed(ctx context.Context, roots []string, report *Report, progress func(Progress)) error {
	if l.o.Embedder == nil || l.o.Dense.Leg == search.LegLexical || len(roots) == 0 {
		return nil
	}
	if !l.mayEmbed(roots) {
		return nil
	}
	replace := true
	for _, root := range roots {
		may, err := l.replaces(ctx, root)
		if err != nil {
			return err
		}
		replace = replace && may
	}
	var err error
	report.Dense, err = l.embedTurn(ctx, roots, replace || l.o.Dense.Rebuild, progress)
	if err != nil && ctx.Err() == nil {
		report.Dense.Error = err.Error()
		return nil
	}
	return err
}

// embedTurn embeds roots, and those that others left to the caller meanwhile. It ends the
// caller's turn. The report is never nil.
func (l *Library) embedTurn(ctx context.Context, roots []string, replace bool, progress func(Progress)) (*DenseReport, error) {
	report, err := l.embed(ctx, roots, replace, progress)
	for {
		if roots = l.lateRoots(err); len(roots) == 0 {
			return report, err
		}
		var more *DenseReport
		more, err = l.embed(ctx, roots, replace, progress)
		report.Embedded += more.Embedded
		report.Refused += more.Refused
		report.Calls += more.Calls
		report.InputTokens += more.InputTokens
	}
}

// mayEmbed reports whether the caller is the one to embed now. If not, the one who does takes
// the roots over.
func (l *Library) mayEmbed(roots []string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.embedding.TryAcquire(1) {
		return true
	}
	l.late = append(l.late, roots...)
	return false
}

// lateRoots returns the roots that others left to the caller. If there are none, or after an
// error, others may embed.
func (l *Library) lateRoots(err error) (roots []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		roots, l.late = l.late, nil
	}
	if len(roots) == 0 {
		l.embedding.Release(1)
	}
	slices.Sort(roots)
	return slices.Compact(roots)
}

// embed makes the missing vectors of roots. The report is never nil.
func (l *Library) embed(ctx context.Context, roots []string, replace bool, progress func(Progress)) (*DenseReport, error) {
	embedder := l.embedder()
	report := &DenseReport{Model: embedder.Model(), Vectors: "passage"}
	var calls, tokens atomic.Int64
	done, err := l.index.Embed(ctx, l.o.Dense.Spec(report.Model), roots, search.EmbedOptions{
		Batch: l.o.Dense.Batch, Workers: l.o.Dense.Workers, Switch: replace,
		Embed: func(ctx context.Context, texts []string) ([][]float32, error) {
			out, err := embedder.Embed(ctx, texts, llm.Passage)
			calls.Add(int64(max(1, out.Calls)))
			tokens.Add(out.Usage.Input)
			if textRefused(err) {
				err = fmt.Errorf("%w: %w", search.ErrTextRefused, err)
			}
			return out.Vectors, err
		},
		Progress: func(done, total int) { progress(Progress{Stage: StageEmbedding, Done: done, Total: total}) },
	})
	report.Calls, report.InputTokens = calls.Load(), tokens.Load()
	if done != nil {
		report.Dimension, report.Chunks, report.Embedded, report.Refused = done.Embedder.Dimension, done.Chunks, done.Embedded, done.Refused
	}
	missing, countErr := l.missing(ctx, roots, report.Chunks)
	report.Missing = missing
	return report, cmp.Or(err, countErr)
}

// textRefused reports whether the error is about the texts and not about the service. llama.cpp has no
// status of its own for a text that is too long.
func textRefused(err error) bool {
	failed, ok := errors.AsType[*llm.Error](err)
	return ok && (errors.Is(failed.Kind, llm.ErrRefused) || strings.Contains(failed.Detail, "too large to process"))
}

// missing counts the chunks of roots that the dense search cannot find.
func (l *Library) missing(ctx context.Context, roots []string, all int) (int, error) {
	ctx = context.WithoutCancel(ctx)
	s, err := l.index.Snapshot(ctx, slices.Clone(roots)...)
	if err != nil {
		return all, err
	}
	v, err := s.Vectors(ctx, l.o.Dense.Spec(l.embedder().Model()))
	if errors.Is(err, search.ErrEmbedderChanged) {
		return s.Docs(), nil
	}
	if err != nil {
		return all, err
	}
	return v.Missing(), nil
}
