package checkpoint_test

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"
)

// Deleting a small thread reads its own rows by their keys, and not the store. It is measured on a store that was
// just opened, so that nothing is cached.
func TestDeleteReadsOneThread(t *testing.T) {
	cost := map[int]int64{}
	for _, threads := range []int{50, 1000} {
		path := filepath.Join(t.TempDir(), "threads.db")
		s := open(t, path)
		for i := range threads {
			say(t, s, fmt.Sprint("t", i), "r", `{"text":"`+strings.Repeat("x", 8000)+`"}`)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		s = open(t, path)
		before := bytesRead(t)
		if err := s.Delete(t.Context(), fmt.Sprint("t", threads/2)); err != nil {
			t.Fatal(err)
		}
		cost[threads] = bytesRead(t) - before
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("bytes read: %v", cost)
	if cost[50] == 0 || cost[1000] > 2*cost[50]+64<<10 {
		t.Errorf("deleting one of 1,000 threads reads %d bytes, one of 50 %d", cost[1000], cost[50])
	}
}
