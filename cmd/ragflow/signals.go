package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// drainTime is the time a step gets after SIGTERM: less than the ten seconds after which container
// runtimes kill.
const drainTime = 8 * time.Second

// errTerminated is the cause of a context that SIGTERM ended.
var errTerminated = errors.New("terminated")

// ending ends the program on a signal. Ctrl-C cancels all work at once. SIGTERM lets a run finish
// and save its step within drainTime; if no run is under way, it cancels too. A second signal
// kills.
type ending struct {
	drain  chan struct{} // closed when runs must end after their step
	runs   atomic.Int32  // under way
	cancel context.CancelCauseFunc
	once   sync.Once

	session atomic.Bool // a session takes Ctrl-C itself, and lives on
}

// watchSignals returns a context that a signal ends.
func watchSignals(parent context.Context) (context.Context, *ending) {
	ctx, cancel := context.WithCancelCause(parent)
	e := &ending{drain: make(chan struct{}), cancel: cancel}
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() { // ends with the program
		s := <-signals
		for s == os.Interrupt && e.session.Load() {
			s = <-signals
		}
		signal.Stop(signals)
		e.end(s)
	}()
	return ctx, e
}

func (e *ending) end(s os.Signal) {
	if s != syscall.SIGTERM {
		e.cancel(context.Canceled)
		return
	}
	e.once.Do(func() { close(e.drain) })
	if e.runs.Load() == 0 {
		e.cancel(errTerminated)
		return
	}
	time.AfterFunc(drainTime, func() { e.cancel(errTerminated) })
}

// running marks that a run is under way until the function it returns is called.
func (e *ending) running() (done func()) {
	e.runs.Add(1)
	return func() { e.runs.Add(-1) }
}

// sessionInterrupts makes Ctrl-C end the turn of a session instead of the program.
func (e *ending) sessionInterrupts() <-chan os.Signal {
	e.session.Store(true)
	interrupts := make(chan os.Signal, 1)
	signal.Notify(interrupts, os.Interrupt)
	return interrupts
}

// terminated reports whether the program was asked to end by SIGTERM.
func (e *ending) terminated() bool {
	select {
	case <-e.drain:
		return true
	default:
		return false
	}
}
