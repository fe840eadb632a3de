package eval

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"example.com/ragflow"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/folder"
)

// Asker answers questions; [*ragflow.Assistant] is one. It must be safe for
// concurrent use.
type Asker interface {
	Ask(ctx context.Context, q ragflow.Question) (*ragflow.Reply, error)
}

// Options configure a run. The zero value asks everything, without a judge.
type Options struct {
	Workers int    // items asked concurrently; 0: one for each processor
	Judge   *Judge // grades answers with a model; nil: none
	Model   string // name of the answering model, stored with the result

	Progress func(done, total int) // called with the number of questions done, by one goroutine at a time; may be nil
	Clock    func() time.Time      // default time.Now
}

// Run asks every question of a dataset and measures the answers. The questions of a dialogue are asked in
// order on one thread, items concurrently. The outcomes are in the order of the dataset and do not depend on
// the number of workers, except for latencies.
//
// A failed question is an outcome with an error, and the run continues. The end of ctx, or an error that all
// further questions would have, ends it: the result then has the outcomes so far, and the error is not nil.
func Run(ctx context.Context, a Asker, d Dataset, o Options) (*Result, error) {
	if o.Workers < 1 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	r := &Result{
		Format: resultFormat, Started: o.Clock().UTC().Truncate(time.Second), Model: o.Model, Outcomes: []Outcome{},
		Dataset: DatasetInfo{Name: d.Name, Items: len(d.Items), Questions: d.Questions()},
	}
	switch {
	case o.Judge != nil && o.Judge.Chat == nil:
		return r, errNoChat
	case len(d.Items) == 0:
		return r, ErrEmptyDataset
	case o.Judge != nil:
		r.JudgeModel = o.Judge.Chat.Model()
	}
	var mu sync.Mutex
	outcomes, questions := make([][]Outcome, len(d.Items)), 0
	group, asking := errgroup.WithContext(ctx)
	group.SetLimit(o.Workers)
	for i, item := range d.Items {
		group.Go(func() error {
			done, thread := questionsOf(item), ""
			for n := range done {
				if asking.Err() != nil {
					return context.Cause(asking)
				}
				if err := o.ask(asking, a, &done[n], &thread); err != nil {
					return err
				}
			}
			mu.Lock()
			defer mu.Unlock()
			outcomes[i] = done
			questions += len(done)
			if o.Progress != nil {
				o.Progress(questions, r.Dataset.Questions)
			}
			return nil
		})
	}
	err := group.Wait()
	if ctx.Err() != nil {
		err = ctx.Err()
	}
	r.Outcomes = append(r.Outcomes, slices.Concat(outcomes...)...)
	r.Complete = err == nil
	r.setSummary()
	return r, err
}

// questionsOf returns the outcomes of an item before its questions are asked.
func questionsOf(item Item) []Outcome {
	if len(item.Turns) == 0 {
		return []Outcome{{
			ID: item.ID, Item: item.ID, Lang: item.Lang, Kind: item.Kind, Question: item.Question, Expected: item.Expected,
		}}
	}
	var out []Outcome
	for _, t := range item.Turns {
		out = append(out, Outcome{
			ID: fmt.Sprintf("%s.%d", item.ID, t.Turn), Item: item.ID, Turn: t.Turn, Lang: item.Lang,
			Kind: cmp.Or(t.Kind, item.Kind), Question: t.Question, Expected: t.Expected,
		})
	}
	return out
}

// ask asks, measures and judges one question. An error ends the run.
func (o Options) ask(ctx context.Context, a Asker, q *Outcome, thread *string) error {
	begun := o.Clock()
	reply, err := a.Ask(ctx, ragflow.Question{Text: q.Question, Thread: *thread})
	q.LatencyMS = float64(o.Clock().Sub(begun).Microseconds()) / 1000
	q.Exact = []bool{}
	switch {
	case err == nil:
		*thread, q.Reply = reply.ThreadID, *reply
		var files ingest.CitedFiles
		for _, c := range reply.Citations {
			q.Exact = append(q.Exact, !files.ChangedAt(ctx, c.Path, c.Citation))
		}
	case ctx.Err() != nil:
		return ctx.Err()
	case pointless(err):
		return fmt.Errorf("%s: %w", q.ID, err)
	default:
		q.Error = err.Error()
	}
	q.measure()
	if o.Judge != nil {
		return q.judge(ctx, o.Judge)
	}
	return nil
}

// pointless reports whether all further questions would fail in the same way.
func pointless(err error) bool {
	return slices.ContainsFunc([]error{
		ingest.ErrNoDocuments, ragflow.ErrDamaged, ragflow.ErrDiskFull, ragflow.ErrDisk, ragflow.ErrReadOnly, ragflow.ErrLocked, ragflow.ErrDrained,
		folder.ErrNoPath, context.Canceled,
	}, func(fact error) bool { return errors.Is(err, fact) })
}
