package ragflow_test

import (
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/graph"
	"example.com/ragflow/internal/llmtest"
)

// TestQuestionsMeet asks a question while another one of the same thread is being
// answered, under each policy.
func TestQuestionsMeet(t *testing.T) {
	for name, tt := range map[string]struct {
		policy        graph.OnBusy
		first, second error
		roles         string // of the thread's messages
		turns         int
	}{
		"reject":    {graph.Reject, nil, ragflow.ErrBusy, "human ai human ai", 2},
		"interrupt": {graph.Interrupt, ragflow.ErrSuperseded, nil, "human ai human human ai", 3},
		"rollback":  {graph.Rollback, ragflow.ErrSuperseded, nil, "human ai human ai", 2},
	} {
		t.Run(name, func(t *testing.T) {
			var calls atomic.Int64
			goOn := make(chan struct{})
			half := llmtest.SayThen("A volume keeps ", goOn, "the data. [Source 1]")
			whole := llmtest.Say("It is kept by a volume. [Source 1]")
			s := llmtest.NewServer(script(func(w http.ResponseWriter, r *http.Request) {
				if calls.Add(1) == 2 {
					half(w, r)
				} else {
					whole(w, r)
				}
			}))
			defer s.Close()
			a := modelled(t, s, func(c *ragflow.Config) { c.Wait = time.Millisecond })
			ask(t, a, "t", "What creates a volume?") // there is something to go back to
			asked := false
			var first error
			for e, err := range a.Stream(t.Context(), ragflow.Question{Text: question, Thread: "t"}) {
				if first = err; err != nil {
					break
				}
				if e.Kind != ragflow.Text || asked {
					continue
				}
				asked = true
				_, err := a.Ask(t.Context(), ragflow.Question{Text: "And what creates a volume?", Thread: "t", OnBusy: tt.policy})
				if !errors.Is(err, tt.second) {
					t.Errorf("the second question: error %v, want %v", err, tt.second)
				}
				close(goOn)
			}
			if !asked || !errors.Is(first, tt.first) {
				t.Errorf("the first question: error %v, want %v", first, tt.first)
			}
			got, err := a.Threads().Thread(t.Context(), "t")
			if err != nil || roles(got.Messages) != tt.roles || got.Turns != tt.turns || got.Status != string(graph.Completed) {
				t.Fatalf("the thread is %+v, %v; want %q in %d turns", got, err, tt.roles, tt.turns)
			}
			if text := got.Messages[len(got.Messages)-2].Content; (text == question) != (tt.policy == graph.Reject) {
				t.Errorf("what stands was asked by %q", text)
			}
		})
	}
}

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
