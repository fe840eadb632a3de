package doors_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/jackc/pgx/v5"

	"example.com/ragflow/internal/llmtest"
)

// shared makes the servers that this test starts keep threads in one PostgreSQL and documents in one Weaviate.
func shared(t *testing.T) {
	t.Helper()
	store, index := os.Getenv("RAGFLOW_TEST_POSTGRES"), os.Getenv("RAGFLOW_TEST_WEAVIATE")
	if store == "" || index == "" {
		t.Skip("needs both servers: scripts/servers/postgres start ENV_FILE and scripts/servers/weaviate start ENV_FILE")
	}
	u, err := url.Parse(store)
	if err != nil {
		t.Fatal("RAGFLOW_TEST_POSTGRES is no URL")
	}
	name := fmt.Sprintf("doors_%d", time.Now().UnixNano())
	q := u.Query()
	q.Set("search_path", name)
	u.RawQuery = q.Encode()
	t.Setenv("RAGFLOW_STORE", u.String())
	host, query, _ := strings.Cut(index, "?")
	t.Setenv("RAGFLOW_INDEX", host+"/D"+name[1:]+"?"+query)
	t.Cleanup(func() {
		ctx := context.WithoutCancel(t.Context())
		conn, err := pgx.Connect(ctx, store)
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = conn.Close(ctx) }()
		if _, err := conn.Exec(ctx, `DROP SCHEMA IF EXISTS `+name+` CASCADE`); err != nil {
			t.Error(err)
		}
	})
}

// heard is what a reader of a run got.
type heard struct {
	kinds    []string // "step_ended generate" and so on
	position string   // of the last event
	answer   string
	err      error
}

// follow reads the events of a run after a position, calling each, if it is not nil, with what came so far.
func follow(ctx context.Context, url, run, after string, each func(heard)) (got heard) {
	r, err := http.NewRequestWithContext(ctx, http.MethodGet, url+"/api/runs/"+run+"/events", nil)
	if err != nil {
		return heard{err: err}
	}
	if after != "" {
		r.Header.Set("Last-Event-Id", after)
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return heard{err: err}
	}
	defer func() { _ = response.Body.Close() }()
	lines := bufio.NewScanner(response.Body)
	lines.Buffer(nil, 1<<24)
	for lines.Scan() {
		data, ok := strings.CutPrefix(lines.Text(), "data: ")
		var e struct {
			Kind, Position, Node, Error string
			Reply                       turn
		}
		if !ok || json.Unmarshal([]byte(data), &e) != nil {
			continue
		}
		switch {
		case e.Error != "":
			got.err = fmt.Errorf("an event of an error: %s", e.Error)
		case e.Kind == "step_ended" || e.Kind == "done":
			got.kinds = append(got.kinds, strings.TrimSpace(e.Kind+" "+e.Node))
		}
		if got.answer += e.Reply.Answer; e.Position != "" {
			got.position = e.Position
		}
		if each != nil {
			each(got)
		}
	}
	return got
}

// TestIntegrationTwoServers: of two servers on one PostgreSQL and one Weaviate each answers what the other knows. A
// run is read at the other server while it is written. When one is killed under load, the readers at the other one
// miss nothing of a run that is resumed there, and each acknowledged answer is there.
func TestIntegrationTwoServers(t *testing.T) {
	shared(t)
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	next := make(chan struct{})
	answer := llmtest.Say("Every employee has 26 days of paid leave a year [Source 1].")
	model := llmtest.NewServer(llmtest.Script(
		llmtest.Entry{When: "You grade search results", Do: llmtest.Say("SCORE: 0.9")},
		llmtest.Entry{When: "slowly", Do: llmtest.SayThen("Every employee has 26 days ", next, "of paid leave a year [Source 1].")},
		llmtest.Entry{Do: answer},
	))
	defer model.Close()
	t.Setenv("OPENAI_BASE_URL", model.URL())
	t.Setenv("OPENAI_API_KEY", "none")
	here := newHouse(t)
	there := house{docs: here.docs, data: t.TempDir()}
	a, _, kill := here.process(t, "127.0.0.1:0", "--model", "openai:fake")
	b, _, _ := there.process(t, "127.0.0.1:0", "--model", "openai:fake")
	for _, at := range []string{a, b} {
		indexed(ctx, t, at)
	}
	start := func(at, thread string) (run turn) {
		t.Helper()
		body := fmt.Sprintf(`{"question": "How many days of leave? Say it slowly", "thread_id": %q, "start": true}`, thread)
		if status, err := call(ctx, "POST", at+"/api/ask", body, &run); err != nil || status != http.StatusAccepted {
			t.Fatalf("%d %v", status, err)
		}
		return run
	}

	joined := start(a, "joined")
	reading := make(chan heard, 2)
	go func() { reading <- follow(ctx, a, joined.Run, "", nil) }()
	go func() { reading <- follow(ctx, b, joined.Run, "", nil) }()
	reached(ctx, t, model, 1)
	close(next)
	one, other := <-reading, <-reading
	if d := cmp.Diff(one.kinds, other.kinds); d != "" || one.answer == "" || one.answer != other.answer || one.err != nil || other.err != nil {
		t.Errorf("%v, %v, %s", one, other, d)
	}
	want := one.kinds

	next = make(chan struct{})
	model.Then(llmtest.Script(
		llmtest.Entry{When: "You grade search results", Do: llmtest.Say("SCORE: 0.9")},
		llmtest.Entry{When: "slowly", Do: llmtest.SayThen("Every employee has 26 days ", next, "of paid leave a year [Source 1].")},
		llmtest.Entry{Do: answer},
	))
	cut := start(a, "cut")
	go func() { reading <- follow(ctx, b, cut.Run, "", nil) }()
	reached(ctx, t, model, 2)
	kept := load(ctx, t, []string{a, b}, kill)
	var reply turn
	resumed := make(chan error, 1)
	go func() {
		status, err := call(ctx, "POST", b+"/api/ask", `{"thread_id": "cut", "resume": true}`, &reply)
		if err == nil && status != http.StatusOK {
			err = fmt.Errorf("status %d", status)
		}
		resumed <- err
	}()
	reached(ctx, t, model, 3)
	close(next)
	if err := <-resumed; err != nil || !strings.Contains(reply.Answer, "26 days") {
		t.Errorf("the run that was cut short is resumed with %v: %+v", err, reply)
	}
	got := <-reading
	if d := cmp.Diff(want, got.kinds); d != "" || got.err != nil || got.answer != reply.Answer {
		t.Errorf("the reader at the other server got %v %q: %s", got.err, got.answer, d)
	}
	for _, k := range kept {
		var again turn
		if status, err := call(ctx, "GET", b+"/api/runs/"+k.Run, "", &again); err != nil || status != http.StatusOK || again != k {
			t.Errorf("%d %v: %+v, was %+v", status, err, again, k)
		}
	}
	t.Logf("%d answers kept", len(kept))
}

// indexed waits until a server finds the document of the house.
func indexed(ctx context.Context, t *testing.T, url string) {
	t.Helper()
	for {
		var found struct{ Hits []json.RawMessage }
		if status, err := call(ctx, "POST", url+"/api/search", `{"query": "paid leave"}`, &found); err == nil && status == http.StatusOK && len(found.Hits) > 0 {
			return
		}
		select {
		case <-time.After(200 * time.Millisecond):
		case <-ctx.Done():
			t.Fatal("the document is not found")
		}
	}
}

// reached waits until a model has been asked n times to answer slowly.
func reached(ctx context.Context, t *testing.T, model *llmtest.Server, n int) {
	t.Helper()
	for {
		slow := 0
		for _, c := range model.Calls() {
			if strings.Contains(c.User, "slowly") && !strings.Contains(c.System, "You grade search results") {
				slow++
			}
		}
		if slow >= n {
			return
		}
		select {
		case <-time.After(20 * time.Millisecond):
		case <-ctx.Done():
			t.Fatalf("the model was asked %d times", slow)
		}
	}
}

// load asks at servers from several threads, calls kill in the middle, lets the clients of a server that does not
// answer change to the other one, and returns what was acknowledged.
func load(ctx context.Context, t *testing.T, urls []string, kill func()) (kept []turn) {
	t.Helper()
	var mu sync.Mutex
	var clients sync.WaitGroup
	killed := make(chan struct{})
	for i := range 6 {
		clients.Go(func() {
			at := urls[i%len(urls)]
			for after := 0; after < 3; {
				select {
				case <-killed:
					after++
				default:
				}
				var got turn
				body := fmt.Sprintf(`{"question": "How many days of leave?", "thread_id": "client %d"}`, i)
				status, err := call(ctx, "POST", at+"/api/ask", body, &got)
				if err != nil && ctx.Err() == nil && at != urls[1] {
					at = urls[1]
					continue
				}
				if err != nil || status != http.StatusOK || got.Answer == "" {
					t.Errorf("client %d: %d %v", i, status, err)
					return
				}
				mu.Lock()
				kept = append(kept, got)
				if len(kept) == 30 {
					kill()
					close(killed)
				}
				mu.Unlock()
			}
		})
	}
	clients.Wait()
	return kept
}
