package main

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/state"
)

// soakFolders makes the test binary one of the processes of TestSoak: the data
// folder, and the documents.
const soakFolders = "RAGFLOW_SOAK_FOLDERS"

// soakWriters is how many goroutines ask in each process.
const soakWriters = 16

// TestSoak lets two processes of 16 writers each ask on one data folder, half
// of them on threads they share. Nobody may see a lock, and every turn that was
// acknowledged is there once. scripts/soak is its long form.
func TestSoak(t *testing.T) {
	if testing.Short() {
		t.Skip("runs processes for seconds; left out with -short")
	}
	if folders := os.Getenv(soakFolders); folders != "" {
		soak(t, folders)
		return
	}
	t.Parallel()
	seconds := number(t, "RAGFLOW_SOAK_SECONDS", 2)
	dir := t.TempDir()
	p := program{t, dir, filepath.Join(dir, "data")}
	library(t, dir, 0)
	p.do("index", "--quiet", "docs")
	var mu sync.Mutex
	said := map[string]int{} // thread and question → times
	var wg sync.WaitGroup
	for i := range 2 {
		wg.Go(func() {
			cmd := exec.CommandContext(t.Context(), os.Args[0], "-test.run", "^TestSoak$", "-test.v", "-test.timeout", "0")
			cmd.Env = append(os.Environ(), fmt.Sprintf("%s=%s%c%d%c%d", soakFolders, p.data, os.PathListSeparator, i, os.PathListSeparator, seconds))
			out, err := cmd.CombinedOutput()
			if err != nil {
				t.Errorf("process %d: %v\n%s", i, err, out[max(0, len(out)-4000):])
			}
			mu.Lock()
			defer mu.Unlock()
			for l := range strings.Lines(string(out)) {
				if turn, ok := strings.CutPrefix(strings.TrimSpace(l), "asked "); ok {
					said[turn]++
				}
			}
		})
	}
	wg.Wait()
	if len(said) < soakWriters {
		t.Fatalf("only %d turns were asked", len(said))
	}
	p.do("threads", "verify")
	a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: p.data})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	list, err := a.Threads().All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for _, info := range list {
		thread, err := a.Threads().Thread(t.Context(), info.ID)
		if err != nil {
			t.Fatal(err)
		}
		for i, m := range thread.Messages {
			if want := []state.Role{state.Human, state.AI}[i%2]; m.Role != want {
				t.Errorf("thread %q: message %d is of %s, want %s", info.ID, i, m.Role, want)
			}
			if m.Role == state.Human {
				said[info.ID+" "+m.Content]--
			}
		}
	}
	for turn, times := range said {
		if times != 0 {
			t.Errorf("%q was asked %d times more than it is there", turn, times)
		}
	}
	t.Logf("2 processes of %d writers, %d seconds: %d turns in %d threads", soakWriters, seconds, len(said), len(list))
}

// soak is one process of TestSoak.
func soak(t *testing.T, folders string) {
	t.Helper()
	parts := filepath.SplitList(folders)
	var seconds int
	if _, err := fmt.Sscan(parts[2], &seconds); err != nil {
		t.Fatal(err)
	}
	a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: parts[0], Wait: 2 * time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	}()
	end := time.Now().Add(time.Duration(seconds) * time.Second)
	var mu sync.Mutex
	var wg sync.WaitGroup
	for w := range soakWriters {
		wg.Go(func() {
			for n := 0; time.Now().Before(end); n++ {
				thread := fmt.Sprintf("own-%s-%d-%d", parts[1], w, n/20)
				if w%2 == 0 {
					thread = fmt.Sprintf("shared-%d-%d", w%4, n/20)
				}
				question := fmt.Sprintf("How often is herb %d watered, asked by %s/%d/%d?", n%40, parts[1], w, n)
				_, err := a.Ask(t.Context(), ragflow.Question{Thread: thread, Text: question})
				if err != nil && !errors.Is(err, ragflow.ErrBusy) {
					t.Errorf("ask: %v", err)
					return
				}
				if err == nil {
					mu.Lock()
					fmt.Fprintln(os.Stdout, "asked", thread, question)
					mu.Unlock()
				}
			}
		})
	}
	wg.Wait()
}
