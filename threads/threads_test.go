package threads_test

import (
	"bytes"
	"context"
	"database/sql"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
	"example.com/ragflow/internal/stored"
	"example.com/ragflow/state"
	"example.com/ragflow/threads"
)

// house is a log with a runner that answers questions. The answer to "fail" fails, and "sum" summarises what was said before.
type house struct {
	*threads.Log
	t      *testing.T
	path   string
	store  *checkpoint.SQLite
	runner *graph.Runner[state.State, state.Update]
}

func open(t *testing.T) *house {
	t.Helper()
	h := &house{t: t, path: filepath.Join(t.TempDir(), "threads.db")}
	store, err := checkpoint.Open(t.Context(), h.path, checkpoint.Options{Views: threads.Views(), Texts: threads.Texts})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	h.store = store
	p := plan(t)
	h.runner = p.Runner(graph.Options{Store: store})
	h.Log = threads.New(store, p, threads.Options{})
	return h
}

func plan(t *testing.T) *graph.Plan[state.State, state.Update] {
	t.Helper()
	ids := 0
	p, err := graph.Compile(graph.Graph[state.State, state.Update]{
		Apply:   state.Apply,
		Restore: func(now, then state.State) ([]state.Update, error) { return state.Restore(now, then), nil },
		Nodes: map[string]graph.Task[state.State, state.Update]{"answer": {Run: func(_ context.Context, s state.State) (state.Update, error) {
			ids++
			asked := s.Messages[len(s.Messages)-1].Content
			u := state.Update{Messages: []state.MessageOp{{Put: &state.Message{ID: fmt.Sprint("a", ids), Role: state.AI, Content: "Answer to " + asked}}}}
			switch asked {
			case "fail":
				return u, errors.New("no luck")
			case "sum":
				summary := "They talked."
				u.Summary = &summary
				u.Messages = append(u.Messages, state.MessageOp{Remove: s.Messages[0].ID})
			}
			return u, nil
		}}},
		Order: []string{"answer"},
		Edges: []graph.Edge{{From: graph.Start, To: "answer"}, {From: "answer", To: graph.End}},
	})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// ask asks questions in a thread for an owner. The id of each message and run is that of the thread and the question.
func (h *house) ask(owner, thread string, questions ...string) {
	h.t.Helper()
	for _, q := range questions {
		id := thread + " " + q
		_, err := h.runner.Invoke(graph.OwnedBy(h.t.Context(), owner), graph.Request[state.Update]{
			Thread: thread, Run: id, Metadata: map[string]string{"first": q[:1]},
			Input: state.Update{Messages: []state.MessageOp{{Put: &state.Message{ID: id, Role: state.Human, Content: q}}}},
		})
		if err != nil && q != "fail" {
			h.t.Fatal(err)
		}
	}
}

// said returns the messages of a thread as its reader sees them.
func (h *house) said(thread string) (out []string) {
	h.t.Helper()
	t, err := h.Thread(h.t.Context(), thread)
	if err != nil {
		h.t.Fatal(err)
	}
	for _, m := range t.Messages {
		out = append(out, m.Content)
	}
	return out
}

var when = time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)

func check[T any](t *testing.T, what string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", what, diff)
	}
}

func wantError(t *testing.T, what string, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Errorf("%s: error %v, want %v", what, err, want)
	}
}

func TestList(t *testing.T) {
	h := open(t)
	h.ask("", "a", "Who approves leave?", "And overtime?")
	h.ask("", "b", "  What\nis a volume? "+strings.Repeat("long ", 30))
	h.ask("", "c", "fail")
	for _, tt := range []struct {
		q    threads.Query
		want string
	}{
		{threads.Query{}, "c b a"},
		{threads.Query{OldestFirst: true}, "a b c"},
		{threads.Query{Status: graph.Failed}, "c"},
		{threads.Query{Text: "OVERTIME"}, "a"},
		{threads.Query{Text: "answer to what is"}, "b"},
		{threads.Query{Metadata: map[string]string{"first": "A"}}, "a"},
	} {
		for tt.q.Limit = range 3 {
			var got []string
			for next := true; next; next = tt.q.After != 0 {
				page, err := h.List(t.Context(), tt.q)
				if err != nil {
					t.Fatal(err)
				}
				for _, i := range page.Threads {
					got = append(got, i.ID)
				}
				tt.q.After = page.Next
			}
			check(t, fmt.Sprintf("threads of %+v", tt.q), strings.Join(got, " "), tt.want)
		}
	}
	if _, err := h.List(t.Context(), threads.Query{Order: "size"}); err == nil {
		t.Error("a query without a meaning: no error")
	}
	all, err := h.All(t.Context())
	if err != nil || len(all) != 3 {
		t.Fatalf("all: %+v, %v", all, err)
	}
	check(t, "title", all[1].Title, "What is a volume? "+strings.Repeat("long ", 12)+"l…")
	check(t, "statuses", all[0].Status+" "+all[2].Status, "failed completed")
	check(t, "turns", all[2].Turns, 2)
}

func TestRename(t *testing.T) {
	h := open(t)
	h.ask("", "a", "Who approves leave?")
	wantError(t, "Rename", h.Rename(t.Context(), "a", " Leave \n and overtime"), nil)
	wantError(t, "Describe", h.Describe(t.Context(), "a", map[string]string{"star": "yes"}), nil)
	h.ask("", "a", "And overtime?")
	info, err := h.Info(t.Context(), "a")
	wantError(t, "Info", err, nil)
	check(t, "title", info.Title, "Leave and overtime")
	check(t, "metadata", info.Metadata, map[string]string{"first": "A", "star": "yes"})
	wantError(t, "Rename of an unknown thread", h.Rename(t.Context(), "b", "x"), graph.ErrNotFound)
	wantError(t, "Info of an unknown thread", errOf(h.Info(t.Context(), "b")), graph.ErrNotFound)
}

func errOf[T any](_ T, err error) error { return err }

// A summary removes messages from the live state, and the thread and the views keep them.
func TestThread(t *testing.T) {
	h := open(t)
	h.ask("", "a", "one", "sum")
	got, err := h.Thread(t.Context(), "a")
	wantError(t, "Thread", err, nil)
	check(t, "messages", h.said("a"), []string{"one", "Answer to one", "sum", "Answer to sum"})
	check(t, "summaries", append(got.Summaries, got.Summary), []string{"They talked.", "They talked."})
	check(t, "run of the last message", got.Messages[3].Run, "a sum")
	s, err := h.StateAt(t.Context(), "a", 0)
	wantError(t, "StateAt", err, nil)
	check(t, "live messages", len(s.Messages), 3)
	check(t, "rows", h.query(`SELECT group_concat(content, '|') FROM messages WHERE thread = 'a'`), "one|Answer to one|sum|Answer to sum")
	check(t, "summaries", h.query(`SELECT group_concat(summary, '|') FROM summaries WHERE thread = 'a'`), "They talked.")
}

// query returns the one value of a query of the database.
func (h *house) query(query string) (got string) {
	h.t.Helper()
	db, err := sql.Open(sql.Drivers()[0], "file:"+h.path+"?mode=ro")
	if err == nil {
		defer func() { _ = db.Close() }()
		err = db.QueryRowContext(h.t.Context(), query).Scan(&got)
	}
	wantError(h.t, query, err, nil)
	return got
}

// TestSubgraph: what a subgraph says to its model is no part of the conversation.
func TestSubgraph(t *testing.T) {
	h := open(t)
	says := func(role state.Role, text string) state.Update {
		return state.Update{Messages: []state.MessageOp{{Put: &state.Message{ID: text, Role: role, Content: text}}}}
	}
	flow := func(nodes map[string]graph.Task[state.State, state.Update]) *graph.Plan[state.State, state.Update] {
		p, err := graph.Compile(graph.Graph[state.State, state.Update]{
			Apply: state.Apply, Nodes: nodes, Order: []string{"answer"},
			Edges: []graph.Edge{{From: graph.Start, To: "answer"}, {From: "answer", To: graph.End}},
		})
		wantError(t, "Compile", err, nil)
		return p
	}
	inner := flow(map[string]graph.Task[state.State, state.Update]{"answer": {Run: func(context.Context, state.State) (state.Update, error) {
		return says(state.AI, "a thought"), nil
	}}})
	input := func(state.State) state.Update { return says(state.Human, "a prompt") }
	result := func(state.State, state.State) state.Update { return says(state.AI, "an answer") }
	p := flow(map[string]graph.Task[state.State, state.Update]{"answer": graph.Sub(inner, input, result)})
	_, err := p.Runner(graph.Options{Store: h.store}).Invoke(t.Context(), graph.Request[state.Update]{Thread: "s", Input: says(state.Human, "a question")})
	wantError(t, "Invoke", err, nil)
	check(t, "messages", h.said("s"), []string{"a question", "an answer"})
	check(t, "rows", h.query(`SELECT group_concat(content, '|') FROM messages WHERE thread = 's'`), "a question|an answer")
}

func TestRuns(t *testing.T) {
	h := open(t)
	_, err := h.Run(t.Context(), "last")
	wantError(t, "Run of an empty store", err, graph.ErrNotFound)
	h.ask("", "a", "one", "fail")
	h.ask("", "b", "two")
	wantError(t, "Undo", h.Undo(t.Context(), "b"), nil) // is no run
	for name, want := range map[string]string{"a one": "a one", "last": "b two", "a fail": "a fail"} {
		run, err := h.Run(t.Context(), name)
		if err != nil {
			t.Fatal(err)
		}
		check(t, "run "+name, run.ID, want)
		check(t, "thread of run "+name, run.Thread, want[:1])
		check(t, "commits of run "+name, len(run.Commits), 2)
	}
	_, err = h.Run(t.Context(), "none")
	wantError(t, "Run", err, graph.ErrNotFound)
}

func TestUndo(t *testing.T) {
	h := open(t)
	h.ask("", "a", "one", "two", "fail")
	for _, want := range [][]string{{"one", "Answer to one", "two", "Answer to two"}, {"one", "Answer to one"}, nil} {
		wantError(t, "Undo", h.Undo(t.Context(), "a"), nil)
		check(t, "messages", h.said("a"), want)
	}
	wantError(t, "Undo of nothing", h.Undo(t.Context(), "a"), threads.ErrNothingToUndo)
	h.ask("", "a", "three")
	check(t, "messages", h.said("a"), []string{"three", "Answer to three"})
}

// Pruned commits are found no more, the title and the live messages stay.
func TestPrune(t *testing.T) {
	h := open(t)
	h.ask("", "a", "one", "two", "sum")
	did, err := h.Prune(t.Context(), "a", 1)
	if err != nil {
		t.Fatal(err)
	}
	did.Bytes = 0
	check(t, "report", did, &threads.PruneReport{Thread: "a", Turns: 2, Kept: 1, Commits: 4})
	info, err := h.Info(t.Context(), "a")
	wantError(t, "Info", err, nil)
	check(t, "title and turns", fmt.Sprint(info.Title, info.Turns), "one1")
	check(t, "runs", errors.Is(errOf(h.Run(t.Context(), "a one")), graph.ErrNotFound), true)
	wantError(t, "Vacuum", h.Vacuum(t.Context()), nil)
	wantError(t, "Prune of an unknown thread", errOf(h.Prune(t.Context(), "b", 1)), graph.ErrNotFound)
}

func TestArchive(t *testing.T) {
	h := open(t)
	h.ask("ann", "a", "one", "two")
	wantError(t, "Rename", h.Rename(t.Context(), "a", "Numbers"), nil)
	var file bytes.Buffer
	wantError(t, "Export", h.Export(t.Context(), "a", &file), nil)
	for _, name := range []string{"copy", ""} {
		if name == "" {
			wantError(t, "Import over a thread", errOf(h.Import(t.Context(), bytes.NewReader(file.Bytes()), "")), graph.ErrExists)
			wantError(t, "Delete", h.Delete(t.Context(), "a"), nil)
		}
		info, err := h.For("bob").Import(t.Context(), bytes.NewReader(file.Bytes()), name)
		wantError(t, "Import", err, nil)
		check(t, "title and owner", info.Title+" "+info.Owner, "Numbers bob")
		check(t, "messages", h.said(info.ID), []string{"one", "Answer to one", "two", "Answer to two"})
	}
	page, err := h.List(t.Context(), threads.Query{Text: "answer to two"})
	if err != nil || len(page.Threads) != 2 {
		t.Errorf("threads with the text: %+v, %v", page, err)
	}
	damaged := strings.Replace(file.String(), "two", "six", 1)
	if _, ok := errors.AsType[*stored.ArchiveError](errOf(h.Import(t.Context(), strings.NewReader(damaged), "x"))); !ok {
		t.Error("a damaged archive was imported")
	}
}

// An archive whose commits do not fold changes nothing.
func TestImportOfWhatDoesNotFold(t *testing.T) {
	h := open(t)
	for _, update := range []string{`{"messages":[{"remove":"none"}]}`, `7`} {
		var file bytes.Buffer
		a := &stored.Archive{Thread: "x", Commits: []graph.Commit{{
			ID: 1, Run: "r", Source: graph.SourceInput, Status: graph.Running, Deltas: []graph.Delta{{Body: []byte(update)}},
		}}}
		a.Created, a.Commits[0].Time = when, when
		wantError(t, "Write", a.Write(&file), nil)
		_, err := h.Import(t.Context(), &file, "")
		if _, ok := errors.AsType[*stored.ArchiveError](err); !ok {
			t.Errorf("update %s: error %v, want an ArchiveError", update, err)
		}
		wantError(t, "Info", errOf(h.Info(t.Context(), "x")), graph.ErrNotFound)
	}
}

func TestVerify(t *testing.T) {
	h := open(t)
	h.ask("", "a", "one", "two")
	h.ask("", "b", "fail")
	got, err := h.Verify(t.Context())
	wantError(t, "Verify", err, nil)
	check(t, "report", got, &threads.Verified{Threads: 2, Commits: 6, Findings: []stored.Finding{}})
	wantError(t, "Verify of an unknown thread", errOf(h.Verify(t.Context(), "none")), graph.ErrNotFound)

	l, err := h.store.Acquire(t.Context(), "a", graph.AcquireOptions{})
	wantError(t, "Acquire", err, nil)
	head, err := h.store.Head(t.Context(), "a")
	wantError(t, "Head", err, nil)
	_, err = h.store.Commit(t.Context(), l, graph.Batch{
		Commit: graph.Commit{
			Parent: head.ID, Run: "r", Source: graph.SourceInput, Status: graph.Running, Fingerprint: head.Fingerprint, Frontier: []string{"nobody"},
			Deltas: []graph.Delta{{Body: []byte(`{}`)}},
		},
		Snapshot: []byte(`{"summary":"another"}`),
	})
	wantError(t, "Commit", err, nil)
	got, err = h.Verify(t.Context(), "a")
	wantError(t, "Verify", err, nil)
	var problems []string
	for _, f := range got.Findings {
		problems = append(problems, f.Problem)
	}
	check(t, "findings", problems, []string{
		`node "nobody" should run next, but the graph has no such node`, "the snapshot differs from the fold of the commits before it",
	})
}

func TestBackupAndSeal(t *testing.T) {
	h := open(t)
	h.ask("", "a", "one")
	copied := filepath.Join(t.TempDir(), "copy.db")
	wantError(t, "Backup", h.Backup(t.Context(), copied), nil)
	wantError(t, "Delete", h.Delete(t.Context(), "a"), nil)
	wantError(t, "Seal without keys", errOf(h.Seal(t.Context())), checkpoint.ErrKey)
	server := threads.New(struct{ threads.Store }{h.store}, plan(t), threads.Options{})
	wantError(t, "Backup of a server", server.Backup(t.Context(), copied), threads.ErrServer)
	wantError(t, "Seal of a server", errOf(server.Seal(t.Context())), threads.ErrServer)
	if _, err := checkpoint.Restore(t.Context(), copied, h.path); err != nil {
		t.Fatal(err)
	}
	check(t, "messages", h.said("a"), []string{"one", "Answer to one"})
	page, err := h.List(t.Context(), threads.Query{Metadata: map[string]string{"first": "o"}})
	if err != nil || len(page.Threads) != 1 {
		t.Errorf("threads with the metadata: %+v, %v", page, err)
	}
}

// Each method of the log of one owner finds no thread of another, and does it for its own.
func TestOwners(t *testing.T) {
	type call = func(ctx context.Context, l *threads.Log) error
	calls := map[string]call{
		"Thread":  func(ctx context.Context, l *threads.Log) error { return errOf(l.Thread(ctx, "a")) },
		"Info":    func(ctx context.Context, l *threads.Log) error { return errOf(l.Info(ctx, "a")) },
		"Run":     func(ctx context.Context, l *threads.Log) error { return errOf(l.Run(ctx, "a two")) },
		"StateAt": func(ctx context.Context, l *threads.Log) error { return errOf(l.StateAt(ctx, "a", 0)) },
		"Commits": func(ctx context.Context, l *threads.Log) error { return errOf(l.Commits(ctx, "a two", "a", 0)) },
		"Rename":  func(ctx context.Context, l *threads.Log) error { return l.Rename(ctx, "a", "x") },
		"Describe": func(ctx context.Context, l *threads.Log) error {
			return l.Describe(ctx, "a", map[string]string{"k": "v"})
		},
		"Export": func(ctx context.Context, l *threads.Log) error { return l.Export(ctx, "a", io.Discard) },
		"Verify": func(ctx context.Context, l *threads.Log) error { return errOf(l.Verify(ctx, "a")) },
		"Undo":   func(ctx context.Context, l *threads.Log) error { return l.Undo(ctx, "a") },
		"Prune":  func(ctx context.Context, l *threads.Log) error { return errOf(l.Prune(ctx, "a", 1)) },
		"Delete": func(ctx context.Context, l *threads.Log) error { return l.Delete(ctx, "a") },
	}
	others := []string{"For", "All", "List", "Import", "Backup", "Seal", "Vacuum"}
	for m := range reflect.TypeFor[*threads.Log]().Methods() {
		if calls[m.Name] == nil && !slices.Contains(others, m.Name) {
			t.Errorf("method %s is not tried", m.Name)
		}
	}
	for name, try := range calls {
		t.Run(name, func(t *testing.T) {
			h := open(t)
			h.ask("ann", "a", "one", "two")
			h.ask("bob", "b", "one")
			wantError(t, "for another owner", try(t.Context(), h.For("bob")), graph.ErrNotFound)
			wantError(t, "with another owner in the context", try(graph.OwnedBy(t.Context(), "bob"), h.Log), graph.ErrNotFound)
			check(t, "messages", h.said("a"), []string{"one", "Answer to one", "two", "Answer to two"})
			wantError(t, "for its owner", try(t.Context(), h.For("ann")), nil)
		})
	}
	h := open(t)
	h.ask("ann", "a", "one")
	h.ask("bob", "b", "one")
	bob := h.For("bob")
	for what, list := range map[string]func() ([]threads.Info, error){
		"All": func() ([]threads.Info, error) { return bob.All(t.Context()) },
		"List": func() ([]threads.Info, error) {
			p, err := bob.List(t.Context(), threads.Query{})
			return p.Threads, err
		},
	} {
		got, err := list()
		if err != nil || len(got) != 1 || got[0].ID != "b" || got[0].Owner != "bob" {
			t.Errorf("%s: %+v, %v", what, got, err)
		}
	}
	run, err := bob.Run(t.Context(), "last")
	if err != nil || run.Thread != "b" {
		t.Errorf("the last run: %+v, %v", run, err)
	}
	for what, err := range map[string]error{
		"Backup": bob.Backup(t.Context(), "x"), "Seal": errOf(bob.Seal(t.Context())), "Vacuum": bob.Vacuum(t.Context()), "Verify": errOf(bob.Verify(t.Context())),
	} {
		wantError(t, what, err, threads.ErrOneOwner)
	}
	_, err = h.runner.Invoke(graph.OwnedBy(t.Context(), "bob"), graph.Request[state.Update]{Thread: "a"})
	wantError(t, "a question in the thread of another", err, graph.ErrNotFound)
}
