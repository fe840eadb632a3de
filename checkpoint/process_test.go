package checkpoint_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
)

// childMode makes the test binary act as another process on the same store.
const childMode = "CHECKPOINT_TEST_CHILD"

func TestMain(m *testing.M) {
	if mode := os.Getenv(childMode); mode != "" {
		if err := child(mode, os.Args[1], os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		os.Exit(0)
	}
	os.Exit(m.Run())
}

// child writes to the store at path until it has done its work or is killed.
// It prints the id of each commit after it was acknowledged.
func child(mode, path string, out io.Writer) error {
	ctx := context.Background()
	s, err := checkpoint.Open(ctx, path, checkpoint.Options{})
	if err != nil {
		return err
	}
	switch mode {
	case "turns": // shares a thread with others
		for range 25 {
			id, err := sharedTurn(ctx, s, "shared")
			if err != nil {
				return err
			}
			fmt.Fprintln(out, id)
		}
		return s.Close()
	case "endless": // writes as fast as it can, until killed
		lease, err := s.Acquire(ctx, "t", graph.AcquireOptions{TTL: time.Hour}) // the next child takes it over at once
		if err != nil {
			return err
		}
		head, err := s.Head(ctx, "t")
		if err != nil && !errors.Is(err, graph.ErrNotFound) {
			return err
		}
		for at := head.ID; ; {
			b := graph.Batch{Commit: graph.Commit{Parent: at, Run: fmt.Sprint("run ", at), Source: graph.SourceInput, Status: graph.Completed, Deltas: []graph.Delta{
				{Node: "n", Body: fmt.Appendf(nil, `{"after":%d,"text":"%s"}`, at, strings.Repeat(fmt.Sprint(at, " "), 100))},
				{Node: "m", Rank: 1},
			}}}
			if at%10 == 0 {
				b.Snapshot = fmt.Appendf(nil, `{"after":%d}`, at)
			}
			if at, err = s.Commit(ctx, lease, b); err != nil {
				return err
			}
			fmt.Fprintln(out, at)
		}
	}
	return childFault(ctx, s, mode, path, out)
}

// sharedTurn waits for a thread, adds a commit to its head and lets go.
func sharedTurn(ctx context.Context, s *checkpoint.SQLite, thread string) (graph.CommitID, error) {
	l, err := s.Acquire(ctx, thread, graph.AcquireOptions{Owner: checkpoint.ProcessOwner(), TTL: time.Minute, Wait: time.Minute})
	if err != nil {
		return 0, err
	}
	head, err := s.Head(ctx, thread)
	if err != nil && !errors.Is(err, graph.ErrNotFound) {
		return 0, err
	}
	id, err := s.Commit(ctx, l, graph.Batch{Commit: graph.Commit{
		Parent: head.ID, Run: "shared", Source: graph.SourceInput, Status: graph.Completed, Deltas: []graph.Delta{{Node: "n", Body: []byte(`{}`)}},
	}})
	return id, errors.Join(err, s.Release(ctx, l))
}

func command(t *testing.T, mode, path string) *exec.Cmd {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, path)
	cmd.Env = append(os.Environ(), childMode+"="+mode)
	return cmd
}

// TestProcessesShareAThread lets two processes and two handles of this one take
// turns on one thread. Nobody may see a lock, and nothing may be lost.
func TestProcessesShareAThread(t *testing.T) {
	path := filepath.Join(t.TempDir(), "threads.db")
	var mu sync.Mutex
	acknowledged := map[string]bool{}
	note := func(id string) {
		mu.Lock()
		defer mu.Unlock()
		acknowledged[id] = true
	}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			out, err := command(t, "turns", path).Output()
			if exit, ok := errors.AsType[*exec.ExitError](err); ok {
				t.Errorf("child: %v: %s", err, exit.Stderr)
			} else if err != nil {
				t.Errorf("child: %v", err)
			}
			for id := range strings.FieldsSeq(string(out)) {
				note(id)
			}
		})
		wg.Go(func() {
			s, err := checkpoint.Open(t.Context(), path, checkpoint.Options{})
			if err != nil {
				t.Error(err)
				return
			}
			defer func() { _ = s.Close() }()
			for range 25 {
				id, err := sharedTurn(t.Context(), s, "shared")
				if err != nil {
					t.Error(err)
					return
				}
				note(fmt.Sprint(id))
			}
		})
	}
	wg.Wait()
	s := open(t, path)
	defer func() { _ = s.Close() }()
	n := 0
	for c, err := range s.Walk(t.Context(), "shared", 0) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; !acknowledged[fmt.Sprint(c.ID)] {
			t.Errorf("commit %d was not acknowledged", c.ID)
		}
	}
	if n != 100 || len(acknowledged) != 100 {
		t.Errorf("%d commits in line, %d acknowledged, want 100 of each", n, len(acknowledged))
	}
}

// TestKilled kills a writing process again and again. Its acknowledged commits must be there, whole, and the
// next process must get the thread at once.
func TestKilled(t *testing.T) {
	path := filepath.Join(t.TempDir(), "threads.db")
	var last string
	acknowledged := 0
	for kill := range 20 {
		cmd := command(t, "endless", path)
		stdout, err := cmd.StdoutPipe()
		if err != nil {
			t.Fatal(err)
		}
		var problem strings.Builder
		cmd.Stderr = &problem
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		lines := bufio.NewScanner(stdout)
		for n := 0; lines.Scan(); n++ {
			last = lines.Text()
			acknowledged++
			if n == 1+kill*3 {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait() // it was killed
		if problem.Len() > 0 {
			t.Fatalf("child %d: %s", kill, problem.String())
		}
		checkChain(t, path, last)
	}
	t.Logf("20 kills, %d acknowledged commits", acknowledged)
}

// checkChain looks at all that "endless" wrote: every commit from the head back
// is whole, and last, which was acknowledged, is among them.
func checkChain(t *testing.T, path, last string) {
	t.Helper()
	s := open(t, path)
	defer func() { _ = s.Close() }()
	found := false
	for c, err := range s.Walk(t.Context(), "t", 0) {
		if err != nil {
			t.Fatal(err)
		}
		found = found || fmt.Sprint(c.ID) == last
		want := fmt.Sprintf(`{"after":%d,"text":"%s"}`, c.Parent, strings.Repeat(fmt.Sprint(c.Parent, " "), 100))
		if len(c.Deltas) != 2 || string(c.Deltas[0].Body) != want || c.Deltas[1].Node != "m" {
			t.Fatalf("commit %d is not whole: %v", c.ID, c.Deltas)
		}
	}
	if !found {
		t.Fatalf("acknowledged commit %s is gone", last)
	}
	if _, _, err := s.Load(t.Context(), "t", 0); err != nil {
		t.Fatal(err)
	}
}
