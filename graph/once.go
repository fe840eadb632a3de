package graph

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// Once does something from within a node that must not be done again when the
// node is: after an [Ask], a retry, a crash, a resume. fn runs until its result
// was saved, which may be more than once, if the process dies in between; after
// that it never runs again for this task. So fn is given an idempotency key that
// is the same each time, for services that take one. An error is not remembered.
//
// The key names the deed within the task, or within one part of a [FanOut];
// callers with the same key wait for each other. What Once returns went through
// JSON, the first time too; where T can have no JSON, fn does not run at all.
// Outside a run, fn just runs.
func Once[T any](ctx context.Context, key string, fn func(ctx context.Context, idempotencyKey string) (T, error)) (T, error) {
	var zero T
	b := bookOf(ctx)
	if b == nil {
		return fn(ctx, key)
	}
	if _, err := encode(zero); err != nil {
		if _, never := errors.AsType[*json.UnsupportedTypeError](err); never {
			return zero, fmt.Errorf("once %q: %w", key, err)
		}
	}
	p := place{b.address(), onceNode + key, 0}
	done, err := b.of.alone(ctx, p)
	if err != nil {
		return zero, err
	}
	defer done()
	d, ok := b.of.get(p)
	if !ok {
		v, err := fn(ctx, b.of.idempotencyKey(p))
		if err != nil {
			return zero, err
		}
		if d, err = deed(p, v); err != nil {
			return zero, fmt.Errorf("once %q: %w", key, err)
		}
		if err := b.of.put(ctx, p, d); err != nil {
			return zero, fmt.Errorf("once %q: %w", key, err)
		}
	}
	var v T
	if err := json.Unmarshal(d.Body, &v); err != nil {
		return zero, fmt.Errorf("once %q: saved result: %w", key, err)
	}
	return v, nil
}

func deed(p place, v any) (Delta, error) {
	body, err := encode(v)
	return Delta{Path: p.path, Node: p.node, Body: body}, err
}

// alone waits until nobody else is at a place.
func (s *session) alone(ctx context.Context, p place) (done func(), err error) {
	mine := make(chan struct{})
	for {
		s.mu.Lock()
		other := s.busy[p]
		if other == nil {
			if s.busy == nil {
				s.busy = map[place]chan struct{}{}
			}
			s.busy[p] = mine
			s.mu.Unlock()
			return func() {
				s.mu.Lock()
				defer s.mu.Unlock()
				delete(s.busy, p)
				close(mine)
			}, nil
		}
		s.mu.Unlock()
		select {
		case <-other:
		case <-ctx.Done():
			return nil, context.Cause(ctx)
		}
	}
}

// idempotencyKey is the same for a place of a run whenever, and in whatever
// process, it is reached.
func (s *session) idempotencyKey(p place) string {
	sum := sha256.Sum256([]byte(s.run + "\x00" + strconv.Itoa(s.step) + "\x00" + p.path + "\x00" + p.node))
	return hex.EncodeToString(sum[:16])
}
