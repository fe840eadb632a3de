package graph

import "context"

// Slots limit the number of concurrent tasks in a process. All runners with the same Slots
// in their [Options] share them, including the workers of their [FanOut]s. A task that
// waits between two attempts, for a subgraph or for the workers of a FanOut has no slot.
// Slots are safe for concurrent use; nil means no limit.
type Slots struct{ used chan struct{} }

// NewSlots returns n slots, at least one.
func NewSlots(n int) *Slots { return &Slots{make(chan struct{}, max(n, 1))} }

// acquire waits for a slot.
func (s *Slots) acquire(ctx context.Context) error {
	if s == nil {
		return nil
	}
	select {
	case s.used <- struct{}{}:
		return nil
	default:
	}
	select {
	case s.used <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// twoFree reports whether two tasks could begin.
func (s *Slots) twoFree() bool { return s == nil || len(s.used)+1 < cap(s.used) }

func (s *Slots) release() {
	if s != nil {
		<-s.used
	}
}

// without gives the slot of a task back while f runs a subgraph or the workers of a [FanOut], which
// need slots too. So a task that waits for a slot holds none.
func (s *Slots) without(ctx context.Context, b *taskContext, f func(context.Context) error) error {
	if s == nil {
		return f(ctx)
	}
	count := func(change, limit int) bool {
		b.mu.Lock()
		defer b.mu.Unlock()
		b.inside += change
		return b.inside == limit
	}
	if count(1, 1) {
		s.release()
	}
	defer func() {
		if count(-1, 0) && s.acquire(ctx) != nil {
			go func() { s.used <- struct{}{} }() // ends when the task releases its slot, which need not wait
		}
	}()
	return f(ctx)
}

func slotsOf(ctx context.Context) *Slots {
	if b := taskContextOf(ctx); b != nil {
		return b.of.o.Slots
	}
	return nil
}
