// Package memo remembers what was made of a key, within bounds.
package memo

import "sync"

// Cache remembers the values of the keys asked for last. It is safe for
// concurrent use. Values are shared: nobody writes to them.
//
// It keeps two generations. A key that is asked for moves into the newer one;
// when that is full, the older one is forgotten.
type Cache[K comparable, V any] struct {
	most         int
	mu           sync.Mutex
	newer, older map[K]V
}

// New returns a cache of at least most keys, and at most twice as many.
func New[K comparable, V any](most int) *Cache[K, V] {
	return &Cache[K, V]{most: max(1, most), newer: map[K]V{}}
}

// Get returns the value of key, which is made by make where it is not known.
// Two callers may both make a value that neither found; both get the same one.
func (c *Cache[K, V]) Get(key K, make func() V) V {
	if v, ok := c.Find(key); ok {
		return v
	}
	made := make()
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.newer[key]; ok {
		return v
	}
	c.put(key, made)
	return made
}

// Find returns the value of key, where it is known.
func (c *Cache[K, V]) Find(key K) (V, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if v, ok := c.newer[key]; ok {
		return v, true
	}
	v, ok := c.older[key]
	if ok {
		c.put(key, v)
	}
	return v, ok
}

func (c *Cache[K, V]) put(key K, v V) {
	if len(c.newer) >= c.most {
		c.newer, c.older = map[K]V{}, c.newer
	}
	c.newer[key] = v
}
