package checkpoint_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sqlite"
)

func ExampleOpen() {
	ctx := context.Background()
	s, err := checkpoint.Open(ctx, ":memory:", checkpoint.Options{})
	if err != nil {
		panic(err)
	}
	defer func() { _ = s.Close() }()
	lease, err := s.Acquire(ctx, "thread", graph.AcquireOptions{Owner: checkpoint.ProcessOwner(), TTL: time.Minute})
	if err != nil {
		panic(err)
	}
	id, err := s.Commit(ctx, lease, graph.Batch{Commit: graph.Commit{
		Run: "run", Source: graph.SourceInput, Status: graph.Running,
		Deltas: []graph.Delta{{Body: []byte(`{"question":"What is a volume?"}`)}},
	}})
	if err != nil {
		panic(err)
	}
	_, deltas, err := s.Load(ctx, "thread", id)
	fmt.Printf("commit %d: %s %v\n", id, deltas[0].Body, err)
	// Output: commit 1: {"question":"What is a volume?"} <nil>
}

// TestStore checks what SQLite adds to graph.Store, in a file and in memory.
func TestStore(t *testing.T) {
	for name, s := range map[string]*checkpoint.SQLite{
		"memory": open(t, ":memory:"),
		"file":   open(t, filepath.Join(t.TempDir(), "threads.db")),
	} {
		t.Run(name, func(t *testing.T) {
			if page, err := s.Threads(t.Context(), graph.ThreadQuery{}); err != nil || len(page.Threads) != 0 {
				t.Errorf("Threads = %v, %v, want none", page, err)
			}
			if _, _, err := s.FindRun(t.Context(), "r1"); !errors.Is(err, graph.ErrNotFound) {
				t.Errorf("FindRun: error = %v, want ErrNotFound", err)
			}
			if _, err := s.Acquire(t.Context(), "empty", graph.AcquireOptions{TTL: time.Hour}); err != nil {
				t.Fatal(err)
			}
			say(t, s, "a", "r1", `{"n":1}`)
			say(t, s, "b", aRun, `{}`)
			head := say(t, s, "a", "r1", `{"n":2}`)
			other := say(t, s, "a", "r2", `{}`)
			shared := say(t, s, "b", "r2", `{}`)

			page, err := s.Threads(t.Context(), graph.ThreadQuery{})
			if err != nil {
				t.Fatal(err)
			}
			infos := page.Threads
			for i := range infos {
				if time.Since(infos[i].Created).Abs() > time.Hour {
					t.Errorf("created %v", infos[i].Created)
				}
				infos[i].Created = time.Time{}
			}
			when := time.Date(2026, 11, 21, 9, 0, 0, 5000, time.UTC)
			want := []graph.ThreadInfo{
				{Thread: "b", Touched: when, First: 2, Head: shared, Status: graph.Running, Inputs: 2, Bytes: 4},
				{Thread: "a", Touched: when, First: 1, Head: other, Status: graph.Running, Inputs: 3, Bytes: 16},
			}
			if diff := cmp.Diff(want, infos); diff != "" {
				t.Errorf("Threads (-want +got):\n%s", diff)
			}
			for _, i := range want {
				got, err := s.Info(t.Context(), i.Thread)
				got.Created = time.Time{}
				if diff := cmp.Diff(i, got); err != nil || diff != "" {
					t.Errorf("Info: %v (-want +got):\n%s", err, diff)
				}
			}
			for _, name := range []string{"empty", "nobody"} {
				if _, err := s.Info(t.Context(), name); !errors.Is(err, graph.ErrNotFound) {
					t.Errorf("Info(%q): error = %v, want ErrNotFound", name, err)
				}
			}
			for _, tt := range []struct {
				run, thread string
				last        graph.CommitID
			}{{"r1", "a", head}, {"r2", "a", other}, {aRun, "b", 2}} {
				thread, last, err := s.FindRun(t.Context(), tt.run)
				if err != nil || thread != tt.thread || last != tt.last {
					t.Errorf("FindRun(%q) = %q, %d, %v, want %q, %d", tt.run, thread, last, err, tt.thread, tt.last)
				}
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			if _, err := s.Head(t.Context(), "a"); err == nil {
				t.Error("Head succeeds after Close")
			}
		})
	}
}

// A lease of a dead process is taken over at once, but only with proof: the same
// boot, the same namespace of process ids, and no such process.
func TestDeadOwner(t *testing.T) {
	s := open(t, ":memory:")
	defer func() { _ = s.Close() }()
	own := checkpoint.ProcessOwner()
	parts := strings.Split(own, "/")
	if len(parts) != 4 || own != checkpoint.ProcessOwner() {
		t.Fatalf("ProcessOwner = %q, want host/pid/nonce/space, always the same", own)
	}
	host, pid, space := parts[0], parts[1], parts[3]
	provable := space != ""
	for _, tt := range []struct {
		name, owner string
		dead        bool
	}{
		{"this process", own, false},
		{"its parent", fmt.Sprintf("%s/%d/x/%s", host, os.Getppid(), space), false},
		{"an earlier process with this id", host + "/" + pid + "/earlier/" + space, provable},
		{"no such process", host + "/999999999/x/" + space, provable},
		{"a container with the same host name and process id", host + "/" + pid + "/other/0123456789ab", false},
		{"a process of a container with the same host name", host + "/999999999/x/0123456789ab", false},
		{"an owner without a space", host + "/999999999/x", false},
		{"an unknown space", host + "/999999999/x/", false},
		{"not a process", "alice", false},
		{"not a number", host + "/x/y/" + space, false},
		{"zero", host + "/0/y/" + space, false},
		{"negative", host + "/-1/y/" + space, false},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if _, err := s.Acquire(t.Context(), tt.name, graph.AcquireOptions{Owner: tt.owner, TTL: time.Hour}); err != nil {
				t.Fatal(err)
			}
			_, err := s.Acquire(t.Context(), tt.name, graph.AcquireOptions{Owner: "next", TTL: time.Hour})
			if got := err == nil; got != tt.dead {
				t.Errorf("taken over = %v (%v), want %v", got, err, tt.dead)
			}
		})
	}
}

func TestClock(t *testing.T) {
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	s, err := checkpoint.Open(t.Context(), "", checkpoint.Options{Clock: func() time.Time { return now }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	if _, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{Owner: "a", TTL: time.Minute}); err != nil {
		t.Fatal(err)
	}
	_, err = s.Acquire(t.Context(), "t", graph.AcquireOptions{Owner: "b", TTL: time.Minute})
	if !errors.Is(err, graph.ErrBusy) || !strings.Contains(err.Error(), "held by a until 2026-01-01 00:01:00.000 UTC") {
		t.Errorf("error = %v, want who and until when", err)
	}
	now = now.Add(time.Minute)
	l, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{Owner: "b", TTL: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(t.Context(), l, graph.Batch{}); err != nil {
		t.Fatal(err)
	}
	if c, err := s.Head(t.Context(), "t"); err != nil || !c.Time.Equal(now) {
		t.Errorf("time = %v (%v), want %v", c.Time, err, now)
	}
}

func TestOpenRefuses(t *testing.T) {
	dir := t.TempDir()
	junk := filepath.Join(dir, "junk.db")
	if err := os.WriteFile(junk, []byte(strings.Repeat("junk", 5000)), 0o600); err != nil {
		t.Fatal(err)
	}
	_, err := checkpoint.Open(t.Context(), junk, checkpoint.Options{})
	if !errors.Is(err, checkpoint.ErrDamaged) || !strings.Contains(err.Error(), junk) {
		t.Errorf("junk: error = %v, want ErrDamaged that names the file", err)
	}
	create := func(name string, o sqlite.Options) string {
		path := filepath.Join(dir, name)
		db, err := sqlite.Open(t.Context(), path, o)
		if err != nil {
			t.Fatal(err)
		}
		if err := db.Close(); err != nil {
			t.Fatal(err)
		}
		return path
	}
	schema := `CREATE TABLE t(x)`
	for name, tt := range map[string]struct {
		o    sqlite.Options
		want error
	}{
		"newer.db":   {sqlite.Options{Migrations: []string{schema, "SELECT 1"}, ApplicationID: 0x72667468}, checkpoint.ErrNewer},
		"foreign.db": {sqlite.Options{Migrations: []string{schema}, ApplicationID: 1}, checkpoint.ErrForeign},
	} {
		path := create(name, tt.o)
		if _, err := checkpoint.Open(t.Context(), path, checkpoint.Options{}); !errors.Is(err, tt.want) || !strings.Contains(err.Error(), path) {
			t.Errorf("%s: error = %v, want %v", name, err, tt.want)
		}
	}
}

// TestDamagedLater cuts pages out of a store: what cannot be read is an error,
// never a shorter history.
func TestDamagedLater(t *testing.T) {
	path := filepath.Join(t.TempDir(), "threads.db")
	s := open(t, path)
	c := newConversation(t, s)
	for c.turns < 30 {
		c.turn()
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	whole, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	read := func() (commits int, err error) {
		s, err := checkpoint.Open(t.Context(), path, checkpoint.Options{})
		if err != nil {
			return 0, err
		}
		defer func() { _ = s.Close() }()
		for _, err := range s.Walk(t.Context(), c.thread, 0) {
			if err != nil {
				return commits, err
			}
			commits++
		}
		return commits, nil
	}
	failed := 0
	for page := 1; page < len(whole)/4096; page++ {
		broken := append([]byte{}, whole...)
		copy(broken[page*4096:], make([]byte, 4096))
		if err := os.WriteFile(path, broken, 0o600); err != nil {
			t.Fatal(err)
		}
		n, err := read()
		if err == nil && n != 240 {
			t.Errorf("page %d: %d commits and no error", page, n)
		}
		if err != nil {
			failed++
		}
	}
	if failed < 5 {
		t.Errorf("only %d damaged pages were noticed", failed)
	}
}
