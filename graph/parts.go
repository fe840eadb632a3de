package graph

import (
	"context"
	"crypto/sha256"
	"fmt"
	"reflect"
	"slices"
	"time"
)

// partCodec says what JSON does to the results of parts: it cannot restore all of them, or may
// change them.
type partCodec struct{ lost, differs bool }

// fan is one call of a [FanOut].
type fan[T, U any] struct {
	codec   partCodec
	task    *taskContext // nil outside of a run
	at      fanPlace
	parts   []T
	results []U
	done    []bool
	before  *fan[T, U] // the same call of a failed attempt in this process; may be nil
}

// fanPlace identifies a call of a FanOut: the task, and the number of the call in its attempt.
type fanPlace struct {
	address string
	call    int
}

func newFan[T, U any](ctx context.Context, codec partCodec, parts []T) *fan[T, U] {
	f := &fan[T, U]{codec: codec, parts: parts, results: make([]U, len(parts)), done: make([]bool, len(parts))}
	b := taskContextOf(ctx)
	if b == nil || b.node == "" {
		return f
	}
	b.mu.Lock()
	b.fans++
	f.task, f.at = b, fanPlace{"", b.fans}
	b.mu.Unlock()
	f.at.address = b.address()
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	f.before, _ = b.of.fans[f.at].(*fan[T, U])
	return f
}

// keep makes the finished parts known to the next attempt.
func (f *fan[T, U]) keep() {
	if f.task == nil {
		return
	}
	s := f.task.of
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.fans == nil {
		s.fans = map[fanPlace]any{}
	}
	f.before = nil
	s.fans[f.at] = f
}

// part sets the result of a part that finished before, or runs the part and saves its result.
func (f *fan[T, U]) part(ctx context.Context, i int, work func(context.Context, int) (U, error), save func(func() error)) (err error) {
	if o := f.before; o != nil && i < len(o.done) && o.done[i] && reflect.DeepEqual(o.parts[i], f.parts[i]) {
		f.results[i], f.done[i] = o.results[i], true
		return nil
	}
	p, saved := f.place(ctx, i)
	if d, ok := f.restored(p, saved); ok {
		taskContextOf(ctx).write(func(n *Notes) { *n = d.Notes })
		f.results[i], err = decode[U](d.Body)
		f.done[i] = err == nil
		return err
	}
	u, err := guarded(ctx, i, work)
	if err != nil {
		return err
	}
	if saved {
		body, none := encode(u) // merge may drop what has no JSON
		if none == nil && (f.codec.differs || hasInvalidUTF8(body)) {
			u, err = decode[U](body) // merge must see what a resume returns
		}
		if none == nil {
			d := Delta{Path: p.path, Node: p.node, Rank: i, Body: body, Notes: taskContextOf(ctx).finished()}
			save(func() error { return f.task.of.put(ctx, p, d) })
		}
	}
	f.results[i], f.done[i] = u, err == nil
	return err
}

// place returns the place of a part in the ledger, if it is saved. It contains a hash of the
// part, so that the result of another part is never taken for it.
func (f *fan[T, U]) place(ctx context.Context, i int) (p place, saved bool) {
	if f.task == nil || f.task.of.save == nil || f.codec.lost {
		return p, false
	}
	body, err := encode(f.parts[i])
	if err != nil {
		return p, false
	}
	sum := sha256.Sum256(body)
	return place{taskContextOf(ctx).address(), fmt.Sprintf("%s%d:%x", partNode, f.at.call, sum[:8]), 0}, true
}

func (f *fan[T, U]) restored(p place, saved bool) (Delta, bool) {
	if !saved {
		return Delta{}, false
	}
	return f.task.of.get(p)
}

// finished returns the notes of a finished part so far, with the time in Start.
func (b *taskContext) finished() (n Notes) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.notes != nil {
		n = *b.notes
		n.Details, n.Calls = slices.Clone(n.Details), slices.Clone(n.Calls)
	}
	n.Start = b.of.o.Clock().UTC().Truncate(time.Microsecond)
	return n
}
