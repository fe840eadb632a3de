package threads

import (
	"context"
	"errors"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/stored"
	"example.com/ragflow/internal/transcript"
)

// Archive is a thread out of its store.
type Archive = stored.Archive

// Finding is a damage that Verify found.
type Finding = stored.Finding

// Run is the log of one question.
type Run = transcript.Run

// Store is what a [Log] needs of the store of its threads. The stores of packages
// checkpoint and checkpoint/postgres implement it; see their methods of the same names.
type Store interface {
	graph.Store
	graph.Copier
	graph.Pruner
	graph.Lister

	// FindRun returns the thread of a run and its newest commit; of several threads the one
	// where the run ended first. An unknown run is graph.ErrNotFound.
	FindRun(ctx context.Context, run string) (thread string, last graph.CommitID, err error)
	// Snapshots returns the commits of a thread that have a snapshot, oldest first.
	Snapshots(ctx context.Context, thread string) ([]graph.CommitID, error)
	// Export copies a thread out of the store up to a commit; 0: all of it.
	Export(ctx context.Context, thread string, at graph.CommitID) (*Archive, error)
	// Import adds the thread of an archive under the given name, or its own if that is
	// empty: all or nothing. A thread that exists is graph.ErrExists.
	Import(ctx context.Context, a *Archive, thread string) error
	// Delete drops threads, all or none: graph.ErrNotFound, or graph.ErrBusy if one is held.
	Delete(ctx context.Context, threads ...string) error
	// Verify checks the records of threads, or all of the store without names. It does not look at owners.
	Verify(ctx context.Context, threads ...string) ([]Finding, error)
	// Vacuum returns the space of deleted records.
	Vacuum(ctx context.Context) error
	Close() error
}

// ErrServer means that a store on a server does not do this, because the server's own
// tools do.
var ErrServer = errors.New("the threads are on a server")

// file is what only a store in a file does.
type file interface {
	Backup(ctx context.Context, path string) error
	Rotate(ctx context.Context) (int, error)
}
