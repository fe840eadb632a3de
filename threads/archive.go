package threads

import (
	"context"
	"encoding/json"
	"fmt"
	"io"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/stored"
	"example.com/ragflow/state"
)

// Export writes a thread as JSON lines with a checksum at the end. The same
// thread gives the same bytes.
func (l *Log) Export(ctx context.Context, thread string, w io.Writer) error {
	archive, err := l.store.Export(l.owned(ctx), thread, 0)
	if err != nil {
		return fmt.Errorf("export thread %q: %w", thread, err)
	}
	return archive.Write(w)
}

// Import adds a thread that Export wrote, under its own name or the given one,
// with its history, state and traces. It checks everything first: a damaged,
// foreign or oversized file is a *stored.ArchiveError and changes nothing. A
// taken name is graph.ErrExists.
func (l *Log) Import(ctx context.Context, r io.Reader, thread string) (Info, error) {
	archive, err := stored.ReadArchive(r, 0)
	if err != nil {
		return Info{}, err
	}
	if err := foldAll(archive.Commits, nil); err != nil {
		return Info{}, &stored.ArchiveError{Reason: err.Error()}
	}
	if err := l.store.Import(l.owned(ctx), archive, thread); err != nil {
		return Info{}, err
	}
	if thread == "" {
		thread = archive.Thread
	}
	return l.Info(ctx, thread)
}

// Backup writes all threads, as they are at one moment, to a new file;
// checkpoint.Restore reads it. Runs go on meanwhile.
func (l *Log) Backup(ctx context.Context, path string) error {
	f, ok := l.store.(file)
	if !ok {
		return fmt.Errorf("%w: back them up with its tools, or each with export", ErrServer)
	}
	if err := l.ofAll(ctx); err != nil {
		return err
	}
	return f.Backup(ctx, path)
}

// foldAll folds commits, oldest first, as a store does when it loads a thread. It
// calls each, which may be nil, with the state after every commit.
func foldAll(commits []graph.Commit, each func(graph.Commit, state.State) error) error {
	var s state.State
	for _, c := range commits {
		for _, d := range c.Deltas {
			if d.Error != "" || d.Path != "" || len(d.Body) == 0 {
				continue
			}
			var u state.Update
			err := json.Unmarshal(d.Body, &u)
			if err == nil {
				s, err = state.Apply(s, u)
			}
			if err != nil {
				return fmt.Errorf("commit %d, node %q: %w", c.ID, d.Node, err)
			}
		}
		if each == nil {
			continue
		}
		if err := each(c, s); err != nil {
			return err
		}
	}
	return nil
}
