package checkpoint_test

import (
	"errors"
	"testing"
	"time"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
)

// sayAt makes a thread of one commit, made at a time.
func sayAt(t *testing.T, s *checkpoint.SQLite, thread string, at time.Time) *writer {
	t.Helper()
	w := hold(t, s, thread)
	b := batch(graph.Delta{Node: "n", Body: []byte(`{"said":"` + longText(thread) + `"}`)})
	b.Time = at
	w.commit(b)
	return w
}

func expired(t *testing.T, s *checkpoint.SQLite, before time.Time, dryRun bool) []string {
	t.Helper()
	infos, err := s.Expire(t.Context(), before, dryRun)
	if err != nil {
		t.Fatalf("Expire: %v", err)
	}
	var names []string
	for _, i := range infos {
		names = append(names, i.Thread)
	}
	return names
}

func expireDeletes(t *testing.T, s *checkpoint.SQLite) {
	t.Helper()
	for i, name := range []string{"old", "older", "new"} {
		w := sayAt(t, s, name, moment().Add([]time.Duration{-time.Hour, -2 * time.Hour, time.Hour}[i]))
		w.release()
	}
	want := []string{"older", "old"} // written last first
	wantEqual(t, "a dry run", expired(t, s, moment(), true), want)
	wantEqual(t, "threads after it", len(threads(t, s)), 3)
	wantEqual(t, "expired", expired(t, s, moment(), false), want)
	wantEqual(t, "threads", threads(t, s), []string{"new"})
	for _, name := range want {
		if _, err := s.Head(t.Context(), name); !errors.Is(err, graph.ErrNotFound) {
			t.Errorf("head of %q: %v, want not found", name, err)
		}
	}
	wantEqual(t, "commits of the other", len(walk(t, s, "new")), 1)
}

func expireLeavesHeld(t *testing.T, s *checkpoint.SQLite) {
	t.Helper()
	w := sayAt(t, s, "t", moment())
	wantEqual(t, "expired", expired(t, s, moment().Add(time.Hour), false), nil)
	w.commit(batch(delta("m", 0)))
	w.release()
	wantEqual(t, "expired when released", expired(t, s, moment().Add(time.Hour), false), []string{"t"})
}

func expireNothing(t *testing.T, s *checkpoint.SQLite) {
	t.Helper()
	wantEqual(t, "of an empty store", expired(t, s, moment(), false), nil)
	sayAt(t, s, "t", moment()).release()
	wantEqual(t, "of one that is as old", expired(t, s, moment(), false), nil)
	wantEqual(t, "threads", threads(t, s), []string{"t"})
}

// threads lists the names that Threads tells.
func threads(t *testing.T, s *checkpoint.SQLite) []string {
	t.Helper()
	infos, err := s.Threads(t.Context())
	if err != nil {
		t.Fatalf("Threads: %v", err)
	}
	var names []string
	for _, i := range infos {
		names = append(names, i.Thread)
	}
	return names
}
