//go:build unix

package checkpoint_test

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
)

// TestZombieHoldsNothing kills a process that holds a thread for an hour and does not wait for it.
// So it stays as a zombie, and another writer takes the thread all the same.
func TestZombieHoldsNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "threads.db")
	cmd := command(t, "endless", path)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer func() { _ = cmd.Wait() }()                       // it was killed
	if _, err := stdout.Read(make([]byte, 1)); err != nil { // it has acknowledged a commit
		t.Fatal(err)
	}
	s := open(t, path)
	defer func() { _ = s.Close() }()
	if _, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{}); !errors.Is(err, graph.ErrBusy) {
		t.Errorf("while the process lives: error = %v, want ErrBusy", err)
	}
	if err := cmd.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_, _ = io.Copy(io.Discard, stdout) // until it has ended
	if err := syscall.Kill(cmd.Process.Pid, 0); err != nil {
		t.Fatalf("the process is no zombie: %v", err)
	}
	if _, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{Wait: 5 * time.Second}); err != nil {
		t.Errorf("after its end: %v", err)
	}
}

// TestFrozenWriter stops a process past the end of its lease, lets another
// writer take the thread, and thaws it: it is refused and saves nothing.
func TestFrozenWriter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "threads.db")
	cmd := command(t, "frozen", path)
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	for range 3 {
		lines.Scan()
	}
	if err := cmd.Process.Signal(syscall.SIGSTOP); err != nil {
		t.Fatal(err)
	}
	s := open(t, path)
	defer func() { _ = s.Close() }()
	l, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{Owner: "me", TTL: time.Minute, Wait: 20 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	head, err := s.Head(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	last := ""
	for lines.Scan() {
		last = lines.Text()
	}
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if !strings.HasPrefix(last, "refused:") || !strings.Contains(last, graph.ErrSuperseded.Error()) {
		t.Errorf("the thawed process ended with %q, want ErrSuperseded", last)
	}
	if now, err := s.Head(t.Context(), "t"); err != nil || now.ID != head.ID {
		t.Errorf("head = %d, %v: the thawed process wrote behind %d", now.ID, err, head.ID)
	}
	if _, err := s.Commit(t.Context(), l, graph.Batch{Commit: graph.Commit{Parent: head.ID, Run: "mine", Source: graph.SourceInput, Status: graph.Running}}); err != nil {
		t.Error(err)
	}
}

// inChild runs the test again in a process of its own, which do changes first.
func inChild(t *testing.T, do func()) (child bool) {
	t.Helper()
	const name = "CHECKPOINT_TEST_ALONE"
	if os.Getenv(name) == t.Name() {
		do()
		return true
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.CommandContext(t.Context(), exe, "-test.run", "^"+t.Name()+"$", "-test.v")
	cmd.Env = append(os.Environ(), name+"="+t.Name())
	out, err := cmd.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "--- PASS") {
		t.Errorf("%v\n%s", err, out)
	}
	return false
}

// TestDiskError limits the size of files, so that writing fails as on a broken disk. Acknowledged commits are
// there, and without the limit the same process can write again.
func TestDiskError(t *testing.T) {
	child := inChild(t, func() { signal.Ignore(syscall.SIGXFSZ) })
	if !child {
		return
	}
	path := filepath.Join(t.TempDir(), "threads.db")
	s := open(t, path)
	defer func() { _ = s.Close() }()
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	old := limit
	limit.Cur = 1 << 20
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	var err error
	saved := 0
	for ; err == nil && saved < 100_000; saved++ {
		err = trySay(t, s, fmt.Sprintf(`{"n":%d,"text":"%s"}`, saved, strings.Repeat(fmt.Sprint(saved, " "), 500)))
	}
	saved--
	if !errors.Is(err, checkpoint.ErrIO) && !errors.Is(err, checkpoint.ErrFull) {
		t.Fatalf("after %d commits: error = %v, want ErrIO or ErrFull", saved, err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &old); err != nil {
		t.Fatal(err)
	}
	if err := trySay(t, s, `{}`); err != nil {
		t.Errorf("with room again: %v", err)
	}
	n := 0
	for _, err := range s.Walk(t.Context(), "t", 0) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	if n != saved+1 {
		t.Errorf("%d commits are there, %d were acknowledged", n, saved+1)
	}
	if findings, err := s.Verify(t.Context()); err != nil || len(findings) > 0 {
		t.Errorf("Verify: %v, %v", findings, err)
	}
}

func trySay(t *testing.T, s *checkpoint.SQLite, body string) error {
	t.Helper()
	l, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{Owner: checkpoint.ProcessOwner(), TTL: time.Millisecond, Wait: time.Minute})
	if err != nil {
		return err
	}
	head, err := s.Head(t.Context(), "t")
	if err != nil && !errors.Is(err, graph.ErrNotFound) {
		return err
	}
	_, err = s.Commit(t.Context(), l, graph.Batch{Commit: graph.Commit{
		Parent: head.ID, Run: fmt.Sprint("r", head.ID), Source: graph.SourceInput, Status: graph.Completed, Deltas: []graph.Delta{{Body: []byte(body)}},
	}})
	return err
}

// TestReadOnlyFolder opens stores that cannot be written to. Root may write
// anywhere, so it becomes nobody for that, in a process of its own.
func TestReadOnlyFolder(t *testing.T) {
	if !inChild(t, func() {}) {
		return
	}
	dir := t.TempDir()
	made := filepath.Join(dir, "made", "threads.db")
	s := open(t, made)
	say(t, s, "t", "r", `{}`)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	for _, d := range []string{dir, filepath.Dir(dir)} {
		if err := os.Chmod(d, 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := errors.Join(os.Chmod(made, 0o444), os.Chmod(filepath.Dir(made), 0o555)); err != nil {
		t.Fatal(err)
	}
	before, err := os.ReadFile(made)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = os.Chmod(filepath.Dir(made), 0o755) }() // so that it can be removed
	if os.Geteuid() == 0 {
		if err := syscall.Setreuid(-1, 65534); err != nil {
			t.Skipf("cannot become nobody: %v", err)
		}
		defer func() { _ = syscall.Setreuid(-1, 0) }()
	}
	checkReadOnly(t, made, before)
}

func checkReadOnly(t *testing.T, made string, before []byte) {
	t.Helper()
	_, err := checkpoint.Open(t.Context(), made, checkpoint.Options{})
	if !errors.Is(err, checkpoint.ErrReadOnly) && !errors.Is(err, fs.ErrPermission) || !strings.Contains(err.Error(), made) {
		t.Errorf("open a read-only store: error = %v, want ErrReadOnly with the path", err)
	}
	if _, err := checkpoint.Open(t.Context(), filepath.Join(filepath.Dir(made), "new.db"), checkpoint.Options{}); !errors.Is(err, fs.ErrPermission) {
		t.Errorf("make a store in a read-only folder: error = %v, want fs.ErrPermission", err)
	}
	if after, err := os.ReadFile(made); err != nil || string(after) != string(before) {
		t.Errorf("the file was changed (%v)", err)
	}
}
