package checkpoint_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/checkpoint"
	"example.com/ragflow/graph"
	"example.com/ragflow/graph/graphtest"
)

// key is the key of an id, the same for every test: its letters, 32 times.
func key(id string) string {
	return id + ":" + base64.StdEncoding.EncodeToString(bytes.Repeat([]byte(id[:1]), 32))
}

func ring(tb testing.TB, ids ...string) *checkpoint.Keyring {
	tb.Helper()
	var entries []string
	for _, id := range ids {
		entries = append(entries, key(id))
	}
	r, err := checkpoint.ParseKeyring(strings.Join(entries, " "))
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

func openSealed(tb testing.TB, path string, ids ...string) *checkpoint.SQLite {
	tb.Helper()
	s, err := checkpoint.Open(tb.Context(), path, checkpoint.Options{Keys: ring(tb, ids...), Views: []string{messagesView()}, Texts: graphtest.Texts})
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

// TestEncrypted holds an encrypted store to every clause of a plain one.
func TestEncrypted(t *testing.T) {
	graphtest.RunPersistent(t, func(t *testing.T, dir string) graph.Store {
		t.Helper()
		return openSealed(t, filepath.Join(dir, "threads.db"), "a")
	})
	t.Run("keeper", func(t *testing.T) {
		runKeeper(t, func(t *testing.T) *checkpoint.SQLite {
			t.Helper()
			return openSealed(t, ":memory:", "a")
		})
	})
}

// secret stands in everything that fill writes, short and long.
const secret = "Zauberwort"

// fill writes a secret to every place that a store keeps texts in.
func fill(tb testing.TB, s graph.Store) {
	tb.Helper()
	l, err := s.Acquire(tb.Context(), "t", graph.AcquireOptions{Owner: "a", TTL: time.Hour})
	if err != nil {
		tb.Fatal(err)
	}
	body := fmt.Appendf(nil, `{"messages":[{"put":{"id":"1","role":"human","content":"%s"}},{"put":{"id":"2","role":"ai","content":"%s"}}]}`,
		secret, strings.Repeat(secret+" ", 60))
	notes := graph.Notes{Details: []graph.Detail{{Key: "k", Value: secret}}}
	at, err := s.Commit(tb.Context(), l, graph.Batch{
		Commit: graph.Commit{
			Run: "r", Source: graph.SourceInput, Status: graph.Failed, Error: secret,
			Deltas: []graph.Delta{{Body: body, Notes: notes}, {Node: "n", Rank: 1, Error: secret, Body: []byte(`"other"`)}},
		},
		Snapshot: body,
	})
	if err == nil {
		err = s.Pend(tb.Context(), l, graph.TaskResult{Run: "r", Step: 1, Delta: graph.Delta{Node: "p", Body: body, Notes: notes}})
	}
	if err == nil {
		_, err = s.Commit(tb.Context(), l, graph.Batch{
			Commit:      graph.Commit{Parent: at, Run: "r", Source: graph.SourceLoop, Status: graph.Running, Deltas: []graph.Delta{{Node: "m", Body: body}}},
			KeepPending: true, Release: true,
		})
	}
	if err != nil {
		tb.Fatal(err)
	}
}

// content returns everything that a store returns about thread t.
func content(tb testing.TB, s *checkpoint.SQLite) []byte {
	tb.Helper()
	a, err := s.Export(tb.Context(), "t", 0)
	if err != nil {
		tb.Fatal(err)
	}
	var b bytes.Buffer
	if err := a.Write(&b); err != nil {
		tb.Fatal(err)
	}
	if found, err := s.Verify(tb.Context()); err != nil || len(found) > 0 {
		tb.Errorf("findings %v, %v", found, err)
	}
	return b.Bytes()
}

// raw is every byte on the disk.
func raw(tb testing.TB, path string) []byte {
	tb.Helper()
	var all []byte
	for _, suffix := range []string{"", "-wal"} {
		b, err := os.ReadFile(path + suffix)
		if err != nil && !errors.Is(err, os.ErrNotExist) {
			tb.Fatal(err)
		}
		all = append(all, b...)
	}
	return all
}

func TestEncryptedFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "threads.db")
	s := openSealed(t, path, "a")
	fill(t, s)
	if got := raw(t, path); bytes.Contains(got, []byte(secret)) {
		t.Error("the secret stands in the file")
	}
	want := content(t, s)
	if got := bytes.Count(want, []byte(secret)); got < 5 {
		t.Errorf("the export tells the secret %d times", got)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openSealed(t, path, "a")
	if diff := cmp.Diff(string(want), string(content(t, s))); diff != "" {
		t.Errorf("opened again (-want +got):\n%s", diff)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if got := query(t, path, `SELECT content FROM messages`); len(got) > 0 {
		t.Errorf("the view shows %q of what is sealed", got)
	}
}

func TestKeysAreRefused(t *testing.T) {
	path := filepath.Join(t.TempDir(), "threads.db")
	s := openSealed(t, path, "a")
	fill(t, s)
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	before := raw(t, path)
	forged, err := checkpoint.ParseKeyring("a:" + strings.TrimPrefix(key("b"), "b:"))
	if err != nil {
		t.Fatal(err)
	}
	for name, tt := range map[string]struct {
		keys *checkpoint.Keyring
		want string
	}{
		"none":         {nil, "it is encrypted: give its keys"},
		"another one":  {ring(t, "b"), `key "a": records still need it`},
		"wrong":        {forged, `key "a": it is not the key`},
		"bad id":       {&checkpoint.Keyring{Current: "no id"}, "the id of a key"},
		"no function":  {&checkpoint.Keyring{Current: "a"}, "no function"},
		"out of reach": {&checkpoint.Keyring{Current: "a", Key: func(string) ([]byte, error) { return nil, errors.New("vault is shut") }}, "vault is shut"},
		"short":        {&checkpoint.Keyring{Current: "a", Key: func(string) ([]byte, error) { return []byte("short"), nil }}, "it has 5 bytes, want 32"},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := checkpoint.Open(t.Context(), path, checkpoint.Options{Keys: tt.keys})
			if !errors.Is(err, checkpoint.ErrKey) || !strings.Contains(err.Error(), tt.want) || !strings.Contains(err.Error(), path) {
				t.Errorf("error = %v, want an ErrKey with %q and the path", err, tt.want)
			}
		})
	}
	if !bytes.Equal(raw(t, path), before) {
		t.Error("the file was changed")
	}
}

func TestRotate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "threads.db")
	s := open(t, path)
	fill(t, s)
	want := content(t, s)
	if _, err := s.Rotate(t.Context()); !errors.Is(err, checkpoint.ErrKey) {
		t.Errorf("without keys: %v, want ErrKey", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	// A plain store gets key a, then b in its place.
	for _, keys := range [][]string{{"a"}, {"b", "a"}} {
		s = openSealed(t, path, keys...)
		if diff := cmp.Diff(string(want), string(content(t, s))); diff != "" {
			t.Errorf("keys %v, before (-want +got):\n%s", keys, diff)
		}
		n, err := s.Rotate(t.Context())
		if err != nil || n != 3 { // two commits and a pending result
			t.Errorf("keys %v: %d records, %v", keys, n, err)
		}
		if n, err := s.Rotate(t.Context()); err != nil || n != 0 {
			t.Errorf("keys %v, again: %d records, %v", keys, n, err)
		}
		if err := s.Close(); err != nil {
			t.Fatal(err)
		}
		if bytes.Contains(raw(t, path), []byte(secret)) {
			t.Errorf("keys %v: the secret still stands in the file", keys)
		}
	}
	if _, err := checkpoint.Open(t.Context(), path, checkpoint.Options{Keys: ring(t, "a")}); !errors.Is(err, checkpoint.ErrKey) {
		t.Errorf("with the old key alone: %v, want ErrKey", err)
	}
	s = openSealed(t, path, "b")
	defer func() { _ = s.Close() }()
	if diff := cmp.Diff(string(want), string(content(t, s))); diff != "" {
		t.Errorf("with the new key alone (-want +got):\n%s", diff)
	}
	if err := s.Delete(t.Context(), "t"); err != nil {
		t.Error(err)
	}
	if found, err := s.Verify(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("after deleting: %v, %v", found, err)
	}
}

// TestRotateBesideWriters encrypts again while a writer works.
func TestRotateBesideWriters(t *testing.T) {
	path := filepath.Join(t.TempDir(), "threads.db")
	s := open(t, path)
	for i := range 200 {
		say(t, s, "t", "r", fmt.Sprintf(`{"n":%d,"text":"%s"}`, i, strings.Repeat("plain ", 60)))
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	s = openSealed(t, path, "a")
	defer func() { _ = s.Close() }()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for i := range 50 {
			say(t, s, "t", "r", fmt.Sprintf(`{"n":%d,"text":"%s"}`, 200+i, strings.Repeat("sealed ", 60)))
		}
	}()
	if _, err := s.Rotate(t.Context()); err != nil {
		t.Error(err)
	}
	<-done
	if got := bytes.Count(content(t, s), []byte(`"text"`)); got != 250 {
		t.Errorf("%d turns, want 250", got)
	}
}

// TestSealedRecordsStayInTheirPlace changes an encrypted store as somebody
// without its key could. Verify and Export notice a record that is not at its place.
func TestSealedRecordsStayInTheirPlace(t *testing.T) {
	swap := func(table, column, one, other string) string {
		return fmt.Sprintf(`CREATE TABLE swap AS SELECT (SELECT %[2]s FROM %[1]s WHERE %[3]s) AS a, (SELECT %[2]s FROM %[1]s WHERE %[4]s) AS b; `+
			`UPDATE %[1]s SET %[2]s = (SELECT b FROM swap) WHERE %[3]s; UPDATE %[1]s SET %[2]s = (SELECT a FROM swap) WHERE %[4]s; DROP TABLE swap`,
			table, column, one, other)
	}
	const moved = "moved from another place"
	for name, tt := range map[string]struct{ change, want string }{
		"between commits":  {swap("commits", "body", "id = 1", "id = 2"), moved},
		"between threads":  {swap("commits", "body", "id = 1", "id = 3"), moved},
		"between columns":  {`UPDATE commits SET notes = body WHERE id = 1`, moved},
		"between deltas":   {`CREATE TABLE swap AS SELECT body FROM deltas WHERE at = 1; UPDATE deltas SET body = (SELECT body FROM commits WHERE id = 1) WHERE at = 1; UPDATE commits SET body = (SELECT body FROM swap) WHERE id = 1; DROP TABLE swap`, moved},
		"snapshots":        {swap("commits", "snapshot", "id = 1", "id = 2"), moved},
		"errors":           {swap("commits", "error", "id = 1", "id = 3"), moved},
		"names of threads": {`UPDATE threads SET name = 'x' WHERE name = 't'; UPDATE threads SET name = 't' WHERE name = 'u'; UPDATE threads SET name = 'u' WHERE name = 'x'`, moved},
		"a whole commit":   {`UPDATE threads SET head = 4 WHERE name = 't'; UPDATE threads SET head = 2 WHERE name = 'u'; UPDATE commits SET thread = 3 - thread WHERE id IN (2, 4)`, moved},
		"pending: threads": {swap("pending", "body", "thread = 1", "thread = 2"), moved},
		"pending: step":    {`UPDATE pending SET step = 7`, moved},
		"pending: attempt": {`UPDATE pending SET attempt = 7`, moved},
		"pending: path":    {`UPDATE pending SET path = 'p'`, moved},
		"cut":              {`UPDATE commits SET body = substr(body, 1, 10) WHERE id = 1`, "cut short"},
		"bent":             {`UPDATE commits SET body = substr(body, 1, length(body) - 1) WHERE id = 1`, "was changed"},
		"plain":            {`UPDATE commits SET body = '{"messages":[]}' WHERE id = 1`, "not encrypted"},
	} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "threads.db")
			s := openSealed(t, path, "a")
			fill(t, s)
			if err := s.Copy(t.Context(), "t", 0, "u", nil); err != nil {
				t.Fatal(err)
			}
			if err := s.Close(); err != nil {
				t.Fatal(err)
			}
			change(t, path, tt.change)
			s = openSealed(t, path, "a")
			defer func() { _ = s.Close() }()
			found, err := s.Verify(t.Context())
			if text := fmt.Sprint(found); err != nil || !strings.Contains(text, tt.want) {
				t.Errorf("findings %s, %v, want one with %q", text, err, tt.want)
			}
			var errs []error
			for _, thread := range []string{"t", "u"} {
				_, err := s.Export(t.Context(), thread, 0)
				_, _, loadErr := s.Load(t.Context(), thread, 0)
				errs = append(errs, err, loadErr)
			}
			if errors.Join(errs...) == nil {
				t.Error("both threads can be read")
			}
		})
	}
}

func TestParseKeyring(t *testing.T) {
	for _, tt := range []struct{ name, text, want string }{
		{"two", key("new") + "," + key("old") + "\n", ""},
		{"no id", "AAAA", "key 1: want ID:KEY"},
		{"bad id", "ą:AAAA", "key 1: want ID:KEY"},
		{"short", "a:AAAA", `key "a": want 32 bytes in base64`},
		{"no base64", "a:!!!", `key "a": want 32 bytes in base64`},
		{"twice", key("a") + " " + key("a"), `key "a" is given twice`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			r, err := checkpoint.ParseKeyring(tt.text)
			if tt.want == "" {
				if err != nil || r.Current != "new" {
					t.Fatalf("%+v, %v", r, err)
				}
				_, err = r.Key("none")
				tt.want = "not among those given (new, old)"
			}
			if err == nil || !strings.Contains(err.Error(), tt.want) || strings.Contains(err.Error(), "AAAA") {
				t.Errorf("error = %v, want %q and no key", err, tt.want)
			}
		})
	}
	if r, err := checkpoint.ParseKeyring(" \n"); r != nil || err != nil {
		t.Errorf("empty: %v, %v", r, err)
	}
}

func ExampleKeyring() {
	keys, err := checkpoint.ParseKeyring("2026:" + base64.StdEncoding.EncodeToString(make([]byte, 32)))
	if err != nil {
		panic(err)
	}
	s, err := checkpoint.Open(context.Background(), ":memory:", checkpoint.Options{Keys: keys})
	if err != nil {
		panic(err)
	}
	n, err := s.Rotate(context.Background()) // once another key is the first
	fmt.Println(n, err, s.Close())
	// Output: 0 <nil> <nil>
}
