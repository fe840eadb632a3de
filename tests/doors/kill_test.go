package doors_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"example.com/ragflow/internal/llmtest"
)

// turn is one answer that a server acknowledged.
type turn struct {
	Run    string `json:"run_id"`
	Thread string `json:"thread_id"`
	Answer string `json:"answer"`
}

// call sends a request and decodes its reply. It returns the status, 0 if there is none.
func call(ctx context.Context, method, url, body string, out any) (int, error) {
	r, err := http.NewRequestWithContext(ctx, method, url, bytes.NewReader([]byte(body)))
	if err != nil {
		return 0, err
	}
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return 0, err
	}
	defer func() { _ = response.Body.Close() }()
	data, err := io.ReadAll(response.Body)
	if err == nil && out != nil {
		err = json.Unmarshal(data, out)
	}
	return response.StatusCode, err
}

// TestIntegrationKillServer: kill -9 under load loses no answer that a client has, and every turn that was cut
// short ends by itself.
func TestIntegrationKillServer(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	h := newHouse(t)
	url, kill := h.serve(t, "127.0.0.1:0", "--offline")
	var mu sync.Mutex
	var kept []turn
	var clients sync.WaitGroup
	for i := range 8 {
		clients.Go(func() {
			for n := 0; ; n++ {
				var got turn
				thread := fmt.Sprintf("client %d", i)
				status, err := call(ctx, http.MethodPost, url+"/api/ask", fmt.Sprintf(`{"question": "How many days of leave? %d", "thread_id": %q}`, n, thread), &got)
				if err != nil || status != http.StatusOK {
					return // killed
				}
				mu.Lock()
				kept = append(kept, got)
				mu.Unlock()
			}
		})
	}
	for enough := false; !enough && ctx.Err() == nil; time.Sleep(10 * time.Millisecond) {
		mu.Lock()
		enough = len(kept) >= 40
		mu.Unlock()
	}
	kill()
	clients.Wait()
	url, _ = h.serve(t, strings.TrimPrefix(url, "http://"), "--offline")
	for _, k := range kept {
		var again turn
		if status, err := call(ctx, http.MethodGet, url+"/api/runs/"+k.Run, "", &again); err != nil || status != http.StatusOK || again != k {
			t.Errorf("%d %v: %+v, was %+v", status, err, again, k)
		}
	}
	for unended := true; unended; time.Sleep(20 * time.Millisecond) {
		unended = running(ctx, t, url) > 0
	}
	for i := range 8 {
		var next turn
		body := fmt.Sprintf(`{"question": "And of what?", "thread_id": "client %d"}`, i)
		if status, err := call(ctx, http.MethodPost, url+"/api/ask", body, &next); err != nil || status != http.StatusOK || next.Answer == "" {
			t.Errorf("client %d goes on with %d, %v", i, status, err)
		}
	}
	t.Logf("%d answers kept", len(kept))
}

// running returns how many threads have a run that has not ended.
func running(ctx context.Context, t *testing.T, url string) (n int) {
	t.Helper()
	var page struct {
		Threads []struct{ Status string }
	}
	if status, err := call(ctx, http.MethodGet, url+"/api/threads", "", &page); err != nil || status != http.StatusOK {
		t.Fatalf("list threads: %d, %v", status, err)
	}
	for _, x := range page.Threads {
		if x.Status == "running" {
			n++
		}
	}
	return n
}

// reader reads the events of a run and keeps the text that a person sees.
type reader struct{ run, last, shown, answer string }

// read reads events until the stream ends.
func (x *reader) read(ctx context.Context, method, url, body string) error {
	r, err := http.NewRequestWithContext(ctx, method, url, strings.NewReader(body))
	if err != nil {
		return err
	}
	r.Header.Set("Accept", "text/event-stream")
	r.Header.Set("Last-Event-Id", x.last)
	response, err := http.DefaultClient.Do(r)
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	lines, id := bufio.NewScanner(response.Body), ""
	for lines.Buffer(nil, 1<<20); lines.Scan(); {
		name, value, _ := strings.Cut(lines.Text(), ": ")
		var e struct {
			Kind, Text, Error string
			Run               string `json:"run_id"`
			Reply             turn
		}
		if name == "id" {
			id = value
		}
		if name != "data" {
			continue
		}
		if err := json.Unmarshal([]byte(value), &e); err != nil || e.Kind == "" {
			return errors.Join(fmt.Errorf("the stream ends with %s", value), err)
		}
		x.run, x.last = e.Run, id
		switch e.Kind {
		case "text":
			x.shown += e.Text
		case "withdrawn":
			x.shown = ""
		case "done":
			x.answer = e.Reply.Answer
		}
	}
	return lines.Err()
}

// TestIntegrationKilledRuns: runs that a model was writing for when their server was killed or drained end by
// themselves after its restart, each at one of two servers, and their readers continue from their positions.
func TestIntegrationKilledRuns(t *testing.T) {
	for name, end := range map[string]os.Signal{"killed": os.Kill, "drained": syscall.SIGTERM} {
		t.Run(name, func(t *testing.T) { endsByItself(t, end) })
	}
}

func endsByItself(t *testing.T, end os.Signal) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	release, asked := make(chan struct{}), make(chan struct{}, 100)
	write := llmtest.SayThen("Every employee has 26 days ", release, "of paid leave a year. [Source 1]")
	model := llmtest.NewServer(llmtest.Script(
		llmtest.Entry{When: "You grade search results", Do: llmtest.Say("SCORE: 0.9")},
		llmtest.Entry{When: "Sources:", Do: func(w http.ResponseWriter, r *http.Request) { asked <- struct{}{}; write(w, r) }},
		llmtest.Entry{Do: llmtest.Say("NONE")},
	))
	defer model.Close()
	t.Setenv("OPENAI_BASE_URL", model.URL())
	t.Setenv("SMART_LLM_MODEL", "m")
	t.Setenv("FAST_LLM_MODEL", "m")
	h := newHouse(t)
	url, server := h.start(t, "127.0.0.1:0")
	readers := make([]reader, 6)
	var reading sync.WaitGroup
	for i := range readers {
		reading.Go(func() {
			body := fmt.Sprintf(`{"question": "How many days of leave?", "thread_id": "client %d"}`, i)
			_ = readers[i].read(ctx, http.MethodPost, url+"/api/ask", body) // it ends with the server
		})
	}
	for range readers {
		select {
		case <-asked:
		case <-ctx.Done():
			t.Fatal("the model is not asked")
		}
	}
	_ = server.Process.Signal(end)
	_ = server.Wait()
	reading.Wait()
	url, _ = h.start(t, strings.TrimPrefix(url, "http://"))
	h.start(t, "127.0.0.1:0") // another one of the same threads
	for range 4 {             // that are resumed at a time
		<-asked
	}
	close(release)
	for i := range readers {
		x := &readers[i]
		for x.answer == "" && ctx.Err() == nil { // one that comes before its drained run is resumed comes again
			if x.read(ctx, http.MethodGet, url+"/api/runs/"+x.run+"/events", "") != nil {
				time.Sleep(50 * time.Millisecond)
			}
		}
		if !strings.Contains(x.answer, "26 days of paid leave a year.") || x.shown != x.answer {
			t.Errorf("client %d sees %q of %q", i, x.shown, x.answer)
		}
		var thread struct {
			Messages []struct{ Role, Content string }
		}
		status, err := call(ctx, http.MethodGet, fmt.Sprintf("%s/api/threads/client%%20%d", url, i), "", &thread)
		if err != nil || status != http.StatusOK || len(thread.Messages) != 2 {
			t.Errorf("client %d: %d %v %v", i, status, err, thread)
		}
	}
	if n := running(ctx, t, url); n != 0 || len(asked) != len(readers)-4 {
		t.Errorf("%d runs have not ended, and two servers asked the model %d times for %d", n, len(asked)+4, len(readers))
	}
}
