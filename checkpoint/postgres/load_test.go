package postgres_test

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ragflow/checkpoint/postgres"
	"example.com/ragflow/graph"
)

const (
	loadThreads   = 50
	loadProcesses = 2
	loadWriters   = 16 // of each process
)

// TestMain turns the test binary into a process of writers if the variable is set.
func TestMain(m *testing.M) {
	if address := os.Getenv("RAGFLOW_LOAD_CHILD"); address != "" {
		if err := writeTurns(address, os.Getenv("RAGFLOW_LOAD_NAME"), os.Stdin, os.Stdout); err != nil {
			fmt.Fprintln(os.Stderr, err)
			os.Exit(1)
		}
		return
	}
	os.Exit(m.Run())
}

// writeTurns writes turns to random threads until in ends, and prints each that was
// acknowledged. A turn is an input, a result that is pending, and the commit of the result
// that releases the lease, as a run of the engine writes them.
func writeTurns(address, name string, in io.Reader, out io.Writer) error {
	ctx := context.Background()
	s, err := postgres.Open(ctx, address, postgres.Options{})
	if err != nil {
		return err
	}
	over := make(chan struct{})
	go func() { // ends with the process
		_, _ = io.Copy(io.Discard, in)
		close(over)
	}()
	var mu sync.Mutex
	var all sync.WaitGroup
	for w := range loadWriters {
		all.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-over:
					return
				default:
				}
				turn := fmt.Sprintf("%s-%d-%d", name, w, n)
				thread := strconv.Itoa(rand.IntN(loadThreads))
				err := writeTurn(ctx, s, thread, turn)
				mu.Lock()
				if err == nil {
					fmt.Fprintln(out, "ok", turn)
				} else {
					fmt.Fprintln(out, "failed", turn, err)
				}
				mu.Unlock()
			}
		})
	}
	all.Wait()
	return s.Close()
}

func writeTurn(ctx context.Context, s *postgres.Store, thread, turn string) error {
	l, err := s.Acquire(ctx, thread, graph.AcquireOptions{Owner: turn, TTL: 15 * time.Second, Wait: time.Minute})
	if err != nil {
		return err
	}
	message := func(role string) []graph.Delta {
		return []graph.Delta{{Node: role, Body: fmt.Appendf(nil, `{"messages":[{"put":{"id":"%s-%s","role":"%s","content":"%s"}}]}`, turn, role, role, strings.Repeat("word ", 40))}}
	}
	at, err := s.Commit(ctx, l, graph.Batch{Commit: graph.Commit{Parent: l.Head, Run: turn, Source: graph.SourceInput, Status: graph.Running, Deltas: message("human")}})
	if err != nil {
		return err
	}
	if err := s.Pend(ctx, l, graph.TaskResult{Run: turn, Step: 1, Attempt: 1, Delta: message("ai")[0]}); err != nil {
		return err
	}
	_, err = s.Commit(ctx, l, graph.Batch{Release: true, Commit: graph.Commit{Parent: at, Run: turn, Step: 1, Source: graph.SourceLoop, Status: graph.Completed, Deltas: message("ai")}})
	return err
}

// TestLoadIntegration lets two processes with 16 writers each share 50 threads while the server is restarted
// and killed: every acknowledged turn is in its thread once and whole, and so is every turn without an
// acknowledgement. It takes RAGFLOW_LOAD_SECONDS, 30 without.
func TestLoadIntegration(t *testing.T) {
	address := schema(t)
	script := os.Getenv("RAGFLOW_TEST_POSTGRES_SCRIPT")
	if script == "" {
		t.Log("the server is not restarted, because scripts/servers/postgres did not start it")
	} else {
		address = ownServer(t, script)
	}
	s := open(t, address)
	seconds, err := strconv.Atoi(os.Getenv("RAGFLOW_LOAD_SECONDS"))
	if err != nil {
		seconds = 30
	}
	var mu sync.Mutex
	acknowledged, failed := map[string]bool{}, map[string]string{}
	var readers sync.WaitGroup
	var stop []io.Closer
	var children []*exec.Cmd
	for i := range loadProcesses {
		c := exec.CommandContext(t.Context(), os.Args[0])
		c.Env = append(os.Environ(), "RAGFLOW_LOAD_CHILD="+address, fmt.Sprint("RAGFLOW_LOAD_NAME=p", i))
		c.Stderr = os.Stderr
		in, err1 := c.StdinPipe()
		out, err2 := c.StdoutPipe()
		if err := errors.Join(err1, err2, c.Start()); err != nil {
			t.Fatal(err)
		}
		stop, children = append(stop, in), append(children, c)
		readers.Go(func() {
			for lines := bufio.NewScanner(out); lines.Scan(); {
				what, rest, _ := strings.Cut(lines.Text(), " ")
				turn, why, _ := strings.Cut(rest, " ")
				mu.Lock()
				if what == "ok" {
					acknowledged[turn] = true
				} else {
					failed[turn] = why
				}
				mu.Unlock()
			}
		})
	}
	began, restarts := time.Now(), 0
	for end := began.Add(time.Duration(seconds) * time.Second); time.Now().Before(end); {
		pause(t, min(time.Until(end), 7*time.Second))
		if script == "" || time.Until(end) < 5*time.Second {
			continue
		}
		how := []string{"restart", "crash"}[restarts%2]
		if out, err := exec.CommandContext(t.Context(), script, how).CombinedOutput(); err != nil {
			t.Fatalf("%s: %v\n%s", how, err, out)
		}
		restarts++
	}
	for _, c := range stop {
		_ = c.Close() // the writers finish their turns
	}
	readers.Wait()
	elapsed := time.Since(began)
	for _, c := range children {
		if err := c.Wait(); err != nil {
			t.Error(err)
		}
	}
	count := map[string]int{}
	for i := range loadThreads {
		for c, err := range s.Walk(t.Context(), strconv.Itoa(i), 0) {
			if errors.Is(err, graph.ErrNotFound) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
			for _, d := range c.Deltas {
				var u struct {
					Messages []struct{ Put struct{ ID string } }
				}
				if err := json.Unmarshal(d.Body, &u); err != nil {
					t.Fatal(err)
				}
				count[u.Messages[0].Put.ID]++
			}
		}
	}
	for turn := range acknowledged {
		for _, m := range []string{turn + "-human", turn + "-ai"} {
			if count[m] != 1 {
				t.Errorf("message %s of an acknowledged turn is there %d times", m, count[m])
			}
		}
	}
	for m, n := range count {
		if n > 1 {
			t.Errorf("message %s is there %d times", m, n)
		}
	}
	for turn, why := range failed {
		t.Logf("turn %s was not acknowledged (%d of 2 messages are there): %s", turn, count[turn+"-human"]+count[turn+"-ai"], why)
	}
	if found, err := s.Verify(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("Verify: %v, %v", found, err)
	}
	if len(acknowledged) < 100 {
		t.Errorf("only %d turns in %v", len(acknowledged), elapsed)
	}
	t.Logf("%d turns acknowledged in %.0f s (%.0f a second), %d not, with %d restarts of the server",
		len(acknowledged), elapsed.Seconds(), float64(len(acknowledged))/elapsed.Seconds(), len(failed), restarts)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
}

// ownServer starts a server that the test may restart while other tests use theirs, and
// makes the script control it. It returns its URL.
func ownServer(t *testing.T, script string) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "load-") //nolint:usetesting // readable for the user of the server, as t.TempDir is not
	if err == nil {
		err = os.Chmod(dir, 0o755)
	}
	if err != nil {
		t.Fatal(err)
	}
	t.Setenv("RAGFLOW_POSTGRES_DIR", filepath.Join(dir, "server"))
	t.Cleanup(func() {
		if out, err := exec.CommandContext(context.WithoutCancel(t.Context()), script, "stop").CombinedOutput(); err != nil {
			t.Errorf("stop: %v\n%s", err, out)
		}
		_ = os.Remove(dir)
	})
	out, err := exec.CommandContext(t.Context(), script, "start").Output()
	if err != nil {
		t.Fatalf("start: %v", err)
	}
	return strings.TrimSpace(string(out))
}

func pause(t *testing.T, d time.Duration) {
	t.Helper()
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-t.Context().Done():
		t.Fatal(t.Context().Err())
	}
}
