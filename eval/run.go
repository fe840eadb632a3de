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
	"example.com/ragflow/ingest/load"
)

// Asker answers questions; [*ragflow.Assistant] is one. It must be safe for
// concurrent use.
type Asker interface {
	Ask(ctx context.Context, q ragflow.Question) (*ragflow.Reply, error)
}

// Options say how a run goes. The zero value asks everything, without a judge.
type Options struct {
	Workers int    // items asked side by side; 0: one for each processor
	Judge   *Judge // grades answers with a model; nil: no model is called but those of the asker
	Model   string // that answers, to be kept with the result

	// Delete removes the threads that the run made; nil keeps them.
	Delete func(ctx context.Context, threads ...string) error

	Progress func(done, total int) // told of the questions done, by one goroutine at a time
	Clock    func() time.Time      // default time.Now
}

// Run asks every question of a dataset and measures the answers. The questions
// of a dialogue are asked in order on one thread, items side by side. The
// outcomes are in the order of the dataset and do not depend on the number of
// workers, latencies apart.
//
// A question that fails is an outcome with an error, and the run goes on. The
// end of ctx, and what makes all further asking pointless, end it: then the
// result holds what was finished, and the error is not nil.
func Run(ctx context.Context, a Asker, d Dataset, o Options) (*Result, error) {
	o = o.withDefaults()
	result := newResult(d, o)
	if o.Judge != nil && o.Judge.Chat == nil {
		return result, errNoChat
	}
	return result, result.ask(ctx, d.Items, &questioner{asker: a, options: o})
}

// ask has items asked side by side and puts the outcomes into the result.
func (r *Result) ask(ctx context.Context, items []Item, q *questioner) error {
	o := q.options
	if len(items) == 0 {
		return ErrEmptyDataset
	}
	var mu sync.Mutex
	outcomes, total, questions := make([][]Outcome, len(items)), Dataset{Items: items}.Questions(), 0
	group, asking := errgroup.WithContext(ctx)
	group.SetLimit(o.Workers)
	for i := range items {
		group.Go(func() error {
			if asking.Err() != nil {
				return context.Cause(asking)
			}
			done, err := q.item(asking, items[i])
			if err != nil {
				return err
			}
			mu.Lock()
			defer mu.Unlock()
			outcomes[i] = done
			questions += len(done)
			if o.Progress != nil {
				o.Progress(questions, total)
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
	r.Summarise()
	return err
}

func (o Options) withDefaults() Options {
	if o.Workers < 1 {
		o.Workers = runtime.GOMAXPROCS(0)
	}
	if o.Clock == nil {
		o.Clock = time.Now
	}
	return o
}

// questioner asks questions and measures what is answered.
type questioner struct {
	asker   Asker
	options Options
}

// item asks a question, or the turns of a dialogue.
func (r *questioner) item(ctx context.Context, item Item) (done []Outcome, err error) {
	thread := ""
	defer func() {
		if r.options.Delete != nil && thread != "" {
			dropErr := r.options.Delete(context.WithoutCancel(ctx), thread)
			if err == nil && dropErr != nil && !errors.Is(dropErr, ragflow.ErrNotFound) {
				err = fmt.Errorf("drop the thread of %s: %w", item.ID, dropErr)
			}
		}
	}()
	for _, o := range questionsOf(item) {
		if err := r.ask(ctx, &o, &thread); err != nil {
			return nil, err
		}
		done = append(done, o)
	}
	return done, nil
}

// questionsOf returns the outcomes of an item with nothing but the questions.
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

// ask has one question answered, measured and judged. An error ends the run.
func (r *questioner) ask(ctx context.Context, o *Outcome, thread *string) error {
	begun := r.options.Clock()
	reply, err := r.asker.Ask(ctx, ragflow.Question{Text: o.Question, Thread: *thread})
	o.LatencyMS = float64(r.options.Clock().Sub(begun).Microseconds()) / 1000
	o.Exact = []bool{}
	switch {
	case err == nil:
		*thread, o.Reply = reply.ThreadID, *reply
		var files ingest.CitedFiles
		for _, c := range reply.Citations {
			o.Exact = append(o.Exact, !files.ChangedAt(ctx, c.Path, c.Citation))
		}
	case ctx.Err() != nil:
		return ctx.Err()
	case pointless(err):
		return fmt.Errorf("%s: %w", o.ID, err)
	default:
		o.Error = err.Error()
	}
	o.measure()
	if r.options.Judge != nil {
		return o.judge(ctx, r.options.Judge)
	}
	return nil
}

// pointless reports whether no further question can be answered either.
func pointless(err error) bool {
	for _, fact := range []error{
		ingest.ErrNoDocuments, ragflow.ErrDamaged, ragflow.ErrDiskFull, ragflow.ErrDisk, ragflow.ErrReadOnly, ragflow.ErrLocked, ragflow.ErrDrained,
		load.ErrNoPath, context.Canceled,
	} {
		if errors.Is(err, fact) {
			return true
		}
	}
	return false
}
