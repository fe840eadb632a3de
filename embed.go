package ragflow

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"

	"example.com/ragflow/llm"
	"example.com/ragflow/search/index"
)

// DenseReport tells what embedding did.
type DenseReport struct {
	Model       string `json:"model"`
	Dimension   int    `json:"dimension"`    // 0 where nothing has been embedded yet
	Vectors     string `json:"vectors"`      // what of a document is embedded: always "passage"
	Chunks      int    `json:"chunks"`       // of the documents
	Embedded    int    `json:"embedded"`     // texts sent to the model now; all others were known
	Missing     int    `json:"missing"`      // chunks the dense search cannot find
	Refused     int    `json:"refused"`      // texts the model would not have
	Calls       int64  `json:"calls"`        // of the model
	InputTokens int64  `json:"input_tokens"` // as the provider counts them; 0 where it does not tell
	Pruned      int    `json:"pruned"`       // vectors of other models and of texts that are gone, taken out
	Error       string `json:"error"`        // why embedding ended early; empty: it did not
}

// Reembed gives all passages the vectors of the configured embedder, in place of
// those of another one: they are made beside the old ones, and when all are
// there, searches change over at once. What was done before an error or the end
// of ctx is kept, and the next call goes on from there. At last, vectors that
// nothing needs any more leave the index. It concerns Config.Docs, or all that
// is indexed where there are none; no document is read.
func (a *Assistant) Reembed(ctx context.Context) (*DenseReport, error) {
	if a.config.Embedder == nil {
		return nil, fmt.Errorf("%w: no embedding model is configured", ErrNoDense)
	}
	a.indexing.Lock()
	defer a.indexing.Unlock()
	roots, err := a.indexedRoots(ctx)
	if err != nil {
		return nil, err
	}
	report, err := a.embed(ctx, roots, true)
	if err != nil {
		return report, err
	}
	if report.Pruned, err = a.index.PruneVectors(ctx); err != nil {
		return report, err
	}
	return report, a.open(ctx, &IndexReport{Roots: roots})
}

// indexedRoots are those of Config.Docs that are indexed, or all.
func (a *Assistant) indexedRoots(ctx context.Context) ([]string, error) {
	collections, err := a.index.Collections(ctx)
	if err != nil {
		return nil, err
	}
	var wanted []string
	for _, docs := range a.config.Docs {
		root, err := resolveRoot(docs)
		if err != nil {
			return nil, err
		}
		wanted = append(wanted, root)
	}
	var roots []string
	for _, c := range collections {
		if len(wanted) == 0 || slices.Contains(wanted, c.Root) {
			roots = append(roots, c.Root)
		}
	}
	if len(roots) == 0 {
		return nil, ErrNoDocuments
	}
	return roots, nil
}

// embedIndexed brings the dense leg up to date after documents were indexed. That
// it cannot is told in the report and is no error: the lexical leg stands.
func (a *Assistant) embedIndexed(ctx context.Context, report *IndexReport) error {
	if a.config.Embedder == nil || a.config.Dense.Leg == LegLexical || len(report.Roots) == 0 {
		return nil
	}
	var err error
	report.Dense, err = a.embed(ctx, report.Roots, a.config.Dense.Rebuild)
	if err == nil || ctx.Err() != nil {
		return err
	}
	report.Dense.Error = err.Error()
	return nil
}

// embed gives the passages of roots the vectors they lack. The report is never
// nil.
func (a *Assistant) embed(ctx context.Context, roots []string, swap bool) (*DenseReport, error) {
	report := &DenseReport{Model: a.config.Embedder.Model(), Vectors: "passage"}
	var calls, tokens atomic.Int64
	done, err := a.index.Embed(ctx, a.config.embedder(), roots, index.EmbedOptions{
		Batch: a.config.Dense.Batch, Workers: a.config.Dense.Workers, Switch: swap,
		Embed: func(ctx context.Context, texts []string) ([][]float32, error) {
			out, err := a.config.Embedder.Embed(ctx, texts, llm.Passage)
			if err != nil {
				calls.Add(1)
				return nil, refusal(err)
			}
			calls.Add(int64(max(1, out.Calls)))
			tokens.Add(out.Usage.Input)
			return out.Vectors, nil
		},
		Progress: func(done, total int) {
			if a.config.Progress != nil {
				a.config.Progress(Progress{Stage: StageEmbedding, Done: done, Total: total})
			}
		},
	})
	report.Calls, report.InputTokens = calls.Load(), tokens.Load()
	if done != nil {
		report.Dimension, report.Chunks, report.Embedded, report.Refused = done.Embedder.Dimension, done.Chunks, done.Embedded, done.Refused
	}
	missing, countErr := a.missing(ctx, roots, report.Chunks)
	report.Missing = missing
	if err == nil {
		err = countErr
	}
	return report, err
}

// missing counts the chunks of roots that the dense search cannot find.
func (a *Assistant) missing(ctx context.Context, roots []string, all int) (int, error) {
	s, err := a.index.Searcher(context.WithoutCancel(ctx), roots...)
	if err != nil {
		return all, err
	}
	v, err := s.Vectors(context.WithoutCancel(ctx), a.config.embedder())
	if errors.Is(err, ErrEmbedderChanged) {
		return s.Docs(), nil
	}
	if err != nil {
		return all, err
	}
	return v.Missing(), nil
}

// refusal marks errors that mean the texts and not the service. llama.cpp has no
// status of its own for a text that is too long.
func refusal(err error) error {
	e, ok := errors.AsType[*llm.Error](err)
	if ok && (errors.Is(e.Kind, llm.ErrRefused) || strings.Contains(e.Detail, "too large to process")) {
		return fmt.Errorf("%w: %w", index.ErrTextRefused, err)
	}
	return err
}
