package checkpoint_test

import (
	"bytes"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
	"example.com/ragflow/internal/stored"
)

// runKeeper checks what a store does with whole threads. open returns a new,
// empty store for each clause, which is closed after it.
func runKeeper(t *testing.T, open func(t *testing.T) *checkpoint.SQLite) {
	t.Helper()
	for _, c := range []struct {
		name string
		run  func(t *testing.T, s *checkpoint.SQLite)
	}{
		{"an archive gives back the thread", archiveGivesBack},
		{"an archive of a commit ends there", archiveOfACommit},
		{"archives read and write the same bytes", archiveBytes},
		{"import keeps ids that are free, else their order", importIDs},
		{"import refuses a thread that is there", importRefuses},
		{"import of a held thread is busy", importBusy},
		{"copies are independent", copiesAreIndependent},
		{"an imported thread goes on", importedGoesOn},
		{"prune counts turns and forgets runs", pruneCounts},
		{"a pruned thread can be exported", prunedTravels},
		{"delete forgets everything", deleteForgets},
		{"delete is all or nothing", deleteAllOrNothing},
		{"delete of a held thread is busy", deleteBusy},
		{"ids and tokens are never given again", neverAgain},
		{"an undo takes a turn back", undoCounts},
		{"snapshots are listed", snapshotsListed},
		{"verify finds nothing", verifyFindsNothing},
		{"verify of an unknown thread", verifyUnknown},
		{"keeping beside writers", keepingBesideWriters},
	} {
		t.Run("keep/"+c.name, func(t *testing.T) {
			s := open(t)
			t.Cleanup(func() { _ = s.Close() })
			c.run(t, s)
			if findings, err := s.Verify(t.Context()); err != nil || len(findings) > 0 {
				t.Errorf("Verify afterwards: %v, %v", findings, err)
			}
		})
	}
}

// openMemory opens a store that lives in memory.
func openMemory(t *testing.T) *checkpoint.SQLite {
	t.Helper()
	s := open(t, ":memory:")
	t.Cleanup(func() { _ = s.Close() })
	return s
}

// longText is a text that stores may keep once.
func longText(what string) string { return strings.Repeat(what+" ", 200) }

// turn commits an input and a step of one run, and returns the last commit.
func (w *writer) turn(n int, source graph.Source) graph.CommitID {
	w.t.Helper()
	run := fmt.Sprint(w.lease.Thread, " run ", n)
	w.commit(graph.Batch{Commit: graph.Commit{
		Run: run, Source: source, Status: graph.Running, Time: moment(), Frontier: []string{"a"},
		Deltas: []graph.Delta{{Body: fmt.Appendf(nil, `{"question":%d,"text":"%s"}`, n, longText("shared"))}},
	}})
	notes := graph.Notes{Start: moment().Add(-1234567), Duration: 987654321, Warnings: []string{longText("note")}}
	return w.commit(graph.Batch{Commit: graph.Commit{
		Run: run, Step: 1, Source: graph.SourceLoop, Status: graph.Completed, Time: moment(), Fingerprint: "f",
		Deltas: []graph.Delta{
			{Node: "a", Body: fmt.Appendf(nil, `{ "answer" : %d, "tag":"<&\u2028>", "own":"%s"}`, n, longText(w.lease.Thread)), Notes: notes},
			{Node: "b", Rank: 1, Error: "no\tluck", Notes: graph.Notes{Skipped: "why"}},
		},
	}})
}

// thread makes a thread of three turns and lets go of it.
func thread(t *testing.T, s graph.Store, name string) []graph.Commit {
	t.Helper()
	w := hold(t, s, name)
	for n := range 3 {
		w.turn(n, graph.SourceInput)
	}
	w.release()
	return walk(t, s, name)
}

func (w *writer) release() {
	w.t.Helper()
	if err := w.s.Release(w.t.Context(), w.lease); err != nil {
		w.t.Fatalf("Release: %v", err)
	}
}

func export(t *testing.T, s *checkpoint.SQLite, name string, at graph.CommitID) *stored.Archive {
	t.Helper()
	a, err := s.Export(t.Context(), name, at)
	if err != nil {
		t.Fatalf("Export(%q, %d): %v", name, at, err)
	}
	return a
}

func importAs(t *testing.T, s *checkpoint.SQLite, a *stored.Archive, name string) {
	t.Helper()
	if err := s.Import(t.Context(), a, name); err != nil {
		t.Fatalf("Import(%q): %v", name, err)
	}
}

// bare is what of commits does not depend on the store they are in.
func bare(commits []graph.Commit) []graph.Commit {
	out := append([]graph.Commit{}, commits...)
	for i := range out {
		out[i].ID, out[i].Parent, out[i].Thread = 0, 0, ""
	}
	return out
}

func info(t *testing.T, s *checkpoint.SQLite, name string) graph.ThreadInfo {
	t.Helper()
	i, err := s.Info(t.Context(), name)
	if err != nil {
		t.Fatalf("Info: %v", err)
	}
	return i
}

func archiveGivesBack(t *testing.T, s *checkpoint.SQLite) {
	t.Helper()
	want := thread(t, s, "t")
	l := acquire(t, s, "t", graph.AcquireOptions{TTL: time.Hour})
	w := &writer{t: t, s: s, lease: l, head: want[0].ID}
	w.pend(graph.TaskResult{Run: "r", Step: 2, Attempt: 1, Delta: graph.Delta{Node: "p", Body: []byte(`{"text":"` + longText("pending") + `"}`)}})
	w.release()
	importAs(t, s, export(t, s, "t", 0), "copy")
	wantEqual(t, "commits", bare(walk(t, s, "copy")), bare(want))
	wantEqual(t, "pending", pendingOf(t, s, "copy"), pendingOf(t, s, "t"))
	a, b := info(t, s, "t"), info(t, s, "copy")
	wantEqual(t, "turns", b.Inputs, a.Inputs)
	wantEqual(t, "bytes", b.Bytes, a.Bytes)
	wantEqual(t, "created", b.Created, a.Created)
	_, deltas := load(t, s, "copy", 0)
	_, wanted := load(t, s, "t", 0)
	wantEqual(t, "loaded", deltas, wanted)
}

func archiveOfACommit(t *testing.T, s *checkpoint.SQLite) {
	t.Helper()
	all := thread(t, s, "t")
	importAs(t, s, export(t, s, "t", all[2].ID), "copy")
	wantEqual(t, "commits", bare(walk(t, s, "copy")), bare(all[2:]))
	_, err := s.Export(t.Context(), "t", all[0].ID+100)
	wantError(t, "Export of an unknown commit", err, graph.ErrNotFound)
	_, err = s.Export(t.Context(), "nobody", 0)
	wantError(t, "Export of an unknown thread", err, graph.ErrNotFound)
}

func archiveBytes(t *testing.T, s *checkpoint.SQLite) {
	t.Helper()
	thread(t, s, "t")
	var first, second bytes.Buffer
	if err := export(t, s, "t", 0).Write(&first); err != nil {
		t.Fatal(err)
	}
	a, err := stored.ReadArchive(bytes.NewReader(first.Bytes()), 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	empty := openMemory(t)
	importAs(t, empty, a, "")
	if err := export(t, empty, "t", 0).Write(&second); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "bytes of an archive", second.String(), first.String())
}

func importIDs(t *testing.T, s *checkpoint.SQLite) {
	t.Helper()
	other := openMemory(t)
	thread(t, other, "before")
	want := thread(t, other, "t")
	a := export(t, other, "t", 0)
	importAs(t, s, a, "")
	wantEqual(t, "commits but for their ids", bare(walk(t, s, "t")), bare(want))
	want = walk(t, s, "t")
	importAs(t, s, a, "again")
	got := walk(t, s, "again")
	for i, c := range got {
		if c.ID <= want[0].ID || i > 0 && c.ID >= got[i-1].ID {
			t.Errorf("commit %d has id %d", i, c.ID)
		}
	}
}

func importRefuses(t *testing.T, s *checkpoint.SQLite) {
	t.Helper()
	want := thread(t, s, "t")
	wantError(t, "Import", s.Import(t.Context(), export(t, s, "t", 0), ""), graph.ErrExists)
	wantEqual(t, "commits", walk(t, s, "t"), want)
	if err := s.Import(t.Context(), &stored.Archive{Thread: "empty"}, ""); err == nil {
		t.Error("an archive without commits was imported")
	}
	a := export(t, s, "t", 0)
	a.Commits[1].Deltas[0].Body = []byte("no JSON")
	if err := s.Import(t.Context(), a, "bad"); err == nil {
		t.Error("a body that is no JSON was imported")
	}
	_, err := s.Head(t.Context(), "bad")
	wantError(t, "Head after a refused import", err, graph.ErrNotFound)
}

func importBusy(t *testing.T, s *checkpoint.SQLite) {
	t.Helper()
	thread(t, s, "t")
	hold(t, s, "new")
	wantError(t, "Import", s.Import(t.Context(), export(t, s, "t", 0), "new"), graph.ErrBusy)
}

func copiesAreIndependent(t *testing.T, s *checkpoint.SQLite) {
	t.Helper()
	want := thread(t, s, "t")
	importAs(t, s, export(t, s, "t", 0), "copy")
	w := hold(t, s, "copy")
	w.head = info(t, s, "copy").Head
	w.turn(3, graph.SourceInput)
	w.release()
	wantEqual(t, "the original", walk(t, s, "t"), want)
	copied := walk(t, s, "copy")
	if err := s.Delete(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "the copy", walk(t, s, "copy"), copied)
}

func importedGoesOn(t *testing.T, s *checkpoint.SQLite) {
	t.Helper()
	a := export(t, checkpointOf(t), "t", 0)
	importAs(t, s, a, "")
	w := hold(t, s, "t")
	w.head = info(t, s, "t").Head
	at := w.turn(9, graph.SourceInput)
	wantEqual(t, "head", headOf(t, s).ID, at)
	run, last, err := s.FindRun(t.Context(), "t run 0")
	if err != nil || run != "t" || last == 0 {
		t.Errorf("FindRun = %q, %d, %v", run, last, err)
	}
}

func checkpointOf(t *testing.T) *checkpoint.SQLite {
	t.Helper()
	s := openMemory(t)
	thread(t, s, "t")
	return s
}

// pruneCounts: what the store knows of threads and runs follows a prune.
func pruneCounts(t *testing.T, s *checkpoint.SQLite) {
	t.Helper()
	all := thread(t, s, "t")
	before := info(t, s, "t")
	prune(t, s, "t", all[4].ID, "base 1")
	prune(t, s, "t", all[2].ID, "base 2")
	after := info(t, s, "t")
	wantEqual(t, "turns", after.Inputs, before.Inputs-2)
	wantEqual(t, "first", after.First, all[2].ID)
	_, _, err := s.FindRun(t.Context(), "base 1")
	wantError(t, "FindRun of the first base", err, graph.ErrNotFound)
	for _, run := range []string{"base 2", "t run 2"} {
		_, _, err := s.FindRun(t.Context(), run)
		wantError(t, "FindRun of "+run, err, nil)
	}
}

// prunedTravels: the archive of a pruned thread gives the same thread.
func prunedTravels(t *testing.T, s *checkpoint.SQLite) {
	t.Helper()
	all := thread(t, s, "t")
	prune(t, s, "t", all[2].ID, "base")
	importAs(t, s, export(t, s, "t", 0), "copy")
	wantEqual(t, "commits of the copy", bare(walk(t, s, "copy")), bare(walk(t, s, "t")))
	snapshot, deltas := load(t, s, "copy", 0)
	wantEqual(t, "without the snapshot, deltas of the base first", string(deltas[0].Body), string(base("base").Deltas[0].Body))
	wantEqual(t, "snapshot", len(snapshot.Body), 0)
}

func deleteForgets(t *testing.T, s *checkpoint.SQLite) {
	t.Helper()
	thread(t, s, "t")
	want := thread(t, s, "other")
	if err := s.Delete(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	_, err := s.Head(t.Context(), "t")
	wantError(t, "Head", err, graph.ErrNotFound)
	_, _, err = s.FindRun(t.Context(), "t run 0")
	wantError(t, "FindRun", err, graph.ErrNotFound)
	wantEqual(t, "pending", len(pendingOf(t, s, "t")), 0)
	wantEqual(t, "the other thread", walk(t, s, "other"), want)
	if err := s.Vacuum(t.Context()); err != nil {
		t.Errorf("Vacuum: %v", err)
	}
	thread(t, s, "t")
	wantEqual(t, "turns of a new thread of that name", info(t, s, "t").Inputs, 3)
}

func deleteAllOrNothing(t *testing.T, s *checkpoint.SQLite) {
	t.Helper()
	want := thread(t, s, "t")
	wantError(t, "Delete", s.Delete(t.Context(), "t", "nobody"), graph.ErrNotFound)
	wantEqual(t, "commits", walk(t, s, "t"), want)
}

func deleteBusy(t *testing.T, s *checkpoint.SQLite) {
	t.Helper()
	want := thread(t, s, "t")
	hold(t, s, "t")
	wantError(t, "Delete", s.Delete(t.Context(), "t"), graph.ErrBusy)
	wantEqual(t, "commits", walk(t, s, "t"), want)
}

func neverAgain(t *testing.T, s *checkpoint.SQLite) {
	t.Helper()
	all := thread(t, s, "t")
	old := acquire(t, s, "t", graph.AcquireOptions{TTL: time.Nanosecond})
	if err := s.Release(t.Context(), old); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	w := hold(t, s, "t")
	if w.lease.Token <= old.Token {
		t.Errorf("token %d after %d", w.lease.Token, old.Token)
	}
	if at := w.turn(0, graph.SourceInput); at <= all[0].ID {
		t.Errorf("commit %d after %d", at, all[0].ID)
	}
}

func undoCounts(t *testing.T, s *checkpoint.SQLite) {
	t.Helper()
	thread(t, s, "t")
	w := hold(t, s, "t")
	w.head = info(t, s, "t").Head
	w.turn(3, graph.SourceUndo)
	wantEqual(t, "turns", info(t, s, "t").Inputs, 2)
}

func snapshotsListed(t *testing.T, s *checkpoint.SQLite) {
	t.Helper()
	w := hold(t, s, "t")
	w.turn(0, graph.SourceInput)
	at := w.commit(withSnapshot(batch(delta("a", 0)), `{"n":1}`))
	w.turn(1, graph.SourceInput)
	hold(t, s, "other").commit(withSnapshot(batch(delta("a", 0)), `{"n":2}`))
	got, err := s.Snapshots(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	wantEqual(t, "snapshots", got, []graph.CommitID{at})
	none, err := s.Snapshots(t.Context(), "nobody")
	if err != nil || len(none) > 0 {
		t.Errorf("snapshots of nobody: %v, %v", none, err)
	}
}

func verifyFindsNothing(t *testing.T, s *checkpoint.SQLite) {
	t.Helper()
	thread(t, s, "t")
	hold(t, s, "empty")
	if got, err := s.Verify(t.Context(), "t", "empty"); err != nil || len(got) > 0 {
		t.Errorf("Verify: %v, %v", got, err)
	}
}

func verifyUnknown(t *testing.T, s *checkpoint.SQLite) {
	t.Helper()
	_, err := s.Verify(t.Context(), "nobody")
	wantError(t, "Verify", err, graph.ErrNotFound)
}

// keepingBesideWriters prunes, copies and deletes while other threads are
// written to.
func keepingBesideWriters(t *testing.T, s *checkpoint.SQLite) {
	t.Helper()
	var wg sync.WaitGroup
	for i := range 4 {
		wg.Go(func() {
			w := hold(t, s, fmt.Sprint("writer ", i))
			for n := range 20 {
				w.turn(n, graph.SourceInput)
			}
		})
	}
	for i := range 5 {
		name := fmt.Sprint("kept ", i)
		all := thread(t, s, name)
		importAs(t, s, export(t, s, name, 0), name+" copy")
		prune(t, s, name, all[2].ID, fmt.Sprint("base ", i))
		if err := s.Delete(t.Context(), name+" copy"); err != nil {
			t.Error(err)
		}
	}
	wg.Wait()
	for i := range 4 {
		wantEqual(t, "commits of a writer", len(walk(t, s, fmt.Sprint("writer ", i))), 40)
	}
}
