package graph

import (
	"container/list"
	"sync"
)

// warmThreads is how many threads a runner remembers the state of.
const warmThreads = 64

// warm remembers the states of the threads that a runner wrote last, so that
// the next turn of a conversation in the same process reads only the head. The
// commit id makes it safe: a head that another process moved is another commit.
type warm[S any] struct {
	mu      sync.Mutex
	recent  *list.List // of *warmState, newest first
	threads map[string]*list.Element
}

type warmState[S any] struct {
	thread string
	at     CommitID
	state  S
	sizes  sizes
}

func newWarm[S any]() *warm[S] {
	return &warm[S]{recent: list.New(), threads: map[string]*list.Element{}}
}

func (w *warm[S]) get(thread string, at CommitID) (s S, z sizes, ok bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	e := w.threads[thread]
	if e == nil || e.Value.(*warmState[S]).at != at {
		return s, z, false
	}
	w.recent.MoveToFront(e)
	v := e.Value.(*warmState[S])
	return v.state, v.sizes, true
}

func (w *warm[S]) put(thread string, at CommitID, s S, z sizes) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e := w.threads[thread]; e != nil {
		w.recent.Remove(e)
	}
	w.threads[thread] = w.recent.PushFront(&warmState[S]{thread, at, s, z})
	if w.recent.Len() > warmThreads {
		oldest := w.recent.Remove(w.recent.Back()).(*warmState[S])
		delete(w.threads, oldest.thread)
	}
}
