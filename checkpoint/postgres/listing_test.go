package postgres_test

import (
	"strings"
	"testing"
	"time"

	"example.com/ragflow/graph"
)

// A page of many threads is read by an index. It prints the time of a page.
func TestListingPlansIntegration(t *testing.T) {
	address := schema(t)
	s := open(t, address)
	defer func() { _ = s.Close() }()
	fill(t, s, "first", 1)
	run(t, address, `
		INSERT INTO threads(name, owner, title, metadata, status, head, active)
			SELECT 'thread ' || i, 'owner ' || i % 100, 'Title of ' || i, jsonb_build_object('kind', 'chat', 'of', (i / 1000)::text, CASE i % 1000 WHEN 7 THEN 'rare' ELSE 'often' END, 'yes'),
				CASE WHEN i % 50 = 0 THEN 'failed' ELSE 'completed' END, 1000 + i, 1000 + i FROM generate_series(1, 100000) i;
		INSERT INTO entries SELECT head, 0, id, now(), 0, 0, 0, 'input', status, false, 'run ' || id, 'g', '', '', '', 'who approves leave number ' || id, '' FROM threads WHERE id > 1;
		ANALYZE`)
	for _, tt := range []struct {
		index string
		q     graph.ThreadQuery
	}{
		{"threads_active", graph.ThreadQuery{}},
		{"threads_active", graph.ThreadQuery{OldestFirst: true, After: 50_000}},
		{"threads_pkey", graph.ThreadQuery{Order: graph.ByCreation, After: 50_000}},
		{"threads_owner", graph.ThreadQuery{Owner: "owner 7", After: 50_000}},
		{"threads_made", graph.ThreadQuery{Owner: "owner 7", Order: graph.ByCreation}},
		{"threads_status", graph.ThreadQuery{Status: graph.Failed}},
		{"threads_pkey", graph.ThreadQuery{Metadata: map[string]string{"kind": "chat", "rare": "yes"}}},
		{"threads_active", graph.ThreadQuery{Metadata: map[string]string{"kind": "chat"}}},
		{"on entries e", graph.ThreadQuery{Text: "number 77"}},
	} {
		plan, err := s.Plan(t.Context(), tt.q)
		if err != nil || !strings.Contains(plan, tt.index) || strings.Contains(plan, "Seq Scan") {
			t.Errorf("%+v: %v, want index %s:\n%s", tt.q, err, tt.index, plan)
		}
		began := time.Now()
		page, err := s.Threads(t.Context(), tt.q)
		if err != nil || len(page.Threads) == 0 && tt.q.Text == "" {
			t.Errorf("%+v: %d threads, %v", tt.q, len(page.Threads), err)
		}
		t.Logf("%+v: %d of 100,000 threads in %v", tt.q, len(page.Threads), time.Since(began))
	}
}
