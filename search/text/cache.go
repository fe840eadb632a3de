package text

import (
	"runtime"
	"strings"
	"sync"
)

// cache remembers what was made of words. It keeps two generations: a word that
// is asked for moves into the newer one; when that is full, the older one is
// forgotten. One goroutine at a time uses it.
type cache[V any] struct{ newer, older map[string]V }

// maxCache bounds a generation of a cache, in words.
const maxCache = 1 << 15

func (c *cache[V]) get(word string) (V, bool) {
	v, ok := c.newer[word]
	if ok {
		return v, true
	}
	if v, ok = c.older[word]; ok {
		c.put(word, v)
	}
	return v, ok
}

// put keeps a copy of word.
func (c *cache[V]) put(word string, v V) {
	if c.newer == nil || len(c.newer) >= maxCache {
		c.newer, c.older = map[string]V{}, c.newer
	}
	c.newer[strings.Clone(word)] = v
}

// caches are idle caches, one for each goroutine that may run at a time. A
// sync.Pool would forget them at each collection of garbage, and making a term
// takes a hundred times as long as finding it. What is in a cache never shows.
type caches[V any] struct {
	mu   sync.Mutex
	idle []*cache[V]
}

func (p *caches[V]) take() *cache[V] {
	p.mu.Lock()
	defer p.mu.Unlock()
	n := len(p.idle)
	if n == 0 {
		return &cache[V]{}
	}
	c := p.idle[n-1]
	p.idle[n-1], p.idle = nil, p.idle[:n-1]
	return c
}

func (p *caches[V]) give(c *cache[V]) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if len(p.idle) < runtime.GOMAXPROCS(0) {
		p.idle = append(p.idle, c)
	}
}
