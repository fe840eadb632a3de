package graph

import (
	"context"
	"encoding/json"
	"iter"
	"time"

	"example.com/ragflow/internal/lifecycle"
)

// Store saves the commits of threads. To a store, states and updates are opaque JSON.
// Implementations are safe for concurrent use, also by several processes if they share the
// storage. A thread of another owner than that of the context does not exist for a call; see [OwnedBy].
// Package internal/stored contains the code that implementations share. Every implementation must pass the suite of
// package graph/graphtest.
type Store interface {
	// Acquire returns a lease of a thread. It creates the thread if it does not exist. If
	// another owner has a live lease, Acquire waits up to o.Wait and then fails with
	// ErrBusy.
	Acquire(ctx context.Context, thread string, o AcquireOptions) (Lease, error)
	// Renew sets the end of a lease to ttl from now. The error is ErrSuperseded if the lease was lost.
	Renew(ctx context.Context, l Lease, ttl time.Duration) error
	// Release ends a lease. It is not an error if the lease was already lost or released.
	Release(ctx context.Context, l Lease) error
	// Head returns the newest commit of a thread, without its deltas. The error is
	// ErrNotFound for a thread that does not exist or has no commit.
	Head(ctx context.Context, thread string) (Commit, error)
	// Load returns the newest snapshot at or before a commit and the deltas after it up to
	// the commit, oldest commit first, by rank within a commit. Without a snapshot it
	// returns the zero Snapshot and all deltas.
	Load(ctx context.Context, thread string, at CommitID) (Snapshot, []Delta, error)
	// Commit appends one commit and moves the head from b.Parent to it, atomically. Errors:
	// ErrSuperseded if the lease was lost, ErrConflict if the head is not b.Parent. Commit
	// deletes the pending results of the thread unless b.KeepPending is set.
	Commit(ctx context.Context, l Lease, b Batch) (CommitID, error)
	// Pend saves the result of a finished task before its superstep is committed.
	Pend(ctx context.Context, l Lease, r TaskResult) error
	// Pending returns the pending results of a thread, by rank.
	Pending(ctx context.Context, thread string) ([]TaskResult, error)
	// Walk yields commits with their deltas, newest first, from the given commit (0: the
	// head) back along parents. It ends after the first error.
	Walk(ctx context.Context, thread string, from CommitID) iter.Seq2[Commit, error]
}

// CommitID identifies a commit within a store. Zero means no commit. Later commits of a thread
// have greater IDs.
type CommitID int64

// AcquireOptions are the options of [Store].Acquire.
type AcquireOptions struct {
	Owner string        // the writer; shown in ErrBusy errors. If empty, a store may name this process, so that others see when it dies
	TTL   time.Duration // lifetime of the lease without renewal
	Wait  time.Duration // how long to wait for another owner; zero: not at all
	Force bool          // take over a live lease at once; its owner gets ErrSuperseded when it writes or renews
}

// Lease is the right to write to a thread. Token increases by one with every Acquire of the
// thread, so that a store can reject an old writer that still runs. Head is the newest commit
// of the thread when the lease was acquired. Nobody else can move the head during the lease. A
// store may leave Head 0; then the engine reads the head. Use a lease with the Store that
// returned it or, after that Store was closed, with another Store of the same storage.
type Lease struct {
	Thread string
	Owner  string
	Token  int64
	Head   CommitID
}

// DefaultTTL is the lifetime of a lease if Acquire or Renew get none.
const DefaultTTL = 15 * time.Second

// Source is the cause of a commit.
type Source string

// The sources of a commit.
const (
	SourceInput  Source = "input"  // an input started a run
	SourceLoop   Source = "loop"   // a superstep finished
	SourceClose  Source = "close"  // a run ended early; state and frontier do not change, but for what OnSupersede keeps
	SourceUpdate Source = "update" // the state was edited outside of a run
	SourceUndo   Source = "undo"   // like SourceUpdate; the last input was undone
	SourceFork   Source = "fork"   // the thread continues from an earlier commit; see Request.From
	SourceBase   Source = "base"   // earlier commits were pruned; its deltas give the state from the zero state
)

// Turns returns by how much a commit of this source changes the number of turns.
func (s Source) Turns() int {
	switch s {
	case SourceInput:
		return 1
	case SourceUndo:
		return -1
	default:
		return 0
	}
}

// Status is the lifecycle state of a run.
type Status string

// The states of a run.
const (
	Pending     Status = lifecycle.Pending
	Running     Status = lifecycle.Running
	Interrupted Status = lifecycle.Interrupted // waits for a person
	Completed   Status = lifecycle.Completed
	Failed      Status = lifecycle.Failed     // may be resumed
	Cancelled   Status = lifecycle.Cancelled  // may be resumed
	Limited     Status = lifecycle.Limited    // stopped at the step limit; may be resumed
	Superseded  Status = lifecycle.Superseded // a later input closed it
)

// after returns the status after a move, or a [*MoveError] if the move is illegal.
func (s Status) after(move string) (Status, error) {
	if to, legal := lifecycle.After(s, move); legal {
		return to, nil
	}
	return s, &MoveError{s, move}
}

// Commit is one entry of a thread's log.
type Commit struct {
	ID          CommitID  `json:"id"`
	Parent      CommitID  `json:"parent"`
	Thread      string    `json:"thread"`
	Run         string    `json:"run"`
	Step        int       `json:"step"` // 0 for the input, then 1, 2, … within the run; for a close, the last finished step
	Source      Source    `json:"source"`
	Status      Status    `json:"status"`                // status of the run after this commit
	Time        time.Time `json:"time"`                  // creation time, in UTC with microseconds
	Fingerprint string    `json:"fingerprint,omitempty"` // fingerprint of the graph
	Frontier    []string  `json:"frontier,omitempty"`    // the reached nodes, by rank; empty if the run completed
	Error       string    `json:"error,omitempty"`       // the first error, if the run ended early
	Deltas      []Delta   `json:"deltas,omitempty"`      // by rank; set only by Walk
}

// BodyBytes returns the size of the bodies of the commit's deltas.
func (c Commit) BodyBytes() (n int) {
	for _, d := range c.Deltas {
		n += len(d.Body)
	}
	return n
}

// Delta is the change of one task. The state is the fold of all deltas. A delta with an Error is
// a failed attempt and is not folded.
type Delta struct {
	Path  string          `json:"path,omitempty"` // path of the subgraph; empty at the root
	Node  string          `json:"node,omitempty"` // empty for an input; # and a number for an edit of a subgraph
	Rank  int             `json:"rank"`
	Body  json.RawMessage `json:"body,omitempty"` // the update as JSON; empty if it changes nothing
	Error string          `json:"error,omitempty"`
	Notes Notes           `json:"notes,omitzero"`
}

// Snapshot is the state after a commit as JSON, equal to the fold of all deltas up to it.
type Snapshot struct {
	At   CommitID
	Body []byte
}

// Batch is a new commit. The store sets ID and Thread.
type Batch struct {
	Commit
	Snapshot    []byte // the state after the commit, to be saved as snapshot; or nil
	KeepPending bool
	Release     bool // release the lease with the commit
}

// TaskResult is a finished task of an uncommitted superstep.
type TaskResult struct {
	Run     string
	Step    int
	Attempt int
	Delta   Delta
}
