package ragflow_test

import (
	"bytes"
	"context"
	"database/sql"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/uuid"

	"example.com/ragflow"
	"example.com/ragflow/internal/querylog"
	"example.com/ragflow/internal/sqlite"
	builtin "example.com/ragflow/meaning"
	"example.com/ragflow/state"
)

// page is a document with two answers.
const page = "# Kettle\n\nThe kettle boils water in three minutes. Empty it after use.\n\n# Lamp\n\nThe lamp needs a bulb of seven watts.\n"

// kettle is a folder with that document.
func kettle(t *testing.T) string {
	t.Helper()
	docs := t.TempDir()
	if err := os.WriteFile(filepath.Join(docs, "a.md"), []byte(page), 0o600); err != nil {
		t.Fatal(err)
	}
	return docs
}

// logged is a row of the log as SQL shows it.
type logged struct {
	ID, Kind, Collection, Query, Answer string
	Chunks                              []string
	Abstained                           bool
}

// queryLog reads the log of a data folder as other programs do.
func queryLog(t *testing.T, data string) (out []logged) {
	t.Helper()
	db, err := sql.Open(sqliteDriver(), "file:"+filepath.Join(data, "queries.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.QueryContext(t.Context(), `SELECT id, kind, collection_id, query_text, coalesce(generated_response, ''), retrieved_chunk_ids, abstained, latency_ms
		FROM query_logs ORDER BY time, id`)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var r logged
		var chunks string
		var latency int64
		if err := rows.Scan(&r.ID, &r.Kind, &r.Collection, &r.Query, &r.Answer, &chunks, &r.Abstained, &latency); err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal([]byte(chunks), &r.Chunks); err != nil {
			t.Fatal(err)
		}
		if _, err := uuid.Parse(r.ID); err != nil || latency < 0 || latency > 600_000 {
			t.Errorf("id %q: %v; %d ms", r.ID, err, latency)
		}
		out = append(out, r)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return out
}

func analytics(t *testing.T, a *ragflow.Assistant, q ragflow.AnalyticsQuery) *ragflow.Analytics {
	t.Helper()
	r, err := a.Analytics(t.Context(), q)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// TestQueryLog is T07: each question and each search is a row of query_logs, as its reply told it,
// and outlives its thread.
func TestQueryLog(t *testing.T) {
	data := t.TempDir()
	a := open(t, ragflow.Config{DataDir: data, Docs: []string{kettle(t)}})
	var want []logged
	for _, question := range []string{"How long does the kettle take?", "And the lamp?", "thanks", "Who won the election in 1950?"} {
		reply := ask(t, a, "t", question)
		r := logged{ID: reply.RunID, Kind: "ask", Query: reply.Question, Answer: reply.Answer, Abstained: reply.Abstained, Chunks: []string{}}
		for _, h := range reply.Retrieved {
			r.Chunks = append(r.Chunks, h.ChunkID)
		}
		want = append(want, r)
	}
	found, err := a.Search(t.Context(), "lamp", ragflow.SearchOptions{})
	if err != nil || len(found.Hits) == 0 {
		t.Fatalf("%+v, %v", found, err)
	}
	search := logged{Kind: "search", Query: "lamp"}
	for _, h := range found.Hits {
		search.Chunks = append(search.Chunks, h.ChunkID)
	}
	want = append(want, search)
	if err := a.Threads().Delete(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	report := analytics(t, a, ragflow.AnalyticsQuery{Last: time.Hour})
	got := queryLog(t, data)
	got[len(got)-1].ID = ""
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("(-want +got)\n%s", d)
	}
	if len(want[0].Chunks) == 0 || want[0].Answer == "" || !want[3].Abstained {
		t.Errorf("the questions do not try what they should: %+v", want)
	}
	declined := 0
	for _, r := range want {
		if r.Abstained {
			declined++
		}
	}
	if report.Questions != 4 || report.Declined != declined || report.Searches != 1 || report.Missing != 0 {
		t.Errorf("%+v", report)
	}
	var stages []string
	for _, s := range report.Stages {
		stages = append(stages, s.Name)
	}
	if len(stages) != 9 || stages[0] != "total" || stages[1] != "search" || !slices.Contains(stages, "generate") {
		t.Errorf("stages: %q", stages)
	}
}

// TestQueryLogOfResumedRuns: a run that stopped and was resumed is there once, as it ended.
func TestQueryLogOfResumedRuns(t *testing.T) {
	config := ragflow.Config{DataDir: t.TempDir(), Docs: []string{library(t)}}
	a := open(t, config)
	const question = "How do I water a basil plant?"
	a.Runs().Drain()
	if _, err := a.Ask(t.Context(), ragflow.Question{Text: question, Thread: "t"}); !errors.Is(err, ragflow.ErrDrained) {
		t.Fatalf("error = %v, want ErrDrained", err)
	}
	if r := analytics(t, a, ragflow.AnalyticsQuery{}); r.Failed != 1 || r.Top[0].Text != question {
		t.Errorf("before: %+v", r)
	}
	b := open(t, config)
	reply, err := b.Ask(t.Context(), ragflow.Question{Thread: "t", Resume: true})
	if err != nil {
		t.Fatal(err)
	}
	if r := analytics(t, b, ragflow.AnalyticsQuery{}); r.Questions != 1 || r.Answered != 1 {
		t.Errorf("after: %+v", r)
	}
	if rows := queryLog(t, config.DataDir); len(rows) != 1 || rows[0].ID != reply.RunID || rows[0].Query != question {
		t.Errorf("rows: %+v", rows)
	}
}

// TestLockedQueryLog: another program holds the log, and questions are answered all the same.
func TestLockedQueryLog(t *testing.T) {
	data, docs := t.TempDir(), library(t)
	a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: data, Docs: []string{docs}})
	if err != nil {
		t.Fatal(err)
	}
	ask(t, a, "", "How do I water a basil plant?")
	analytics(t, a, ragflow.AnalyticsQuery{}) // now the log is there
	db, err := sqlite.Open(t.Context(), filepath.Join(data, "queries.db"), sqlite.Options{Migrations: []string{""}})
	if err != nil {
		t.Fatal(err)
	}
	err = db.Write(t.Context(), func(tx *sqlite.Tx) error {
		if err := tx.Do(`DELETE FROM entries WHERE id = 'none'`); err != nil {
			return err
		}
		for range 3 {
			ask(t, a, "", "How do I water a basil plant?")
		}
		return a.Close()
	})
	if err = errors.Join(err, db.Close()); err != nil {
		t.Fatal(err)
	}
	if rows := queryLog(t, data); len(rows) != 1 {
		t.Errorf("%d rows, want that from before the lock", len(rows))
	}
}

// TestQueryLogOfFailures: refused and cancelled questions are logged with the reason, those without
// a word are not.
func TestQueryLogOfFailures(t *testing.T) {
	data := t.TempDir()
	a := open(t, ragflow.Config{DataDir: data, Docs: []string{kettle(t)}})
	if _, err := a.Collections().Make(t.Context(), "law"); err != nil {
		t.Fatal(err)
	}
	var pdfs state.Filter
	pdfs.AddPaths("*.pdf")
	anna := ragflow.OwnedBy(t.Context(), "anna")
	ended, cancel := context.WithCancel(anna)
	cancel()
	for _, tt := range []struct {
		ctx  context.Context //nolint:containedctx // a row of a table
		q    ragflow.Question
		want error
	}{
		{anna, ragflow.Question{Text: " "}, ragflow.ErrEmptyQuery},
		{anna, ragflow.Question{Text: "lamp?", Settings: &ragflow.Settings{Model: "none"}}, ragflow.ErrNoSuchModel},
		{anna, ragflow.Question{Text: "lamp?", Filter: pdfs}, ragflow.ErrFiltered},
		{ended, ragflow.Question{Text: "kettle?"}, context.Canceled},
	} {
		if _, err := a.Ask(tt.ctx, tt.q); !errors.Is(err, tt.want) {
			t.Errorf("%+v: %v, want %v", tt.q, err, tt.want)
		}
	}
	r := analytics(t, a, ragflow.AnalyticsQuery{Owner: "anna"})
	if r.Questions != 3 || r.Failed != 2 || r.Cancelled != 1 || len(r.Errors) != 2 || r.Top[0].Text != "lamp?" {
		t.Errorf("%+v", r)
	}
	if r := analytics(t, a, ragflow.AnalyticsQuery{Owner: "bert"}); r.Questions != 0 {
		t.Errorf("another owner: %+v", r)
	}
}

// TestQueryLogOfEncryptedThreads: the log is encrypted, too.
func TestQueryLogOfEncryptedThreads(t *testing.T) {
	data := t.TempDir()
	keys, err := ragflow.ParseKeyring("k:" + strings.Repeat("A", 43) + "=")
	if err != nil {
		t.Fatal(err)
	}
	a := open(t, ragflow.Config{DataDir: data, Docs: []string{kettle(t)}, ThreadKeys: keys})
	ask(t, a, "", "How long does the kettle take?")
	if r := analytics(t, a, ragflow.AnalyticsQuery{}); r.Questions != 1 || r.Unreadable != 0 {
		t.Errorf("%+v", r)
	}
	if rows := queryLog(t, data); len(rows) > 0 {
		t.Errorf("SQL shows %+v", rows)
	}
	files, err := filepath.Glob(filepath.Join(data, "queries.db*"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, name := range files {
		if text, err := os.ReadFile(name); err != nil || bytes.Contains(text, []byte("kettle")) {
			t.Errorf("%s: plain text, %v", name, err)
		}
	}
}

// TestNoQueryLog: none is kept if it is switched off, or if threads are kept in memory.
func TestNoQueryLog(t *testing.T) {
	for name, c := range map[string]ragflow.Config{
		"switched off": {QueryLogDays: -1}, "an evaluation": {ForgetThreads: true},
	} {
		c.DataDir, c.Docs = t.TempDir(), []string{kettle(t)}
		a := open(t, c)
		ask(t, a, "", "How long does the kettle take?")
		if r := analytics(t, a, ragflow.AnalyticsQuery{}); r.Questions != 0 {
			t.Errorf("%s: %+v", name, r)
		}
		if _, err := os.Stat(filepath.Join(c.DataDir, "queries.db")); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: there is a log: %v", name, err)
		}
	}
	if _, err := open(t, ragflow.Config{}).Analytics(t.Context(), ragflow.AnalyticsQuery{}); err == nil {
		t.Error("without a data folder: no error")
	}
}

// TestBrokenQueryLog: whatever is wrong with the log, questions and searches are answered, the loss
// is told, and what cannot be read is said.
func TestBrokenQueryLog(t *testing.T) {
	for name, broken := range map[string]func(path string) error{
		"damaged":  func(path string) error { return os.WriteFile(path, []byte(strings.Repeat("nonsense", 1000)), 0o600) },
		"a folder": func(path string) error { return os.Mkdir(path, 0o700) },
		"cut":      func(path string) error { return cut(path) },
	} {
		t.Run(name, func(t *testing.T) {
			data, docs := t.TempDir(), library(t)
			if err := broken(filepath.Join(data, "queries.db")); err != nil {
				t.Fatal(err)
			}
			var told messages
			a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: data, Docs: []string{docs}, Logger: told.logger()})
			if err != nil {
				t.Fatal(err)
			}
			for range 3 {
				if reply := ask(t, a, "", "How do I water a basil plant?"); reply.Abstained || len(reply.Citations) == 0 {
					t.Errorf("answer: %q", reply.Answer)
				}
			}
			if _, err := a.Search(t.Context(), "kettle", ragflow.SearchOptions{}); err != nil {
				t.Error(err)
			}
			if _, err := a.Analytics(t.Context(), ragflow.AnalyticsQuery{}); err == nil || !strings.Contains(err.Error(), "queries.db") {
				t.Errorf("Analytics: %v, want an error that names the file", err)
			}
			if err := a.Close(); err != nil {
				t.Error(err)
			}
			if n := strings.Count(told.String(), "Failed to log query: "); n != 1 || !strings.Contains(told.String(), "questions=4") {
				t.Errorf("told %d times:\n%s", n, told.String())
			}
		})
	}
}

// cut makes a log with entries that lacks its last pages.
func cut(path string) error {
	l := querylog.Open(path, querylog.Options{})
	for range 100 {
		l.Add(querylog.Entry{Kind: querylog.Ask, Question: "a question?", Answer: strings.Repeat("long ", 500)})
	}
	l.Close()
	info, err := os.Stat(path)
	if err == nil {
		err = os.Truncate(path, info.Size()/3)
	}
	return err
}

// TestWhatDocumentsLack puts questions together that are about one thing, by the built-in model.
func TestWhatDocumentsLack(t *testing.T) {
	if !builtin.Fast() {
		t.Skip("the processor is too slow for the built-in model")
	}
	data := t.TempDir()
	l := querylog.Open(filepath.Join(data, "queries.db"), querylog.Options{})
	declined := func(question string) {
		l.Add(querylog.Entry{Kind: querylog.Ask, Question: question, Abstained: true, Time: time.Now().Add(-time.Minute)})
	}
	for _, group := range []string{
		"How do I get a parking permit?|How do I get a parking permit?|Where can I park my car?|Is there parking for employees?|parking space for visitors",
		"Does the company pay for gym membership?|does the company pay for gym membership|gym subsidy|Can I get money for a fitness club?",
		"When is payday?|On which day are salaries paid?",
		"Who is the CEO?", "How do I print double-sided?", "What is the capital of France?",
	} {
		for question := range strings.SplitSeq(group, "|") {
			declined(question)
		}
	}
	l.Flush(t.Context())
	l.Close()
	a := open(t, ragflow.Config{DataDir: data, Docs: []string{kettle(t)}})
	r := analytics(t, a, ragflow.AnalyticsQuery{Last: time.Hour})
	var got []string
	for _, g := range r.Gaps {
		slices.Sort(g.Questions)
		got = append(got, fmt.Sprint(g.Count, " ", strings.Join(g.Questions, "|")))
	}
	want := []string{
		"5 How do I get a parking permit?|Is there parking for employees?|Where can I park my car?|parking space for visitors",
		"4 Can I get money for a fitness club?|Does the company pay for gym membership?|gym subsidy",
		"2 On which day are salaries paid?|When is payday?",
	}
	if d := cmp.Diff(want, got); d != "" || r.Unanswered[0].Count != 2 {
		t.Errorf("%+v (-want +got)\n%s", r.Unanswered, d)
	}
}

// messages is what a logger was told.
type messages struct {
	mu   sync.Mutex
	text strings.Builder
}

func (m *messages) Write(p []byte) (int, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.text.Write(p)
}

func (m *messages) String() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.text.String()
}

func (m *messages) logger() *slog.Logger { return slog.New(slog.NewTextHandler(m, nil)) }
