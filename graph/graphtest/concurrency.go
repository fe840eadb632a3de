package graphtest

import (
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"example.com/ragflow/graph"
)

func concurrencyClauses() []clause {
	return []clause{
		{"a hundred threads at once", func(t *testing.T, s graph.Store) {
			var wg sync.WaitGroup
			for i := range 100 {
				wg.Go(func() { fillThread(t, s, fmt.Sprint("t", i), 10) })
			}
			wg.Wait()
			seen := map[graph.CommitID]bool{}
			for i := range 100 {
				commits := walk(t, s, fmt.Sprint("t", i), 0)
				wantEqual(t, "commits", len(commits), 10)
				for n, c := range commits {
					if want := fmt.Sprintf(`{"thread":%d,"n":%d}`, i, 9-n); string(c.Deltas[0].Body) != want {
						t.Errorf("body = %s, want %s", c.Deltas[0].Body, want)
					}
					if seen[c.ID] {
						t.Errorf("id %d twice", c.ID)
					}
					seen[c.ID] = true
				}
			}
		}},
		{"one lease, many commits at once: one wins each time", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			for round := range 10 {
				won := make([]graph.CommitID, 8)
				var wg sync.WaitGroup
				for i := range won {
					wg.Go(func() {
						b := batch(delta(fmt.Sprint("n", i), 0))
						b.Parent = w.head
						id, err := s.Commit(t.Context(), w.lease, b)
						if err != nil && !errors.Is(err, graph.ErrConflict) {
							t.Errorf("Commit: %v", err)
						}
						won[i] = id
					})
				}
				wg.Wait()
				winners := 0
				for _, id := range won {
					if id != 0 {
						winners++
						w.head = id
					}
				}
				wantEqual(t, "winners", winners, 1)
				wantEqual(t, "commits", len(walk(t, s, "t", 0)), round+1)
			}
		}},
		{"writers who take turns lose nothing", func(t *testing.T, s graph.Store) {
			var mu sync.Mutex
			acknowledged := map[graph.CommitID]bool{}
			var wg sync.WaitGroup
			for i := range 6 {
				wg.Go(func() {
					for range 5 {
						id, err := turn(t, s, "t", fmt.Sprint("w", i))
						if err != nil {
							t.Error(err)
							return
						}
						mu.Lock()
						acknowledged[id] = true
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			commits := walk(t, s, "t", 0)
			wantEqual(t, "commits", len(commits), 30)
			for _, c := range commits {
				if !acknowledged[c.ID] {
					t.Errorf("commit %d was not acknowledged", c.ID)
				}
			}
		}},
		{"writers who rob each other lose nothing acknowledged", func(t *testing.T, s graph.Store) {
			var mu sync.Mutex
			acknowledged := map[graph.CommitID]bool{}
			end := time.Now().Add(300 * time.Millisecond)
			var wg sync.WaitGroup
			for i := range 4 {
				wg.Go(func() {
					for time.Now().Before(end) {
						ids := rob(t, s, fmt.Sprint("w", i))
						mu.Lock()
						for _, id := range ids {
							acknowledged[id] = true
						}
						mu.Unlock()
					}
				})
			}
			wg.Wait()
			if len(acknowledged) == 0 {
				t.Fatal("nobody wrote anything")
			}
			line := map[graph.CommitID]bool{}
			for _, c := range walk(t, s, "t", 0) {
				line[c.ID] = true
			}
			wantEqual(t, "commits in line and acknowledged", line, acknowledged)
		}},
		{"readers see whole commits", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			w.commit(batch(delta("a", 0), delta("b", 1), delta("c", 2)))
			done := make(chan struct{})
			var wg sync.WaitGroup
			for range 3 {
				wg.Go(func() {
					for {
						select {
						case <-done:
							return
						default:
						}
						_, deltas, err := s.Load(t.Context(), "t", 0)
						if err != nil || len(deltas)%3 != 0 {
							t.Errorf("%d deltas (%v), want a multiple of 3", len(deltas), err)
							return
						}
					}
				})
			}
			for i := range 60 {
				b := batch(delta("a", 0), delta("b", 1), delta("c", 2))
				if i%20 == 19 {
					b.Snapshot = []byte(`{}`)
				}
				w.commit(b)
			}
			close(done)
			wg.Wait()
		}},
		{"results saved side by side", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			var wg sync.WaitGroup
			for i := range 50 {
				wg.Go(func() {
					if err := s.Pend(t.Context(), w.lease, result(fmt.Sprint("n", i), i)); err != nil {
						t.Errorf("Pend: %v", err)
					}
				})
			}
			wg.Wait()
			results := pendingOf(t, s, "t")
			wantEqual(t, "results", len(results), 50)
			for i, r := range results {
				wantEqual(t, "rank", r.Delta.Rank, i)
			}
		}},
		{"only one acquires", func(t *testing.T, s graph.Store) {
			var mu sync.Mutex
			got := 0
			var wg sync.WaitGroup
			for i := range 20 {
				wg.Go(func() {
					_, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{Owner: fmt.Sprint("o", i), TTL: long})
					switch {
					case err == nil:
						mu.Lock()
						got++
						mu.Unlock()
					case !errors.Is(err, graph.ErrBusy):
						t.Errorf("Acquire: %v", err)
					}
				})
			}
			wg.Wait()
			wantEqual(t, "leases", got, 1)
		}},
	}
}

// fillThread writes n commits to a thread of its own.
func fillThread(t *testing.T, s graph.Store, thread string, n int) {
	t.Helper()
	l, err := s.Acquire(t.Context(), thread, graph.AcquireOptions{Owner: thread, TTL: long})
	if err != nil {
		t.Errorf("Acquire: %v", err)
		return
	}
	var head graph.CommitID
	for i := range n {
		d := delta("n", 0)
		d.Body = fmt.Appendf(nil, `{"thread":%s,"n":%d}`, thread[1:], i)
		b := batch(d)
		b.Parent = head
		if head, err = s.Commit(t.Context(), l, b); err != nil {
			t.Errorf("Commit: %v", err)
			return
		}
	}
}

// turn acquires the thread, adds one commit to its head and releases it.
func turn(t *testing.T, s graph.Store, thread, owner string) (graph.CommitID, error) {
	t.Helper()
	l, err := s.Acquire(t.Context(), thread, graph.AcquireOptions{Owner: owner, TTL: long, Wait: time.Minute})
	if err != nil {
		return 0, err
	}
	b := batch(delta(owner, 0))
	head, err := s.Head(t.Context(), thread)
	if err != nil && !errors.Is(err, graph.ErrNotFound) {
		return 0, err
	}
	b.Parent = head.ID
	id, err := s.Commit(t.Context(), l, b)
	return id, errors.Join(err, s.Release(t.Context(), l))
}

// rob writes with leases of a very short TTL until another writer takes over. It returns the
// acknowledged commits.
func rob(t *testing.T, s graph.Store, owner string) (acknowledged []graph.CommitID) {
	t.Helper()
	l, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{Owner: owner, TTL: time.Millisecond, Wait: time.Minute})
	if err != nil {
		t.Errorf("Acquire: %v", err)
		return nil
	}
	head, err := s.Head(t.Context(), "t")
	if err != nil && !errors.Is(err, graph.ErrNotFound) {
		t.Errorf("Head: %v", err)
		return nil
	}
	at := head.ID
	for range 20 {
		b := batch(delta(owner, 0))
		b.Parent = at
		at, err = s.Commit(t.Context(), l, b)
		switch {
		case errors.Is(err, graph.ErrSuperseded):
			return acknowledged
		case err != nil:
			t.Errorf("Commit: %v", err)
			return acknowledged
		}
		acknowledged = append(acknowledged, at)
		pause(t, 300*time.Microsecond)
	}
	return acknowledged
}
