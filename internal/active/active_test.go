package active_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"example.com/ragflow/internal/active"
)

var errLost = errors.New("lost")

func TestTheNewestLeaseOwnsTheThread(t *testing.T) {
	t.Parallel()
	var runs active.Runs
	old, stopOld := context.WithCancelCause(t.Context())
	late, stopLate := context.WithCancelCause(t.Context())
	newest, stop := context.WithCancelCause(t.Context())
	_, _ = runs.Enter("t", 2, stopOld, errLost)
	me, leave := runs.Enter("t", 3, stop, errLost)
	_, leaveLate := runs.Enter("t", 1, stopLate, errLost)
	leaveLate("failed")
	if context.Cause(old) != errLost || context.Cause(late) != errLost || newest.Err() != nil { //nolint:errorlint // the same values
		t.Errorf("causes %v, %v, %v", context.Cause(old), context.Cause(late), context.Cause(newest))
	}
	runs.Name(me, "r")
	if runs.Find("t", "") != me || runs.Find("t", "r") != me || runs.Find("t", "other") != nil || runs.Find("other", "") != nil {
		t.Error("another run was found")
	}
	ended, end := context.WithCancel(t.Context())
	end()
	if _, err := me.Cancel(ended, errLost); !errors.Is(err, context.Canceled) {
		t.Errorf("no end was waited for: %v", err)
	}
	leave("completed")
	if status, err := me.Cancel(t.Context(), errLost); status != "completed" || err != nil || runs.Find("t", "") != nil {
		t.Errorf("ended as %q, %v", status, err)
	}
}

func TestTurnsAreInOrderOfArrival(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var runs active.Runs
		first, err := runs.Turn(t.Context(), "t")
		if err != nil {
			t.Fatal(err)
		}
		order := make(chan int, 3)
		for i := range 3 {
			go func() {
				leave, err := runs.Turn(t.Context(), "t")
				if err == nil {
					order <- i
					leave()
				}
			}()
			synctest.Wait()
		}
		gone, cancel := context.WithCancelCause(t.Context())
		cancel(errLost)
		if _, err := runs.Turn(gone, "t"); !errors.Is(err, errLost) {
			t.Errorf("a context that ended: %v", err)
		}
		first()
		for want := range 3 {
			if got := <-order; got != want {
				t.Errorf("turn %d went to %d", want, got)
			}
		}
	})
}
