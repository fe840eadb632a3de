package ragflow

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sqlite"
	"example.com/ragflow/state"
)

// Facts about threads and where they are kept; match them with errors.Is.
var (
	ErrThreadExists  = checkpoint.ErrExists               // the name of a new thread is taken
	ErrNothingToUndo = errors.New("nothing to take back") // the thread has no turn left in its log
	ErrSuperseded    = graph.ErrSuperseded                // another process took the thread over; nothing was saved
	ErrDrained       = graph.ErrDrained                   // Config.Drain was closed; the run can be resumed
	ErrDiskFull      = sqlite.ErrFull                     // nothing of the step was saved
	ErrDisk          = sqlite.ErrIO                       // the disk cannot be read or written
	ErrReadOnly      = sqlite.ErrReadOnly                 // the data folder cannot be written to
	ErrLocked        = sqlite.ErrLocked                   // another process, perhaps a stopped one, holds the database; nothing was saved
	ErrKey           = checkpoint.ErrKey                  // the threads are encrypted, and the key is missing or wrong
)

// Values of Config.Durability.
const (
	ProcessCrash = "process-crash" // a turn survives the death of the process
	PowerLoss    = "power-loss"    // a turn survives the loss of power too: each step is forced to the disk
)

func (c Config) durability() sqlite.Durability {
	if c.Durability == PowerLoss {
		return sqlite.PowerLoss
	}
	return sqlite.ProcessCrash
}

// Keyring gives the keys of encrypted threads.
type Keyring = checkpoint.Keyring

// ParseKeyring reads keys as RAGFLOW_THREAD_KEYS holds them: entries ID:KEY,
// separated by spaces or commas, the current key first, then those that older
// records still need. KEY is 32 bytes in base64. Empty gives nil: no encryption.
func ParseKeyring(text string) (*Keyring, error) { return checkpoint.ParseKeyring(text) }

// ArchiveError tells why a file is not a whole archive of a thread.
type ArchiveError = checkpoint.ArchiveError

// keeper returns a runner that edits threads. It runs no node.
func (a *Assistant) keeper() (*graph.Runner[state.State, state.Update], error) {
	plan, err := a.plan()
	if err != nil {
		return nil, err
	}
	return plan.Runner(graph.Options{
		Store: a.threads, Owner: checkpoint.ProcessOwner(), Clock: a.config.Clock, NewID: a.config.NewID,
	}), nil
}

func (a *Assistant) plan() (*graph.Plan[state.State, state.Update], error) {
	return graph.Compile(flow(a.config, skills{}))
}

// Undo takes the last turn of a thread back: its question, its answer, what
// later turns would know of it. The state is what it was before the question,
// and the turn is gone from [Assistant.Thread]; the log keeps it. A turn that
// has not ended is closed first. It may be called again, for the turn before.
// Errors: ErrNotFound, ErrBusy, ErrNothingToUndo.
func (a *Assistant) Undo(ctx context.Context, thread string) error {
	runner, err := a.keeper()
	if err != nil {
		return err
	}
	_, _, err = runner.Update(ctx, graph.Edit[state.State, state.Update]{
		Thread: thread, Wait: a.config.Wait, Source: graph.SourceUndo,
		Change: func(ctx context.Context, s state.State, head graph.Commit) ([]state.Update, error) {
			before, err := a.beforeLastTurn(ctx, thread, head.ID)
			if err != nil {
				return nil, err
			}
			var old state.State
			if before != 0 {
				if old, err = runner.StateAt(ctx, thread, before); err != nil {
					return nil, err
				}
			}
			return state.Restore(s, old), nil
		},
	})
	if err != nil {
		return fmt.Errorf("take back the last turn: %w", err)
	}
	return nil
}

// beforeLastTurn returns the commit before the last input that was not taken
// back; 0 where that was the first of all.
func (a *Assistant) beforeLastTurn(ctx context.Context, thread string, head graph.CommitID) (graph.CommitID, error) {
	undone := 0
	for c, err := range a.threads.Walk(ctx, thread, head) {
		switch {
		case err != nil:
			return 0, err
		case c.Source == graph.SourceUndo:
			undone++
		case c.Source == graph.SourceInput && undone > 0:
			undone--
		case c.Source == graph.SourceInput:
			return c.Parent, nil
		}
	}
	return 0, ErrNothingToUndo
}

// Fork makes a new thread that begins with the history and state of another,
// as they were at a run's end, at a commit, or now: at is the id of a run of
// the thread or its beginning, the number of a commit, or empty. The name of
// the new thread may be empty, too. Errors: ErrNotFound, ErrThreadExists,
// ErrAmbiguous.
func (a *Assistant) Fork(ctx context.Context, from, at, to string) (ThreadInfo, error) {
	commit, err := a.commitOf(ctx, from, at)
	if err != nil {
		return ThreadInfo{}, fmt.Errorf("fork thread %q: %w", from, err)
	}
	archive, err := checkpoint.Export(ctx, a.threads, from, commit)
	if err != nil {
		return ThreadInfo{}, fmt.Errorf("fork thread %q: %w", from, err)
	}
	if to == "" {
		to = a.config.NewID()
	}
	archive.Created = a.config.Clock()
	if err := a.threads.Import(ctx, archive, to); err != nil {
		return ThreadInfo{}, fmt.Errorf("fork thread %q: %w", from, err)
	}
	return a.info(ctx, to)
}

// commitOf resolves what a person means by a point of a thread; 0 is its head.
func (a *Assistant) commitOf(ctx context.Context, thread, at string) (graph.CommitID, error) {
	if at == "" {
		return 0, nil
	}
	var ids []string
	last := map[string]graph.CommitID{}
	for c, err := range a.threads.Walk(ctx, thread, 0) {
		if err != nil {
			return 0, err
		}
		if strconv.FormatInt(int64(c.ID), 10) == at {
			return c.ID, nil
		}
		if _, seen := last[c.Run]; !seen && strings.HasPrefix(c.Run, at) {
			ids = append(ids, c.Run)
			last[c.Run] = c.ID
		}
	}
	switch id, exact := last[at]; {
	case exact:
		return id, nil
	case len(ids) == 1:
		return last[ids[0]], nil
	case len(ids) > 1:
		return 0, fmt.Errorf("run %q: %w", at, ErrAmbiguous)
	}
	return 0, fmt.Errorf("run or commit %q: %w", at, ErrNotFound)
}

// info is the line of one thread in the list of threads.
func (a *Assistant) info(ctx context.Context, thread string) (ThreadInfo, error) {
	infos, err := a.threads.Threads(ctx)
	if err != nil {
		return ThreadInfo{}, fmt.Errorf("read thread %q: %w", thread, err)
	}
	i := slices.IndexFunc(infos, func(i checkpoint.Info) bool { return i.Thread == thread })
	if i < 0 {
		return ThreadInfo{}, fmt.Errorf("thread %q: %w", thread, ErrNotFound)
	}
	return a.threadInfo(ctx, infos[i])
}

// Export writes a thread as text: one JSON object a line, complete, with a
// checksum at its end. The same thread gives the same bytes.
func (a *Assistant) Export(ctx context.Context, thread string, w io.Writer) error {
	archive, err := checkpoint.Export(ctx, a.threads, thread, 0)
	if err != nil {
		return fmt.Errorf("export thread %q: %w", thread, err)
	}
	return archive.Write(w)
}

// Import reads what Export wrote and adds the thread, under its own name or the
// one given. History, state and traces are those of the thread that was
// exported. Everything is checked first: what is damaged, foreign, too large, or
// makes no state, is an *ArchiveError and changes nothing. A thread of that name
// is ErrThreadExists.
func (a *Assistant) Import(ctx context.Context, r io.Reader, thread string) (ThreadInfo, error) {
	archive, err := checkpoint.ReadArchive(r, 0)
	if err != nil {
		return ThreadInfo{}, err
	}
	if err := foldAll(archive.Commits, nil); err != nil {
		return ThreadInfo{}, &ArchiveError{Reason: err.Error()}
	}
	if err := a.threads.Import(ctx, archive, thread); err != nil {
		return ThreadInfo{}, err
	}
	if thread == "" {
		thread = archive.Thread
	}
	return a.info(ctx, thread)
}

// foldAll makes the state of commits, oldest first, as a store would load it,
// and calls each, which may be nil, with the state after every commit.
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

// Delete drops threads for good, and every text that no other thread has; no
// byte of them is left in the file. All or nothing: an unknown one is
// ErrNotFound, one that another run holds ErrBusy.
func (a *Assistant) Delete(ctx context.Context, threads ...string) error {
	if err := a.threads.Delete(ctx, threads...); err != nil {
		return err
	}
	return a.threads.Vacuum(ctx)
}

// SealThreads encrypts every record of the threads anew that is not under the
// current one of [Config].ThreadKeys, those too that were written without one,
// and returns how many. The older keys are then needed no more. Without keys, or
// without a data folder, it is an error that matches [ErrKey].
func (a *Assistant) SealThreads(ctx context.Context) (int, error) {
	s, ok := a.threads.(*checkpoint.SQLite)
	if !ok {
		return 0, fmt.Errorf("threads are kept in memory: %w", ErrKey)
	}
	n, err := s.Rotate(ctx)
	if err == nil && n > 0 {
		err = s.Vacuum(ctx)
	}
	return n, err
}

// ThreadsVerified tells what [Assistant.VerifyThreads] looked at and found. Its JSON is
// the schema of `ragflow threads verify --json`.
type ThreadsVerified struct {
	Threads  int                  `json:"threads"` // looked at
	Commits  int                  `json:"commits"`
	Findings []checkpoint.Finding `json:"findings"`
}

// VerifyThreads looks through threads, all of them and the file they are in where none
// is named: that SQLite finds no damage, every commit has its parent and every
// text its hash, counts and runs are right, every update is understood, each
// snapshot is what its past gives, and what is to run next is known. It changes
// nothing. Findings are no error; ErrNotFound is.
func (a *Assistant) VerifyThreads(ctx context.Context, threads ...string) (*ThreadsVerified, error) {
	found, err := a.threads.Verify(ctx, threads...)
	if err != nil {
		return nil, err
	}
	report := &ThreadsVerified{Findings: append([]checkpoint.Finding{}, found...)}
	if len(threads) == 0 {
		infos, err := a.threads.Threads(ctx)
		if err != nil {
			report.Findings = append(report.Findings, checkpoint.Finding{Problem: err.Error()})
			return report, nil //nolint:nilerr // what cannot be read is what verifying is to find
		}
		for _, i := range infos {
			threads = append(threads, i.Thread)
		}
	}
	for _, thread := range threads {
		report.Threads++
		find := func(at graph.CommitID, err error) {
			report.Findings = append(report.Findings, checkpoint.Finding{Thread: thread, Commit: at, Problem: err.Error()})
		}
		if err := a.verifyStates(ctx, thread, report, find); err != nil && ctx.Err() != nil {
			return nil, err
		} else if err != nil && !slices.ContainsFunc(found, func(f checkpoint.Finding) bool { return f.Thread == thread }) {
			find(0, err)
		}
	}
	return report, nil
}

// verifyStates folds a thread from its first commit on.
func (a *Assistant) verifyStates(ctx context.Context, thread string, report *ThreadsVerified, find func(graph.CommitID, error)) error {
	var commits []graph.Commit
	for c, err := range a.threads.Walk(ctx, thread, 0) {
		if errors.Is(err, ErrNotFound) {
			return nil // made, but never written to
		}
		if err != nil {
			return err
		}
		commits = append(commits, c)
	}
	slices.Reverse(commits)
	report.Commits += len(commits)
	snapshots, err := a.threads.Snapshots(ctx, thread)
	if err != nil {
		return err
	}
	plan, err := a.plan()
	if err != nil {
		return err
	}
	err = foldAll(commits, func(c graph.Commit, s state.State) error {
		if c.Fingerprint == plan.Fingerprint() {
			for _, node := range c.Frontier {
				if !slices.Contains(plan.Nodes(), node) {
					find(c.ID, fmt.Errorf("node %q is to run next, but there is none", node))
				}
			}
		}
		if !slices.Contains(snapshots, c.ID) {
			return nil
		}
		if same, err := a.sameState(ctx, c, s); err != nil {
			find(c.ID, err)
		} else if !same {
			find(c.ID, errors.New("the snapshot is not what the commits before it give"))
		}
		return nil
	})
	if err != nil {
		find(0, err)
	}
	return nil
}

// sameState reports whether the snapshot at a commit holds a state. Both go
// through the same type, so that fields of other versions do not matter.
func (a *Assistant) sameState(ctx context.Context, c graph.Commit, s state.State) (bool, error) {
	snapshot, _, err := a.threads.Load(ctx, c.Thread, c.ID)
	if err != nil {
		return false, err
	}
	var kept state.State
	if err := json.Unmarshal(snapshot.Body, &kept); err != nil {
		return false, fmt.Errorf("snapshot: %w", err)
	}
	want, err := json.Marshal(s)
	if err != nil {
		return false, err
	}
	got, err := json.Marshal(kept)
	return bytes.Equal(got, want), err
}
