package querylog_test

import (
	"bytes"
	"context"
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

	"example.com/ragflow/internal/querylog"
	"example.com/ragflow/internal/seal"
	"example.com/ragflow/internal/sqlite"
)

var noon = time.Date(2026, 1, 31, 12, 0, 0, 0, time.UTC)

func clock() time.Time { return noon }

// lines is a logger's output.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

func (l *lines) logger() *slog.Logger { return slog.New(slog.NewTextHandler(l, nil)) }

func question(n int) querylog.Entry {
	return querylog.Entry{ID: fmt.Sprintf("run-%04d", n), Time: noon, Kind: querylog.Ask, Question: fmt.Sprintf("question %d?", n), Answer: "an answer"}
}

// add writes entries and closes the log.
func add(t *testing.T, path string, o querylog.Options, entries ...querylog.Entry) {
	t.Helper()
	if o.Clock == nil {
		o.Clock = clock
	}
	l := querylog.Open(path, o)
	for _, e := range entries {
		l.Add(e)
	}
	l.Flush(t.Context()) // however long a busy machine takes
	l.Close()
	if n := l.Lost(); n > 0 {
		t.Errorf("%d entries were lost", n)
	}
}

func analyze(t *testing.T, path string, keys *seal.Keys) *querylog.Report {
	t.Helper()
	r, err := querylog.Analyze(t.Context(), path, keys, querylog.Query{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestNoFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queries.db")
	querylog.Open(path, querylog.Options{}).Close()
	if r := analyze(t, path, nil); r.Questions != 0 || len(r.Top) != 0 {
		t.Errorf("%+v", r)
	}
	if _, err := os.Stat(path); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("a file was made: %v", err)
	}
}

// TestRunHasOneEntry: a run that failed and was resumed counts once, as it ended.
func TestRunHasOneEntry(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queries.db")
	failed, done := question(1), question(1)
	failed.Error = "the model is gone"
	add(t, path, querylog.Options{}, failed, done, question(2))
	if r := analyze(t, path, nil); r.Questions != 2 || r.Failed != 0 || r.Answered != 2 {
		t.Errorf("%+v", r)
	}
}

func TestKeep(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queries.db")
	old, young := question(1), question(2)
	old.Time, young.Time = noon.AddDate(0, 0, -31), noon.AddDate(0, 0, -29)
	add(t, path, querylog.Options{Keep: 30 * 24 * time.Hour}, old, young)
	if r := analyze(t, path, nil); r.Questions != 1 || r.Top[0].Text != young.Question {
		t.Errorf("%+v", r)
	}
	for _, name := range []string{path, path + "-wal"} {
		if data, err := os.ReadFile(name); err == nil && bytes.Contains(data, []byte(old.Question)) {
			t.Errorf("%s still holds what was deleted", name)
		}
	}
}

// TestMaxBytes: the oldest entries make room for the newest.
func TestMaxBytes(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queries.db")
	const most = 1 << 20
	for round := range 3 { // each log looks once
		var entries []querylog.Entry
		for i := range 400 {
			e := question(400*round + i)
			e.Time = noon.Add(time.Duration(400*round+i) * time.Second)
			e.Answer = strings.Repeat("long ", 500)
			entries = append(entries, e)
		}
		add(t, path, querylog.Options{MaxBytes: most}, entries...)
	}
	info, err := os.Stat(path)
	if err != nil || info.Size() > 4*most {
		t.Errorf("%d bytes, %v", info.Size(), err)
	}
	r := analyze(t, path, nil)
	if r.Questions < 300 || r.Questions > 900 || r.Top[0].Text != "question 1199?" {
		t.Errorf("%d questions, the last is %q", r.Questions, r.Top[0].Text)
	}
}

// TestBounds: an entry is cut, and its error holds no secret.
func TestBounds(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queries.db")
	e := question(1)
	e.Question, e.Answer = strings.Repeat("é", 20_000), strings.Repeat("a", 1<<20)
	e.Chunks, e.Cited = make([]string, 5000), make([]string, 5000)
	e.Error = "401: key sk-abcdefghijklmnopqrstuvwxyz0123456789 was refused " + strings.Repeat("x ", 5000)
	add(t, path, querylog.Options{}, e)
	r := analyze(t, path, nil)
	if len(r.Errors) != 1 || strings.Contains(r.Errors[0].Text, "abcdef") || !strings.Contains(r.Errors[0].Text, "401") {
		t.Errorf("errors: %+v", r.Errors)
	}
	if info, err := os.Stat(path); err != nil || info.Size() > 100_000 {
		t.Errorf("%v bytes, %v", info.Size(), err)
	}
}

func keys(ids ...string) *seal.Keys {
	return &seal.Keys{Current: ids[0], Key: func(id string) ([]byte, error) {
		if !slices.Contains(ids, id) {
			return nil, errors.New("it is missing")
		}
		return bytes.Repeat([]byte(id[:1]), seal.KeyBytes), nil
	}}
}

// TestKeys: with keys nothing is readable without them, also what was written before there was a key.
func TestKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queries.db")
	add(t, path, querylog.Options{}, question(1))
	add(t, path, querylog.Options{Keys: keys("a")}, question(2))
	add(t, path, querylog.Options{Keys: keys("b", "a")}, question(3))
	for _, name := range []string{path, path + "-wal"} {
		if data, err := os.ReadFile(name); err == nil && (bytes.Contains(data, []byte("question ")) || bytes.Contains(data, []byte("an answer"))) {
			t.Errorf("%s has plain text", name)
		}
	}
	for _, tt := range []struct {
		keys                  *seal.Keys
		questions, unreadable int
	}{
		{keys("b", "a"), 3, 0}, {keys("b"), 1, 2}, {nil, 0, 3}, {keys("c"), 0, 3},
	} {
		if r := analyze(t, path, tt.keys); r.Questions != tt.questions || r.Unreadable != tt.unreadable {
			t.Errorf("%d questions, %d unreadable, want %+v", r.Questions, r.Unreadable, tt)
		}
	}
}

// TestManyWriters: all that was added is written, also from several logs of one file.
func TestManyWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queries.db")
	logs := []*querylog.Log{querylog.Open(path, querylog.Options{Clock: clock}), querylog.Open(path, querylog.Options{Clock: clock})}
	var group sync.WaitGroup
	for i := range 20 {
		group.Go(func() {
			for k := range 50 {
				logs[i%2].Add(question(50*i + k))
			}
		})
	}
	group.Wait()
	logs[0].Flush(t.Context())
	logs[1].Flush(t.Context())
	if r := analyze(t, path, nil); r.Questions != 1000 || logs[0].Lost()+logs[1].Lost() != 0 {
		t.Errorf("%d questions, lost %d and %d", r.Questions, logs[0].Lost(), logs[1].Lost())
	}
	for _, l := range logs {
		l.Close()
		l.Add(question(1)) // too late
		l.Flush(t.Context())
		if l.Lost() != 1 {
			t.Errorf("lost %d, want 1", l.Lost())
		}
	}
}

// TestUnwritable: whatever is wrong with the file, Add returns at once, the loss is told once and
// counted, and the file is not touched.
func TestUnwritable(t *testing.T) {
	for name, prepare := range map[string]func(t *testing.T, path string) error{
		"damaged": func(_ *testing.T, path string) error {
			return os.WriteFile(path, bytes.Repeat([]byte("nonsense"), 1000), 0o600)
		},
		"foreign": func(t *testing.T, path string) error {
			t.Helper()
			db, err := sqlite.Open(t.Context(), path, sqlite.Options{Migrations: []string{`CREATE TABLE x(y) STRICT`}, ApplicationID: 7})
			if err == nil {
				err = db.Close()
			}
			return err
		},
		"a folder": func(_ *testing.T, path string) error { return os.Mkdir(path, 0o700) },
		"a link":   func(_ *testing.T, path string) error { return os.Symlink("elsewhere", path) },
		"no place": func(_ *testing.T, path string) error { return os.WriteFile(filepath.Dir(path), nil, 0o600) },
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "data", "queries.db")
			if name != "no place" {
				if err := os.Mkdir(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			if err := prepare(t, path); err != nil {
				t.Skip(err)
			}
			before, _ := os.ReadFile(path)
			var told lines
			l := querylog.Open(path, querylog.Options{Logger: told.logger()})
			for i := range 10 {
				l.Add(question(i))
				l.Flush(t.Context())
			}
			l.Close()
			if l.Lost() != 10 || strings.Count(told.String(), "Failed to log query: ") != 1 || !strings.Contains(told.String(), "questions=10") {
				t.Errorf("lost %d, told %s", l.Lost(), told.String())
			}
			if after, _ := os.ReadFile(path); !bytes.Equal(after, before) {
				t.Error("the file changed")
			}
			if info, err := os.Lstat(filepath.Join(filepath.Dir(path), "elsewhere")); err == nil {
				t.Errorf("the link was followed: %v", info)
			}
		})
	}
}

// hold locks the file until the function it returns is called.
func hold(t *testing.T, path string) (release func()) {
	t.Helper()
	db, err := sqlite.Open(t.Context(), path, sqlite.Options{Migrations: []string{""}})
	if err != nil {
		t.Fatal(err)
	}
	held, end, done := make(chan struct{}), make(chan struct{}), make(chan error)
	go func() {
		done <- db.Write(context.Background(), func(tx *sqlite.Tx) error {
			err := tx.Do(`DELETE FROM entries WHERE id = 'none'`)
			close(held)
			<-end
			return err
		})
	}()
	<-held
	return func() {
		close(end)
		if err := errors.Join(<-done, db.Close()); err != nil {
			t.Error(err)
		}
	}
}

// TestLocked floods the log while another program holds the file: nothing waits, the queue is
// bounded, and later the log says how many entries are missing.
func TestLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queries.db")
	add(t, path, querylog.Options{}, question(0))
	release := hold(t, path)
	l := querylog.Open(path, querylog.Options{Clock: clock})
	began := time.Now()
	const added = 5000
	for i := range added {
		l.Add(question(1 + i))
	}
	if d := time.Since(began); d > 2*time.Second {
		t.Errorf("%d entries were added in %v", added, d)
	}
	lost := l.Lost()
	if lost < added-1500 || lost >= added {
		t.Errorf("lost %d of %d", lost, added)
	}
	release()
	l.Flush(t.Context())
	l.Close()
	r := analyze(t, path, nil)
	if l.Lost() != 0 || r.Missing < lost || int64(r.Questions)+r.Missing != added+1 {
		t.Errorf("%d questions, %d missing, %d not counted; %d were added", r.Questions, r.Missing, l.Lost(), added+1)
	}
}

// TestCloseWhileLocked: a file that stays locked delays the end by two seconds.
func TestCloseWhileLocked(t *testing.T) {
	path := filepath.Join(t.TempDir(), "queries.db")
	add(t, path, querylog.Options{}, question(0))
	defer hold(t, path)()
	var told lines
	l := querylog.Open(path, querylog.Options{Logger: told.logger()})
	l.Add(question(1))
	began := time.Now()
	l.Close()
	if d := time.Since(began); d > 4*time.Second { // a busy machine has room
		t.Errorf("Close took %v", d)
	}
	if l.Lost() != 1 || !strings.Contains(told.String(), "Failed to log query: ") {
		t.Errorf("lost %d, told %s", l.Lost(), told.String())
	}
}

// TestRecovers: a file that was deleted and comes back is written again, and the gap is told.
func TestRecovers(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "queries.db")
	var told lines
	l := querylog.Open(path, querylog.Options{Clock: clock, Logger: told.logger()})
	defer l.Close()
	step := func(n int) {
		l.Add(question(n))
		l.Flush(t.Context())
	}
	step(1)
	if err := os.RemoveAll(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Dir(path), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	step(2)
	step(3)
	if err := os.Remove(filepath.Dir(path)); err != nil {
		t.Fatal(err)
	}
	step(4)
	r := analyze(t, path, nil)
	if r.Questions != 1 || r.Missing != 2 || l.Lost() != 0 {
		t.Errorf("%d questions, %d missing, lost %d", r.Questions, r.Missing, l.Lost())
	}
	want := []string{"Failed to log query: ", "the query log can be written again"}
	var got []string
	for line := range strings.Lines(told.String()) {
		for _, w := range want {
			if strings.Contains(line, w) {
				got = append(got, w)
			}
		}
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Errorf("told (-want +got)\n%s\n%s", d, told.String())
	}
}
