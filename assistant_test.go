package ragflow_test

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"golang.org/x/tools/txtar"

	"example.com/ragflow"
	"example.com/ragflow/graph"
	"example.com/ragflow/ingest"
	"example.com/ragflow/internal/folder"
	"example.com/ragflow/nodes"
	"example.com/ragflow/search"
	"example.com/ragflow/state"
	"example.com/ragflow/threads"
)

// library writes the documents of testdata/library.txtar to a new folder.
func library(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile(filepath.Join("testdata", "library.txtar"))
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range archive.Files {
		write(t, filepath.Join(dir, f.Name), string(f.Data))
	}
	return dir
}

func write(t *testing.T, path, content string) {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
}

// pages returns a folder with files of these names and texts, as Config.Docs.
func pages(t *testing.T, texts map[string]string) []string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range texts {
		write(t, filepath.Join(dir, name), text)
	}
	return []string{dir}
}

func open(t *testing.T, c ragflow.Config) *ragflow.Assistant {
	t.Helper()
	a, err := ragflow.Open(t.Context(), c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := a.Close(); err != nil {
			t.Error(err)
		}
	})
	return a
}

func ask(t *testing.T, a *ragflow.Assistant, thread, question string) *ragflow.Reply {
	t.Helper()
	reply, err := a.Ask(t.Context(), ragflow.Question{Text: question, Thread: thread, Trace: true})
	if err != nil {
		t.Fatalf("ask %q: %v", question, err)
	}
	return reply
}

// checkQuotes makes sure that every quote stands in its file, at its bytes and
// lines.
func checkQuotes(t *testing.T, r *ragflow.Reply) {
	t.Helper()
	for _, c := range r.Citations {
		file, err := os.ReadFile(c.Path)
		if err != nil {
			t.Error(err)
			continue
		}
		if got := string(file[c.Start:c.End]); got != c.Quote {
			t.Errorf("%s[%d:%d] = %q, the quote is %q", c.Path, c.Start, c.End, got, c.Quote)
		}
		first := 1 + strings.Count(string(file[:c.Start]), "\n")
		last := 1 + strings.Count(strings.TrimSuffix(string(file[:c.End]), "\n"), "\n")
		if first != c.StartLine || last != c.EndLine {
			t.Errorf("%s: lines %d-%d, the citation says %d-%d", c.Source, first, last, c.StartLine, c.EndLine)
		}
	}
}

func TestAnswersWithCitations(t *testing.T) {
	a := open(t, ragflow.Config{Docs: []string{library(t)}})
	r := ask(t, a, "", "How often should I water a basil plant?")
	if !strings.Contains(r.Answer, "every second day") || !strings.Contains(r.Answer, "[Source 1]") {
		t.Errorf("answer = %q, want the watering sentence with its source", r.Answer)
	}
	if len(r.Citations) == 0 || r.Citations[0].Source != "herbs/basil.md" {
		t.Errorf("citations = %+v, want herbs/basil.md first", r.Citations)
	}
	checkQuotes(t, r)
	if r.Abstained || r.Grade.Score < 0.5 || r.Model != "offline" || r.Usage.Calls != 0 {
		t.Errorf("abstained %v, score %v, model %q, calls %d", r.Abstained, r.Grade.Score, r.Model, r.Usage.Calls)
	}
	for _, node := range []string{"ingest", "pre_retrieval", "retrieval", "check_and_refine", "post_retrieval", "summarize_conversation", "generate", "total"} {
		if _, ok := r.LatencyMS[node]; !ok {
			t.Errorf("no latency of %s", node)
		}
	}
}

func TestAbstainsWithTheClosestPassage(t *testing.T) {
	a := open(t, ragflow.Config{Docs: []string{library(t)}})
	r := ask(t, a, "", "Which visa do I need to travel to Mongolia?")
	if !r.Abstained || r.Grade.Score >= 0.5 {
		t.Errorf("abstained %v at score %v, want an abstention: %s", r.Abstained, r.Grade.Score, r.Answer)
	}
	checkQuotes(t, r)
}

func TestFollowUpNeedsItsThread(t *testing.T) {
	dir, data := library(t), t.TempDir()
	first := open(t, ragflow.Config{Docs: []string{dir}, DataDir: data})
	ask(t, first, "garden", "How often should I water a basil plant?")
	second := open(t, ragflow.Config{Docs: []string{dir}, DataDir: data}) // as another process would
	r := ask(t, second, "garden", "and how much light does it need?")
	if len(r.Citations) == 0 || r.Citations[0].Source != "herbs/basil.md" {
		t.Errorf("follow-up cites %+v, want herbs/basil.md; answer %q", r.Citations, r.Answer)
	}
	other := ask(t, second, "elsewhere", "and how much light does it need?")
	for _, q := range other.Queries {
		for _, b := range q.Boosts {
			if q.Attempt == 1 && strings.Contains(strings.ToLower(b.Text), "basil") {
				t.Errorf("another thread knows of basil: %+v", q)
			}
		}
	}
	thread, err := second.Threads().Thread(t.Context(), "garden")
	if err != nil {
		t.Fatal(err)
	}
	if got := roles(thread.Messages); got != "human ai human ai" {
		t.Errorf("history is %q", got)
	}
}

func roles(ms []threads.Message) string {
	var out []string
	for _, m := range ms {
		out = append(out, string(m.Role))
	}
	return strings.Join(out, " ")
}

func TestLongThreadIsSummarised(t *testing.T) {
	data := t.TempDir()
	a := open(t, ragflow.Config{Docs: []string{library(t)}, DataDir: data, Settings: ragflow.Settings{SummaryTokens: 300}})
	ask(t, a, "long", "I use a balcony that faces north. How often should I water a basil plant?")
	asked := []string{
		"How do I propagate mint from cuttings?", "Which soil does rosemary like?", "When do I harvest thyme?",
		"How do I dry oregano?", "What kills aphids on herbs?",
	}
	for _, q := range asked {
		ask(t, a, "long", q)
	}
	r := ask(t, a, "long", "and what about spider mites?")
	thread, err := a.Threads().Thread(t.Context(), "long")
	if err != nil {
		t.Fatal(err)
	}
	if len(thread.Messages) != 14 {
		t.Errorf("history holds %d messages, want all 14", len(thread.Messages))
	}
	if len(thread.Summaries) == 0 || !strings.Contains(thread.Summary, "north") {
		t.Errorf("summary %q does not hold what the person said of themselves", thread.Summary)
	}
	if diff := cmp.Diff(thread.Messages, messagesView(t, data, "long"), cmpopts.IgnoreFields(state.Message{}, "Time", "Citations")); diff != "" {
		t.Errorf("the history and the view messages differ:\n%s", diff)
	}
	if diff := cmp.Diff(thread.Summaries, summariesView(t, data, "long")); diff != "" {
		t.Errorf("the summaries and their view differ:\n%s", diff)
	}
	run, err := a.Threads().Run(t.Context(), r.RunID)
	if err != nil {
		t.Fatal(err)
	}
	if n := len(run.State.Messages); n >= 14 {
		t.Errorf("%d live messages, want fewer than were said", n)
	}
	if len(r.Citations) == 0 || r.Citations[0].Source != "pests.md" {
		t.Errorf("after summarising, the follow-up cites %+v, want pests.md", r.Citations)
	}
}

// messagesView reads a history as a person with an SQLite tool would.
func messagesView(t *testing.T, data, thread string) []threads.Message {
	t.Helper()
	var out []threads.Message
	eachRow(t, data, `SELECT seq, id, role, content, run FROM messages WHERE thread = ? ORDER BY seq`, thread, func(rows *sql.Rows) error {
		var seq int
		var m threads.Message
		err := rows.Scan(&seq, &m.ID, &m.Role, &m.Content, &m.Run)
		out = append(out, m)
		if seq != len(out) {
			t.Errorf("message %d has the number %d", len(out), seq)
		}
		return err
	})
	return out
}

func summariesView(t *testing.T, data, thread string) []string {
	t.Helper()
	var out []string
	eachRow(t, data, `SELECT seq, summary FROM summaries WHERE thread = ? ORDER BY seq`, thread, func(rows *sql.Rows) error {
		var seq int
		var summary string
		err := rows.Scan(&seq, &summary)
		out = append(out, summary)
		return err
	})
	return out
}

func eachRow(t *testing.T, data, query, thread string, scan func(*sql.Rows) error) {
	t.Helper()
	db, err := sql.Open(sqliteDriver(), filepath.Join(data, "threads.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer db.Close()
	rows, err := db.QueryContext(t.Context(), query, thread)
	if err != nil {
		t.Fatal(err)
	}
	defer rows.Close()
	for rows.Next() {
		if err := scan(rows); err != nil {
			t.Fatal(err)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
}

// sqliteDriver is the name of the driver for SQLite that the build has.
func sqliteDriver() string {
	drivers := sql.Drivers()
	return drivers[slices.IndexFunc(drivers, func(name string) bool { return strings.HasPrefix(name, "sqlite") })]
}

func TestSameInputSameBytes(t *testing.T) {
	dir := library(t)
	turn := func() (answers, traces string) {
		var answer, trace strings.Builder
		n := 0
		clock := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
		a := open(t, ragflow.Config{
			Docs:  []string{dir},
			Clock: func() time.Time { return clock },
			NewID: func() string { n++; return fmt.Sprintf("id-%d", n) },
		})
		for _, q := range []string{"How do I dry oregano?", "and mint?", "Which visa do I need to travel to Mongolia?"} {
			r := ask(t, a, "t", q)
			answer.WriteString(r.AnswerMD)
			trace.WriteString(r.FlowTraceMD)
		}
		return answer.String(), trace.String()
	}
	answers, trace := turn()
	for range 3 {
		again, traceAgain := turn()
		if diff := cmp.Diff(answers, again); diff != "" {
			t.Fatalf("answers differ:\n%s", diff)
		}
		if diff := cmp.Diff(trace, traceAgain); diff != "" {
			t.Fatalf("traces differ:\n%s", diff)
		}
	}
}

func TestTraceIsTheSameLater(t *testing.T) {
	dir, data := library(t), t.TempDir()
	a := open(t, ragflow.Config{Docs: []string{dir}, DataDir: data})
	r := ask(t, a, "t", "When do I harvest thyme?")
	ask(t, a, "t", "How do I dry oregano?")
	later := open(t, ragflow.Config{DataDir: data})
	again, err := later.Reply(t.Context(), r.RunID)
	if err != nil {
		t.Fatal(err)
	}
	answer, flow := again.AnswerMD, again.FlowTraceMD
	if diff := cmp.Diff(r.AnswerMD, answer); diff != "" {
		t.Errorf("answer.md (-then +now):\n%s", diff)
	}
	if diff := cmp.Diff(r.FlowTraceMD, flow); diff != "" {
		t.Errorf("flow_trace.md (-then +now):\n%s", diff)
	}
	if _, err := later.Reply(t.Context(), "nope"); !errors.Is(err, ragflow.ErrNotFound) {
		t.Errorf("unknown run: %v, want ErrNotFound", err)
	}
	if last, err := later.Reply(t.Context(), "last"); err != nil || last.AnswerMD == r.AnswerMD {
		t.Errorf("last is not the newest run (%v)", err)
	}
}

func TestBadInput(t *testing.T) {
	ctx := t.Context()
	a := open(t, ragflow.Config{Docs: []string{library(t)}})
	if _, err := a.Ask(ctx, ragflow.Question{Text: " \t\n\u200b"}); !errors.Is(err, ragflow.ErrEmptyQuery) {
		t.Errorf("empty question: %v", err)
	}
	if threads, err := a.Threads().All(ctx); err != nil || len(threads) != 0 {
		t.Errorf("an empty question left threads %v (%v)", threads, err)
	}
	long := strings.Repeat("basil ", 20_000/6)
	r := ask(t, a, "", long)
	if !slices.ContainsFunc(r.Warnings, func(w string) bool { return strings.HasPrefix(w, "Query truncated from ") }) {
		t.Errorf("20,000 runes: warnings %q", r.Warnings)
	}
	for _, name := range []string{strings.Repeat("x", 201), "a\nb", "\xff"} {
		if _, err := a.Ask(ctx, ragflow.Question{Text: "basil", Thread: name}); !errors.Is(err, ragflow.ErrThreadName) {
			t.Errorf("thread %.20q: %v, want ErrThreadName", name, err)
		}
	}
	nowhere := open(t, ragflow.Config{Docs: []string{""}})
	if _, err := nowhere.Ask(ctx, ragflow.Question{Text: "x"}); !errors.Is(err, folder.ErrNoPath) {
		t.Errorf("empty path: %v, want ErrNoPath", err)
	}
	if _, err := a.Ask(ctx, ragflow.Question{Thread: "x", Resume: true}); !errors.Is(err, ragflow.ErrNothingToResume) {
		t.Errorf("resume of nothing: %v", err)
	}
	if _, err := a.Threads().Thread(ctx, "x"); !errors.Is(err, ragflow.ErrNotFound) {
		t.Errorf("unknown thread: %v", err)
	}
	if _, err := a.Search(ctx, "basil", ragflow.SearchOptions{Request: search.Request{K: -1}}); err == nil {
		t.Error("-1 results were accepted")
	}
	missing := open(t, ragflow.Config{Docs: []string{filepath.Join(t.TempDir(), "nowhere")}})
	if _, err := missing.Ask(ctx, ragflow.Question{Text: "x"}); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("missing folder: %v", err)
	}
	none := open(t, ragflow.Config{})
	if _, err := none.Ask(ctx, ragflow.Question{Text: "x"}); !errors.Is(err, ingest.ErrNoDocuments) {
		t.Errorf("no documents: %v", err)
	}
	if _, err := ragflow.Open(ctx, ragflow.Config{Settings: ragflow.Settings{Threshold: 2}}); err == nil {
		t.Error("a threshold of 2 was accepted")
	}
}

func TestEmptyFolderAnswersPlainly(t *testing.T) {
	a := open(t, ragflow.Config{Docs: []string{t.TempDir()}})
	r := ask(t, a, "", "How do I dry oregano?")
	if want := "No relevant documents found for your query."; r.Answer != want || !r.Abstained {
		t.Errorf("answer = %q, want %q", r.Answer, want)
	}
}

// atNode calls do when a node begins.
type atNode struct {
	node string
	do   func()
}

// Begin implements graph.Hook.
func (h atNode) Begin(ctx context.Context, s graph.Span) (context.Context, func(error)) {
	if s.Kind == graph.SpanTask && s.Node == h.node {
		h.do()
	}
	return ctx, func(error) {}
}

func TestInterruptedTurnResumes(t *testing.T) {
	dir, data := library(t), t.TempDir()
	ctx, cancel := context.WithCancel(t.Context())
	a := open(t, ragflow.Config{Docs: []string{dir}, DataDir: data, Hook: atNode{nodes.CheckAndRefineID, cancel}})
	if _, err := a.Ask(ctx, ragflow.Question{Text: "When do I harvest thyme?", Thread: "t"}); !errors.Is(err, context.Canceled) {
		t.Fatalf("got %v, want a run that was cancelled", err)
	}
	later := open(t, ragflow.Config{Docs: []string{dir}, DataDir: data})
	r, err := later.Ask(t.Context(), ragflow.Question{Thread: "t", Resume: true})
	if err != nil {
		t.Fatal(err)
	}
	if r.Question != "When do I harvest thyme?" || len(r.Citations) == 0 {
		t.Errorf("resumed %q with citations %v", r.Question, r.Citations)
	}
	thread, err := later.Threads().Thread(t.Context(), "t")
	if err != nil {
		t.Fatal(err)
	}
	if got := roles(thread.Messages); got != "human ai" {
		t.Errorf("history is %q, want one turn", got)
	}
}
