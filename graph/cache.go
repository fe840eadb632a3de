package graph

import (
	"math"
	"time"
)

// Cache remembers what a node returned, by a key of its input, for all threads
// and runs that share it. One cache belongs to one node; it may serve several
// plans of the same graph. What is in it is shared: Apply must not write to what
// an update reaches. It lives as long as the process. Safe for concurrent use.
type Cache[S, U any] struct {
	Key  func(S) string // says which inputs are the same; "": do not remember. It must be pure
	TTL  time.Duration  // how long an update may be used; 0: for ever
	Size int            // updates kept, the least recently used goes; default 1,000

	kept lru[cached[U]]
}

type cached[U any] struct {
	update U
	next   []string
	until  time.Time // zero: for ever
}

func (v cached[U]) over(now time.Time) bool { return !v.until.IsZero() && !now.Before(v.until) }

// Len returns how many updates are remembered.
func (c *Cache[S, U]) Len() int { return c.kept.len() }

// Clear forgets everything.
func (c *Cache[S, U]) Clear() { c.kept.clear() }

func (c *Cache[S, U]) get(key string, now time.Time) (u U, next []string, ok bool) {
	v, ok := c.kept.get(key)
	if ok && v.over(now) {
		c.kept.drop(key, func(v cached[U]) bool { return v.over(now) })
		return u, nil, false
	}
	return v.update, v.next, ok
}

func (c *Cache[S, U]) put(key string, u U, next []string, now time.Time) {
	v := cached[U]{update: u, next: next}
	if c.TTL > 0 {
		v.until = now.Add(c.TTL)
	}
	size := c.Size
	if size <= 0 {
		size = 1000
	}
	c.kept.put(key, v, 0, size, math.MaxInt)
}
