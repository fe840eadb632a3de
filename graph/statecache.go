package graph

// A runner remembers the states of so many threads, and of so many bytes as
// their snapshots and deltas say.
const (
	warmThreads = 1024
	warmBytes   = 16 << 20
)

// warm remembers the threads that a runner wrote last, so that the next turn of
// a conversation in the same process reads nothing. The commit id makes it
// safe: a head that another process moved is another commit.
type warm[S any] struct {
	threads lru[warmState[S]]
}

type warmState[S any] struct {
	head  Commit // without deltas
	state S
	sizes sizes
}

func (w *warm[S]) get(thread string, at CommitID) (warmState[S], bool) {
	v, ok := w.threads.get(thread)
	return v, ok && v.head.ID == at
}

func (w *warm[S]) put(thread string, v warmState[S]) {
	v.head.Deltas = nil
	w.threads.put(thread, v, v.sizes.snapshot+v.sizes.tail+1, warmThreads, warmBytes)
}

// drop forgets a thread whose log was changed behind its head.
func (w *warm[S]) drop(thread string) {
	w.threads.drop(thread, func(warmState[S]) bool { return true })
}
