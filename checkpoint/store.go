package checkpoint

import (
	"context"
	"io"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sqlite"
)

// Store is a graph.Store that can be browsed and closed. [SQLite] implements it.
type Store interface {
	graph.Store
	graph.Copier
	Keeper
	// Threads lists the threads that have a commit, the one with the newest
	// commit first: by the order of commits, not by their times, which may lie
	// when a clock goes back.
	Threads(ctx context.Context) ([]Info, error)
	// FindRun returns the thread of a run and the run's newest commit;
	// [graph.ErrNotFound] where no commit belongs to it. Of several threads
	// with the same run the one where it ended first is meant: a fork comes later.
	FindRun(ctx context.Context, run string) (thread string, last graph.CommitID, err error)
	// Runs returns the ids of runs that begin with prefix, sorted, a hundred at
	// most.
	Runs(ctx context.Context, prefix string) ([]string, error)
	io.Closer
}

var _ Store = (*SQLite)(nil)

// Info is one line in a list of threads.
type Info struct {
	Thread  string
	Created time.Time      // when it was first acquired, in UTC
	Touched time.Time      // time of its newest commit, in UTC
	First   graph.CommitID // its oldest commit
	Head    graph.CommitID
	Status  graph.Status // of its last run
	Inputs  int          // commits that are inputs, less those that took one back: the turns of a conversation
	Bytes   int64        // of the bodies of its deltas, as they were given
}

// Options say how to open a SQLite store. The zero value works.
type Options struct {
	// Views are CREATE VIEW statements over the store's own views and tables,
	// so that other tools can read what the bodies hold. They are made at Open,
	// and anew when one of their texts has changed.
	Views []string
	// Durability of commits; sqlite.ProcessCrash by default.
	Durability sqlite.Durability
	// Access says whether a file that cannot be written is an error; it is by
	// default. One opened for reading only answers every write with an error that
	// matches sqlite.ErrReadOnly.
	Access sqlite.Access
	// Keys encrypt the store: bodies, notes, errors, snapshots and long texts, by
	// AES-256-GCM. A store that is encrypted already is opened only with its keys.
	// Names of threads and nodes, ids, times and sizes stay readable. Nil: do not.
	Keys *Keyring
	// Clock tells the time for leases and for commits that bring none.
	// Default: time.Now.
	Clock func() time.Time
}
