package graphtest

import (
	"testing"

	"example.com/ragflow/graph"
)

func copyClauses() []clause {
	return need[graph.Copier]([]clause{
		{"a copy of the head has its pending results, one of a commit ends there", copyOfCommit},
		{"a copy takes the results it is given", copyWithResults},
		{"a copy is refused whole", copyRefused},
		{"copies are independent", copiesAreIndependent},
		{"a copy to a held thread is busy", copyBusy},
	})
}

// threeCommits fills thread t with three commits, the last with a pending
// result behind it, and returns their ids.
func threeCommits(t *testing.T, s graph.Store) (ids []graph.CommitID) {
	w := hold(t, s, "t")
	for _, n := range []string{"a", "b", "c"} {
		ids = append(ids, w.commit(batch(delta(n, 0))))
	}
	w.pend(result("d", 0))
	release(t, s, w.lease)
	return ids
}

func tryCopy(t *testing.T, s graph.Store, from string, at graph.CommitID, to string, pending []graph.TaskResult) error {
	return s.(graph.Copier).Copy(t.Context(), from, at, to, pending)
}

func mustCopy(t *testing.T, s graph.Store, at graph.CommitID, to string, pending []graph.TaskResult) {
	t.Helper()
	if err := tryCopy(t, s, "t", at, to, pending); err != nil {
		t.Fatal(err)
	}
}

func copyOfCommit(t *testing.T, s graph.Store) {
	ids := threeCommits(t, s)
	mustCopy(t, s, ids[1], "u", nil)
	_, got := load(t, s, "u", 0)
	wantEqual(t, "deltas", nodes(got), []string{"a", "b"})
	wantEqual(t, "pending", len(pendingOf(t, s, "u")), 0)
	mustCopy(t, s, 0, "v", nil)
	_, got = load(t, s, "v", 0)
	wantEqual(t, "deltas of the head", nodes(got), []string{"a", "b", "c"})
	wantEqual(t, "pending of the head", pendingOf(t, s, "v"), pendingOf(t, s, "t"))
}

func copyWithResults(t *testing.T, s graph.Store) {
	ids := threeCommits(t, s)
	given := []graph.TaskResult{{Run: "run", Step: 2, Attempt: 3, Delta: graph.Delta{Path: "s/s#2", Node: "x", Body: []byte(`{"by":"x"}`)}}}
	for i, at := range []graph.CommitID{ids[0], 0} {
		to := []string{"u", "v"}[i]
		mustCopy(t, s, at, to, given)
		wantEqual(t, "pending", pendingOf(t, s, to), given)
	}
	mustCopy(t, s, 0, "w", []graph.TaskResult{})
	wantEqual(t, "pending where none was wanted", len(pendingOf(t, s, "w")), 0)
}

func copyRefused(t *testing.T, s graph.Store) {
	ids := threeCommits(t, s)
	before := walk(t, s, "t", 0)
	wantError(t, "copy onto itself", tryCopy(t, s, "t", 0, "t", nil), graph.ErrExists)
	wantError(t, "copy of an unknown thread", tryCopy(t, s, "nowhere", 0, "u", nil), graph.ErrNotFound)
	wantError(t, "copy of an unknown commit", tryCopy(t, s, "t", ids[2]+7, "u", nil), graph.ErrNotFound)
	if err := tryCopy(t, s, "t", 0, "", nil); err == nil {
		t.Error("copy to a thread without a name: no error")
	}
	bad := []graph.TaskResult{{Run: "run", Delta: graph.Delta{Node: "x", Body: []byte(`{`)}}}
	if err := tryCopy(t, s, "t", 0, "u", bad); err == nil {
		t.Error("copy with a broken result: no error")
	}
	_, err := s.Head(t.Context(), "u")
	wantError(t, "head of the refused copy", err, graph.ErrNotFound)
	wantEqual(t, "the original", walk(t, s, "t", 0), before)
}

func copiesAreIndependent(t *testing.T, s graph.Store) {
	want := thread(t, s, "t")
	mustCopy(t, s, 0, "copy", nil)
	got := walk(t, s, "copy", 0)
	wantEqual(t, "commits of the copy", bare(got), bare(want))
	for i, c := range got {
		if c.ID <= want[0].ID || i > 0 && c.ID >= got[i-1].ID {
			t.Errorf("commit %d of the copy has id %d", i, c.ID)
		}
	}
	w := hold(t, s, "copy")
	w.head = got[0].ID
	w.turn(3)
	wantEqual(t, "the original", walk(t, s, "t", 0), want)
}

func copyBusy(t *testing.T, s graph.Store) {
	thread(t, s, "t")
	hold(t, s, "new")
	wantError(t, "copy", tryCopy(t, s, "t", 0, "new", nil), graph.ErrBusy)
}
