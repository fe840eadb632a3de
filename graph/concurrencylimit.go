package graph

import "context"

// Slots bound how much work runs side by side in a process: put into the
// [Options] of several runners, they are shared by all tasks of these, and by
// the workers of their [FanOut]s. A task that waits between two attempts holds
// none. They are safe for concurrent use; nil ones bound nothing.
type Slots struct{ taken chan struct{} }

// NewSlots returns n slots, at least one.
func NewSlots(n int) *Slots { return &Slots{make(chan struct{}, max(n, 1))} }

// take waits for a slot.
func (s *Slots) take(ctx context.Context) error {
	if s == nil {
		return nil
	}
	select {
	case s.taken <- struct{}{}:
		return nil
	default:
	}
	select {
	case s.taken <- struct{}{}:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (s *Slots) give() {
	if s != nil {
		<-s.taken
	}
}

func slotsOf(ctx context.Context) *Slots {
	if b := bookOf(ctx); b != nil {
		return b.of.o.Slots
	}
	return nil
}
