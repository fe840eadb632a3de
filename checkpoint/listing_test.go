package checkpoint_test

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
)

// manyThreads returns a store of n threads of 100 owners with one commit each. One in 50 failed, one in 1,000 has the tag
// rare, all have the tag kind.
func manyThreads(tb testing.TB, n int) *checkpoint.SQLite {
	tb.Helper()
	s := open(tb, filepath.Join(tb.TempDir(), "threads.db"))
	tb.Cleanup(func() { _ = s.Close() })
	say(tb, s, "first", "r", `{"title":"first"}`)
	numbers := fmt.Sprintf(`WITH RECURSIVE n(i) AS (SELECT 2 UNION ALL SELECT i + 1 FROM n WHERE i <= %d) `, n)
	err := s.Exec(tb.Context(),
		`INSERT INTO kinds VALUES(100, 'f', 'loop', 'failed', '', '', '', 0), (101, 'f', 'loop', 'completed', '', '', '', 0)`,
		numbers+`INSERT INTO threads SELECT i, 'thread ' || i, 'owner ' || (i % 100), '{"title":"Title of ' || i || '","metadata":{"kind":"chat"' || CASE i % 1000 WHEN 0 THEN ',"rare":"yes"' ELSE '' END || '}}',
			i, i, CASE i % 50 WHEN 0 THEN 'failed' ELSE 'completed' END, i, i, i, 0, 0, 0, '', 0, NULL FROM n`,
		numbers+`INSERT INTO commits(id, thread, kind, run, step, time, bytes, deltas, text)
			SELECT i, i, 100 + (i % 50 > 0), 'run ' || i, 0, i, 0, 0, 'who approves leave number ' || i FROM n`,
		`INSERT INTO tags SELECT key, value, t.id FROM threads t, json_each(t.facts, '$.metadata')`,
	)
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// queries are the shapes of a query, and the plan of each.
var queries = []struct {
	name string
	q    graph.ThreadQuery
	plan string
}{
	{"newest", graph.ThreadQuery{}, "SCAN t USING INDEX threads_active"},
	{"next", graph.ThreadQuery{After: 900}, "SEARCH t USING INDEX threads_active (active<?)"},
	{"oldest", graph.ThreadQuery{OldestFirst: true, After: 900}, "SEARCH t USING INDEX threads_active (active>?)"},
	{"created", graph.ThreadQuery{Order: graph.ByCreation, After: 900}, "SEARCH t USING INTEGER PRIMARY KEY (rowid<?)"},
	{"owner", graph.ThreadQuery{Owner: "owner 7", After: 900}, "SEARCH t USING INDEX threads_owner (owner=? AND active<?)"},
	{"owner, created", graph.ThreadQuery{Owner: "owner 7", Order: graph.ByCreation}, "SEARCH t USING INDEX threads_made (owner=?)"},
	{"failed", graph.ThreadQuery{Status: graph.Failed, After: 900}, "SEARCH t USING INDEX threads_status (status=? AND active<?)"},
	{"completed", graph.ThreadQuery{Status: graph.Completed}, "SCAN t USING INDEX threads_active"},
	{
		"rare tag",
		graph.ThreadQuery{Metadata: map[string]string{"kind": "chat", "rare": "yes"}},
		"SEARCH g USING PRIMARY KEY (key=? AND value=?); SEARCH t USING INTEGER PRIMARY KEY (rowid=?); USE TEMP B-TREE FOR ORDER BY",
	},
	{
		"common tag",
		graph.ThreadQuery{Metadata: map[string]string{"kind": "chat"}},
		"SCAN t USING INDEX threads_active; SEARCH g",
	},
	{"text", graph.ThreadQuery{Text: "leave number 1"}, "SCAN t USING INDEX threads_active; CORRELATED SCALAR SUBQUERY 1; SEARCH c USING INDEX commits_text (thread=?)"},
	{"text of none", graph.ThreadQuery{Text: "nowhere"}, "SCAN t USING INDEX threads_active"},
	{"the last page", graph.ThreadQuery{OldestFirst: true, Owner: "owner 7", Order: graph.ByCreation, After: 1}, "SEARCH t USING INDEX threads_made (owner=? AND rowid>?)"},
}

// A page is read in the order of an index, and by a number of statements that does not grow with the store.
func TestListingPlans(t *testing.T) {
	s := manyThreads(t, 3000)
	for _, tt := range queries {
		plan, err := s.Plan(t.Context(), tt.q)
		if err != nil || !strings.HasPrefix(plan, tt.plan) {
			t.Errorf("%s: plan %q, %v, want %q", tt.name, plan, err, tt.plan)
		}
		before := s.Counters().Statements
		page, err := s.Threads(t.Context(), tt.q)
		if err != nil || len(page.Threads) == 0 && tt.name != "text of none" {
			t.Errorf("%s: %d threads, %v", tt.name, len(page.Threads), err)
		}
		if n := s.Counters().Statements - before; n > 6 {
			t.Errorf("%s: %d statements", tt.name, n)
		}
	}
}

// A search ends after 2,000 threads and continues there.
func TestSearchIsBounded(t *testing.T) {
	s := manyThreads(t, 4500)
	q, pages, found := graph.ThreadQuery{Text: "NUMBER 77"}, 0, []string{}
	for {
		page, err := s.Threads(t.Context(), q)
		if err != nil {
			t.Fatal(err)
		}
		pages++
		for _, i := range page.Threads {
			found = append(found, i.Thread)
		}
		if q.After = page.Next; q.After == 0 {
			break
		}
	}
	want := []string{"thread 779", "thread 778", "thread 777", "thread 776", "thread 775", "thread 774", "thread 773", "thread 772", "thread 771", "thread 770", "thread 77"}
	if pages != 3 || !slices.Equal(found, want) {
		t.Errorf("%d pages with %v", pages, found)
	}
}

// An encrypted store keeps no title, metadata or text in plain text, also if it got its key late.
func TestFactsAreEncrypted(t *testing.T) {
	path := filepath.Join(t.TempDir(), "threads.db")
	write := func(s *checkpoint.SQLite, thread string) {
		t.Helper()
		say(t, s, thread, "r", `{"title":"`+secret+`","text":"`+strings.ToLower(secret)+`"}`)
		if err := s.Describe(t.Context(), thread, graph.ThreadFacts{Metadata: map[string]string{secret: secret}}); err != nil {
			t.Fatal(err)
		}
	}
	plain := open(t, path)
	write(plain, "early")
	if err := plain.Close(); err != nil {
		t.Fatal(err)
	}
	s := openSealed(t, path, "a")
	defer func() { _ = s.Close() }()
	write(s, "late")
	if _, err := s.Rotate(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := s.Vacuum(t.Context()); err != nil {
		t.Fatal(err)
	}
	if got := bytes.ToLower(raw(t, path)); bytes.Contains(got, []byte(strings.ToLower(secret))) {
		t.Error("the secret stands in the file")
	}
	page, err := s.Threads(t.Context(), graph.ThreadQuery{Text: secret, Metadata: map[string]string{secret: secret}})
	if err != nil || len(page.Threads) != 2 || page.Threads[1].Title != secret {
		t.Errorf("threads %+v, %v", page, err)
	}
	if found, err := s.Verify(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("findings %v, %v", found, err)
	}
}

// BenchmarkThreads reads a page of 50 of 100,000 threads.
func BenchmarkThreads(b *testing.B) {
	s := manyThreads(b, 100_000)
	for _, tt := range queries {
		if tt.q.After == 900 {
			tt.q.After = 50_000
		}
		b.Run(tt.name, func(b *testing.B) {
			for b.Loop() {
				if _, err := s.Threads(b.Context(), tt.q); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(b.Elapsed().Seconds()/float64(b.N)*float64(time.Second/time.Millisecond), "ms/page")
		})
	}
}
