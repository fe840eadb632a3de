//go:build unix

package cache_test

import (
	"bytes"
	"log/slog"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"example.com/ragflow/internal/cache"
)

// TestFullDisk limits the size of files, so that writing fails as on a full disk: the cache is not used
// any more, which is told once. The limit is that of a process, so the test has one of its own.
func TestFullDisk(t *testing.T) {
	const name = "CACHE_TEST_ALONE"
	if os.Getenv(name) == "" {
		cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^"+t.Name()+"$", "-test.v")
		cmd.Env = append(os.Environ(), name+"=1")
		if out, err := cmd.CombinedOutput(); err != nil || !strings.Contains(string(out), "--- PASS") {
			t.Errorf("%v\n%s", err, out)
		}
		return
	}
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	limit.Cur = 1 << 20
	path := filepath.Join(t.TempDir(), "cache.db")
	var told bytes.Buffer
	c := cache.Open(cache.Place{Path: path}, cache.Options{Logger: slog.New(slog.NewTextHandler(&told, nil))})
	put(t, c, "0", "first")
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		t.Fatal(err)
	}
	for i := range 300 {
		put(t, c, strconv.Itoa(i), strings.Repeat("long ", 2000))
	}
	if c.Close(); strings.Count(told.String(), "\n") != 1 {
		t.Errorf("told %q", told.String())
	}
	c = cache.Open(cache.Place{Path: path}, cache.Options{})
	defer c.Close()
	if got := names(t, c, "0", "1", "299"); got != "0 1" {
		t.Errorf("left: %q", got)
	}
}
