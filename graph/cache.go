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

	kept lru.Cache[string, cacheEntry[U]]
}

// CacheStore keeps the entries of a [Cache] outside of the process. Keys are unique per node, so prefix
// them in Cache.Key if nodes share a store. Implementations are safe for concurrent use.
type CacheStore interface {
	Get(ctx context.Context, key string) (entry []byte, found bool, err error)
	Put(ctx context.Context, key string, entry []byte, ttl time.Duration) error // ttl 0: unlimited
}

// cacheEntry is an entry of a Cache and, as JSON, of a CacheStore.
type cacheEntry[U any] struct {
	Update U         `json:"update"`
	Next   []string  `json:"next,omitempty"`
	until  time.Time // zero: unlimited
}

// Len returns the number of entries in memory.
func (c *Cache[S, U]) Len() int { return c.kept.Len() }

// Clear removes the entries in memory.
func (c *Cache[S, U]) Clear() { c.kept.Clear() }

// find returns the entry of a key from memory or the store.
func (c *Cache[S, U]) find(ctx context.Context, key string, now time.Time) (e cacheEntry[U], ok bool) {
	if e, ok = c.kept.Get(key); ok && (e.until.IsZero() || now.Before(e.until)) {
		return e, true
	}
	if c.Store == nil {
		return e, false
	}
	body, ok, err := c.Store.Get(ctx, key)
	if err == nil && ok {
		e, err = decode[cacheEntry[U]](body)
	}
	warnIf(ctx, "cache: read: ", err)
	return e, ok && err == nil
}

// add puts an entry into memory and the store.
func (c *Cache[S, U]) add(ctx context.Context, key string, e cacheEntry[U], now time.Time) {
	if c.TTL > 0 {
		e.until = now.Add(c.TTL)
	}
	size := c.Size
	if size <= 0 {
		size = 1000
	}
	c.kept.Put(key, e, 0, size, math.MaxInt)
	if c.Store == nil {
		return
	}
	body, err := encode(e)
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
