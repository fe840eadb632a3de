package ragflow

import (
	"cmp"
	"context"
	"errors"

	"example.com/ragflow/internal/parallel"
	"example.com/ragflow/search/index"
)

// batchRecords is how many records one transaction takes: they are small.
const batchRecords = 1000

// recordBatch is what one transaction takes.
type recordBatch struct {
	records []Record
	entries []index.Entry // without chunks yet
	size    int           // bytes of texts
}

func (b *recordBatch) add(r Record, e index.Entry) {
	if b.records == nil {
		b.records, b.entries = make([]Record, 0, batchRecords), make([]index.Entry, 0, batchRecords)
	}
	b.records, b.entries = append(b.records, r), append(b.entries, e)
	b.size += len(r.Text)
}

func (b *recordBatch) full() bool { return len(b.records) >= batchRecords || b.size >= batchBytes }

// feed puts batches of records into the index, one behind the other: one is made ready
// while the one before it is saved, and whoever gives them makes the next.
type feed struct {
	*syncer

	last *fed // nil: there is none
}

// fed is a batch that was given. err is written before saved is closed.
type fed struct {
	before *fed // nil: none, or it was saved
	ready  chan struct{}
	saved  chan struct{}
	err    error
}

// put gives a batch, which is the feed's from then on. It waits until the last one is
// ready and those before are saved, and returns the error that there was with these.
func (f *feed) put(ctx context.Context, b recordBatch) error {
	if len(b.records) == 0 {
		return nil
	}
	now := &fed{before: f.last, ready: make(chan struct{}), saved: make(chan struct{})}
	if last := f.last; last != nil {
		<-last.ready
		if err := last.before.wait(); err != nil {
			return err
		}
		last.before = nil
	}
	f.last = now
	go f.take(context.WithoutCancel(ctx), b, now) // a batch that is whole is kept
	return nil
}

// take makes a batch ready, and saves it once the one before is.
func (f *feed) take(ctx context.Context, b recordBatch, now *fed) {
	defer close(now.saved)
	before := now.before // put clears it later
	batch, err := f.prepare(ctx, b)
	close(now.ready)
	if now.err = cmp.Or(before.wait(), err); now.err == nil {
		now.err = batch.Save(ctx)
	}
}

// wait waits until a batch and those before it are saved, and returns what went wrong.
func (b *fed) wait() error {
	if b == nil {
		return nil
	}
	<-b.saved
	return b.err
}

// end waits until all is saved.
func (f *feed) end() error { return f.last.wait() }

// prepare cuts the records of a batch and makes them ready.
func (f *feed) prepare(ctx context.Context, b recordBatch) (*index.Batch, error) {
	errs := make([]error, len(b.records))
	parallel.Each(len(b.records), func(i int) { b.entries[i].Chunks, errs[i] = f.cut(ctx, b.records[i]) })
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return f.assistant.index.Prepare(ctx, f.root, b.entries)
}
