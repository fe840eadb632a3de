package ragflow_test

import (
	"database/sql"
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	ragflow "example.com/ragflow"
)

// TestQueryLog is T07: each question that was answered is a row of query_logs,
// as its reply told it, and is gone with its thread.
func TestQueryLog(t *testing.T) {
	docs, data := t.TempDir(), t.TempDir()
	page := "# Kettle\n\nThe kettle boils water in three minutes. Empty it after use.\n\n# Lamp\n\nThe lamp needs a bulb of seven watts.\n"
	if err := os.WriteFile(filepath.Join(docs, "a.md"), []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	docs, err := filepath.EvalSymlinks(docs)
	if err != nil {
		t.Fatal(err)
	}
	a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: data, Docs: []string{docs}})
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	type row struct {
		ID, Collection, Query, Answer string
		Chunks                        []string
	}
	logged := func(thread string) (out []row) {
		eachRow(t, data, `SELECT id, collection_id, query_text, retrieved_chunk_ids, generated_response, latency_ms FROM query_logs WHERE thread = ?`, thread, func(rows *sql.Rows) error {
			var r row
			var chunks string
			var latency int64
			if err := rows.Scan(&r.ID, &r.Collection, &r.Query, &chunks, &r.Answer, &latency); err != nil {
				return err
			}
			if latency < 0 || latency > 600_000 {
				t.Errorf("it took %d ms", latency)
			}
			if _, err := uuid.Parse(r.ID); err != nil {
				t.Errorf("id %q: %v", r.ID, err)
			}
			out = append(out, r)
			return json.Unmarshal([]byte(chunks), &out[len(out)-1].Chunks)
		})
		return out
	}
	var want []row
	for _, question := range []string{"How long does the kettle take?", "And the lamp?", "thanks"} {
		reply, err := a.Ask(t.Context(), ragflow.Question{Text: question, Thread: "t"})
		if err != nil {
			t.Fatal(err)
		}
		r := row{ID: reply.RunID, Query: reply.Question, Answer: reply.Answer, Chunks: []string{}}
		if len(reply.Retrieved) > 0 {
			r.Collection = docs
		}
		for _, h := range reply.Retrieved {
			r.Chunks = append(r.Chunks, h.ChunkID)
		}
		want = append(want, r)
	}
	got := logged("t")
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if len(want[0].Chunks) == 0 || want[0].Answer == "" {
		t.Errorf("nothing was found: %+v", want[0])
	}
	if err := a.Threads().Delete(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	if left := logged("t"); len(left) > 0 {
		t.Errorf("left of a thread that was deleted: %+v", left)
	}
}
