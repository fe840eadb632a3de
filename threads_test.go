package ragflow_test

import (
	"bytes"
	"crypto/sha256"
	"database/sql"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"example.com/ragflow"
	"example.com/ragflow/threads"
)

// inView reads the history of a thread as other programs do.
func inView(t *testing.T, data, thread string) (ids []string) {
	t.Helper()
	db, err := sql.Open(sqliteDriver(), "file:"+filepath.Join(data, "threads.db")+"?mode=ro")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = db.Close() }()
	rows, err := db.QueryContext(t.Context(), "SELECT id FROM messages WHERE thread = ? ORDER BY seq", thread)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var id string
		if err := rows.Scan(&id); err != nil {
			t.Fatal(err)
		}
		ids = append(ids, id)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	return ids
}

func read(t *testing.T, a *ragflow.Assistant, id string) *threads.Thread {
	t.Helper()
	thread, err := a.Threads().Thread(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	return thread
}

// agree makes sure that the history and the view hold the same messages.
func agree(t *testing.T, a *ragflow.Assistant, data, id string) *threads.Thread {
	t.Helper()
	thread := read(t, a, id)
	var want []string
	for _, m := range thread.Messages {
		want = append(want, m.ID)
	}
	if diff := cmp.Diff(want, inView(t, data, id)); diff != "" {
		t.Errorf("the view of thread %q differs (-history +view):\n%s", id, diff)
	}
	report, err := a.Threads().Verify(t.Context())
	if err != nil || len(report.Findings) > 0 {
		t.Errorf("verify: %v, %v", report, err)
	}
	return thread
}

var questions = []string{
	"How often should I water a basil plant?", "and how much light does it need?", "How do I dry oregano?",
	"What is a good soil for basil?", "How do I keep mint from spreading?",
}

func TestUndo(t *testing.T) {
	for name, tokens := range map[string]int{"plain": 0, "summarised every turn": 60} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			a := open(t, ragflow.Config{Docs: []string{library(t)}, DataDir: data, Settings: ragflow.Settings{SummaryTokens: tokens}})
			var past []*threads.Thread
			for _, q := range questions {
				ask(t, a, "t", q)
				past = append(past, agree(t, a, data, "t"))
			}
			// Each undo goes back one turn; the earlier answer is given again as if
			// nothing had been.
			for n := len(questions) - 1; n > 0; n-- {
				if err := a.Threads().Undo(t.Context(), "t"); err != nil {
					t.Fatal(err)
				}
				got, want := agree(t, a, data, "t"), past[n-1]
				if diff := cmp.Diff(want.Messages, got.Messages, cmpopts.EquateEmpty()); diff != "" || got.Turns != n || got.Summary != want.Summary {
					t.Errorf("after undo of turn %d: %d turns, summary %q, want %q; (-want +got):\n%s", n+1, got.Turns, got.Summary, want.Summary, diff)
				}
			}
			again := ask(t, a, "t", questions[1])
			fresh := open(t, ragflow.Config{Docs: []string{library(t)}, Settings: ragflow.Settings{SummaryTokens: tokens}})
			ask(t, fresh, "t", questions[0])
			if want := ask(t, fresh, "t", questions[1]); again.Answer != want.Answer {
				t.Errorf("after undo the answer is %q, without it %q", again.Answer, want.Answer)
			}
			for range 2 {
				if err := a.Threads().Undo(t.Context(), "t"); err != nil {
					t.Fatal(err)
				}
			}
			if got := agree(t, a, data, "t"); len(got.Messages) != 0 || got.Turns != 0 {
				t.Errorf("after all undos: %d messages, %d turns", len(got.Messages), got.Turns)
			}
			if err := a.Threads().Undo(t.Context(), "t"); !errors.Is(err, threads.ErrNothingToUndo) {
				t.Errorf("error = %v, want ErrNothingToUndo", err)
			}
			if err := a.Threads().Undo(t.Context(), "nobody"); !errors.Is(err, ragflow.ErrNotFound) {
				t.Errorf("error = %v, want ErrNotFound", err)
			}
		})
	}
}

// TestExportImport carries a thread to another data folder and compares all
// that can be seen of it.
func TestExportImport(t *testing.T) {
	data, other := t.TempDir(), t.TempDir()
	docs := []string{library(t)}
	a := open(t, ragflow.Config{Docs: docs, DataDir: data, Settings: ragflow.Settings{SummaryTokens: 60}})
	var replies []*ragflow.Reply
	for _, q := range questions {
		replies = append(replies, ask(t, a, "t", q))
	}
	if err := a.Threads().Undo(t.Context(), "t"); err != nil {
		t.Fatal(err)
	}
	var first, second bytes.Buffer
	if err := a.Threads().Export(t.Context(), "t", &first); err != nil {
		t.Fatal(err)
	}
	b := open(t, ragflow.Config{Docs: docs, DataDir: other})
	info, err := b.Threads().Import(t.Context(), bytes.NewReader(first.Bytes()), "")
	if err != nil {
		t.Fatal(err)
	}
	want := agree(t, a, data, "t")
	if diff := cmp.Diff(want, agree(t, b, other, "t")); diff != "" || info.ID != "t" {
		t.Errorf("thread (-want +got):\n%s", diff)
	}
	if err := b.Threads().Export(t.Context(), "t", &second); err != nil || !bytes.Equal(first.Bytes(), second.Bytes()) {
		t.Errorf("exported again it differs (%v)", err)
	}
	for _, r := range replies {
		again, err := b.Reply(t.Context(), r.RunID)
		if err != nil || again.AnswerMD != r.AnswerMD || again.FlowTraceMD != r.FlowTraceMD {
			t.Errorf("the trace of run %s differs (%v)", r.RunID, err)
		}
	}
	if next, same := ask(t, a, "t", "and in winter?"), ask(t, b, "t", "and in winter?"); next.Answer != same.Answer {
		t.Errorf("the next answer is %q, in the copy %q", next.Answer, same.Answer)
	}
	if _, err := b.Threads().Import(t.Context(), bytes.NewReader(first.Bytes()), ""); !errors.Is(err, ragflow.ErrThreadExists) {
		t.Errorf("error = %v, want ErrThreadExists", err)
	}
	if _, err := b.Threads().Import(t.Context(), bytes.NewReader(first.Bytes()), "renamed"); err != nil {
		t.Error(err)
	}
	agree(t, b, other, "renamed")
}

// signed gives a changed archive a right checksum, as someone hostile would.
func signed(lines []string) string {
	body := strings.Join(lines, "\n") + "\n"
	sum := sha256.Sum256([]byte(body))
	return fmt.Sprintf("%s{\"lines\":%d,\"sha256\":\"%s\"}\n", body, len(lines), hex.EncodeToString(sum[:]))
}

func TestImportRefuses(t *testing.T) {
	a := open(t, ragflow.Config{Docs: []string{library(t)}, DataDir: t.TempDir()})
	ask(t, a, "t", questions[0])
	var b bytes.Buffer
	if err := a.Threads().Export(t.Context(), "t", &b); err != nil {
		t.Fatal(err)
	}
	good := b.String()
	lines := strings.Split(strings.TrimSuffix(good, "\n"), "\n")
	lines = lines[:len(lines)-1]
	if signed(lines) != good {
		t.Fatal("the test signs in another way")
	}
	change := func(line int, old, to string) string {
		changed := append([]string{}, lines...)
		changed[line] = strings.Replace(changed[line], old, to, 1)
		if changed[line] == lines[line] {
			t.Fatalf("line %d does not hold %q", line, old)
		}
		return signed(changed)
	}
	tests := map[string]struct{ text, want string }{
		"empty":                 {"", "not the archive"},
		"other text":            {"# Notes\n", "not the archive"},
		"other JSON":            {"{}\n", "not the archive"},
		"binary":                {"\x00\xff\x00\n", "not the archive"},
		"newer":                 {change(0, `"version":1`, `"version":2`), "newer version"},
		"one byte changed":      {strings.Replace(good, "basil", "basin", 1), "checksum"},
		"unknown field":         {change(1, `{"id"`, `{"evil":1,"id"`), "unknown field"},
		"a commit left out":     {signed(append(append([]string{}, lines[:2]...), lines[3:]...)), "parent"},
		"a body that is no op":  {change(1, `"messages":[{"put"`, `"messages":[{"remove":"x","put"`), "exactly one"},
		"a body of other types": {change(1, `"messages":[`, `"summary":7,"messages":[`), "cannot unmarshal"},
		"unknown source":        {change(1, `"source":"input"`, `"source":"magic"`), "source"},
		"unknown status":        {change(1, `"status":"running"`, `"status":"magic"`), "status"},
		"negative step":         {change(2, `"step":1`, `"step":-1`), "negative"},
		"no commits":            {change(0, `"commits":`, `"commits":0,"was":`), "unknown field"},
		"a thread without name": {change(0, `"thread":"t"`, `"thread":""`), "empty"},
		"something behind it":   {good + good, "follows the end"},
		"far future":            {change(1, `"time":"2`, `"time":"9`), ""},
		"deep nesting":          {change(1, `"deltas":[`, `"deltas":[{"rank":0,"body":`+strings.Repeat("[", 20000)+strings.Repeat("]", 20000)+`},`), "max depth"},
	}
	for n := range 20 { // cut off anywhere
		tests[fmt.Sprintf("cut %d", n)] = struct{ text, want string }{good[:len(good)*n/20], ""}
	}
	before, err := a.Threads().All(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := a.Threads().Import(t.Context(), strings.NewReader(tt.text), "new")
			if name == "far future" { // odd, but no harm
				if err == nil {
					err = a.Threads().Delete(t.Context(), "new")
				}
				if err != nil {
					t.Error(err)
				}
				return
			}
			if _, ok := errors.AsType[*ragflow.ArchiveError](err); !ok || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error = %v, want an ArchiveError with %q", err, tt.want)
			}
		})
	}
	after, err := a.Threads().All(t.Context())
	if diff := cmp.Diff(before, after); err != nil || diff != "" {
		t.Errorf("a refused import changed the threads: %v\n%s", err, diff)
	}
}

func TestPrune(t *testing.T) {
	for name, tokens := range map[string]int{"plain": 0, "summarised": 60} {
		t.Run(name, func(t *testing.T) {
			data := t.TempDir()
			a := open(t, ragflow.Config{Docs: []string{library(t)}, DataDir: data, Settings: ragflow.Settings{SummaryTokens: tokens}})
			var replies []*ragflow.Reply
			for _, q := range questions {
				replies = append(replies, ask(t, a, "t", q))
			}
			var archive bytes.Buffer
			if err := a.Threads().Export(t.Context(), "t", &archive); err != nil {
				t.Fatal(err)
			}
			if _, err := a.Threads().Import(t.Context(), &archive, "twin"); err != nil {
				t.Fatal(err)
			}
			before := agree(t, a, data, "t")
			did, err := a.Threads().Prune(t.Context(), "t", 2)
			if err != nil || did.Turns != 3 || did.Kept != 2 || did.Bytes == 0 {
				t.Fatalf("Prune = %+v, %v", did, err)
			}
			after := agree(t, a, data, "t")
			n := len(after.Messages)
			if diff := cmp.Diff(before.Messages[len(before.Messages)-n:], after.Messages, cmpopts.IgnoreFields(threads.Message{}, "Run")); diff != "" || n < 4 || after.Title != before.Title || after.Turns != 2 || after.Summary != before.Summary {
				t.Errorf("%d messages, title %q, %d turns (-before +after):\n%s", n, after.Title, after.Turns, diff)
			}
			if again, err := a.Reply(t.Context(), replies[4].RunID); err != nil || again.AnswerMD != replies[4].AnswerMD || again.FlowTraceMD != replies[4].FlowTraceMD {
				t.Errorf("the trace of a kept turn differs (%v)", err)
			}
			if _, err := a.Threads().Run(t.Context(), replies[0].RunID); err == nil {
				if r, _ := a.Threads().Run(t.Context(), replies[0].RunID); r.Thread != "twin" {
					t.Error("a pruned run is still there")
				}
			}
			again, err := a.Threads().Prune(t.Context(), "t", 2)
			if err != nil || again.Turns != 0 || again.Commits != 0 {
				t.Errorf("pruning again: %+v, %v, want nothing to go", again, err)
			}
			if got, want := ask(t, a, "t", "and in winter?").Answer, ask(t, a, "twin", "and in winter?").Answer; got != want {
				t.Errorf("the next answer is %q, without pruning %q", got, want)
			}
			for range 3 { // back to the base, not beyond
				err = a.Threads().Undo(t.Context(), "t")
			}
			if err != nil {
				t.Error(err)
			}
			if err := a.Threads().Undo(t.Context(), "t"); !errors.Is(err, threads.ErrNothingToUndo) {
				t.Errorf("undo of a pruned turn: error = %v", err)
			}
			if _, err := a.Threads().Prune(t.Context(), "twin", 1); err != nil {
				t.Error(err)
			}
			agree(t, a, data, "twin")
			if err := a.Threads().Delete(t.Context(), "t", "twin"); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestDurabilityIsChecked(t *testing.T) {
	if _, err := ragflow.Open(t.Context(), ragflow.Config{Durability: "always"}); err == nil || !strings.Contains(err.Error(), "power-loss") {
		t.Errorf("error = %v, want the levels there are", err)
	}
	a := open(t, ragflow.Config{Docs: []string{library(t)}, DataDir: t.TempDir(), Durability: ragflow.PowerLoss})
	ask(t, a, "t", questions[0])
}
