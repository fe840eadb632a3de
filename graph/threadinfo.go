package graph

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"
)

// ThreadInfo is what a store knows of a thread without reading its log.
type ThreadInfo struct {
	Thread string
	Owner  string // see [OwnedBy]; empty: nobody
	ThreadFacts
	Created time.Time // time of the first Acquire, in UTC
	Touched time.Time // time of its newest commit, in UTC
	First   CommitID  // its oldest commit
	Head    CommitID
	Status  Status // status of its last run
	Inputs  int    // turns of the conversation: inputs that were not undone
	Bytes   int64  // size of the bodies of its deltas
}

// ThreadFacts are facts of a thread that [Lister].Describe can change.
type ThreadFacts struct {
	// Title is that of the first update that has one, until another is set; at most 1 KiB, longer ones are cut.
	Title string `json:"title,omitempty"`
	// Metadata is that of all requests and edits; of a key the newest value; nil without any; at most 16 KiB of JSON.
	Metadata map[string]string `json:"metadata,omitempty"`
}

// Lister is a [Store] that lists its threads, like the stores of packages checkpoint, checkpoint/postgres
// and memstore.
type Lister interface {
	// Threads returns a page of the threads that have a commit.
	Threads(ctx context.Context, q ThreadQuery) (ThreadPage, error)
	// Info returns the entry of one thread; [ErrNotFound] if it has no commit.
	Info(ctx context.Context, thread string) (ThreadInfo, error)
	// Describe sets the title of a thread, unless it is empty, and adds to its metadata, at once and
	// without a lease. Errors: [ErrNotFound] if it has no commit, [*EntryError] for too much metadata.
	Describe(ctx context.Context, thread string, f ThreadFacts) error
}

// ErrNoList means that the store of [Runner.Threads] is no [Lister].
var ErrNoList = errors.New("the store cannot list threads")

// ThreadOrder is the order of a list of threads, the newest first.
type ThreadOrder string

// The orders of threads.
const (
	ByActivity ThreadOrder = ""        // by the newest commit that began, ended or edited a run
	ByCreation ThreadOrder = "created" // as the store got them
)

// The number of threads on a page.
const (
	DefaultPage = 50
	MaxPage     = 1000
)

// ThreadQuery selects threads. They must meet all conditions.
type ThreadQuery struct {
	Owner    string            // empty: any that the context allows
	Status   Status            // of the last run; empty: any
	Metadata map[string]string // a thread must have all of these
	// Text must be in the title or in a text of the log, in upper or lower case; texts of turns that were
	// undone count too. A store finds texts if its options say how to read an update.
	Text        string
	Order       ThreadOrder
	OldestFirst bool  // reverses the order
	After       int64 // ThreadPage.Next of the page before; 0: the first page
	Limit       int   // maximum number of threads; 0: DefaultPage; at most MaxPage
}

// ThreadPage is one page of a list. Because a call reads a limited number of threads, a page may hold fewer
// than were asked for, or none, although there are more.
type ThreadPage struct {
	Threads []ThreadInfo
	Next    int64 // for ThreadQuery.After; 0 after the last page
}

// AllThreads yields the threads of all pages from a query's on. It ends after the first error.
func AllThreads(ctx context.Context, l Lister, q ThreadQuery) iter.Seq2[ThreadInfo, error] {
	return func(yield func(ThreadInfo, error) bool) {
		for {
			page, err := l.Threads(ctx, q)
			if err != nil {
				yield(ThreadInfo{}, fmt.Errorf("list threads: %w", err))
				return
			}
			for _, t := range page.Threads {
				if !yield(t, nil) {
					return
				}
			}
			if q.After = page.Next; q.After == 0 {
				return
			}
		}
	}
}

// Threads returns a page of the threads of the store.
func (r *Runner[S, U]) Threads(ctx context.Context, q ThreadQuery) (ThreadPage, error) {
	lister, ok := r.o.Store.(Lister)
	if !ok {
		return ThreadPage{}, ErrNoList
	}
	page, err := lister.Threads(ctx, q)
	if err != nil {
		return ThreadPage{}, fmt.Errorf("list threads: %w", err)
	}
	return page, nil
}

// HasMetadata reports whether metadata has all of these keys with these values.
func HasMetadata(metadata, want map[string]string) bool {
	for key, value := range want {
		if got, ok := metadata[key]; !ok || got != value {
			return false
		}
	}
	return true
}
