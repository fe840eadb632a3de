package graph

import (
	"container/list"
	"sync"
)

// lru keeps what was used last, within bounds. The zero lru is empty. Safe for
// concurrent use.
type lru[V any] struct {
	mu     sync.Mutex
	recent *list.List // of *kept, newest first
	byKey  map[string]*list.Element
	weight int // of all
}

type kept[V any] struct {
	key    string
	value  V
	weight int
}

func (l *lru[V]) get(key string) (v V, ok bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.byKey[key]
	if e == nil {
		return v, false
	}
	l.recent.MoveToFront(e)
	return e.Value.(*kept[V]).value, true
}

// put keeps a value. What was used longest ago goes, as long as there are more
// than most values or more than heaviest weight.
func (l *lru[V]) put(key string, v V, weight, most, heaviest int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.recent == nil {
		l.recent, l.byKey = list.New(), map[string]*list.Element{}
	}
	l.remove(l.byKey[key])
	l.byKey[key] = l.recent.PushFront(&kept[V]{key, v, weight})
	l.weight += weight
	for l.recent.Len() > most || l.weight > heaviest {
		l.remove(l.recent.Back())
	}
}

// drop forgets the value of a key, where it still is the one meant.
func (l *lru[V]) drop(key string, meant func(V) bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.byKey[key]; e != nil && meant(e.Value.(*kept[V]).value) {
		l.remove(e)
	}
}

func (l *lru[V]) remove(e *list.Element) {
	if e != nil {
		k := l.recent.Remove(e).(*kept[V])
		delete(l.byKey, k.key)
		l.weight -= k.weight
	}
}

func (l *lru[V]) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.byKey)
}

func (l *lru[V]) clear() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.recent, l.byKey, l.weight = nil, nil, 0
}
