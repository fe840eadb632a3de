package graph

import (
	"context"
	"iter"
	"time"
)

// Store keeps the commits of threads. It knows neither state nor update: their
// bodies are opaque JSON. Implementations are safe for concurrent use, by
// several processes too where the storage is shared. Package graph/graphtest
// is the conformance suite that each of them must pass.
type Store interface {
	// Acquire gives the right to write to a thread, creating the thread where
	// there is none. Another owner's live lease makes it wait up to o.Wait and
	// then fail with ErrBusy.
	Acquire(ctx context.Context, thread string, o AcquireOptions) (Lease, error)
	LeaseKeeper
	// Head returns the newest commit of the thread's line, without its deltas;
	// ErrNotFound for a thread that does not exist or has no commit.
	Head(ctx context.Context, thread string) (Commit, error)
	// Load returns the newest snapshot at or before a commit and the deltas
	// after it, along parents, oldest first, each commit's by rank. A thread
	// without snapshot yields the zero Snapshot and all deltas.
	Load(ctx context.Context, thread string, at CommitID) (Snapshot, []Delta, error)
	// Commit appends one commit and moves the head from b.Parent to it, all or
	// nothing: ErrSuperseded when the lease was lost, ErrConflict when the head
	// is not b.Parent. It drops the thread's pending results unless
	// b.KeepPending.
	Commit(ctx context.Context, l Lease, b Batch) (CommitID, error)
	// Pend saves a finished task of a superstep that has not been committed.
	Pend(ctx context.Context, l Lease, r TaskResult) error
	// Pending returns what Pend saved since the last commit that dropped it, by
	// rank.
	Pending(ctx context.Context, thread string) ([]TaskResult, error)
	// Walk yields commits with their deltas, from the given one (0: the head)
	// along parents, newest first. It ends after the first error.
	Walk(ctx context.Context, thread string, from CommitID) iter.Seq2[Commit, error]
}

// LeaseKeeper is the part of a store that prolongs and ends its leases; see
// [Lease.Renew] and [Lease.Release].
type LeaseKeeper interface {
	Renew(ctx context.Context, l Lease, ttl time.Duration) error
	Release(ctx context.Context, l Lease) error
}

// CommitID names a commit within a store. Zero is no commit; later commits of
// a thread have greater ids.
type CommitID int64

// AcquireOptions say who wants a thread and for how long.
type AcquireOptions struct {
	Owner string        // whoever writes; shown to those who find the thread busy
	TTL   time.Duration // how long the lease lives without renewal
	Wait  time.Duration // how long to wait for another owner; zero: not at all
	Force bool          // take a live lease away at once; its owner is told ErrSuperseded when it writes or renews
}

// Lease is the right to write to a thread. Token rises by one with every
// Acquire of the thread, so that a writer that was thought dead is told apart.
// Head is the thread's newest commit when the lease was given: while it is held,
// nobody else moves it. A store may leave it 0; then the engine asks for the head.
// A lease is for use with the Store value that gave it, or, once that was closed,
// with another of the same storage.
type Lease struct {
	Thread string
	Owner  string
	Token  int64
	Head   CommitID
	Keeper LeaseKeeper // the store that gave the lease
}

// DefaultTTL is how long a lease lives when Acquire or Renew name no time.
const DefaultTTL = 15 * time.Second

// Renew moves the end of the lease to ttl from now. It returns an error that
// matches [ErrSuperseded] when the lease was lost.
func (l Lease) Renew(ctx context.Context, ttl time.Duration) error {
	return l.Keeper.Renew(ctx, l, ttl)
}

// Release ends the lease, so that others may write. Releasing a lease that was
// lost or released before is not an error.
func (l Lease) Release(ctx context.Context) error { return l.Keeper.Release(ctx, l) }

// Source says what made a commit.
type Source string

// The sources of a commit.
const (
	SourceInput  Source = "input"  // an input began a run
	SourceLoop   Source = "loop"   // a superstep finished
	SourceClose  Source = "close"  // a run ended early; state and frontier stand as they were
	SourceUpdate Source = "update" // state was edited from outside
	SourceUndo   Source = "undo"   // as SourceUpdate; the last input that stood was taken back
	SourceFork   Source = "fork"   // another line of the thread begins
	SourceBase   Source = "base"   // what came before was pruned; its deltas make the state from nothing
)

// Status is the lifecycle state of a run; see lifecycle.go for the legal moves.
type Status string

// The states of a run.
const (
	Pending     Status = "pending"
	Running     Status = "running"
	Interrupted Status = "interrupted" // waits for a person
	Completed   Status = "completed"
	Failed      Status = "failed"     // may be resumed
	Cancelled   Status = "cancelled"  // may be resumed
	Limited     Status = "limited"    // stopped at the step limit; may be resumed
	Superseded  Status = "superseded" // a later input closed it
)

// Commit is one entry of a thread's log.
type Commit struct {
	ID, Parent  CommitID
	Thread, Run string
	Step        int // 0 for the input, then 1, 2, … within the run; of a close, the last finished one
	Source      Source
	Status      Status    // of the run, once this commit is saved
	Time        time.Time // when it was made, in UTC with microseconds
	Fingerprint string    // of the graph that made it
	Frontier    []string  // the nodes to run next, by rank; empty once the run ended well
	Error       string    // first cause, where Status tells of an early end
	Deltas      []Delta   // by rank; filled by Walk only
}

// Delta is what one task changed. State is the fold of deltas; one with an
// Error tells of a failed attempt and is not folded.
type Delta struct {
	Path  string // place of the subgraph it ran in; empty at the root
	Node  string // empty for an input
	Rank  int
	Body  []byte // the update as JSON; empty for one that changes nothing
	Error string
	Notes Notes
}

// Snapshot is the state at a commit as JSON: what folding its past would give.
type Snapshot struct {
	At   CommitID
	Body []byte
}

// Batch is a commit to be: ID and Thread are the store's to fill in.
type Batch struct {
	Commit
	Snapshot    []byte // the state after the commit, when the engine wants it kept; else nil
	KeepPending bool
	Release     bool // ends the lease with the commit, as Release does
}

// TaskResult is a finished task of a superstep that is still under way.
type TaskResult struct {
	Run     string
	Step    int
	Attempt int
	Delta   Delta
}
