package checkpoint

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"strings"
	"sync"
	"time"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sqlite"
)

// Memory is a Store that ends with the process: for tests, and for programs
// that keep nothing. It gives back what [SQLite] would. Safe for concurrent use.
type Memory struct {
	mu      sync.Mutex
	last    graph.CommitID
	token   int64 // greatest of the deleted threads
	threads map[string]*thread
	runs    map[string][]string // run → its threads
	closed  bool
}

// thread is what Memory knows of one thread; Memory.mu guards it.
type thread struct {
	created time.Time
	first   graph.CommitID
	head    graph.CommitID
	commits map[graph.CommitID]memoryCommit
	runs    map[string]graph.CommitID // newest commit of each
	pending []graph.TaskResult
	inputs  int
	bytes   int64

	token int64
	owner string
	ttl   time.Duration
	until time.Time // zero when released
}

type memoryCommit struct {
	graph.Commit
	snapshot []byte
}

// NewMemory returns an empty store.
func NewMemory() *Memory {
	return &Memory{threads: map[string]*thread{}, runs: map[string][]string{}}
}

// lock begins an operation; the caller unlocks m.mu unless there is an error.
func (m *Memory) lock(ctx context.Context) error {
	if ctx.Err() != nil {
		return context.Cause(ctx)
	}
	m.mu.Lock()
	if m.closed {
		m.mu.Unlock()
		return sqlite.ErrClosed
	}
	return nil
}

// Acquire implements [graph.Store]; see [SQLite.Acquire].
func (m *Memory) Acquire(ctx context.Context, name string, o graph.AcquireOptions) (graph.Lease, error) {
	if err := errors.Join(checkThread(name), checkName("owner", o.Owner)); err != nil {
		return graph.Lease{}, fmt.Errorf("acquire thread: %w", err)
	}
	return untilFree(ctx, o.Wait, func() (graph.Lease, error) {
		if err := m.lock(ctx); err != nil {
			return graph.Lease{}, err
		}
		defer m.mu.Unlock()
		t, ok := m.threads[name]
		if !ok {
			t = m.newThread()
			m.threads[name] = t
		}
		now := time.Now()
		if t.until.After(now) && !o.Force {
			return graph.Lease{}, busyError(t.owner, t.until)
		}
		t.token++
		t.owner, t.ttl = o.Owner, ttlOrDefault(o.TTL)
		t.until = now.Add(t.ttl)
		return graph.Lease{Thread: name, Owner: o.Owner, Token: t.token, Head: t.head}, nil
	})
}

func (m *Memory) newThread() *thread {
	return &thread{
		created: micro(time.Now()), commits: map[graph.CommitID]memoryCommit{}, runs: map[string]graph.CommitID{}, token: m.token,
	}
}

// held returns the thread of a lease that was not lost.
func (m *Memory) held(l graph.Lease) (*thread, error) {
	t := m.threads[l.Thread]
	if t == nil || t.token != l.Token || t.until.IsZero() {
		return nil, superseded(l)
	}
	return t, nil
}

// Renew implements [graph.Store].
func (m *Memory) Renew(ctx context.Context, l graph.Lease, ttl time.Duration) error {
	if err := m.lock(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	t, err := m.held(l)
	if err != nil {
		return err
	}
	t.ttl = ttlOrDefault(ttl)
	t.until = time.Now().Add(t.ttl)
	return nil
}

// Release implements [graph.Store].
func (m *Memory) Release(ctx context.Context, l graph.Lease) error {
	if err := m.lock(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	if t, err := m.held(l); err == nil {
		t.owner, t.until = "", time.Time{}
	}
	return nil
}

// Commit implements [graph.Store]; see [SQLite.Commit].
func (m *Memory) Commit(ctx context.Context, l graph.Lease, b graph.Batch) (graph.CommitID, error) {
	b, err := cleanBatch(l.Thread, b, time.Now())
	if err != nil {
		return 0, fmt.Errorf("commit to thread %q: %w", l.Thread, err)
	}
	if err := m.lock(ctx); err != nil {
		return 0, err
	}
	defer m.mu.Unlock()
	t, err := m.held(l)
	if err != nil {
		return 0, fmt.Errorf("commit: %w", err)
	}
	if t.head != b.Parent {
		return 0, fmt.Errorf("commit: %w", conflict(l.Thread, t.head, b.Parent))
	}
	m.last++
	b.ID = m.last
	t.head = b.ID
	if t.first == 0 {
		t.first = b.ID
	}
	t.commits[b.ID] = memoryCommit{b.Commit, b.Snapshot}
	m.addRun(t, l.Thread, b.Commit)
	t.until = time.Now().Add(t.ttl)
	t.inputs += turns(b.Source)
	t.bytes += int64(bodyBytes(b.Deltas))
	if !b.KeepPending {
		t.pending = nil
	}
	if b.Release {
		t.owner, t.until = "", time.Time{}
	}
	return b.ID, nil
}

// Pend implements [graph.Store]; see [SQLite.Pend].
func (m *Memory) Pend(ctx context.Context, l graph.Lease, r graph.TaskResult) error {
	r, err := cleanResult(r)
	if err != nil {
		return fmt.Errorf("pend in thread %q: %w", l.Thread, err)
	}
	if err := m.lock(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	t, err := m.held(l)
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
func (m *Memory) Pending(ctx context.Context, name string) ([]graph.TaskResult, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	t := m.threads[name]
	if t == nil {
		return nil, nil
	}
	results := slices.Clone(t.pending)
	for i := range results {
		if err := cleanDelta(&results[i].Delta); err != nil { // a copy
			return nil, err
		}
	}
	return nilIfEmpty(results), nil
}

// locate returns a commit of a thread; 0 means its head.
func (m *Memory) locate(name string, at graph.CommitID) (*thread, memoryCommit, error) {
	t := m.threads[name]
	if t == nil {
		return nil, memoryCommit{}, notFound("thread %q", name)
	}
	if at == 0 {
		at = t.head
	}
	c, ok := t.commits[at]
	switch {
	case ok:
		return t, c, nil
	case at == 0:
		return nil, c, notFound("commit of thread %q", name)
	}
	return nil, c, notFound("thread %q, commit %d", name, at)
}

// Head implements [graph.Store].
func (m *Memory) Head(ctx context.Context, name string) (graph.Commit, error) {
	if err := m.lock(ctx); err != nil {
		return graph.Commit{}, err
	}
	defer m.mu.Unlock()
	_, c, err := m.locate(name, 0)
	if err != nil {
		return graph.Commit{}, fmt.Errorf("head: %w", err)
	}
	c.Deltas = nil
	return copyCommit(c.Commit)
}

// Load implements [graph.Store]; see [SQLite.Load].
func (m *Memory) Load(ctx context.Context, name string, at graph.CommitID) (graph.Snapshot, []graph.Delta, error) {
	if err := m.lock(ctx); err != nil {
		return graph.Snapshot{}, nil, err
	}
	defer m.mu.Unlock()
	t, c, err := m.locate(name, at)
	if err != nil {
		return graph.Snapshot{}, nil, fmt.Errorf("load: %w", err)
	}
	var line []graph.Commit
	for c.snapshot == nil {
		copied, err := copyCommit(c.Commit)
		if err != nil {
			return graph.Snapshot{}, nil, err
		}
		line = append(line, copied)
		if c.Parent == 0 {
			break
		}
		c = t.commits[c.Parent]
	}
	var deltas []graph.Delta
	for _, c := range slices.Backward(line) {
		deltas = append(deltas, c.Deltas...)
	}
	if c.snapshot == nil {
		return graph.Snapshot{}, deltas, nil
	}
	return graph.Snapshot{At: c.ID, Body: slices.Clone(c.snapshot)}, deltas, nil
}

// Walk implements [graph.Store].
func (m *Memory) Walk(ctx context.Context, name string, from graph.CommitID) iter.Seq2[graph.Commit, error] {
	return func(yield func(graph.Commit, error) bool) {
		for next := from; ; {
			c, err := m.commit(ctx, name, next)
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

func (m *Memory) commit(ctx context.Context, name string, at graph.CommitID) (graph.Commit, error) {
	if err := m.lock(ctx); err != nil {
		return graph.Commit{}, err
	}
	defer m.mu.Unlock()
	_, c, err := m.locate(name, at)
	if err != nil {
		return graph.Commit{}, err
	}
	return copyCommit(c.Commit)
}

// Threads implements [Store].
func (m *Memory) Threads(ctx context.Context) ([]Info, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	return m.list(), nil
}

func (m *Memory) list() []Info {
	var infos []Info
	for name, t := range m.threads {
		if t.head != 0 {
			head := t.commits[t.head]
			infos = append(infos, Info{
				Thread: name, Created: t.created, Touched: head.Time, First: t.first, Head: t.head,
				Status: head.Status, Inputs: t.inputs, Bytes: t.bytes,
			})
		}
	}
	slices.SortFunc(infos, func(a, b Info) int { return cmp.Compare(b.Head, a.Head) })
	return infos
}

// FindRun implements [Store].
func (m *Memory) FindRun(ctx context.Context, run string) (string, graph.CommitID, error) {
	if err := m.lock(ctx); err != nil {
		return "", 0, err
	}
	defer m.mu.Unlock()
	var thread string
	var last graph.CommitID
	for _, name := range m.runs[run] {
		if at := m.threads[name].runs[run]; last == 0 || at < last {
			thread, last = name, at
		}
	}
	if last == 0 {
		return "", 0, notFound("run %q", run)
	}
	return thread, last, nil
}

// Runs implements [Store].
func (m *Memory) Runs(ctx context.Context, prefix string) ([]string, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var ids []string
	for id := range m.runs {
		if strings.HasPrefix(id, prefix) {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	return ids[:min(len(ids), 100)], nil
}

// Close drops everything; the store then fails like a closed one.
func (m *Memory) Close() error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.closed, m.threads, m.runs = true, nil, nil
	return nil
}

// copyCommit returns a commit that shares nothing with c.
func copyCommit(c graph.Commit) (graph.Commit, error) {
	c.Frontier, c.Deltas = slices.Clone(c.Frontier), slices.Clone(c.Deltas)
	for i := range c.Deltas {
		if err := cleanDelta(&c.Deltas[i]); err != nil {
			return c, err
		}
	}
	return c, nil
}
