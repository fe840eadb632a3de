package graph

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
)

// Once runs fn from within a node and saves its result, so that fn does not run again when the
// node runs again after an [Ask], a retry, a crash or a resume. If the process dies before
// the result is saved, fn runs again. So fn gets an idempotency key that is the same each
// time, for services that support one. Errors are not saved.
//
// The key identifies the action within the task, or within one part of a [FanOut]. Callers
// with the same key wait for each other. The result always goes through JSON, also the
// first time. If T has no JSON encoding, fn does not run. Outside a run, Once only calls fn.
func Once[T any](ctx context.Context, key string, fn func(ctx context.Context, idempotencyKey string) (T, error)) (T, error) {
	var zero T
	b := taskContextOf(ctx)
	if b == nil {
		return fn(ctx, key)
	}
	if err := CheckName("key", key); err != nil {
		return zero, fmt.Errorf("once: %w", err)
	}
	if _, err := encode(zero); err != nil {
		if _, never := errors.AsType[*json.UnsupportedTypeError](err); never {
			return zero, fmt.Errorf("once %q: %w", key, err)
		}
	}
	if err := b.awaitReached(ctx); err != nil {
		return zero, err
	}
	p := place{b.address(), onceNode + key, 0}
	leave, err := b.of.busy.Turn(ctx, p)
	if err != nil {
		return zero, err
	}
	defer leave()
	d, ok := b.of.get(p)
	if !ok {
		if b.of.frozen {
			return zero, ErrSuperseded
		}
		v, err := fn(ctx, b.of.idempotencyKey(p))
		if err != nil {
			return zero, err
		}
		d = Delta{Path: p.path, Node: p.node}
		if d.Body, err = encode(v); err == nil {
			err = b.of.put(ctx, p, d)
		}
		if err != nil {
			return zero, fmt.Errorf("once %q: %w", key, err)
		}
	}
	var v T
	if err := json.Unmarshal(d.Body, &v); err != nil {
		return zero, fmt.Errorf("once %q: saved result: %w", key, err)
	}
	return v, nil
}

// idempotencyKey returns the same key for a place of a superstep at any time and in any process,
// and another one for every other thread, turn and step.
func (s *session) idempotencyKey(p place) string {
	from := s.from.of(p)
	sum := sha256.Sum256(fmt.Appendf(nil, "%q %q %d %d %q %q", s.thread, s.run, from.ID, from.Step+1, p.path, p.node))
	return hex.EncodeToString(sum[:16])
}
