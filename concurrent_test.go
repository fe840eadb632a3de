package ragflow_test

import (
	"fmt"
	"sync"
	"testing"

	"example.com/ragflow"
)

// TestManyAskAtOnce asks on many threads of one assistant side by side, as a
// server does, while another goroutine indexes. It is there for the race
// detector, and for turns that would be lost.
func TestManyAskAtOnce(t *testing.T) {
	a := open(t, ragflow.Config{Docs: []string{library(t)}, DataDir: t.TempDir()})
	const askers, turns = 12, 3
	var wg sync.WaitGroup
	for i := range askers {
		wg.Go(func() {
			for n := range turns {
				q := ragflow.Question{Text: fmt.Sprintf("How do I dry oregano, %d and %d?", i, n), Thread: fmt.Sprintf("t%d", i%8), Trace: true}
				if _, err := a.Ask(t.Context(), q); err != nil {
					t.Errorf("asker %d, turn %d: %v", i, n, err)
				}
			}
		})
	}
	wg.Go(func() {
		for range turns {
			if _, err := a.Library().Sync(t.Context()); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	threads, err := a.Threads().All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, thread := range threads {
		total += thread.Turns
	}
	if total != askers*turns {
		t.Errorf("%d turns are kept, want %d", total, askers*turns)
	}
}
