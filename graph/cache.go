package graph

import (
	"context"
	"math"
	"time"

	"example.com/ragflow/internal/lru"
)

// Cache keeps the updates of a node in memory, by a key of its input, for all threads and
// runs that share it. One cache belongs to one node of one or several plans. Updates are
// shared, so Apply must not change anything that an update refers to. A Cache is safe for
// concurrent use.
type Cache[S, U any] struct {
	Key  func(S) string // cache key of an input; "" means do not cache. It must be pure
	TTL  time.Duration  // lifetime of an entry; 0: unlimited
	Size int            // maximum number of entries; the least recently used is dropped; default 1,000

	// Store, if set, keeps the entries too, for other processes and later ones. An entry is the JSON of
	// the update and its targets. If the store fails, the task gets a warning and runs.
	Store CacheStore

	kept lru.Cache[cached[U]]
}

// CacheStore keeps the entries of a [Cache] outside of the process. Keys are unique per node, so prefix
// them in Cache.Key if nodes share a store. Implementations are safe for concurrent use.
type CacheStore interface {
	Get(ctx context.Context, key string) (entry []byte, found bool, err error)
	Put(ctx context.Context, key string, entry []byte, ttl time.Duration) error // ttl 0: unlimited
}

// cacheEntry is an entry of a CacheStore.
type cacheEntry[U any] struct {
	Update U        `json:"update"`
	Next   []string `json:"next,omitempty"`
}

type cached[U any] struct {
	update U
	next   []string
	until  time.Time // zero: unlimited
}

func (v cached[U]) over(now time.Time) bool { return !v.until.IsZero() && !now.Before(v.until) }

// Len returns the number of entries.
func (c *Cache[S, U]) Len() int { return c.kept.Len() }

// Clear removes all entries.
func (c *Cache[S, U]) Clear() { c.kept.Clear() }

// find returns the entry of a key from memory or the store.
func (c *Cache[S, U]) find(ctx context.Context, key string, now time.Time) (u U, next []string, ok bool) {
	if u, next, ok = c.get(key, now); ok || c.Store == nil {
		return u, next, ok
	}
	body, ok, err := c.Store.Get(ctx, key)
	if err != nil || !ok {
		warnIf(ctx, "cache: read: ", err)
		return u, nil, false
	}
	e, err := decode[cacheEntry[U]](body)
	warnIf(ctx, "cache: read: ", err)
	return e.Update, e.Next, err == nil
}

// add puts an entry into memory and the store.
func (c *Cache[S, U]) add(ctx context.Context, key string, u U, next []string, now time.Time) {
	c.put(key, u, next, now)
	if c.Store == nil {
		return
	}
	body, err := encode(cacheEntry[U]{u, next})
	if err == nil {
		err = c.Store.Put(ctx, key, body, c.TTL)
	}
	warnIf(ctx, "cache: write: ", err)
}

func warnIf(ctx context.Context, what string, err error) {
	if err != nil {
		Warn(ctx, what+err.Error())
	}
}

func (c *Cache[S, U]) get(key string, now time.Time) (u U, next []string, ok bool) {
	v, ok := c.kept.Get(key)
	if ok && v.over(now) {
		c.kept.Drop(key, func(v cached[U]) bool { return v.over(now) })
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
	c.kept.Put(key, v, 0, size, math.MaxInt)
}
