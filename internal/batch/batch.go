// Package batch collects values for a moment and writes them together.
package batch

import (
	"sync"
	"time"
)

// Writer collects values from several goroutines. The first value of a group starts the delay, after which the group is
// written. It must not be copied after the first Add.
type Writer[T any] struct {
	Delay time.Duration
	Write func(group []T) error // called for one group at a time
	Fail  func(error)           // gets the error of a write after the delay

	mu      sync.Mutex
	group   []T
	timer   *time.Timer // writes the group; nil if that is empty
	writing sync.Mutex  // held while a group is written
}

// Add puts a value into the next group.
func (w *Writer[T]) Add(v T) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.group = append(w.group, v)
	if w.timer == nil {
		w.timer = time.AfterFunc(w.Delay, func() {
			if err := w.Flush(); err != nil {
				w.Fail(err)
			}
		})
	}
}

// take empties the group.
func (w *Writer[T]) take() []T {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.timer != nil {
		w.timer.Stop()
	}
	group := w.group
	w.group, w.timer = nil, nil
	return group
}

// Flush writes the group now, after one that is being written.
func (w *Writer[T]) Flush() error {
	w.writing.Lock()
	defer w.writing.Unlock()
	if group := w.take(); len(group) > 0 {
		return w.Write(group)
	}
	return nil
}

// Drop forgets the group, and waits for one that is being written.
func (w *Writer[T]) Drop() {
	w.take()
	w.writing.Lock()
	defer w.writing.Unlock()
}
