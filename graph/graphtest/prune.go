package graphtest

import (
	"bytes"
	"context"
	"testing"
	"time"

	"example.com/ragflow/graph"
)

func pruneClauses() []clause {
	return need[graph.Pruner]([]clause{
		{"later commits stay as they are", pruneKeeps},
		{"state is that of the base and what follows", pruneFolds},
		{"up to the head, and on from there", pruneToHead},
		{"again, at the base itself and over it", pruneAgain},
		{"an unfinished head keeps what a resume looks at", pruneUnfinished},
		{"pending results stay", pruneLeavesPending},
		{"other threads stay as they are", pruneLeavesOthers},
		{"the lease is kept", pruneKeepsLease},
		{"only with the lease", pruneNeedsLease},
		{"only at a commit of the thread", pruneNeedsCommit},
		{"a broken base changes nothing", pruneRefusesBase},
		{"an ended context changes nothing", pruneEnds},
		{"the caller may change what it gave", pruneCopies},
	})
}

// base is the commit that replaces pruned commits.
func base(run string) graph.Batch {
	return graph.Batch{
		Commit:   graph.Commit{Run: run, Deltas: []graph.Delta{{Body: []byte(`{"whole":"` + longText("base") + `"}`)}}},
		Snapshot: []byte(`{"state":"` + longText("base") + `"}`),
	}
}

// tryPrune prunes with a lease.
func tryPrune(ctx context.Context, s graph.Store, l graph.Lease, at graph.CommitID, b graph.Batch) error {
	return s.(graph.Pruner).Prune(ctx, l, at, b)
}

func prune(t *testing.T, s graph.Store, name string, at graph.CommitID, run string) {
	t.Helper()
	l := acquire(t, s, name, graph.AcquireOptions{TTL: time.Hour})
	if err := tryPrune(t.Context(), s, l, at, base(run)); err != nil {
		t.Fatalf("Prune(%q, %d): %v", name, at, err)
	}
	if err := s.Release(t.Context(), l); err != nil {
		t.Fatal(err)
	}
}

func pruneKeeps(t *testing.T, s graph.Store) {
	t.Helper()
	all := thread(t, s, "t")
	prune(t, s, "t", all[2].ID, "base")
	got := walk(t, s, "t", 0)
	wantEqual(t, "later commits", got[:2], all[:2])
	want := all[2]
	want.Parent, want.Run, want.Source, want.Deltas = 0, "base", graph.SourceBase, base("base").Deltas
	wantEqual(t, "the base", got[2:], []graph.Commit{want})
	_, _, err := s.Load(t.Context(), "t", all[4].ID)
	wantError(t, "Load of a pruned commit", err, graph.ErrNotFound)
}

func pruneFolds(t *testing.T, s graph.Store) {
	t.Helper()
	all := thread(t, s, "t")
	prune(t, s, "t", all[2].ID, "base")
	for at, want := range map[graph.CommitID][]string{0: {"", "a", "b"}, all[1].ID: {""}, all[2].ID: nil} {
		snapshot, deltas := load(t, s, "t", at)
		wantEqual(t, "snapshot", string(snapshot.Body), string(base("base").Snapshot))
		wantEqual(t, "snapshot of", snapshot.At, all[2].ID)
		wantEqual(t, "deltas behind it", nodes(deltas), want)
	}
}

func pruneToHead(t *testing.T, s graph.Store) {
	t.Helper()
	all := thread(t, s, "t")
	prune(t, s, "t", all[0].ID, "base")
	wantEqual(t, "commits", len(walk(t, s, "t", 0)), 1)
	wantEqual(t, "head", headOf(t, s).ID, all[0].ID)
	w := hold(t, s, "t")
	w.head = all[0].ID
	w.turn(5)
	wantEqual(t, "commits after a turn", len(walk(t, s, "t", 0)), 3)
}

func pruneAgain(t *testing.T, s graph.Store) {
	t.Helper()
	all := thread(t, s, "t")
	prune(t, s, "t", all[4].ID, "base 1")
	want := walk(t, s, "t", 0)
	prune(t, s, "t", all[4].ID, "base 2")
	want[4].Run = "base 2"
	wantEqual(t, "commits", walk(t, s, "t", 0), want)
	prune(t, s, "t", all[2].ID, "base 3")
	got := walk(t, s, "t", 0)
	wantEqual(t, "commits", len(got), 3)
	wantEqual(t, "base", got[2].Run, "base 3")
}

func pruneUnfinished(t *testing.T, s graph.Store) {
	t.Helper()
	w := hold(t, s, "t")
	w.turn(0)
	b := batch(delta("a", 0))
	b.Status, b.Frontier, b.Fingerprint, b.Error = graph.Failed, []string{"b", "c"}, "shape", "out of luck"
	at := w.commit(b)
	want := headOf(t, s)
	if err := tryPrune(t.Context(), s, w.lease, at, base("base")); err != nil {
		t.Fatal(err)
	}
	want.Parent, want.Run, want.Source = 0, "base", graph.SourceBase
	wantEqual(t, "head", headOf(t, s), want)
}

func pruneLeavesPending(t *testing.T, s graph.Store) {
	t.Helper()
	w := hold(t, s, "t")
	at := w.turn(0)
	w.commit(batch(delta("a", 0)))
	w.pend(result("b", 1))
	w.pend(result("c", 2))
	want := pendingOf(t, s, "t")
	if err := tryPrune(t.Context(), s, w.lease, at, base("base")); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "pending results", pendingOf(t, s, "t"), want)
}

// A fork is independent: pruning the original does not change the fork, and pruning the fork
// does not change the original.
func pruneLeavesOthers(t *testing.T, s graph.Store) {
	t.Helper()
	all := thread(t, s, "t")
	other := thread(t, s, "other")
	threads := map[string][]graph.Commit{"other": other}
	if c, ok := s.(graph.Copier); ok {
		for name, at := range map[string]graph.CommitID{"fork": 0, "early fork": all[4].ID} {
			if err := c.Copy(t.Context(), "t", at, name, nil); err != nil {
				t.Fatal(err)
			}
			threads[name] = walk(t, s, name, 0)
		}
		prune(t, s, "fork", threads["fork"][0].ID, "base of the fork")
		threads["fork"] = walk(t, s, "fork", 0)
		wantEqual(t, "where the fork came from", walk(t, s, "t", 0), all)
	}
	prune(t, s, "t", all[0].ID, "base")
	for name, want := range threads {
		wantEqual(t, name, walk(t, s, name, 0), want)
	}
}

func pruneKeepsLease(t *testing.T, s graph.Store) {
	t.Helper()
	w := hold(t, s, "t")
	w.turn(0)
	at := w.turn(1)
	if err := tryPrune(t.Context(), s, w.lease, at, base("base")); err != nil {
		t.Fatal(err)
	}
	_, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{TTL: time.Hour})
	wantError(t, "Acquire beside it", err, graph.ErrBusy)
	w.turn(2)
	wantEqual(t, "commits", len(walk(t, s, "t", 0)), 3)
}

func pruneNeedsLease(t *testing.T, s graph.Store) {
	t.Helper()
	all := thread(t, s, "t")
	old := acquire(t, s, "t", graph.AcquireOptions{TTL: time.Nanosecond})
	if err := s.Release(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	wantError(t, "Prune after Release", tryPrune(t.Context(), s, old, all[2].ID, base("b")), graph.ErrSuperseded)
	hold(t, s, "t")
	wantError(t, "Prune with a lost lease", tryPrune(t.Context(), s, old, all[2].ID, base("b")), graph.ErrSuperseded)
	unknown := graph.Lease{Thread: "unknown", Owner: "nobody", Token: 1}
	wantError(t, "Prune of an unknown thread", tryPrune(t.Context(), s, unknown, all[2].ID, base("b")), graph.ErrSuperseded)
	wantEqual(t, "commits", walk(t, s, "t", 0), all)
}

func pruneNeedsCommit(t *testing.T, s graph.Store) {
	t.Helper()
	all := thread(t, s, "t")
	other := thread(t, s, "other")
	l := acquire(t, s, "t", graph.AcquireOptions{TTL: time.Hour})
	for what, at := range map[string]graph.CommitID{"another thread's commit": other[0].ID, "an unknown commit": 1 << 40} {
		wantError(t, "Prune at "+what, tryPrune(t.Context(), s, l, at, base("b")), graph.ErrNotFound)
	}
	wantEqual(t, "commits", walk(t, s, "t", 0), all)
}

func pruneRefusesBase(t *testing.T, s graph.Store) {
	t.Helper()
	all := thread(t, s, "t")
	before := snapshotOf(t, s)
	l := acquire(t, s, "t", graph.AcquireOptions{TTL: time.Hour})
	broken := base("b")
	broken.Deltas[0].Body = []byte(`{"whole":`)
	noState := base("b")
	noState.Snapshot = []byte("\xff")
	for what, b := range map[string]graph.Batch{"a broken update": broken, "a broken snapshot": noState} {
		if err := tryPrune(t.Context(), s, l, all[2].ID, b); err == nil {
			t.Errorf("Prune with %s: no error", what)
		}
	}
	wantEqual(t, "commits", walk(t, s, "t", 0), all)
	wantEqual(t, "state", snapshotOf(t, s), before)
}

// snapshotOf returns the snapshot and the deltas of the state of thread "t".
func snapshotOf(t *testing.T, s graph.Store) string {
	t.Helper()
	snapshot, deltas := load(t, s, "t", 0)
	parts := [][]byte{snapshot.Body}
	for _, d := range deltas {
		parts = append(parts, d.Body)
	}
	return string(bytes.Join(parts, nil))
}

func pruneEnds(t *testing.T, s graph.Store) {
	t.Helper()
	all := thread(t, s, "t")
	l := acquire(t, s, "t", graph.AcquireOptions{TTL: time.Hour})
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	wantError(t, "Prune in an ended context", tryPrune(ended, s, l, all[2].ID, base("b")), context.Canceled)
	wantEqual(t, "commits", walk(t, s, "t", 0), all)
}

func pruneCopies(t *testing.T, s graph.Store) {
	t.Helper()
	all := thread(t, s, "t")
	l := acquire(t, s, "t", graph.AcquireOptions{TTL: time.Hour})
	b := base("base")
	if err := tryPrune(t.Context(), s, l, all[0].ID, b); err != nil {
		t.Fatal(err)
	}
	clear(b.Deltas[0].Body)
	clear(b.Snapshot)
	got := walk(t, s, "t", 0)
	wantEqual(t, "the base", string(got[0].Deltas[0].Body), string(base("base").Deltas[0].Body))
	snapshot, _ := load(t, s, "t", 0)
	wantEqual(t, "snapshot", string(snapshot.Body), string(base("base").Snapshot))
}
