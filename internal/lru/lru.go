// Package lru caches values by key and drops the least recently used ones.
package lru

import (
	"container/list"
	"sync"
)

// Cache is a cache that drops the least recently used value. The zero Cache is empty. It is safe
// for concurrent use.
type Cache[K comparable, V any] struct {
	mu     sync.Mutex
	recent *list.List // of *kept, newest first
	byKey  map[K]*list.Element
	weight int // of all values
}

type kept[K comparable, V any] struct {
	key    K
	value  V
	weight int
}

// Get returns the value of a key and marks it as used.
func (l *Cache[K, V]) Get(key K) (v V, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.byKey[key]
	if e == nil {
		return v, false
	}
	l.recent.MoveToFront(e)
	return e.Value.(*kept[K, V]).value, true
}

// Make returns the value of a key; it calls make for a new one and keeps at most maxLen values. Concurrent
// callers may each call make.
func (l *Cache[K, V]) Make(key K, maxLen int, make func() V) V {
	v, ok := l.Get(key)
	if !ok {
		v = make()
		l.Put(key, v, 0, maxLen, 0)
	}
	return v
}

// Put adds a value. It then drops the least recently used values until there are at most
// maxLen values with a total weight of at most maxWeight.
func (l *Cache[K, V]) Put(key K, v V, weight, maxLen, maxWeight int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.recent == nil {
		l.recent, l.byKey = list.New(), map[K]*list.Element{}
	}
	l.remove(l.byKey[key])
	l.byKey[key] = l.recent.PushFront(&kept[K, V]{key, v, weight})
	l.weight += weight
	for l.recent.Len() > maxLen || l.weight > maxWeight {
		l.remove(l.recent.Back())
	}
}

// Drop removes the value of a key, if there is one.
func (l *Cache[K, V]) Drop(key K) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.remove(l.byKey[key])
}

func (l *Cache[K, V]) remove(e *list.Element) {
	if e != nil {
		k := l.recent.Remove(e).(*kept[K, V])
		delete(l.byKey, k.key)
		l.weight -= k.weight
	}
}

// Len returns the number of values.
func (l *Cache[K, V]) Len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.byKey)
}

// Clear removes all values.
func (l *Cache[K, V]) Clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.recent, l.byKey, l.weight = nil, nil, 0
}
