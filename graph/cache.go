package graph

import (
	"math"
	"time"
)

// Cache keeps the updates of a node in memory, by a key of its input, for all threads and
// runs that share it. One cache belongs to one node of one or several plans. Updates are
// shared, so Apply must not change anything that an update refers to. A Cache is safe for
// concurrent use.
type Cache[S, U any] struct {
	Key  func(S) string // cache key of an input; "" means do not cache. It must be pure
	TTL  time.Duration  // lifetime of an entry; 0: unlimited
	Size int            // maximum number of entries; the least recently used is dropped; default 1,000

	kept lru[cached[U]]
}

type cached[U any] struct {
	update U
	next   []string
	until  time.Time // zero: unlimited
}

func (v cached[U]) over(now time.Time) bool { return !v.until.IsZero() && !now.Before(v.until) }

// Len returns the number of entries.
func (c *Cache[S, U]) Len() int { return c.kept.len() }

// Clear removes all entries.
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
