// Package memstore is a [graph.Store] in memory, for tests and for programs that save
// nothing.
//
//	runner := plan.Runner(graph.Options{Store: memstore.New()})
//
// It returns exactly what a store on disk would return.
package memstore

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/graph/stored"
)

// pollInterval is the interval at which Acquire checks a busy thread.
const pollInterval = 4 * time.Millisecond

// Store stores threads in memory. It implements [graph.Store], [graph.Copier] and
// [graph.Pruner], and is safe for concurrent use.
type Store struct {
	mu      sync.Mutex
	last    graph.CommitID
	threads map[string]*thread
}

// thread is one thread; Store.mu guards it.
type thread struct {
	head    graph.CommitID
	commits map[graph.CommitID]commit
	pending []graph.TaskResult

	token int64
	owner string
	ttl   time.Duration
	until time.Time // zero when released
}

type commit struct {
	graph.Commit
	snapshot []byte
}

var (
	_ graph.Store  = (*Store)(nil)
	_ graph.Copier = (*Store)(nil)
	_ graph.Pruner = (*Store)(nil)
)

// New returns an empty store.
func New() *Store { return &Store{threads: map[string]*thread{}} }

// lock begins an operation; the caller unlocks s.mu unless there is an error.
func (s *Store) lock(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	return nil
}

// Acquire implements [graph.Store].
func (s *Store) Acquire(ctx context.Context, name string, o graph.AcquireOptions) (graph.Lease, error) {
	if err := errors.Join(graph.CheckThread(name), graph.CheckName("owner", o.Owner)); err != nil {
		return graph.Lease{}, fmt.Errorf("acquire thread: %w", err)
	}
	for end := time.Now().Add(o.Wait); ; {
		l, err := s.tryAcquire(ctx, name, o)
		if !errors.Is(err, graph.ErrBusy) || !time.Now().Before(end) {
			return l, err
		}
		select {
		case <-time.After(min(pollInterval, time.Until(end))):
		case <-ctx.Done():
			return graph.Lease{}, fmt.Errorf("%w (%w)", context.Cause(ctx), err)
		}
	}
}

func (s *Store) tryAcquire(ctx context.Context, name string, o graph.AcquireOptions) (graph.Lease, error) {
	if err := s.lock(ctx); err != nil {
		return graph.Lease{}, err
	}
	defer s.mu.Unlock()
	t, ok := s.threads[name]
	if !ok {
		t = &thread{commits: map[graph.CommitID]commit{}}
		s.threads[name] = t
	}
	now := time.Now()
	if t.until.After(now) && !o.Force {
		return graph.Lease{}, stored.Busy(t.owner, t.until)
	}
	t.token++
	t.owner, t.ttl = o.Owner, stored.TTL(o.TTL)
	t.until = now.Add(t.ttl)
	return graph.Lease{Thread: name, Owner: o.Owner, Token: t.token, Head: t.head, Keeper: s}, nil
}

// held returns the thread of a lease that was not lost.
func (s *Store) held(l graph.Lease) (*thread, error) {
	t := s.threads[l.Thread]
	if t == nil || t.token != l.Token || t.until.IsZero() {
		return nil, stored.Superseded(l)
	}
	return t, nil
}

// Renew implements [graph.LeaseKeeper].
func (s *Store) Renew(ctx context.Context, l graph.Lease, ttl time.Duration) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	t, err := s.held(l)
	if err != nil {
		return err
	}
	t.ttl = stored.TTL(ttl)
	t.until = time.Now().Add(t.ttl)
	return nil
}

// Release implements [graph.LeaseKeeper].
func (s *Store) Release(ctx context.Context, l graph.Lease) error {
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if t, err := s.held(l); err == nil {
		t.owner, t.until = "", time.Time{}
	}
	return nil
}

// Commit implements [graph.Store].
func (s *Store) Commit(ctx context.Context, l graph.Lease, b graph.Batch) (graph.CommitID, error) {
	b, err := stored.NormalizeBatch(l.Thread, b, time.Now())
	if err != nil {
		return 0, fmt.Errorf("commit to thread %q: %w", l.Thread, err)
	}
	if err := s.lock(ctx); err != nil {
		return 0, err
	}
	defer s.mu.Unlock()
	t, err := s.held(l)
	if err != nil {
		return 0, fmt.Errorf("commit: %w", err)
	}
	if t.head != b.Parent {
		return 0, fmt.Errorf("commit: %w", stored.Conflict(l.Thread, t.head, b.Parent))
	}
	s.last++
	b.ID = s.last
	t.head = b.ID
	t.commits[b.ID] = commit{b.Commit, b.Snapshot}
	t.until = time.Now().Add(t.ttl)
	if !b.KeepPending {
		t.pending = nil
	}
	if b.Release {
		t.owner, t.until = "", time.Time{}
	}
	return b.ID, nil
}

// Pend implements [graph.Store].
func (s *Store) Pend(ctx context.Context, l graph.Lease, r graph.TaskResult) error {
	r, err := stored.NormalizeResult(r)
	if err != nil {
		return fmt.Errorf("pend in thread %q: %w", l.Thread, err)
	}
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	t, err := s.held(l)
	if err != nil {
		return fmt.Errorf("pend: %w", err)
	}
	t.until = time.Now().Add(t.ttl)
	same := func(o graph.TaskResult) bool {
		return o.Run == r.Run && o.Step == r.Step && o.Attempt == r.Attempt &&
			o.Delta.Rank == r.Delta.Rank && o.Delta.Path == r.Delta.Path && o.Delta.Node == r.Delta.Node
	}
	if !slices.ContainsFunc(t.pending, same) {
		t.pending = append(t.pending, r)
		slices.SortStableFunc(t.pending, func(a, b graph.TaskResult) int { return a.Delta.Rank - b.Delta.Rank })
	}
	return nil
}

// Pending implements [graph.Store].
func (s *Store) Pending(ctx context.Context, name string) ([]graph.TaskResult, error) {
	if err := s.lock(ctx); err != nil {
		return nil, err
	}
	defer s.mu.Unlock()
	t := s.threads[name]
	if t == nil {
		return nil, nil
	}
	return copyResults(t.pending)
}

func copyResults(results []graph.TaskResult) ([]graph.TaskResult, error) {
	var out []graph.TaskResult
	for _, r := range results {
		normal, err := stored.NormalizeResult(r)
		if err != nil {
			return nil, err
		}
		out = append(out, normal)
	}
	return out, nil
}

// locate returns a commit of a thread; 0 means the head.
func (s *Store) locate(name string, at graph.CommitID) (*thread, commit, error) {
	t := s.threads[name]
	if t == nil || t.head == 0 {
		return nil, commit{}, fmt.Errorf("thread %q: %w", name, graph.ErrNotFound)
	}
	if at == 0 {
		at = t.head
	}
	c, ok := t.commits[at]
	if !ok {
		return nil, c, fmt.Errorf("thread %q, commit %d: %w", name, at, graph.ErrNotFound)
	}
	return t, c, nil
}

// copyCommit returns a commit that shares nothing with c.
func copyCommit(c commit) (graph.Commit, error) {
	b, err := stored.NormalizeBatch(c.Thread, graph.Batch{Commit: c.Commit}, c.Time)
	b.ID = c.ID
	return b.Commit, err
}

// Head implements [graph.Store].
func (s *Store) Head(ctx context.Context, name string) (graph.Commit, error) {
	if err := s.lock(ctx); err != nil {
		return graph.Commit{}, err
	}
	defer s.mu.Unlock()
	_, c, err := s.locate(name, 0)
	if err != nil {
		return graph.Commit{}, fmt.Errorf("head: %w", err)
	}
	c.Deltas = nil
	return copyCommit(c)
}

// Load implements [graph.Store].
func (s *Store) Load(ctx context.Context, name string, at graph.CommitID) (graph.Snapshot, []graph.Delta, error) {
	if err := s.lock(ctx); err != nil {
		return graph.Snapshot{}, nil, err
	}
	defer s.mu.Unlock()
	t, c, err := s.locate(name, at)
	if err != nil {
		return graph.Snapshot{}, nil, fmt.Errorf("load: %w", err)
	}
	var line []commit // newest first
	for c.snapshot == nil {
		line = append(line, c)
		if c.Parent == 0 {
			break
		}
		c = t.commits[c.Parent]
	}
	var deltas []graph.Delta
	for _, c := range slices.Backward(line) {
		copied, err := copyCommit(c)
		if err != nil {
			return graph.Snapshot{}, nil, err
		}
		deltas = append(deltas, copied.Deltas...)
	}
	if c.snapshot == nil {
		return graph.Snapshot{}, deltas, nil
	}
	return graph.Snapshot{At: c.ID, Body: slices.Clone(c.snapshot)}, deltas, nil
}

// Walk implements [graph.Store].
func (s *Store) Walk(ctx context.Context, name string, from graph.CommitID) iter.Seq2[graph.Commit, error] {
	return func(yield func(graph.Commit, error) bool) {
		for next := from; ; {
			c, err := s.commit(ctx, name, next)
			if err != nil {
				yield(graph.Commit{}, fmt.Errorf("walk: %w", err))
				return
			}
			if next = c.Parent; !yield(c, nil) || next == 0 {
				return
			}
		}
	}
}

func (s *Store) commit(ctx context.Context, name string, at graph.CommitID) (graph.Commit, error) {
	if err := s.lock(ctx); err != nil {
		return graph.Commit{}, err
	}
	defer s.mu.Unlock()
	_, c, err := s.locate(name, at)
	if err != nil {
		return graph.Commit{}, err
	}
	return copyCommit(c)
}

// Copy implements [graph.Copier].
func (s *Store) Copy(ctx context.Context, from string, at graph.CommitID, to string, pending []graph.TaskResult) error {
	if err := graph.CheckThread(to); err != nil {
		return fmt.Errorf("copy thread %q: %w", from, err)
	}
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	source, c, err := s.locate(from, at)
	if err != nil {
		return fmt.Errorf("copy: %w", err)
	}
	target := s.threads[to]
	switch {
	case target == nil:
		target = &thread{}
	case target.head != 0:
		return fmt.Errorf("copy to thread %q: %w", to, graph.ErrExists)
	case target.until.After(time.Now()):
		return fmt.Errorf("copy to thread %q: %w", to, stored.Busy(target.owner, target.until))
	}
	if pending == nil && c.ID == source.head {
		pending = source.pending
	}
	if target.pending, err = copyResults(pending); err != nil {
		return fmt.Errorf("copy thread %q: %w", from, err)
	}
	line := []commit{c} // newest first
	for c.Parent != 0 {
		c = source.commits[c.Parent]
		line = append(line, c)
	}
	target.commits, target.head = map[graph.CommitID]commit{}, 0
	for _, c := range slices.Backward(line) { // commits never change, so their insides are shared
		s.last++
		c.Thread, c.Parent, c.ID = to, target.head, s.last
		target.commits[c.ID], target.head = c, c.ID
	}
	s.threads[to] = target
	return nil
}

// Prune implements [graph.Pruner].
func (s *Store) Prune(ctx context.Context, l graph.Lease, at graph.CommitID, base graph.Batch) error {
	base, err := stored.NormalizeBatch(l.Thread, base, time.Now())
	if err != nil {
		return fmt.Errorf("prune thread %q: %w", l.Thread, err)
	}
	if err := s.lock(ctx); err != nil {
		return err
	}
	defer s.mu.Unlock()
	if _, err := s.held(l); err != nil {
		return fmt.Errorf("prune: %w", err)
	}
	t, c, err := s.locate(l.Thread, at)
	if err != nil {
		return fmt.Errorf("prune: %w", err)
	}
	for next := c; next.ID != 0; next = t.commits[next.Parent] {
		delete(t.commits, next.ID)
	}
	c.Parent, c.Run, c.Source, c.Deltas, c.snapshot = 0, base.Run, graph.SourceBase, base.Deltas, base.Snapshot
	t.commits[c.ID] = c
	return nil
}
