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
	"example.com/ragflow/internal/stored"
)

// Store stores threads in memory. It implements [graph.Store], [graph.Copier], [graph.Pruner] and
// [graph.Lister], and is safe for concurrent use.
type Store struct {
	// Texts returns the title that an update gives its thread, and the text that the thread is found by. It is
	// set before the first use. Nil: threads have only the titles of Describe.
	Texts func(update []byte) (title, text string)

	mu      sync.Mutex
	last    graph.CommitID
	made    int64 // threads so far
	token   int64 // greatest token of deleted threads, which is not given again
	threads map[string]*thread
}

// thread is one thread; Store.mu guards it.
type thread struct {
	created time.Time
	made    int64 // number of the thread
	owner   string
	facts   graph.ThreadFacts
	active  graph.CommitID
	head    graph.CommitID
	commits map[graph.CommitID]commit
	pending []graph.TaskResult

	token  int64
	holder string
	ttl    time.Duration
	until  time.Time // zero when released
}

type commit struct {
	graph.Commit
	snapshot []byte
}

var (
	_ graph.Store  = (*Store)(nil)
	_ graph.Copier = (*Store)(nil)
	_ graph.Pruner = (*Store)(nil)
	_ graph.Lister = (*Store)(nil)
)

// New returns an empty store.
func New() *Store { return &Store{threads: map[string]*thread{}} }

// do runs one operation alone. The name begins its error; empty: the error stays as it is.
func (s *Store) do(ctx context.Context, name string, f func() error) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	err := f()
	if err != nil && name != "" {
		err = fmt.Errorf("%s: %w", name, err)
	}
	return err
}

// Acquire implements [graph.Store].
func (s *Store) Acquire(ctx context.Context, name string, o graph.AcquireOptions) (graph.Lease, error) {
	if err := errors.Join(graph.CheckThread(name), graph.CheckName("owner", o.Owner+graph.OwnerOf(ctx))); err != nil {
		return graph.Lease{}, fmt.Errorf("acquire thread: %w", err)
	}
	var l graph.Lease
	err := stored.Await(ctx, o.Wait, func() error {
		return s.do(ctx, "", func() (err error) {
			l, err = s.acquire(name, graph.OwnerOf(ctx), o)
			return err
		})
	})
	return l, err
}

func (s *Store) newThread() *thread {
	s.made++
	return &thread{created: time.Now().UTC(), made: s.made}
}

// seenBy reports whether a thread exists for an owner; see [graph.OwnedBy].
func (t *thread) seenBy(owner string) bool { return owner == "" || t.owner == owner }

func (s *Store) acquire(name, owner string, o graph.AcquireOptions) (graph.Lease, error) {
	t, ok := s.threads[name]
	if !ok {
		t = s.newThread()
		t.token, t.commits = s.token, map[graph.CommitID]commit{}
		s.threads[name] = t
	}
	now := time.Now()
	switch live := t.until.After(now); {
	case (live || t.head != 0) && !t.seenBy(owner):
		return graph.Lease{}, stored.NotFound("thread %q", name)
	case live && !o.Force:
		return graph.Lease{}, stored.Busy(t.holder, t.until)
	case t.head == 0:
		t.owner = owner
	}
	t.token++
	t.holder, t.ttl = o.Owner, stored.TTL(o.TTL)
	t.until = now.Add(t.ttl)
	return graph.Lease{Thread: name, Owner: o.Owner, Token: t.token, Head: t.head}, nil
}

// held returns the thread of a lease that was not lost.
func (s *Store) held(l graph.Lease) (*thread, error) {
	t := s.threads[l.Thread]
	if t == nil || t.token != l.Token || t.until.IsZero() {
		return nil, stored.Superseded(l)
	}
	return t, nil
}

// Renew implements [graph.Store].
func (s *Store) Renew(ctx context.Context, l graph.Lease, ttl time.Duration) error {
	return s.do(ctx, "", func() error {
		t, err := s.held(l)
		if err == nil {
			t.ttl = stored.TTL(ttl)
			t.until = time.Now().Add(t.ttl)
		}
		return err
	})
}

// Release implements [graph.Store].
func (s *Store) Release(ctx context.Context, l graph.Lease) error {
	return s.do(ctx, "", func() error {
		if t, err := s.held(l); err == nil {
			t.holder, t.until = "", time.Time{}
		}
		return nil
	})
}

// Commit implements [graph.Store].
func (s *Store) Commit(ctx context.Context, l graph.Lease, b graph.Batch) (graph.CommitID, error) {
	b, err := stored.NormalizeBatch(l.Thread, b, time.Now())
	if err != nil {
		return 0, fmt.Errorf("commit to thread %q: %w", l.Thread, err)
	}
	err = s.do(ctx, "commit", func() error {
		t, err := s.held(l)
		if err != nil {
			return err
		}
		if t.head != b.Parent {
			return stored.Conflict(l.Thread, t.head, b.Parent)
		}
		more, _ := stored.FactsOf(s.Texts, b.Commit)
		if t.facts.Title != "" {
			more.Title = ""
		}
		facts, err := stored.AddFacts(t.facts, more)
		if err != nil {
			return err
		}
		s.last++
		b.ID = s.last
		if stored.Moves(b.Commit, t.commits[t.head].Status) {
			t.active = b.ID
		}
		t.head = b.ID
		t.commits[b.ID] = commit{b.Commit, b.Snapshot}
		t.facts = facts
		t.until = time.Now().Add(t.ttl)
		if !b.KeepPending {
			t.pending = nil
		}
		if b.Release {
			t.holder, t.until = "", time.Time{}
		}
		return nil
	})
	return b.ID, err
}

// Pend implements [graph.Store].
func (s *Store) Pend(ctx context.Context, l graph.Lease, r graph.TaskResult) error {
	r, err := stored.NormalizeResult(r)
	if err != nil {
		return fmt.Errorf("pend in thread %q: %w", l.Thread, err)
	}
	return s.do(ctx, "pend", func() error {
		t, err := s.held(l)
		if err != nil {
			return err
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
	})
}

// Pending implements [graph.Store].
func (s *Store) Pending(ctx context.Context, name string) (results []graph.TaskResult, err error) {
	err = s.do(ctx, "", func() error {
		if t := s.threads[name]; t != nil && t.seenBy(graph.OwnerOf(ctx)) {
			results, err = copyResults(t.pending)
		}
		return err
	})
	return results, err
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
func (s *Store) locate(ctx context.Context, name string, at graph.CommitID) (*thread, commit, error) {
	t := s.threads[name]
	if t == nil || t.head == 0 || !t.seenBy(graph.OwnerOf(ctx)) {
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
	c, err := s.commit(ctx, "head", name, 0)
	c.Deltas = nil
	return c, err
}

// Load implements [graph.Store].
func (s *Store) Load(ctx context.Context, name string, at graph.CommitID) (snapshot graph.Snapshot, deltas []graph.Delta, err error) {
	err = s.do(ctx, "load", func() error {
		t, c, err := s.locate(ctx, name, at)
		var line []commit // newest first
		for ; err == nil && c.ID != 0 && c.snapshot == nil; c = t.commits[c.Parent] {
			line = append(line, c)
		}
		for _, c := range slices.Backward(line) {
			copied, err := copyCommit(c)
			if err != nil {
				return err
			}
			deltas = append(deltas, copied.Deltas...)
		}
		if c.snapshot != nil {
			snapshot = graph.Snapshot{At: c.ID, Body: slices.Clone(c.snapshot)}
		}
		return err
	})
	return snapshot, deltas, err
}

// Walk implements [graph.Store].
func (s *Store) Walk(ctx context.Context, name string, from graph.CommitID) iter.Seq2[graph.Commit, error] {
	return stored.WalkInParts(from, func(from graph.CommitID, _ int) ([]graph.Commit, error) {
		c, err := s.commit(ctx, "", name, from)
		return []graph.Commit{c}, err
	})
}

func (s *Store) commit(ctx context.Context, operation, name string, at graph.CommitID) (copied graph.Commit, err error) {
	err = s.do(ctx, operation, func() error {
		_, c, err := s.locate(ctx, name, at)
		if err == nil {
			copied, err = copyCommit(c)
		}
		return err
	})
	return copied, err
}

// Copy implements [graph.Copier].
func (s *Store) Copy(ctx context.Context, from string, at graph.CommitID, to string, pending []graph.TaskResult) error {
	if err := graph.CheckThread(to); err != nil {
		return fmt.Errorf("copy thread %q: %w", from, err)
	}
	return s.do(ctx, fmt.Sprintf("copy thread %q", from), func() error { return s.copy(ctx, from, at, to, pending) })
}

func (s *Store) copy(ctx context.Context, from string, at graph.CommitID, to string, pending []graph.TaskResult) error {
	source, c, err := s.locate(ctx, from, at)
	if err != nil {
		return err
	}
	target := s.threads[to]
	switch {
	case target == nil:
		target = s.newThread()
	case target.head != 0:
		return fmt.Errorf("to thread %q: %w", to, graph.ErrExists)
	case target.until.After(time.Now()):
		return fmt.Errorf("to thread %q: %w", to, stored.Busy(target.holder, target.until))
	}
	if pending == nil && c.ID == source.head {
		pending = source.pending
	}
	if target.pending, err = copyResults(pending); err != nil {
		return err
	}
	line := []commit{c} // newest first
	for c.Parent != 0 {
		c = source.commits[c.Parent]
		line = append(line, c)
	}
	target.owner, target.facts = source.owner, source.facts
	target.commits, target.head = map[graph.CommitID]commit{}, 0
	for _, c := range slices.Backward(line) { // commits never change, so their insides are shared
		s.last++
		c.Thread, c.Parent, c.ID = to, target.head, s.last
		target.commits[c.ID], target.head = c, c.ID
	}
	target.active = target.head
	s.threads[to] = target
	return nil
}

// Delete drops threads, all or none of them. The error matches [graph.ErrNotFound] for an unknown thread,
// [graph.ErrBusy] for one that is held.
func (s *Store) Delete(ctx context.Context, threads ...string) error {
	return s.do(ctx, "delete", func() error {
		for _, name := range threads {
			switch t := s.threads[name]; {
			case t == nil || !t.seenBy(graph.OwnerOf(ctx)):
				return stored.NotFound("thread %q", name)
			case t.until.After(time.Now()):
				return fmt.Errorf("thread %q: %w", name, stored.Busy(t.holder, t.until))
			}
		}
		for _, name := range threads {
			if t := s.threads[name]; t != nil { // not named twice
				s.token = max(s.token, t.token)
				delete(s.threads, name)
			}
		}
		return nil
	})
}

// Prune implements [graph.Pruner].
func (s *Store) Prune(ctx context.Context, l graph.Lease, at graph.CommitID, base graph.Batch) error {
	base, err := stored.NormalizeBatch(l.Thread, base, time.Now())
	if err != nil {
		return fmt.Errorf("prune thread %q: %w", l.Thread, err)
	}
	return s.do(ctx, "prune", func() error {
		if _, err := s.held(l); err != nil {
			return err
		}
		t, c, err := s.locate(ctx, l.Thread, at)
		if err != nil {
			return err
		}
		for next := c; next.ID != 0; next = t.commits[next.Parent] {
			delete(t.commits, next.ID)
		}
		c.Parent, c.Run, c.Source, c.Deltas, c.snapshot = 0, base.Run, graph.SourceBase, base.Deltas, base.Snapshot
		t.commits[c.ID] = c
		return nil
	})
}
