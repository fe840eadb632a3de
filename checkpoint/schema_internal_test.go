package checkpoint

import (
	"errors"
	"fmt"
	"path/filepath"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sqlite"
)

// A file of schema 2, where all deltas stood in a table of their own, is opened,
// read, continued, pruned and found whole.
func TestOldFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "threads.db")
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Migrations: migrations()[:2], ApplicationID: applicationID})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Write(t.Context(), func(tx *sqlite.Tx) error {
		for _, statement := range []string{
			`INSERT INTO names VALUES(1, 'input'), (2, 'running'), (3, 'loop'), (4, 'a'), (5, 'b'), (6, '["b"]')`,
			`INSERT INTO threads(id, name, created, first, head, inputs, bytes) VALUES(1, 't', 0, 1, 2, 1, 26)`,
			`INSERT INTO runs VALUES(1, 1, 'r', 1)`,
			`INSERT INTO commits(id, parent, thread, run, step, source, status, time, frontier) VALUES(1, NULL, 1, 1, 0, 1, 2, 5, 6), (2, 1, 1, 1, 1, 3, 2, 9, NULL)`,
			`INSERT INTO deltas(at, n, rank, node, body, start, duration) VALUES
				(1, 0, 0, NULL, '{"n":1}', NULL, NULL), (2, 0, 0, 4, '{"n":22}', -7000, 3000), (2, 1, 1, 5, '{"n":"333"}', NULL, NULL)`,
		} {
			if _, err := tx.Exec(statement); err != nil {
				return fmt.Errorf("%s: %w", statement, err)
			}
		}
		return nil
	})
	if err := errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	s, err := Open(t.Context(), path, Options{})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	wantBodies(t, s, `0:{"n":1}`, `0:a{"n":22}`, `1:b{"n":"333"}`)
	lease, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{})
	if err != nil {
		t.Fatal(err)
	}
	at, err := s.Commit(t.Context(), lease, graph.Batch{Commit: graph.Commit{
		Parent: 2, Run: "r", Step: 2, Source: graph.SourceLoop, Status: graph.Running,
		Deltas: []graph.Delta{{Node: "c", Body: []byte(`{"n":4}`)}, {Node: "d", Rank: 1, Error: "none"}},
	}})
	if err != nil {
		t.Fatal(err)
	}
	wantBodies(t, s, `0:{"n":1}`, `0:a{"n":22}`, `1:b{"n":"333"}`, `0:c{"n":4}`, `1:d`)
	_, deltas, err := s.Load(t.Context(), "t", 2)
	if err != nil {
		t.Fatal(err)
	}
	want := graph.Notes{Start: time.UnixMicro(2).UTC(), Duration: 3 * time.Microsecond}
	if diff := cmp.Diff(want, deltas[1].Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	base := graph.Batch{Commit: graph.Commit{Run: "base"}, Snapshot: []byte(`{"n":26}`)}
	if err := s.Prune(t.Context(), lease, 2, base); err != nil {
		t.Fatal(err)
	}
	wantBodies(t, s, `0:c{"n":4}`, `1:d`)
	if found, err := s.Verify(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("found %v, %v", found, err)
	}
	if at != 3 {
		t.Errorf("the new commit is %d, want 3", at)
	}
}

// wantBodies compares the thread's deltas, oldest first, with what Walk and Load
// give.
func wantBodies(t *testing.T, s *SQLite, want ...string) {
	t.Helper()
	show := func(d graph.Delta) string { return fmt.Sprintf("%d:%s%s", d.Rank, d.Node, d.Body) }
	var walked, loaded []string
	for c, err := range s.Walk(t.Context(), "t", 0) {
		if err != nil {
			t.Fatal(err)
		}
		var part []string
		for _, d := range c.Deltas {
			part = append(part, show(d))
		}
		walked = append(part, walked...)
	}
	_, deltas, err := s.Load(t.Context(), "t", 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, d := range deltas {
		loaded = append(loaded, show(d))
	}
	if diff := cmp.Diff(want, walked); diff != "" {
		t.Errorf("walked (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff(want, loaded); diff != "" {
		t.Errorf("loaded (-want +got):\n%s", diff)
	}
}
