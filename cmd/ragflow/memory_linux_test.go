package main

import (
	"path/filepath"
	"syscall"
	"testing"
)

// TestMemoryOfAsk asks the first question of the README: reading, indexing and the order by meaning stay below 250 MB.
func TestMemoryOfAsk(t *testing.T) {
	if testing.Short() {
		t.Skip("with the race detector a program takes more")
	}
	t.Parallel()
	docs, err := filepath.Abs("../../docs")
	if err != nil {
		t.Fatal(err)
	}
	cmd := program{t, t.TempDir(), t.TempDir()}.command("ask", "--docs", docs, "How do I continue a conversation?")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	usage, ok := cmd.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Fatal("the system does not tell")
	}
	megabytes := usage.Maxrss >> 10
	t.Logf("peak of %d MB", megabytes)
	if megabytes > 250 { // see docs/getting-started.md
		t.Errorf("peak of %d MB, want at most 250", megabytes)
	}
}
