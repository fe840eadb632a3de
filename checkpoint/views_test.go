package checkpoint_test

import (
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
	"example.com/ragflow/internal/sqlite"
)

// messagesView is the kind of view that a program lays over the log.
func messagesView() string {
	return `CREATE VIEW messages(thread, seq, role, content, time, id) AS
SELECT l.thread, row_number() OVER (PARTITION BY l.thread ORDER BY l.commit_id, l.n, op.key),
	json_extract(op.value, '$.put.role'),
	json_extract(op.value, '$.put.content'),
	l.time, json_extract(op.value, '$.put.id')
FROM log l, json_each(l.body, '$.messages') op
WHERE l.error = '' AND json_type(op.value, '$.put') = 'object'`
}

func openWithViews(tb testing.TB, path string, views ...string) *checkpoint.SQLite {
	tb.Helper()
	s, err := checkpoint.Open(tb.Context(), path, checkpoint.Options{Views: views})
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { _ = s.Close() })
	return s
}

// query reads a file the way another program would.
func query(tb testing.TB, path, text string) []string {
	tb.Helper()
	db, err := sqlite.Open(tb.Context(), path, sqlite.Options{Migrations: []string{""}})
	if err != nil {
		tb.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	var lines []string
	err = db.Read(tb.Context(), func(tx *sqlite.Tx) error {
		lines = nil
		for row := range tx.Query(text) {
			var line string
			if err := row.Scan(&line); err != nil {
				return err
			}
			lines = append(lines, line)
		}
		return nil
	})
	if err != nil {
		tb.Fatal(err)
	}
	return lines
}

// say appends a commit with a message to a thread.
func say(tb testing.TB, s graph.Store, thread, run, body string) graph.CommitID {
	tb.Helper()
	l, err := s.Acquire(tb.Context(), thread, graph.AcquireOptions{Owner: "a", TTL: time.Hour, Wait: time.Minute})
	if err != nil {
		tb.Fatal(err)
	}
	head, _ := s.Head(tb.Context(), thread) // the zero commit for a new thread
	id, err := s.Commit(tb.Context(), l, graph.Batch{Commit: graph.Commit{
		Parent: head.ID, Run: run, Step: 1, Source: graph.SourceInput, Status: graph.Running,
		Time:   time.Date(2026, 11, 21, 9, 0, 0, 5000, time.UTC),
		Deltas: []graph.Delta{{Node: "generate", Body: []byte(body)}, {Node: "failed", Rank: 1, Error: "no luck"}, {Node: "idle", Rank: 2}},
	}})
	if err != nil {
		tb.Fatal(err)
	}
	if err := s.Release(tb.Context(), l); err != nil {
		tb.Fatal(err)
	}
	return id
}

const aRun = "6ba7b810-9dad-11d1-80b4-00c04fd430c8"

func TestViews(t *testing.T) {
	path := filepath.Join(t.TempDir(), "threads.db")
	s := openWithViews(t, path, messagesView())
	long := strings.Repeat("What is a volume? ", 30)
	say(t, s, "t", aRun, `{"messages":[{"put":{"id":"1","role":"human","content":"`+long+`"}},{"put":{"id":"2","role":"ai","content":"short"}}]}`)
	say(t, s, "other", "r", `{"messages":[{"put":{"id":"9","role":"human","content":"elsewhere"}}]}`)
	say(t, s, "t", aRun, `{"messages":[{"remove":"1"},{"put":{"id":"3","role":"ai","content":"`+strings.Repeat(`\u003cbr\u003e`, 40)+`"}}]}`)
	say(t, s, "t", aRun, `{"messages":[{"put":{"id":"4","role":"ai","content":"\u00011"}}],"summary":"x"}`)

	got := query(t, path, `SELECT seq || '|' || role || '|' || id || '|' || content FROM messages WHERE thread = 't' ORDER BY seq`)
	want := []string{
		"1|human|1|" + long, "2|ai|2|short",
		"3|ai|3|" + strings.Repeat("<br>", 40), "4|ai|4|\x011",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("messages (-want +got):\n%s", diff)
	}
	got = query(t, path, `SELECT thread||'|'||commit_id||'|'||n||'|'||step||'|'||source||'|'||status||'|'||run||'|'||path||'|'||node||'|'||rank||'|'||error||'|'||time
		FROM log WHERE thread = 't' AND commit_id = 1 ORDER BY n`)
	want = []string{
		"t|1|0|1|input|running|" + aRun + "||generate|0||2026-11-21T09:00:00.000005Z",
		"t|1|1|1|input|running|" + aRun + "||failed|1|no luck|2026-11-21T09:00:00.000005Z",
		"t|1|2|1|input|running|" + aRun + "||idle|2||2026-11-21T09:00:00.000005Z",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("log (-want +got):\n%s", diff)
	}

	cli, err := exec.LookPath("sqlite3")
	if err != nil {
		t.Log("no sqlite3 on this machine; the command line was not tried")
		return
	}
	out, err := exec.CommandContext(t.Context(), cli, path, `select role, content from messages where thread='t' and seq < 3`).CombinedOutput()
	if diff := cmp.Diff("human|"+long+"\nai|short\n", string(out)); err != nil || diff != "" {
		t.Errorf("sqlite3: %v (-want +got):\n%s", err, diff)
	}
}

func TestViewsFollowTheirTexts(t *testing.T) {
	path := filepath.Join(t.TempDir(), "threads.db")
	version := func(n int) string { return fmt.Sprintf(`CREATE VIEW v(n) AS SELECT %d`, n) }
	for _, tt := range []struct {
		views []string
		want  []string
	}{
		{[]string{version(1)}, []string{"1"}},
		{[]string{version(2), `CREATE VIEW "another view" AS SELECT 1`}, []string{"2"}},
		{[]string{version(2), `CREATE VIEW "another view" AS SELECT 1`}, []string{"2"}},
		{[]string{version(3)}, []string{"3"}},
	} {
		s := openWithViews(t, path, tt.views...)
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(tt.want, query(t, path, `SELECT n FROM v`)); diff != "" {
			t.Errorf("views %q (-want +got):\n%s", tt.views, diff)
		}
	}
	if got := query(t, path, `SELECT name FROM sqlite_schema WHERE type = 'view' ORDER BY name`); !cmp.Equal(got, []string{"log", "v"}) {
		t.Errorf("views = %q", got)
	}
	for _, bad := range []string{`DROP TABLE commits`, ``, `CREATE VIEW`, `CREATE VIEW x AS SELEKT`, `CREATE TABLE x(y)`} {
		if s, err := checkpoint.Open(t.Context(), path, checkpoint.Options{Views: []string{bad}}); err == nil {
			t.Errorf("view %q was accepted", bad)
			_ = s.Close()
		}
	}
	if diff := cmp.Diff([]string{"3"}, query(t, path, `SELECT n FROM v`)); diff != "" {
		t.Errorf("after refused views (-want +got):\n%s", diff)
	}
}

// TestViewsCostOneThread looks at SQLite's plan: a condition on thread must
// reach the thread before its line is computed, through the view above, too.
func TestViewsCostOneThread(t *testing.T) {
	path := filepath.Join(t.TempDir(), "threads.db")
	openWithViews(t, path, messagesView())
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Migrations: []string{""}})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	err = db.Read(t.Context(), func(tx *sqlite.Tx) error {
		var plan []string
		for row := range tx.Query(`EXPLAIN QUERY PLAN SELECT content FROM messages WHERE thread = 't' ORDER BY seq`) {
			var id, parent, unused int
			var detail string
			if err := row.Scan(&id, &parent, &unused, &detail); err != nil {
				return err
			}
			plan = append(plan, detail)
		}
		text := strings.Join(plan, "\n")
		if !strings.Contains(text, "SEARCH t USING") || strings.Contains(text, "SCAN c") || strings.Contains(text, "SCAN d") {
			t.Errorf("plan looks at other threads:\n%s", text)
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}
