package postgres_test

import (
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"

	"example.com/ragflow/checkpoint/postgres"
	"example.com/ragflow/graph"
)

// proxy forwards connections to the server until it is told to lose the next answers:
// then it cuts the connection once the server has answered.
type proxy struct {
	address string
	lose    atomic.Int32
}

// newProxy returns a proxy and the URL of a schema of its own behind it.
func newProxy(t *testing.T) (*proxy, string) {
	t.Helper()
	u, err := url.Parse(schema(t))
	if err != nil {
		t.Fatal(err)
	}
	l, err := (&net.ListenConfig{}).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	p := &proxy{address: u.Host}
	go func() { // ends with the listener
		for {
			client, err := l.Accept()
			if err != nil {
				return
			}
			server, err := (&net.Dialer{}).DialContext(context.WithoutCancel(t.Context()), "tcp", p.address)
			if err != nil {
				_ = client.Close()
				continue
			}
			go p.copy(client, server)
			go func() { _, _ = io.Copy(server, client); _ = server.Close() }()
		}
	}()
	u.Host = l.Addr().String()
	return p, u.String()
}

func (p *proxy) copy(client, server net.Conn) {
	defer func() { _ = client.Close(); _ = server.Close() }()
	buffer := make([]byte, 1<<16)
	for {
		n, err := server.Read(buffer)
		if err != nil || p.lose.Load() > 0 && p.lose.Add(-1) >= 0 {
			return
		}
		if _, err := client.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func deltas(text string) []graph.Delta {
	return []graph.Delta{{Node: "n", Body: []byte(`"` + text + `"`)}}
}

// A write whose answer is lost was done once, and the caller learns its result.
func TestLostAnswersIntegration(t *testing.T) {
	p, address := newProxy(t)
	s := open(t, address)
	defer func() { _ = s.Close() }()
	warm := func() { // statements are prepared, so that the next answer is that of the write
		l, err := s.Acquire(t.Context(), "warm", graph.AcquireOptions{})
		if err == nil {
			_, err = s.Commit(t.Context(), l, graph.Batch{Release: true, Commit: graph.Commit{Parent: l.Head, Run: "r"}})
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	for range 20 {
		warm()
		p.lose.Store(1)
		l, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{Owner: "a", TTL: time.Hour})
		if err != nil {
			t.Fatalf("Acquire: %v", err)
		}
		warm()
		p.lose.Store(1)
		first, err := s.Commit(t.Context(), l, graph.Batch{Commit: graph.Commit{Parent: l.Head, Run: "r", Deltas: deltas("one")}})
		if err != nil {
			t.Fatalf("Commit: %v", err)
		}
		warm()
		p.lose.Store(1)
		if err := s.Pend(t.Context(), l, graph.TaskResult{Run: "r", Step: 1, Delta: deltas("p")[0]}); err != nil {
			t.Fatalf("Pend: %v", err)
		}
		if got, err := s.Pending(t.Context(), "t"); err != nil || len(got) != 1 {
			t.Errorf("pending %v, %v", got, err)
		}
		warm()
		p.lose.Store(1)
		second, err := s.Commit(t.Context(), l, graph.Batch{Release: true, Commit: graph.Commit{Parent: first, Run: "r", Deltas: deltas("two")}})
		if err != nil {
			t.Fatalf("Commit with Release: %v", err)
		}
		if head, err := s.Head(t.Context(), "t"); err != nil || head.ID != second || head.Parent != first {
			t.Errorf("head %+v, %v, want %d after %d", head, err, second, first)
		}
	}
	if n := count(t, s, "t"); n != 40 {
		t.Errorf("%d commits, want 40", n)
	}
}

func count(t *testing.T, s *postgres.Store, thread string) (n int) {
	t.Helper()
	for _, err := range s.Walk(t.Context(), thread, 0) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	return n
}

// TestServerErrorsIntegration checks that a transaction rolled back by the server is repeated, and that a
// full disk is reported and saves nothing. A trigger raises the server's own error codes.
func TestServerErrorsIntegration(t *testing.T) {
	address := schema(t)
	s := open(t, address)
	defer func() { _ = s.Close() }()
	run(t, address, `CREATE SEQUENCE calls;
		CREATE FUNCTION trouble() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
			CASE nextval('calls') WHEN 1 THEN RAISE EXCEPTION 'could not serialize access' USING ERRCODE = '40001';
			WHEN 2 THEN RAISE EXCEPTION 'deadlock detected' USING ERRCODE = '40P01';
			WHEN 4 THEN RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = '53100';
			ELSE RETURN NEW; END CASE; END $$;
		CREATE TRIGGER trouble BEFORE INSERT ON entries FOR EACH ROW EXECUTE FUNCTION trouble()`)
	l, err := s.Acquire(t.Context(), "t", graph.AcquireOptions{Owner: "a", TTL: time.Hour})
	if err != nil {
		t.Fatal(err)
	}
	first, err := s.Commit(t.Context(), l, graph.Batch{Commit: graph.Commit{Run: "r", Deltas: deltas("one")}})
	if err != nil {
		t.Fatalf("Commit after a serialisation failure and a deadlock: %v", err)
	}
	b := graph.Batch{Commit: graph.Commit{Parent: first, Run: "r", Deltas: deltas("two")}}
	if _, err := s.Commit(t.Context(), l, b); !errors.Is(err, postgres.ErrFull) {
		t.Errorf("Commit on a full disk: %v", err)
	}
	if n := count(t, s, "t"); n != 1 {
		t.Errorf("%d commits after the full disk, want 1", n)
	}
	if _, err := s.Commit(t.Context(), l, b); err != nil {
		t.Errorf("Commit with room again: %v", err)
	}
	if found, err := s.Verify(t.Context()); err != nil || len(found) > 0 {
		t.Errorf("Verify: %v, %v", found, err)
	}
}

// Errors of Open say what is wrong, match, and keep the password to themselves.
func TestOpenErrorsIntegration(t *testing.T) {
	address := schema(t)
	change := func(f func(u *url.URL)) string {
		u, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		f(u)
		return u.String()
	}
	fails := func(what, address string, o postgres.Options, want error) {
		t.Helper()
		s, err := postgres.Open(t.Context(), address, o)
		if err == nil {
			_ = s.Close()
		}
		if !errors.Is(err, want) {
			t.Errorf("%s: %v, want %v", what, err, want)
		}
		if u, parseErr := url.Parse(address); err != nil && parseErr == nil {
			if password, _ := u.User.Password(); strings.Contains(err.Error(), password) {
				t.Errorf("%s: the error holds the password: %v", what, err)
			}
		}
	}
	fails("wrong password", change(func(u *url.URL) { u.User = url.UserPassword("ragflow", "wr0ng-secret") }), postgres.Options{}, postgres.ErrDenied)
	fails("no such database", change(func(u *url.URL) { u.Path = "/nowhere" }), postgres.Options{}, postgres.ErrDenied)
	fails("server down", change(func(u *url.URL) { u.Host = "127.0.0.1:1" }), postgres.Options{}, postgres.ErrDown)
	fails("no tables, read-only", address, postgres.Options{ReadOnly: true}, graph.ErrNotFound)
	s := open(t, address)
	if err := s.Close(); err != nil {
		t.Error(err)
	}
	again, err := postgres.Open(t.Context(), address, postgres.Options{ReadOnly: true})
	if err != nil {
		t.Errorf("read-only: %v", err)
	} else if err := again.Close(); err != nil {
		t.Error(err)
	}
	run(t, address, `UPDATE meta SET value = '99' WHERE key = 'version'`)
	fails("newer", address, postgres.Options{}, postgres.ErrNewer)
	run(t, address, `DROP TABLE meta; CREATE TABLE meta(id int)`)
	fails("foreign", address, postgres.Options{}, postgres.ErrForeign)
}

// The release of a lease that somebody waits for is notified, and no other.
func TestNotifyIntegration(t *testing.T) {
	address := schema(t)
	s := open(t, address)
	defer func() { _ = s.Close() }()
	listener, err := pgx.Connect(t.Context(), address)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = listener.Close(context.WithoutCancel(t.Context())) }()
	if _, err := listener.Exec(t.Context(), `LISTEN ragflow_released`); err != nil {
		t.Fatal(err)
	}
	hold := func(thread string) graph.Lease {
		l, err := s.Acquire(t.Context(), thread, graph.AcquireOptions{Owner: "a", TTL: time.Hour, Wait: time.Minute})
		if err != nil {
			t.Error(err)
		}
		return l
	}
	if err := s.Release(t.Context(), hold("alone")); err != nil {
		t.Fatal(err)
	}
	first := hold("t")
	got := make(chan graph.Lease)
	go func() { got <- hold("t") }()
	for waited := false; !waited; {
		if err := listener.QueryRow(t.Context(), `SELECT waited FROM threads WHERE name = 't'`).Scan(&waited); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := s.Commit(t.Context(), first, graph.Batch{Release: true, Commit: graph.Commit{Run: "r"}}); err != nil {
		t.Fatal(err)
	}
	second := <-got
	if second.Token != first.Token+1 {
		t.Errorf("token %d after %d", second.Token, first.Token)
	}
	n, err := listener.WaitForNotification(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var id string
	if err := listener.QueryRow(t.Context(), `SELECT id::text FROM threads WHERE name = 't'`).Scan(&id); err != nil || n.Payload != id {
		t.Errorf("notified of thread %q, want %q (%v)", n.Payload, id, err)
	}
}

// A lease of a process that is known to be dead is taken over at once; a deleted thread's
// tokens are not given again.
func TestLeasesIntegration(t *testing.T) {
	address := schema(t)
	s, err := postgres.Open(t.Context(), address, postgres.Options{OwnerDied: func(owner string) bool { return owner == "dead" }})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = s.Close() }()
	acquire := func(owner string) (graph.Lease, error) {
		return s.Acquire(t.Context(), "t", graph.AcquireOptions{Owner: owner, TTL: time.Hour})
	}
	dead, err := acquire("dead")
	if err != nil {
		t.Fatal(err)
	}
	l, err := acquire("alive")
	if err != nil {
		t.Fatalf("Acquire after a dead owner: %v", err)
	}
	if _, err := s.Commit(t.Context(), dead, graph.Batch{Commit: graph.Commit{Run: "r"}}); !errors.Is(err, graph.ErrSuperseded) {
		t.Errorf("Commit of the dead: %v", err)
	}
	if _, err := acquire("other"); !errors.Is(err, graph.ErrBusy) {
		t.Errorf("Acquire beside a live owner: %v", err)
	}
	if err := s.Delete(t.Context(), "t"); !errors.Is(err, graph.ErrBusy) {
		t.Errorf("Delete of a held thread: %v", err)
	}
	if err := errors.Join(s.Release(t.Context(), l), s.Delete(t.Context(), "t")); err != nil {
		t.Fatal(err)
	}
	if err := s.Delete(t.Context(), "t"); !errors.Is(err, graph.ErrNotFound) {
		t.Errorf("Delete of a deleted thread: %v", err)
	}
	if again, err := acquire("again"); err != nil || again.Token <= l.Token {
		t.Errorf("token %d after %d (%v)", again.Token, l.Token, err)
	}
}
