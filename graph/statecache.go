package graph

import (
	"example.com/ragflow/internal/lru"
	"example.com/ragflow/internal/snapshots"
)

// Limits of the state cache: threads, and bytes of their snapshots and deltas.
const (
	cachedThreads = 1024
	cachedBytes   = 16 << 20
)

// stateCache caches the states of the threads that a runner wrote last, so that the next turn
// in the same process reads nothing. An entry is valid only for its commit ID, so a change by
// another process invalidates it.
type stateCache[S any] struct {
	threads lru.Cache[string, cachedState[S]]
}

type cachedState[S any] struct {
	head  Commit // without deltas
	state S
	sizes snapshots.Sizes
}

func (w *stateCache[S]) get(thread string, at CommitID) (cachedState[S], bool) {
	v, ok := w.threads.Get(thread)
	return v, ok && v.head.ID == at
}

func (w *stateCache[S]) put(thread string, v cachedState[S]) {
	v.head.Deltas = nil
	w.threads.Put(thread, v, v.sizes.Read()+1, cachedThreads, cachedBytes)
}
