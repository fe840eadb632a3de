package checkpoint

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"time"

	"example.com/ragflow/graph"
)

// busyError is the ErrBusy that says who and until when.
func busyError(owner string, until time.Time) error {
	if owner == "" {
		owner = "a writer without a name"
	}
	return fmt.Errorf("%w: held by %s until %s", graph.ErrBusy, owner, until.UTC().Format("2006-01-02 15:04:05.000 UTC"))
}

// micro is a time as the store keeps it.
func micro(t time.Time) time.Time { return time.UnixMicro(t.UnixMicro()).UTC() }

func ttlOrDefault(ttl time.Duration) time.Duration {
	if ttl <= 0 {
		return graph.DefaultTTL
	}
	return ttl
}

// untilFree calls try until it gives something else than ErrBusy or the wait
// is over. Between tries it pauses, longer each time, at random so that many
// who wait do not come all at once.
func untilFree(ctx context.Context, wait time.Duration, try func() (graph.Lease, error)) (graph.Lease, error) {
	end := time.Now().Add(wait)
	for pause := 4 * time.Millisecond; ; pause = min(2*pause, 100*time.Millisecond) {
		lease, err := try()
		if !errors.Is(err, graph.ErrBusy) {
			return lease, err
		}
		left := time.Until(end)
		if left <= 0 {
			return graph.Lease{}, err
		}
		timer := time.NewTimer(min(left, pause/2+rand.N(pause)))
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return graph.Lease{}, fmt.Errorf("%w (%w)", context.Cause(ctx), err)
		}
	}
}
