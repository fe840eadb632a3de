package checkpoint_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"example.com/ragflow/graph"
)

// bytesRead is how many bytes this process has read from files so far.
func bytesRead(t *testing.T) (n int64) {
	t.Helper()
	text, err := os.ReadFile("/proc/self/io")
	if err != nil {
		t.Skip("only Linux tells what a process reads: ", err)
	}
	for line := range strings.Lines(string(text)) {
		if _, err := fmt.Sscanf(line, "rchar: %d", &n); err == nil {
			return n
		}
	}
	t.Skip("/proc/self/io does not tell rchar")
	return 0
}

// TestOpenLongThread is a budget: in a file that was just opened, at most 64 KB of pages are read for the
// head and the state of a thread of 1,000 turns (10,000 if RAGFLOW_FULL is set) that is summarised now and
// then, wherever between two snapshots it ends, and not much more than in a thread of 100 turns.
func TestOpenLongThread(t *testing.T) {
	turns := 1_000
	if os.Getenv("RAGFLOW_FULL") != "" {
		turns = 10_000
	}
	const most = 64 << 10
	path := filepath.Join(t.TempDir(), "threads.db")
	writes := openWithViews(t, path, messagesView())
	c := summarised(t, writes, 0)
	cost := func(turns int) int64 { // by ascending turns
		c.upTo(turns)
		if err := writes.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		start := bytesRead(t)
		asking := bytesRead(t) - start
		start = bytesRead(t)
		s := openWithViews(t, path, messagesView())
		defer func() { _ = s.Close() }()
		if _, err := s.Head(t.Context(), "no such thread"); !errors.Is(err, graph.ErrNotFound) {
			t.Fatal(err)
		}
		before := bytesRead(t) // of the file's schema that is
		head, err := s.Head(t.Context(), c.thread)
		if err != nil || head.ID != c.head {
			t.Fatalf("head %d, %v, want %d", head.ID, err, c.head)
		}
		snapshot, deltas, err := s.Load(t.Context(), c.thread, c.head)
		if err != nil || len(snapshot.Body)+len(deltas) == 0 {
			t.Fatal(err)
		}
		texts := len(snapshot.Body)
		for _, d := range deltas {
			texts += len(d.Body) + len(d.Node)
		}
		if texts > most {
			t.Errorf("%d turns: %d bytes of texts, want at most %d", turns, texts, most)
		}
		read := bytesRead(t) - before - asking
		t.Logf("%d turns, a file of %d bytes: %d bytes read to open it, %d for the thread: %d of texts in a snapshot and %d updates",
			turns, fileSize(t, path), before-start-asking, read, texts, len(deltas))
		return read
	}
	early, worst := cost(100), int64(0)
	for _, extra := range []int{1, 3, 5, 6, 7, 8} { // right after a snapshot, and up to the next
		worst = max(worst, cost(turns+extra))
	}
	if worst > most {
		t.Errorf("opening the head of a thread of %d turns reads %d bytes, want at most %d", turns, worst, most)
	}
	if worst > early+most/2 {
		t.Errorf("a thread of %d turns: %d bytes, one of 100: %d; the cost of opening grows", turns, worst, early)
	}
}
