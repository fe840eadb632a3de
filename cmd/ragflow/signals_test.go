package main

import (
	"context"
	"errors"
	"os"
	"syscall"
	"testing"
)

func newEnding(t *testing.T) (context.Context, *ending) {
	t.Helper()
	ctx, cancel := context.WithCancelCause(t.Context())
	return ctx, &ending{drain: make(chan struct{}), cancel: cancel}
}

func TestInterruptionCancels(t *testing.T) {
	t.Parallel()
	ctx, e := newEnding(t)
	defer e.running()()
	e.end(os.Interrupt)
	if !errors.Is(context.Cause(ctx), context.Canceled) || e.terminated() {
		t.Errorf("cause %v, terminated %v", context.Cause(ctx), e.terminated())
	}
	if got, ok := errors.AsType[*failure](interrupted(context.Canceled, e.terminated())); !ok || got.code != exitInterrupted {
		t.Errorf("interrupted = %+v", got)
	}
}

func TestTerminationDrainsARun(t *testing.T) {
	t.Parallel()
	ctx, e := newEnding(t)
	done := e.running()
	e.end(syscall.SIGTERM)
	if ctx.Err() != nil || !e.terminated() {
		t.Errorf("a run under way was cancelled: %v", context.Cause(ctx))
	}
	done()
	if got, ok := errors.AsType[*failure](interrupted(&unfinishedError{context.Canceled, "ragflow ask --thread t --resume"}, e.terminated())); !ok || got.code != exitTerminated || got.hint == "" {
		t.Errorf("interrupted = %+v", got)
	}
}

func TestTerminationCancelsWhereNoRunIs(t *testing.T) {
	t.Parallel()
	ctx, e := newEnding(t)
	e.running()()
	e.end(syscall.SIGTERM)
	if !errors.Is(context.Cause(ctx), errTerminated) {
		t.Errorf("cause %v, want errTerminated", context.Cause(ctx))
	}
}
