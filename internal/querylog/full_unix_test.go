//go:build unix

package querylog_test

import (
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"example.com/ragflow/internal/querylog"
)

// TestFullDisk limits the size of files, so that writing fails as on a full disk: entries are lost
// and counted, those before are there, and with room again the log is written again. The limit is
// that of a process, so the test has one of its own.
func TestFullDisk(t *testing.T) {
	const name = "QUERYLOG_TEST_ALONE"
	if os.Getenv(name) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), name+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	var room, none syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &room); err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "queries.db")
	var told lines
	l := querylog.Open(path, querylog.Options{Clock: clock, Logger: told.logger()})
	defer l.Close()
	none = room
	none.Cur = 1 << 20
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &none); err != nil {
		t.Fatal(err)
	}
	const added = 300
	for i := range added {
		e := question(i)
		e.Answer = strings.Repeat("long ", 2000)
		l.Add(e)
		l.Flush(t.Context())
	}
	lost := l.Lost()
	if lost == 0 || lost == added || !strings.Contains(told.String(), "Failed to log query: ") {
		t.Fatalf("lost %d of %d, told %s", lost, added, told.String())
	}
	if r := analyze(t, path, nil); int64(r.Questions)+r.Missing+lost != added {
		t.Errorf("%d questions, %d missing, %d not counted; %d were added", r.Questions, r.Missing, lost, added)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &room); err != nil {
		t.Fatal(err)
	}
	l.Add(question(added))
	l.Flush(t.Context())
	if r := analyze(t, path, nil); int64(r.Questions)+r.Missing != added+1 || l.Lost() != 0 {
		t.Errorf("with room again: %d questions, %d missing, %d not counted; %d were added", r.Questions, r.Missing, l.Lost(), added+1)
	}
}

// TestReadOnlyFolder: nothing can be made in the folder, which a superuser could do all the same.
func TestReadOnlyFolder(t *testing.T) {
	if os.Getuid() == 0 {
		t.Skip("a superuser writes anywhere")
	}
	dir := t.TempDir()
	path := filepath.Join(dir, "queries.db")
	add(t, path, querylog.Options{}, question(1))
	for _, mode := range []struct{ file, folder os.FileMode }{{0o400, 0o700}, {0o400, 0o500}} {
		if err := os.Chmod(path, mode.file); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(dir, mode.folder); err != nil {
			t.Fatal(err)
		}
		l := querylog.Open(path, querylog.Options{Clock: clock})
		l.Add(question(2))
		l.Close()
		if r := analyze(t, path, nil); l.Lost() != 1 || r.Questions != 1 {
			t.Errorf("lost %d, %d questions", l.Lost(), r.Questions)
		}
	}
	if err := os.Chmod(dir, 0o700); err != nil {
		t.Fatal(err)
	}
}
