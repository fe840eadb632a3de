package graph

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"
)

// ThreadInfo is what a store knows of a thread without reading its log.
type ThreadInfo struct {
	Thread  string
	Created time.Time // time of the first Acquire, in UTC
	Touched time.Time // time of its newest commit, in UTC
	First   CommitID  // its oldest commit
	Head    CommitID
	Status  Status // status of its last run
	Inputs  int    // turns of the conversation: inputs that were not undone
	Bytes   int64  // size of the bodies of its deltas

	// Metadata of its runs and edits; of a key the newest value. Only [Runner.Threads] sets it.
	Metadata map[string]string
}

// Lister is a [Store] that lists its threads, like the stores of packages checkpoint, checkpoint/postgres
// and memstore.
type Lister interface {
	// Threads lists the threads that have a commit, newest commit first.
	Threads(ctx context.Context) ([]ThreadInfo, error)
}

// ErrNoList means that the store of [Runner.Threads] is no [Lister].
var ErrNoList = errors.New("the store cannot list threads")

// ThreadQuery selects threads.
type ThreadQuery struct {
	Metadata map[string]string // a thread must have all of these; empty: any thread
	Status   Status            // of the last run; empty: any
	Before   CommitID          // only threads whose Head is before this commit, for the next page; 0: all
	Limit    int               // maximum number of threads; 0 or less: all
}

// Threads returns threads of the store, newest commit first. It reads the logs of the threads that the
// other conditions select, until Limit of them have the metadata.
func (r *Runner[S, U]) Threads(ctx context.Context, q ThreadQuery) ([]ThreadInfo, error) {
	lister, ok := r.o.Store.(Lister)
	if !ok {
		return nil, ErrNoList
	}
	all, err := lister.Threads(ctx)
	if err != nil {
		return nil, fmt.Errorf("list threads: %w", err)
	}
	var page []ThreadInfo
	for _, t := range all {
		if q.Status != "" && t.Status != q.Status || q.Before != 0 && t.Head >= q.Before {
			continue
		}
		if t.Metadata, err = r.metadata(ctx, t.Thread, t.Head); err != nil {
			return nil, fmt.Errorf("metadata of thread %q: %w", t.Thread, err)
		}
		if !hasAll(t.Metadata, q.Metadata) {
			continue
		}
		if page = append(page, t); len(page) == q.Limit {
			break
		}
	}
	return page, nil
}

// metadata returns the metadata of a thread up to a commit; nil without any.
func (r *Runner[S, U]) metadata(ctx context.Context, thread string, at CommitID) (all map[string]string, err error) {
	for c, err := range r.o.Store.Walk(ctx, thread, at) {
		if err != nil {
			return nil, err
		}
		for _, d := range c.Deltas {
			if len(d.Notes.Metadata) > 0 {
				older := maps.Clone(d.Notes.Metadata)
				maps.Copy(older, all)
				all = older
			}
		}
	}
	return all, nil
}

func hasAll(metadata, want map[string]string) bool {
	for key, value := range want {
		if got, ok := metadata[key]; !ok || got != value {
			return false
		}
	}
	return true
}
