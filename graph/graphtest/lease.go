package graphtest

import (
	"context"
	"strings"
	"testing"
	"time"

	"example.com/ragflow/graph"
)

// short is a TTL that ends during a test, long a TTL that does not.
const (
	short = 40 * time.Millisecond
	long  = time.Hour
)

func leaseClauses() []clause {
	return []clause{
		{"acquire creates the thread without a commit", func(t *testing.T, s graph.Store) {
			acquire(t, s, "t", graph.AcquireOptions{Owner: "a", TTL: long})
			_, err := s.Head(t.Context(), "t")
			wantError(t, "Head", err, graph.ErrNotFound)
		}},
		{"acquire names thread and owner, and raises the token by one", func(t *testing.T, s graph.Store) {
			for token := range int64(3) {
				l := acquire(t, s, "t", graph.AcquireOptions{Owner: "a", TTL: long})
				wantEqual(t, "lease", []any{l.Thread, l.Owner, l.Token}, []any{"t", "a", token + 1})
				release(t, s, l)
				release(t, s, l) // twice is no error
			}
		}},
		{"a live lease is busy, says who holds it, and goes on", func(t *testing.T, s graph.Store) {
			w := &writer{t: t, s: s, lease: acquire(t, s, "t", graph.AcquireOptions{Owner: "alice", TTL: long})}
			_, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{Owner: "bob", TTL: long})
			wantError(t, "Acquire", err, graph.ErrBusy)
			if err != nil && !strings.Contains(err.Error(), "alice") {
				t.Errorf("error %q does not name the owner", err)
			}
			w.commit(batch(delta("n", 0)))
		}},
		{"a live lease is busy for its own owner too", func(t *testing.T, s graph.Store) {
			// One owner may run several writers; they must not rob each other.
			acquire(t, s, "t", graph.AcquireOptions{Owner: "a", TTL: long})
			_, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{Owner: "a", TTL: long})
			wantError(t, "Acquire", err, graph.ErrBusy)
		}},
		{"writers without a name are told apart, and a lease without a TTL lives a while", func(t *testing.T, s graph.Store) {
			acquire(t, s, "t", graph.AcquireOptions{})
			_, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{})
			wantError(t, "Acquire", err, graph.ErrBusy)
		}},
		{"a released lease writes nothing", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			release(t, s, w.lease)
			superseded(t, w)
		}},
		{"a lease renews and releases itself", func(t *testing.T, s graph.Store) {
			l := acquire(t, s, "t", graph.AcquireOptions{Owner: "a", TTL: long})
			if err := s.Renew(t.Context(), l, long); err != nil {
				t.Errorf("Renew: %v", err)
			}
			if err := s.Release(t.Context(), l); err != nil {
				t.Errorf("Release: %v", err)
			}
			wantError(t, "Renew", s.Renew(t.Context(), l, long), graph.ErrSuperseded)
			acquire(t, s, "t", graph.AcquireOptions{Owner: "b", TTL: long})
		}},
		{"releasing a lost lease leaves the new one alone", func(t *testing.T, s graph.Store) {
			old := acquire(t, s, "t", graph.AcquireOptions{Owner: "a", TTL: short})
			next := acquire(t, s, "t", graph.AcquireOptions{Owner: "b", TTL: long, Wait: time.Minute})
			release(t, s, old)
			if err := s.Renew(t.Context(), next, long); err != nil {
				t.Errorf("Renew: %v", err)
			}
		}},
		{"releasing a lease of an unknown thread is no error", func(t *testing.T, s graph.Store) {
			release(t, s, graph.Lease{Thread: "nowhere", Owner: "a", Token: 1})
		}},
		{"force takes a live lease over", func(t *testing.T, s graph.Store) {
			w := hold(t, s, "t")
			next := acquire(t, s, "t", graph.AcquireOptions{Owner: "b", TTL: long, Force: true})
			wantEqual(t, "token", next.Token, w.lease.Token+1)
			superseded(t, w)
			wantError(t, "Renew", s.Renew(t.Context(), w.lease, long), graph.ErrSuperseded)
			_, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{Owner: "c", TTL: long})
			wantError(t, "Acquire", err, graph.ErrBusy)
		}},
		{"force of a free thread is an acquire", func(t *testing.T, s graph.Store) {
			l := acquire(t, s, "t", graph.AcquireOptions{Owner: "a", TTL: long, Force: true})
			release(t, s, l)
			wantEqual(t, "token", acquire(t, s, "t", graph.AcquireOptions{Owner: "b", TTL: long, Force: true}).Token, l.Token+1)
		}},
		{"a writer whose lease was taken over writes nothing", func(t *testing.T, s graph.Store) {
			w := &writer{t: t, s: s, lease: acquire(t, s, "t", graph.AcquireOptions{Owner: "a", TTL: short})}
			next := acquire(t, s, "t", graph.AcquireOptions{Owner: "b", TTL: long, Wait: time.Minute})
			wantEqual(t, "token", next.Token, w.lease.Token+1)
			superseded(t, w)
		}},
		{"an ended lease that nobody took still writes", func(t *testing.T, s graph.Store) {
			w := &writer{t: t, s: s, lease: acquire(t, s, "t", graph.AcquireOptions{Owner: "a", TTL: time.Microsecond})}
			pause(t, 2*time.Millisecond)
			w.commit(batch(delta("n", 0)))
		}},
		{"renew keeps the lease", func(t *testing.T, s graph.Store) {
			l := acquire(t, s, "t", graph.AcquireOptions{Owner: "a", TTL: short})
			if err := s.Renew(t.Context(), l, long); err != nil {
				t.Fatalf("Renew: %v", err)
			}
			pause(t, 2*short)
			_, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{Owner: "b", TTL: long})
			wantError(t, "Acquire", err, graph.ErrBusy)
		}},
		{"a commit renews the lease", func(t *testing.T, s graph.Store) {
			w := &writer{t: t, s: s, lease: acquire(t, s, "t", graph.AcquireOptions{Owner: "a", TTL: 10 * short})}
			pause(t, 6*short)
			w.commit(batch(delta("n", 0)))
			pause(t, 6*short) // past the first end
			_, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{Owner: "b", TTL: long})
			wantError(t, "Acquire", err, graph.ErrBusy)
		}},
		{"renewing a lease of an unknown thread is superseded", func(t *testing.T, s graph.Store) {
			l := graph.Lease{Thread: "nowhere", Owner: "a", Token: 1}
			wantError(t, "Renew", s.Renew(t.Context(), l, long), graph.ErrSuperseded)
		}},
		{"a made-up lease writes nothing", func(t *testing.T, s graph.Store) {
			acquire(t, s, "t", graph.AcquireOptions{Owner: "a", TTL: long})
			for _, token := range []int64{0, -1, 99} {
				superseded(t, &writer{t: t, s: s, lease: graph.Lease{Thread: "t", Owner: "a", Token: token}})
			}
		}},
		{"waiting ends when the thread is released", func(t *testing.T, s graph.Store) {
			l := acquire(t, s, "t", graph.AcquireOptions{Owner: "a", TTL: long})
			got := make(chan error)
			go func() {
				_, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{Owner: "b", TTL: long, Wait: time.Minute})
				got <- err
			}()
			pause(t, short)
			release(t, s, l)
			if err := <-got; err != nil {
				t.Errorf("Acquire: %v", err)
			}
		}},
		{"waiting ends after its time", func(t *testing.T, s graph.Store) {
			acquire(t, s, "t", graph.AcquireOptions{Owner: "a", TTL: long})
			began := time.Now()
			_, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{Owner: "b", TTL: long, Wait: short})
			wantError(t, "Acquire", err, graph.ErrBusy)
			if took := time.Since(began); took < short {
				t.Errorf("gave up after %v, want %v or more", took, short)
			}
		}},
		{"waiting ends with the context", func(t *testing.T, s graph.Store) {
			acquire(t, s, "t", graph.AcquireOptions{Owner: "a", TTL: long})
			ctx, cancel := context.WithTimeout(t.Context(), short)
			defer cancel()
			_, err := s.Acquire(ctx, "t", graph.AcquireOptions{Owner: "b", TTL: long, Wait: time.Hour})
			wantError(t, "Acquire", err, context.DeadlineExceeded)
		}},
		{"an empty thread name is refused", func(t *testing.T, s graph.Store) {
			if _, err := s.Acquire(t.Context(), "", graph.AcquireOptions{Owner: "a", TTL: long}); err == nil {
				t.Error("Acquire succeeded")
			}
		}},
	}
}

func release(t *testing.T, s graph.Store, l graph.Lease) {
	t.Helper()
	if err := s.Release(t.Context(), l); err != nil {
		t.Fatalf("Release: %v", err)
	}
}

// superseded checks that w can neither commit nor pend nor renew, and that nothing of it was
// saved.
func superseded(t *testing.T, w *writer) {
	t.Helper()
	_, err := w.s.Commit(t.Context(), w.lease, withSnapshot(batch(delta("n", 0)), `{}`))
	wantError(t, "Commit", err, graph.ErrSuperseded)
	wantError(t, "Pend", w.s.Pend(t.Context(), w.lease, result("n", 0)), graph.ErrSuperseded)
	wantError(t, "Renew", w.s.Renew(t.Context(), w.lease, long), graph.ErrSuperseded)
	_, err = w.s.Head(t.Context(), w.lease.Thread)
	wantError(t, "Head", err, graph.ErrNotFound)
	if p := pendingOf(t, w.s, w.lease.Thread); len(p) != 0 {
		t.Errorf("pending: %s", show(p))
	}
}

func pause(t *testing.T, d time.Duration) {
	t.Helper()
	select {
	case <-time.After(d):
	case <-t.Context().Done():
	}
}
