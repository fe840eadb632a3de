// Package feed has a list that grows while it is read.
package feed

import (
	"context"
	"iter"
	"slices"
	"sync"
)

// Feed is a list that grows until it is closed. Any number of readers follow it, each at its own place, and none of
// them delays the one who adds. The zero Feed is empty. It is safe for concurrent use.
type Feed[E any] struct {
	mu     sync.Mutex
	list   []entry[E] // by number; readers hold parts of it, so nothing in it changes
	added  int
	closed bool
	err    error
	more   chan struct{} // closed when something changes; nil if nobody waits
}

type entry[E any] struct {
	number int // how many were added before
	value  E
}

// tell wakes the readers. The caller holds f.mu.
func (f *Feed[E]) tell() {
	if f.more != nil {
		close(f.more)
		f.more = nil
	}
}

// Add appends a value.
func (f *Feed[E]) Add(value E) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = append(f.list, entry[E]{f.added, value})
	f.added++
	f.tell()
}

// Close ends the list. Readers get the error, unless it is nil, after the last value.
func (f *Feed[E]) Close(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.closed, f.err = true, err
	f.tell()
}

// Drop forgets values. Readers that have not got them never will.
func (f *Feed[E]) Drop(drop func(E) bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.list = slices.DeleteFunc(slices.Clone(f.list), func(e entry[E]) bool { return drop(e.value) })
}

// All returns the values so far.
func (f *Feed[E]) All() (out []E) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, e := range f.list {
		out = append(out, e.value)
	}
	return out
}

// Last returns the last value; the zero one if there is none.
func (f *Feed[E]) Last() (last E) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if n := len(f.list); n > 0 {
		last = f.list[n-1].value
	}
	return last
}

// Read yields the values, without the first ones that were added, until the list is closed or ctx ends. Then its cause
// is the last error.
func (f *Feed[E]) Read(ctx context.Context, without int) iter.Seq2[E, error] {
	return func(yield func(E, error) bool) {
		var none E
		for next := without; ; {
			entries, more, err := f.after(next)
			for _, e := range entries {
				if next = e.number + 1; !yield(e.value, nil) {
					return
				}
			}
			switch {
			case len(entries) > 0:
				continue
			case more == nil:
				if err != nil {
					yield(none, err)
				}
				return
			}
			select {
			case <-more:
			case <-ctx.Done():
				yield(none, context.Cause(ctx))
				return
			}
		}
	}
}

// after returns the entries from a number on. Without any, more is closed when something changes; it is nil if nothing
// will, and err is that of Close.
func (f *Feed[E]) after(number int) (entries []entry[E], more <-chan struct{}, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	i, _ := slices.BinarySearchFunc(f.list, number, func(e entry[E], n int) int { return e.number - n })
	switch {
	case i < len(f.list):
		return f.list[i:], nil, nil
	case f.closed:
		return nil, nil, f.err
	case f.more == nil:
		f.more = make(chan struct{})
	}
	return nil, f.more, nil
}
