package batch_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	"example.com/ragflow/internal/batch"
)

func TestWriter(t *testing.T) {
	var written []string
	began, end, failed := make(chan struct{}), make(chan error), make(chan error)
	w := batch.Writer[int]{
		Delay: time.Millisecond,
		Write: func(group []int) error {
			written = append(written, fmt.Sprint(group))
			began <- struct{}{}
			return <-end
		},
		Fail: func(err error) { failed <- err },
	}
	noLuck := errors.New("no luck")
	w.Add(1)
	<-began // the delay is over
	w.Add(2)
	dropped := make(chan struct{})
	go func() {
		w.Drop()
		close(dropped)
	}()
	select {
	case <-dropped:
		t.Error("Drop did not wait for the group that was being written")
	case <-time.After(20 * time.Millisecond):
	}
	end <- noLuck
	if err := <-failed; !errors.Is(err, noLuck) {
		t.Errorf("failed with %v", err)
	}
	<-dropped
	w.Delay = time.Hour
	w.Add(3)
	w.Add(4)
	go func() {
		<-began
		end <- noLuck
	}()
	if err := w.Flush(); !errors.Is(err, noLuck) {
		t.Errorf("Flush: %v", err)
	}
	if err := w.Flush(); err != nil {
		t.Errorf("Flush of an empty group: %v", err)
	}
	if got := fmt.Sprint(written); got != "[[1] [3 4]]" {
		t.Errorf("written: %s", got)
	}
}
