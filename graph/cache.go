package graph

import (
	"container/list"
	"sync"
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

	mu     sync.Mutex
	recent *list.List // of *cached, newest first
	byKey  map[string]*list.Element
}

type cached[U any] struct {
	key    string
	update U
	next   []string
	until  time.Time // zero: for ever
}

// Len returns how many updates are remembered.
func (c *Cache[S, U]) Len() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return len(c.byKey)
}

// Clear forgets everything.
func (c *Cache[S, U]) Clear() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.recent, c.byKey = nil, nil
}

func (c *Cache[S, U]) get(key string, now time.Time) (u U, next []string, ok bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	e := c.byKey[key]
	if e == nil {
		return u, nil, false
	}
	v := e.Value.(*cached[U])
	if !v.until.IsZero() && !now.Before(v.until) {
		c.drop(e)
		return u, nil, false
	}
	c.recent.MoveToFront(e)
	return v.update, v.next, true
}

func (c *Cache[S, U]) put(key string, u U, next []string, now time.Time) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.recent == nil {
		c.recent, c.byKey = list.New(), map[string]*list.Element{}
	}
	if e := c.byKey[key]; e != nil {
		c.drop(e)
	}
	v := &cached[U]{key: key, update: u, next: next}
	if c.TTL > 0 {
		v.until = now.Add(c.TTL)
	}
	c.byKey[key] = c.recent.PushFront(v)
	size := c.Size
	if size <= 0 {
		size = 1000
	}
	for c.recent.Len() > size {
		c.drop(c.recent.Back())
	}
}

func (c *Cache[S, U]) drop(e *list.Element) {
	delete(c.byKey, c.recent.Remove(e).(*cached[U]).key)
}
