package checkpoint_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sqlite"
)

// endlessTurns lets the process "endless" acknowledge so many commits, kills it and returns the last one
// acknowledged.
func endlessTurns(t *testing.T, path string, n int) (last string) {
	t.Helper()
	cmd := command(t, "endless", path)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	var lines strings.Builder
	buffer := make([]byte, 64)
	for strings.Count(lines.String(), "\n") < n {
		k, err := stdout.Read(buffer)
		if err != nil {
			t.Fatalf("the child ended early: %v", err)
		}
		lines.Write(buffer[:k])
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	rest, _ := io.ReadAll(stdout) // whatever was told before the kill
	_ = cmd.Wait()                // it was killed
	lines.Write(rest)
	all := strings.Split(strings.TrimSuffix(lines.String(), "\n"), "\n")
	return all[len(all)-1]
}

func copyFile(t *testing.T, from, to string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err == nil {
		err = os.WriteFile(to, data, 0o600)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestTornLog kills a writer and breaks its write-ahead log at random places, as a machine that loses power
// may. The remaining thread is whole and ends at one of the commits; nothing is garbage, and it can be
// written to.
func TestTornLog(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "threads.db")
	endlessTurns(t, path, 60)
	wal, err := os.ReadFile(path + "-wal")
	if err != nil || len(wal) == 0 || len(wal) > 1000*4096 {
		t.Fatalf("a log of %d bytes, %v: want one that was never moved to the file", len(wal), err)
	}
	whole := filepath.Join(dir, "whole.db")
	copyFile(t, path, whole)
	copyFile(t, path+"-wal", whole+"-wal")
	s := open(t, whole)
	written := checkPrefix(t, s) // the writer may have gone on before the kill
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	random := rand.New(rand.NewPCG(1, 2))
	shorter := 0
	for n := range 60 {
		torn := filepath.Join(dir, fmt.Sprint("torn-", n, ".db"))
		copyFile(t, path, torn)
		broken := append([]byte{}, wal...)
		at := random.IntN(len(broken))
		switch n % 3 {
		case 0:
			broken = broken[:at]
		case 1:
			broken[at] ^= 0x55
		case 2: // a sector that never reached the disk
			at -= at % 512
			clear(broken[at:min(at+512, len(broken))])
		}
		if err := os.WriteFile(torn+"-wal", broken, 0o600); err != nil {
			t.Fatal(err)
		}
		s := open(t, torn)
		length := checkPrefix(t, s)
		if length < written {
			shorter++
		}
		if findings, err := s.Verify(t.Context()); err != nil || len(findings) > 0 {
			t.Errorf("log broken at %d: %v, %v", at, findings, err)
		}
		if _, err := sharedTurn(t.Context(), s, "t"); err != nil {
			t.Errorf("write after recovery: %v", err)
		}
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if shorter < 20 {
		t.Errorf("only %d of 60 logs lost commits: not what this test is about", shorter)
	}
}

// checkPrefix looks at what "endless" wrote, and returns how many commits of it
// there are.
func checkPrefix(t *testing.T, s *checkpoint.SQLite) (n int) {
	t.Helper()
	for c, err := range s.Walk(t.Context(), "t", 0) {
		if errors.Is(err, graph.ErrNotFound) {
			return 0 // the thread itself was lost
		}
		if err != nil {
			t.Fatal(err)
		}
		want := fmt.Sprintf(`{"after":%d,"text":"%s"}`, c.Parent, strings.Repeat(fmt.Sprint(c.Parent, " "), 100))
		if len(c.Deltas) != 2 || string(c.Deltas[0].Body) != want {
			t.Fatalf("commit %d is not whole: %v", c.ID, c.Deltas)
		}
		n++
	}
	return n
}

// TestKilledInATransaction kills a process that holds the writer's lock: it
// dies with the process, and so does what was not committed.
func TestKilledInATransaction(t *testing.T) {
	path := filepath.Join(t.TempDir(), "threads.db")
	last := endlessTurns(t, path, 3)
	cmd := command(t, "holding", path)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	if _, err := io.ReadFull(stdout, make([]byte, len("holding\n"))); err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait() // it was killed
	s := open(t, path)
	defer func() { _ = s.Close() }()
	began := time.Now()
	if _, err := sharedTurn(t.Context(), s, "other"); err != nil || time.Since(began) > 5*time.Second {
		t.Errorf("after the writer died: %v, in %v", err, time.Since(began))
	}
	checkChain(t, path, last)
}

// TestClockGoesBack lets a writer of another host take a thread while the clock
// is an hour ahead. Once it went back, the lease seems to live for an hour; who
// waits sees that nobody renews it.
func TestClockGoesBack(t *testing.T) {
	path := filepath.Join(t.TempDir(), "threads.db")
	offset := time.Hour
	s, err := checkpoint.Open(t.Context(), path, checkpoint.Options{Clock: func() time.Time { return time.Now().Add(offset) }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	const ttl = 200 * time.Millisecond
	lost, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{Owner: "elsewhere/1/x", TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	first, err := s.Commit(t.Context(), lost, graph.Batch{Commit: graph.Commit{Run: "r", Source: graph.SourceInput, Status: graph.Completed}})
	if err != nil {
		t.Fatal(err)
	}
	offset = 0
	if _, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{Owner: "me", TTL: ttl}); !errors.Is(err, graph.ErrBusy) {
		t.Errorf("without waiting: error = %v, want ErrBusy", err)
	}
	l, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{Owner: "me", TTL: ttl, Wait: 10 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(t.Context(), lost, graph.Batch{Commit: graph.Commit{Run: "r", Parent: first}}); !errors.Is(err, graph.ErrSuperseded) {
		t.Errorf("the old writer: error = %v, want ErrSuperseded", err)
	}
	second, err := s.Commit(t.Context(), l, graph.Batch{Commit: graph.Commit{Run: "r2", Parent: first, Source: graph.SourceInput, Status: graph.Completed}})
	if err != nil || second <= first {
		t.Fatalf("commit %d after %d, %v", second, first, err)
	}
	if err := s.Release(t.Context(), l); err != nil {
		t.Fatal(err)
	}
	if _, err := sharedTurn(t.Context(), s, "newer"); err != nil {
		t.Fatal(err)
	}
	page, err := s.Threads(t.Context(), graph.ThreadQuery{})
	if err != nil || len(page.Threads) != 2 || page.Threads[0].Thread != "newer" {
		t.Errorf("threads = %v, %v, want the one written last first, whatever its time", page, err)
	}
}

// TestRenewedLeaseIsKept waits for a thread whose owner renews it all the time.
func TestRenewedLeaseIsKept(t *testing.T) {
	s := open(t, ":memory:")
	defer func() { _ = s.Close() }()
	const ttl = 100 * time.Millisecond
	l, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{Owner: "a", TTL: ttl})
	if err != nil {
		t.Fatal(err)
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		for range 30 {
			time.Sleep(ttl / 5)
			if err := s.Renew(t.Context(), l, ttl); err != nil {
				t.Error(err)
				return
			}
		}
	}()
	_, err = s.Acquire(t.Context(), "t", graph.AcquireOptions{Owner: "b", TTL: ttl, Wait: 4 * ttl})
	if !errors.Is(err, graph.ErrBusy) {
		t.Errorf("error = %v, want ErrBusy", err)
	}
	<-done
}

// TestVerifyFinds breaks a store in ways that SQLite does not see.
func TestVerifyFinds(t *testing.T) {
	for _, tt := range []struct{ name, breakage, want string }{
		{"a body is no JSON", `UPDATE commits SET body = '{"broken' WHERE id = 2`, "not valid JSON"},
		{"a body was changed", `UPDATE commits SET body = '{}' WHERE id = 2`, "its updates have 2 bytes"},
		{"a delta is gone", `DELETE FROM deltas WHERE at = 2 AND n = 1`, "a delta is missing"},
		{"deltas are swapped", `UPDATE deltas SET rank = 7 WHERE at = 2 AND n = 1`, "out of order"},
		{"the first delta is not the first", `UPDATE kinds SET rank = 7 WHERE id = (SELECT kind FROM commits WHERE id = 2)`, "out of order"},
		{"a commit is gone", `DELETE FROM deltas WHERE at = 2; DELETE FROM commits WHERE id = 2`, "its parent, commit 2, is missing"},
		{"a parent is gone", `UPDATE commits SET parent = NULL WHERE id = 3`, "the oldest commit is 3"},
		{"a commit of nobody", `INSERT INTO commits(id, thread, kind, step, time, bytes, deltas) SELECT 99, thread, kind, 1, time, 0, 0 FROM commits WHERE id = 3`, `commit 99: no thread leads to it`},
		{"the head is another", `UPDATE threads SET head = 2`, `commit 4: no thread leads to it`},
		{"the head is gone", `UPDATE threads SET head = 77`, "the head, commit 77, is missing"},
		{"a commit is that of another thread", `UPDATE commits SET thread = 77 WHERE id = 2`, "it belongs to thread 77"},
		{"the first is another", `UPDATE threads SET first = 2`, "the first commit is 2"},
		{"turns are wrong", `UPDATE threads SET inputs = 7`, "7 turns are counted"},
		{"bytes are wrong", `UPDATE threads SET bytes = 7`, "7 bytes are counted"},
		{"a snapshot is broken", `UPDATE commits SET snapshot = x'0100ff' WHERE id = 4`, "snapshot"},
		{"a status is gone", `UPDATE kinds SET status = '' WHERE id = (SELECT kind FROM commits WHERE id = 3)`, "status"},
		{"notes are no JSON", `UPDATE commits SET notes = '{"broken' WHERE id = 2`, "notes"},
		{"a pending result is broken", `UPDATE pending SET body = '{"broken'`, "pending result"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "threads.db")
			s := open(t, path)
			for i := range 3 {
				say(t, s, "t", "r", fmt.Sprintf(`{"n":%d,"text":"%s"}`, i, strings.Repeat("long ", 100)))
			}
			l, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{TTL: time.Hour})
			if err != nil {
				t.Fatal(err)
			}
			at, err := s.Commit(t.Context(), l, graph.Batch{
				Commit:   graph.Commit{Parent: 3, Run: "r", Source: graph.SourceLoop, Status: graph.Running},
				Snapshot: []byte(`{"text":"` + strings.Repeat("state ", 100) + `"}`),
			})
			if err != nil || at != 4 {
				t.Fatal(at, err)
			}
			if err := s.Pend(t.Context(), l, graph.TaskResult{Run: "r", Step: 2, Delta: graph.Delta{Node: "p", Body: []byte(`{}`)}}); err != nil {
				t.Fatal(err)
			}
			if findings, err := s.Verify(t.Context()); err != nil || len(findings) > 0 {
				t.Fatalf("before: %v, %v", findings, err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			change(t, path, tt.breakage)
			s = open(t, path)
			defer func() { _ = s.Close() }()
			findings, err := s.Verify(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if text := fmt.Sprint(findings); !strings.Contains(text, tt.want) {
				t.Errorf("findings %s, want one with %q", text, tt.want)
			}
		})
	}
}

// change runs SQL on a store's file, as another program could.
func change(t *testing.T, path, text string) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Migrations: []string{""}})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Write(t.Context(), func(tx *sqlite.Tx) error {
		for statement := range strings.SplitSeq(text, "; ") {
			if _, err := tx.Exec(statement); err != nil {
				return err
			}
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
}
