package graph

import "context"

// Slots limit the number of concurrent tasks in a process. All runners with the same Slots
// in their [Options] share them, including the workers of their [FanOut]s. A task that
// waits between two attempts has no slot. Slots are safe for concurrent use; nil means no
// limit.
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

func (s *Slots) release() {
	if s != nil {
		<-s.used
	}
}

func slotsOf(ctx context.Context) *Slots {
	if b := taskContextOf(ctx); b != nil {
		return b.of.o.Slots
	}
	return nil
}
