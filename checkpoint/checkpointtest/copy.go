//nolint:thelper // clauses are tests themselves, not their helpers
package checkpointtest

import (
	"testing"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
)

// threeCommits fills thread t with three commits, the last with a pending
// result behind it, and returns their ids.
func threeCommits(t *testing.T, s checkpoint.Store) (ids []graph.CommitID) {
	w := hold(t, s, "t")
	for _, n := range []string{"a", "b", "c"} {
		ids = append(ids, w.commit(batch(delta(n, 0))))
	}
	w.pend(result("d", 0))
	release(t, s, w.lease)
	return ids
}

func copyOfHead(t *testing.T, s checkpoint.Store) {
	threeCommits(t, s)
	if err := s.Copy(t.Context(), "t", 0, "u", nil); err != nil {
		t.Fatal(err)
	}
	_, got := load(t, s, "u", 0)
	wantEqual(t, "deltas", nodes(got), []string{"a", "b", "c"})
	wantEqual(t, "pending", pendingOf(t, s, "u"), pendingOf(t, s, "t"))
	w := hold(t, s, "u") // a copy is free
	head, err := s.Head(t.Context(), "u")
	if err != nil {
		t.Fatal(err)
	}
	w.head = head.ID
	w.commit(batch(delta("e", 0)))
	_, got = load(t, s, "t", 0)
	wantEqual(t, "deltas of the first", nodes(got), []string{"a", "b", "c"})
}

func copyOfCommit(t *testing.T, s checkpoint.Store) {
	ids := threeCommits(t, s)
	if err := s.Copy(t.Context(), "t", ids[1], "u", nil); err != nil {
		t.Fatal(err)
	}
	_, got := load(t, s, "u", 0)
	wantEqual(t, "deltas", nodes(got), []string{"a", "b"})
	wantEqual(t, "pending", len(pendingOf(t, s, "u")), 0)
}

func copyWithResults(t *testing.T, s checkpoint.Store) {
	ids := threeCommits(t, s)
	given := []graph.TaskResult{{Run: "run", Step: 2, Attempt: 3, Delta: graph.Delta{Path: "s/s#2", Node: "x", Body: []byte(`{"by":"x"}`)}}}
	for i, at := range []graph.CommitID{ids[0], 0} {
		to := []string{"u", "v"}[i]
		if err := s.Copy(t.Context(), "t", at, to, given); err != nil {
			t.Fatal(err)
		}
		wantEqual(t, "pending", pendingOf(t, s, to), given)
	}
	if err := s.Copy(t.Context(), "t", 0, "w", []graph.TaskResult{}); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "pending where none was wanted", len(pendingOf(t, s, "w")), 0)
}

func copyRefused(t *testing.T, s checkpoint.Store) {
	ids := threeCommits(t, s)
	wantError(t, "copy onto itself", s.Copy(t.Context(), "t", 0, "t", nil), checkpoint.ErrExists)
	wantError(t, "copy of an unknown thread", s.Copy(t.Context(), "nowhere", 0, "u", nil), graph.ErrNotFound)
	wantError(t, "copy of an unknown commit", s.Copy(t.Context(), "t", ids[2]+7, "u", nil), graph.ErrNotFound)
	if err := s.Copy(t.Context(), "t", 0, "", nil); err == nil {
		t.Error("copy to a thread without a name: no error")
	}
	bad := []graph.TaskResult{{Run: "run", Delta: graph.Delta{Node: "x", Body: []byte(`{`)}}}
	if err := s.Copy(t.Context(), "t", 0, "u", bad); err == nil {
		t.Error("copy with a broken result: no error")
	}
	infos, err := s.Threads(t.Context())
	if err != nil || len(infos) != 1 {
		t.Errorf("threads afterwards: %v, %v", infos, err)
	}
}
