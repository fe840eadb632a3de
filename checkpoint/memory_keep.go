package checkpoint

import (
	"context"
	"fmt"
	"slices"
	"time"

	"example.com/ragflow/graph"
)

// Import implements [Keeper].
func (m *Memory) Import(ctx context.Context, a *Archive, name string) error {
	a, err := a.clean(name)
	if err != nil {
		return fmt.Errorf("import: %w", err)
	}
	if err := m.lock(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	t := m.threads[a.Thread]
	switch {
	case t == nil:
		t = m.newThread()
	case t.until.After(time.Now()):
		return fmt.Errorf("import thread %q: %w", a.Thread, busyError(t.owner, t.until))
	case t.head != 0:
		return fmt.Errorf("import thread %q: %w", a.Thread, ErrExists)
	}
	m.threads[a.Thread] = t
	t.created, t.pending = a.Created, a.Pending
	ids := a.idsAfter(m.last)
	for i, c := range a.Commits {
		if c.ID, c.Parent = ids[i], 0; i > 0 {
			c.Parent = ids[i-1]
		}
		t.commits[c.ID] = memoryCommit{Commit: c}
		m.addRun(t, a.Thread, c)
		t.inputs += turns(c.Source)
		t.bytes += int64(bodyBytes(c.Deltas))
	}
	t.first, t.head = ids[0], ids[len(ids)-1]
	m.last = t.head
	return nil
}

func (m *Memory) addRun(t *thread, name string, c graph.Commit) {
	if _, ok := t.runs[c.Run]; !ok {
		m.runs[c.Run] = append(m.runs[c.Run], name)
	}
	t.runs[c.Run] = c.ID
}

func (m *Memory) dropRun(t *thread, name, run string) {
	delete(t.runs, run)
	m.runs[run] = slices.DeleteFunc(m.runs[run], func(n string) bool { return n == name })
	if len(m.runs[run]) == 0 {
		delete(m.runs, run)
	}
}

// Prune implements [graph.Pruner].
func (m *Memory) Prune(ctx context.Context, l graph.Lease, at graph.CommitID, base graph.Batch) error {
	base, err := cleanBatch(l.Thread, base, time.Now())
	if err != nil {
		return fmt.Errorf("prune thread %q: %w", l.Thread, err)
	}
	if err := m.lock(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	if _, err := m.held(l); err != nil {
		return fmt.Errorf("prune: %w", err)
	}
	t, c, err := m.locate(l.Thread, at)
	if err != nil {
		return fmt.Errorf("prune: %w", err)
	}
	for next := c; ; next = t.commits[next.Parent] {
		t.inputs -= turns(next.Source)
		t.bytes -= int64(bodyBytes(next.Deltas))
		delete(t.commits, next.ID)
		if next.Parent == 0 {
			break
		}
	}
	for run, last := range t.runs {
		if last <= c.ID {
			m.dropRun(t, l.Thread, run)
		}
	}
	c.Parent, c.Run, c.Source, c.Deltas, c.snapshot = 0, base.Run, graph.SourceBase, base.Deltas, base.Snapshot
	t.commits[c.ID] = c
	t.first = c.ID
	m.addRun(t, l.Thread, c.Commit)
	t.bytes += int64(bodyBytes(c.Deltas))
	return nil
}

// Delete implements [Keeper].
func (m *Memory) Delete(ctx context.Context, threads ...string) error {
	if err := m.lock(ctx); err != nil {
		return err
	}
	defer m.mu.Unlock()
	for _, name := range threads {
		t := m.threads[name]
		switch {
		case t == nil:
			return notFound("delete: thread %q", name)
		case t.until.After(time.Now()):
			return fmt.Errorf("delete: thread %q: %w", name, busyError(t.owner, t.until))
		}
	}
	for _, name := range threads {
		m.forget(name)
	}
	return nil
}

// forget drops a thread, if it is there.
func (m *Memory) forget(name string) {
	t := m.threads[name]
	if t == nil {
		return
	}
	for run := range t.runs {
		m.dropRun(t, name, run)
	}
	m.token = max(m.token, t.token)
	delete(m.threads, name)
}

// Expire implements [Keeper].
func (m *Memory) Expire(ctx context.Context, before time.Time, dryRun bool) ([]Info, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	over := slices.DeleteFunc(m.list(), func(i Info) bool {
		return !i.Touched.Before(before) || m.threads[i.Thread].until.After(time.Now())
	})
	if !dryRun {
		for _, i := range over {
			m.forget(i.Thread)
		}
	}
	return nilIfEmpty(over), nil
}

// Vacuum implements [Keeper]; memory needs none.
func (m *Memory) Vacuum(ctx context.Context) error {
	if err := m.lock(ctx); err != nil {
		return err
	}
	m.mu.Unlock()
	return nil
}

// Snapshots implements [Keeper].
func (m *Memory) Snapshots(ctx context.Context, name string) ([]graph.CommitID, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	var ids []graph.CommitID
	if t := m.threads[name]; t != nil {
		for id, c := range t.commits {
			if c.snapshot != nil {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return ids, nil
}

// Verify implements [Keeper]. What memory holds was checked when it came.
func (m *Memory) Verify(ctx context.Context, threads ...string) ([]Finding, error) {
	if err := m.lock(ctx); err != nil {
		return nil, err
	}
	defer m.mu.Unlock()
	for _, name := range threads {
		if m.threads[name] == nil {
			return nil, notFound("verify: thread %q", name)
		}
	}
	return nil, nil
}
