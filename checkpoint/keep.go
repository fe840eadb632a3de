package checkpoint

import (
	"context"
	"fmt"
	"slices"
	"time"

	"example.com/ragflow/graph"
)

// Keeper is what a store does with whole threads.
type Keeper interface {
	// Import adds a thread as the archive holds it, under the given name or,
	// where that is empty, its own: all or nothing. Runs keep their ids.
	// Commits keep theirs where all are greater than any the store has given,
	// else they get new ones in the same order. A thread that has a commit is
	// [graph.ErrExists], one that is held [graph.ErrBusy].
	Import(ctx context.Context, a *Archive, thread string) error
	graph.Pruner
	// Delete drops threads and every text that no other thread has: all or
	// nothing. An unknown one is [graph.ErrNotFound], one that is held
	// [graph.ErrBusy]. Nothing keeps the leases of deleted threads.
	Delete(ctx context.Context, threads ...string) error
	// Expire deletes the threads whose newest commit was made before a time, all
	// or nothing, and returns them as Threads lists them. Those that somebody
	// holds stay. A dry run only returns what it would delete.
	Expire(ctx context.Context, before time.Time, dryRun bool) ([]Info, error)
	// Vacuum gives the room of what was dropped back to the disk, so that
	// nothing of it is left in the file.
	Vacuum(ctx context.Context) error
	// Snapshots returns the commits of a thread that have one, oldest first.
	Snapshots(ctx context.Context, thread string) ([]graph.CommitID, error)
	// Verify looks through threads, all of them where none is named and then
	// the file as a whole too, for what should not be. An error means that it
	// could not look. What bodies mean is for the caller to check.
	Verify(ctx context.Context, threads ...string) ([]Finding, error)
}

// Finding is something in a store that should not be.
type Finding struct {
	Thread  string         `json:"thread"` // empty where it is about the file
	Commit  graph.CommitID `json:"commit"` // 0 where it is not about one commit
	Problem string         `json:"problem"`
}

func (f Finding) String() string {
	switch {
	case f.Thread == "":
		return f.Problem
	case f.Commit == 0:
		return fmt.Sprintf("thread %q: %s", f.Thread, f.Problem)
	}
	return fmt.Sprintf("thread %q, commit %d: %s", f.Thread, f.Commit, f.Problem)
}

// Export copies a thread out of a store, up to a commit, or up to its head and
// with its pending results where that is 0.
func Export(ctx context.Context, s Store, thread string, at graph.CommitID) (*Archive, error) {
	infos, err := s.Threads(ctx)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(infos, func(i Info) bool { return i.Thread == thread })
	if i < 0 {
		return nil, notFound("thread %q", thread)
	}
	for {
		head, err := s.Head(ctx, thread)
		if err != nil {
			return nil, err
		}
		a := &Archive{Thread: thread, Created: infos[i].Created}
		from := at
		if at == 0 || at == head.ID {
			from = head.ID
			if a.Pending, err = s.Pending(ctx, thread); err != nil {
				return nil, err
			}
		}
		for c, err := range s.Walk(ctx, thread, from) {
			if err != nil {
				return nil, err
			}
			a.Commits = append(a.Commits, c)
		}
		slices.Reverse(a.Commits)
		// Pending results belong to the head; one that moved meanwhile has others.
		if now, err := s.Head(ctx, thread); err != nil || now.ID == head.ID || from != head.ID {
			return a, err
		}
	}
}

// Copy implements [graph.Copier]; a name that is taken is [graph.ErrExists].
func (s *SQLite) Copy(ctx context.Context, from string, at graph.CommitID, to string, pending []graph.TaskResult) error {
	return copyThread(ctx, s, s.clock(), from, at, to, pending)
}

func copyThread(ctx context.Context, s Store, now time.Time, from string, at graph.CommitID, to string, pending []graph.TaskResult) error {
	if err := graph.CheckThread(to); err != nil {
		return fmt.Errorf("copy thread %q: %w", from, err)
	}
	a, err := Export(ctx, s, from, at)
	if err != nil {
		return fmt.Errorf("copy thread %q: %w", from, err)
	}
	a.Created = now
	if pending != nil {
		a.Pending = pending
	}
	return s.Import(ctx, a, to)
}

// idsAfter returns new ids for the commits of an archive: their own where they
// come after all that were given, else the next ones.
func (a *Archive) idsAfter(last graph.CommitID) []graph.CommitID {
	const most = 1 << 40 // leaves room for ids that JSON numbers can hold
	ids := make([]graph.CommitID, len(a.Commits))
	own := a.Commits[0].ID > last && a.Commits[len(ids)-1].ID <= most
	for i := range ids {
		if ids[i] = last + 1 + graph.CommitID(i); own {
			ids[i] = a.Commits[i].ID
		}
	}
	return ids
}

// turns is what a commit adds to the number of turns of its thread.
func turns(s graph.Source) int {
	switch s {
	case graph.SourceInput:
		return 1
	case graph.SourceUndo:
		return -1
	default:
		return 0
	}
}

func bodyBytes(deltas []graph.Delta) (n int) {
	for _, d := range deltas {
		n += len(d.Body)
	}
	return n
}

// clean checks an archive that did not come from [ReadArchive], and returns a
// copy of it.
func (a *Archive) clean(thread string) (*Archive, error) {
	if len(a.Commits) == 0 {
		return nil, &ArchiveError{0, "no commits"}
	}
	if thread == "" {
		thread = a.Thread
	}
	if err := graph.CheckThread(thread); err != nil {
		return nil, err
	}
	out := &Archive{Thread: thread, Created: micro(a.Created)}
	for _, c := range a.Commits {
		l := commitLine{
			ID: c.ID, Parent: c.Parent, Run: c.Run, Step: c.Step, Source: c.Source, Status: c.Status,
			Time: c.Time, Fingerprint: c.Fingerprint, Frontier: c.Frontier, Error: c.Error,
		}
		for _, d := range c.Deltas {
			l.Deltas = append(l.Deltas, deltaLine{Rank: d.Rank, Path: d.Path, Node: d.Node, Body: d.Body, Error: d.Error, Notes: d.Notes})
		}
		if err := out.add(l); err != nil {
			return nil, &ArchiveError{0, fmt.Sprintf("commit %d: %v", c.ID, err)}
		}
	}
	for _, result := range a.Pending {
		p, err := graph.NormalizeResult(result)
		if err != nil {
			return nil, &ArchiveError{0, err.Error()}
		}
		out.Pending = append(out.Pending, p)
	}
	return out, nil
}
