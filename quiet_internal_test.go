package ragflow

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// Vectors wait until nothing was asked for the quiet time.
func TestQuiet(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q quiet
		begun := time.Now()
		passed := func() time.Duration {
			if err := q.wait(t.Context()); err != nil {
				t.Error(err)
			}
			return time.Since(begun)
		}
		if d := passed(); d != 0 {
			t.Errorf("nothing was asked yet: waited %v", d)
		}
		end, other := q.ask(), q.ask()
		end()
		time.AfterFunc(5*time.Second/2, other)
		if d := passed(); d != 5*time.Second/2+quietTime {
			t.Errorf("waited %v", d)
		}
		q.ask()
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		if err := q.wait(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("a question that does not end: %v", err)
		}
	})
}
