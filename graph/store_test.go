package graph_test

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"
	"time"

	"example.com/ragflow/graph"
)

// memStore is the smallest store that keeps the clauses of [graph.Store].
type memStore struct {
	mu      sync.Mutex
	threads map[string]*memThread
	lastID  graph.CommitID
	// before, when set, is asked before each write and may fail it.
	before func(op string) error
}

type memThread struct {
	commits []graph.Batch // a single line
	pending []graph.TaskResult
	lease   graph.Lease
	held    bool
	pends   int // calls of Pend
}

func newMemStore() *memStore { return &memStore{threads: map[string]*memThread{}} }

var _ graph.Store = (*memStore)(nil)

// steal takes a thread's lease away, as another process would.
func (m *memStore) steal(thread string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.threads[thread].lease.Token++
}

func (m *memStore) locked(op string, f func() error) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.before != nil {
		if err := m.before(op); err != nil {
			return err
		}
	}
	return f()
}

// owned runs f on a thread whose lease is l.
func (m *memStore) owned(op string, l graph.Lease, f func(*memThread) error) error {
	return m.locked(op, func() error {
		t := m.threads[l.Thread]
		if t == nil || t.lease != l {
			return graph.ErrSuperseded
		}
		return f(t)
	})
}

func (m *memStore) Acquire(_ context.Context, thread string, o graph.AcquireOptions) (l graph.Lease, err error) {
	return l, m.locked("acquire", func() error {
		t := m.threads[thread]
		if t == nil {
			t = &memThread{}
			m.threads[thread] = t
		}
		if t.held && !o.Force {
			return fmt.Errorf("held by %s: %w", t.lease.Owner, graph.ErrBusy)
		}
		t.held = true
		t.lease = graph.Lease{Thread: thread, Owner: o.Owner, Token: t.lease.Token + 1}
		if n := len(t.commits); n > 0 {
			t.lease.Head = t.commits[n-1].ID
		}
		l = t.lease
		return nil
	})
}

func (m *memStore) Renew(_ context.Context, l graph.Lease, _ time.Duration) error {
	return m.owned("renew", l, func(*memThread) error { return nil })
}

func (m *memStore) Release(_ context.Context, l graph.Lease) error {
	err := m.owned("release", l, func(t *memThread) error { t.held = false; return nil })
	if errors.Is(err, graph.ErrSuperseded) {
		return nil
	}
	return err
}

func (m *memStore) Head(_ context.Context, thread string) (c graph.Commit, err error) {
	return c, m.locked("head", func() error {
		t := m.threads[thread]
		if t == nil || len(t.commits) == 0 {
			return graph.ErrNotFound
		}
		c = t.commits[len(t.commits)-1].Commit
		c.Deltas = nil
		return nil
	})
}

func (m *memStore) Load(_ context.Context, thread string, at graph.CommitID) (s graph.Snapshot, ds []graph.Delta, err error) {
	return s, ds, m.locked("load", func() error {
		t := m.threads[thread]
		if t == nil || !slices.ContainsFunc(t.commits, func(b graph.Batch) bool { return b.ID == at }) {
			return graph.ErrNotFound
		}
		for _, b := range t.commits {
			if b.ID > at {
				break
			}
			ds = append(ds, b.Deltas...)
			if b.Snapshot != nil {
				s, ds = graph.Snapshot{At: b.ID, Body: b.Snapshot}, nil
			}
		}
		return nil
	})
}

func (m *memStore) Commit(_ context.Context, l graph.Lease, b graph.Batch) (id graph.CommitID, err error) {
	return id, m.owned("commit", l, func(t *memThread) error {
		var head graph.CommitID
		if n := len(t.commits); n > 0 {
			head = t.commits[n-1].ID
		}
		if b.Parent != head {
			return graph.ErrConflict
		}
		m.lastID++
		id, b.ID = m.lastID, m.lastID
		b.Deltas = slices.Clone(b.Deltas)
		t.commits = append(t.commits, b)
		if !b.KeepPending {
			t.pending = nil
		}
		t.held = !b.Release
		return nil
	})
}

func (m *memStore) Pend(_ context.Context, l graph.Lease, r graph.TaskResult) error {
	return m.owned("pend", l, func(t *memThread) error {
		t.pends++
		t.pending = append(t.pending, r)
		return nil
	})
}

func (m *memStore) Pending(_ context.Context, thread string) (rs []graph.TaskResult, err error) {
	return rs, m.locked("pending", func() error {
		rs = slices.Clone(m.threads[thread].pending)
		slices.SortFunc(rs, func(a, b graph.TaskResult) int { return a.Delta.Rank - b.Delta.Rank })
		return nil
	})
}

func (m *memStore) Walk(_ context.Context, thread string, from graph.CommitID) iter.Seq2[graph.Commit, error] {
	return func(yield func(graph.Commit, error) bool) {
		m.mu.Lock()
		t := m.threads[thread]
		var commits []graph.Batch
		if t != nil {
			commits = t.commits // those there are now: others are put behind them
		}
		m.mu.Unlock()
		if t == nil {
			yield(graph.Commit{}, graph.ErrNotFound)
			return
		}
		for _, b := range slices.Backward(commits) {
			if (from == 0 || b.ID <= from) && !yield(b.Commit, nil) {
				return
			}
		}
	}
}

// history is the commits of thread t, oldest first.
func history(m *memStore) []graph.Commit {
	var out []graph.Commit
	for c, err := range m.Walk(context.Background(), "t", 0) {
		if err != nil {
			return nil
		}
		out = append(out, c)
	}
	slices.Reverse(out)
	return out
}

// Copy implements [graph.Copier].
func (m *memStore) Copy(_ context.Context, from string, at graph.CommitID, to string, pending []graph.TaskResult) error {
	return m.locked("copy", func() error {
		t := m.threads[from]
		if t == nil || m.threads[to] != nil {
			return graph.ErrNotFound
		}
		head := t.commits[len(t.commits)-1].ID
		if at == 0 {
			at = head
		}
		i := slices.IndexFunc(t.commits, func(b graph.Batch) bool { return b.ID == at })
		if i < 0 {
			return graph.ErrNotFound
		}
		if pending == nil && at == head {
			pending = t.pending
		}
		m.threads[to] = &memThread{commits: slices.Clone(t.commits[:i+1]), pending: slices.Clone(pending)}
		return nil
	})
}

// Prune implements [graph.Pruner].
func (m *memStore) Prune(_ context.Context, l graph.Lease, at graph.CommitID, base graph.Batch) error {
	return m.owned("prune", l, func(t *memThread) error {
		i := slices.IndexFunc(t.commits, func(b graph.Batch) bool { return b.ID == at })
		if i < 0 {
			return graph.ErrNotFound
		}
		b := t.commits[i]
		b.Parent, b.Run, b.Source, b.Deltas, b.Snapshot = 0, base.Run, graph.SourceBase, base.Deltas, base.Snapshot
		t.commits = append([]graph.Batch{b}, t.commits[i+1:]...)
		return nil
	})
}
