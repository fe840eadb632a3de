package postgres_test

import (
	"bytes"
	"errors"
	"fmt"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/checkpoint/postgres"
	"example.com/ragflow/graph"
	"example.com/ragflow/threads"
)

var when = time.Date(2026, 11, 21, 9, 0, 0, 5000, time.UTC)

// fill writes turns of two commits to a thread, and a pending result.
func fill(t *testing.T, s graph.Store, thread string, turns int) {
	t.Helper()
	l, err := s.Acquire(t.Context(), thread, graph.AcquireOptions{Owner: "a", TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	for i := range turns {
		run := fmt.Sprint(thread, "-", i)
		input := fmt.Sprintf(`{"messages":[{"put":{"id":"q%d","role":"human","content":"question %d \u0000"}}]}`, i, i)
		answer := fmt.Sprintf(`{"messages":[{"put":{"id":"a%d","role":"ai","content":"answer %d"}},{"remove":"q%d"}],"summary":"summary %d"}`, i, i, i, i)
		b := graph.Batch{Commit: graph.Commit{
			Parent: l.Head, Run: run, Source: graph.SourceInput, Status: graph.Running, Time: when, Frontier: []string{"n"},
			Deltas: []graph.Delta{{Body: []byte(input)}},
		}}
		if l.Head, err = s.Commit(t.Context(), l, b); err != nil {
			t.Fatal(err)
		}
		b.Commit = graph.Commit{
			Parent: l.Head, Run: run, Step: 1, Source: graph.SourceLoop, Status: graph.Completed, Time: when.Add(time.Duration(i) * time.Hour), Error: "\"no\x00luck",
			Deltas: []graph.Delta{{Node: "n", Body: []byte(answer), Notes: graph.Notes{Start: when, Duration: 5}}, {Node: "m", Rank: 1, Error: "x"}},
		}
		b.Snapshot = []byte(`{"state":1}`)
		if l.Head, err = s.Commit(t.Context(), l, b); err != nil {
			t.Fatal(err)
		}
	}
	r := graph.TaskResult{Run: "next", Step: 1, Attempt: 2, Delta: graph.Delta{Node: "p", Body: []byte(`1`)}}
	if err := errors.Join(s.Pend(t.Context(), l, r), s.Release(t.Context(), l)); err != nil {
		t.Fatal(err)
	}
}

// written is the archive of a thread as a file, without the ids that a store gives.
func written(t *testing.T, s threads.Store, thread string) string {
	t.Helper()
	a, err := s.Export(t.Context(), thread, 0)
	if err != nil {
		t.Fatal(err)
	}
	for i := range a.Commits {
		a.Commits[i].ID, a.Commits[i].Parent = graph.CommitID(i+1), graph.CommitID(i)
	}
	var b bytes.Buffer
	if err := a.Write(&b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// A thread is the same after it went to SQLite and back.
func TestCopyBetweenStoresIntegration(t *testing.T) {
	server := open(t, schema(t))
	file, err := checkpoint.Open(t.Context(), ":memory:", checkpoint.Options{})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, server, "t", 20)
	want := written(t, server, "t")
	for _, step := range []struct{ from, to threads.Store }{{server, file}, {file, server}} {
		a, err := step.from.Export(t.Context(), "t", 0)
		if err != nil {
			t.Fatal(err)
		}
		if step.to == server {
			if err := server.Import(t.Context(), a, ""); !errors.Is(err, graph.ErrExists) {
				t.Errorf("Import over a thread: %v", err)
			}
			if err := server.Delete(t.Context(), "t"); err != nil {
				t.Fatal(err)
			}
		}
		if err := step.to.Import(t.Context(), a, ""); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, written(t, step.to, "t")); diff != "" {
			t.Errorf("-want +got:\n%s", diff)
		}
	}
	if found, err := server.Verify(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("Verify: %v, %v", found, err)
	}
	if err := errors.Join(server.Close(), file.Close()); err != nil {
		t.Error(err)
	}
}

// The list, the runs, expiry, and the views that other tools read.
func TestThreadsIntegration(t *testing.T) {
	address := schema(t)
	s := open(t, address)
	defer func() { _ = s.Close() }()
	fill(t, s, "old", 1)
	fill(t, s, "new", 3)
	page, err := s.Threads(t.Context(), graph.ThreadQuery{})
	if err != nil {
		t.Fatal(err)
	}
	infos := page.Threads
	for i := range infos {
		infos[i].Created, infos[i].Bytes = time.Time{}, 0
	}
	if diff := cmp.Diff([]graph.ThreadInfo{
		{Thread: "new", Touched: when.Add(2 * time.Hour), First: 4, Head: 9, Status: graph.Completed, Inputs: 3},
		{Thread: "old", Touched: when, First: 1, Head: 2, Status: graph.Completed, Inputs: 1},
	}, infos); diff != "" {
		t.Errorf("Threads: -want +got:\n%s", diff)
	}
	if thread, last, err := s.FindRun(t.Context(), "new-1"); thread != "new" || last != 7 || err != nil {
		t.Errorf("FindRun: %q, %d, %v", thread, last, err)
	}
	if _, _, err := s.FindRun(t.Context(), "none"); !errors.Is(err, graph.ErrNotFound) {
		t.Errorf("FindRun of an unknown run: %v", err)
	}
	if ids, err := s.Snapshots(t.Context(), "old"); err != nil || !cmp.Equal(ids, []graph.CommitID{2}) {
		t.Errorf("Snapshots: %v, %v", ids, err)
	}
	want := "human question 0 \uFFFD|ai answer 0|human question 1 \uFFFD|ai answer 1|human question 2 \uFFFD|ai answer 2"
	if got := query(t, address, `SELECT string_agg(concat_ws(' ', m #>> '{put,role}', m #>> '{put,content}'), '|' ORDER BY commit_id, n)
		FROM log, jsonb_path_query(body, '$.messages[*] ? (exists (@.put))') m WHERE thread = 'new'`); got != want {
		t.Errorf("messages:\n got %s\nwant %s", got, want)
	}
	if err := s.Delete(t.Context(), "old"); err != nil {
		t.Error(err)
	}
	if _, err := s.Info(t.Context(), "old"); !errors.Is(err, graph.ErrNotFound) {
		t.Errorf("Info of a deleted thread: %v", err)
	}
	if err := s.Vacuum(t.Context()); err != nil {
		t.Error(err)
	}
}

func query(t *testing.T, address, sql string) (text string) {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.Close(t.Context()) }()
	if err := conn.QueryRow(t.Context(), sql).Scan(&text); err != nil {
		t.Fatal(err)
	}
	return text
}

// Verify finds each kind of damage.
func TestVerifyIntegration(t *testing.T) {
	for _, c := range []struct{ damage, want string }{
		{`DELETE FROM entries WHERE id = 6`, "the newest commit is 5"},
		{`DELETE FROM entries WHERE id = 3`, "its parent is commit 3, the commit before it is 2"},
		{`UPDATE threads SET inputs = 7`, "7 turns are counted, the log holds 3"},
		{`UPDATE threads SET bytes = 7`, "7 bytes are counted"},
		{`UPDATE entries SET changes = '[{"rank":9},{}]' WHERE id = 2`, "out of order"},
		{`UPDATE entries SET changes = '[{]' WHERE id = 4`, "changes: "},
		{`UPDATE entries SET changes = '[{"text":"{"}]' WHERE id = 4`, "body is not valid JSON"},
		{`UPDATE entries SET changes = '[{"body":1}]' WHERE id = 4`, "its updates have 1 bytes"},
		{`UPDATE entries SET snapshot = 'x' WHERE id = 4`, "snapshot: "},
		{`UPDATE entries SET same = true WHERE id = 1`, "its run is missing"},
		{`UPDATE pending SET changes = '[{"notes":7}]'`, "changes: "},
		{`UPDATE pending SET changes = ''`, "a pending result has 0 deltas"},
	} {
		t.Run(c.want, func(t *testing.T) {
			address := schema(t)
			s := open(t, address)
			defer func() { _ = s.Close() }()
			fill(t, s, "t", 3)
			run(t, address, c.damage)
			found, err := s.Verify(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			if all := fmt.Sprint(found); !strings.Contains(all, c.want) {
				t.Errorf("found %s, want %q", all, c.want)
			}
			if _, err := s.Pending(t.Context(), "t"); (err == nil) == strings.Contains(c.damage, "UPDATE pending") {
				t.Errorf("Pending: %v", err)
			}
		})
	}
}

// Tables of another program are refused and left as they are.
func TestForeignTablesIntegration(t *testing.T) {
	address := schema(t)
	u, err := url.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	run(t, address, `CREATE SCHEMA `+u.Query().Get("search_path")+`; CREATE TABLE meta(key text PRIMARY KEY, value text NOT NULL)`)
	if _, err := postgres.Open(t.Context(), address, postgres.Options{}); !errors.Is(err, postgres.ErrForeign) {
		t.Errorf("error %v, want ErrForeign", err)
	}
}

func TestCheckURL(t *testing.T) {
	for address, ok := range map[string]bool{
		"postgres://ann@db:5432/app": true, "postgresql://a,b/app?target_session_attrs=read-write": true,
		"postgres://ann@db/app?search_path=x&pool_max_conns=3": true,
		"": false, "threads.db": false, "mysql://ann@db/app": false, "postgres://ann:s3cret@db:port/app": false,
		"postgres://ann@db/app?password=s3cret": false, "postgres://ann:s3cret@db/app?sslmode=s3cret": false, "postgres://db/app?search_path=a,b": false,
	} {
		err := postgres.CheckURL(address)
		if ok != (err == nil) {
			t.Errorf("%s: %v", address, err)
		}
		if err != nil && strings.Contains(err.Error(), "s3cret") {
			t.Errorf("%s: the error holds the password: %v", address, err)
		}
	}
}
