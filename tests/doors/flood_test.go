package doors_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"
)

// endless is a body of so many bytes whose length is not told.
type endless struct{ left, sent atomic.Int64 }

func (e *endless) Read(p []byte) (int, error) {
	n := int64(len(p))
	if e.left.Add(-n) < 0 {
		return 0, io.EOF
	}
	e.sent.Add(n)
	for i := range p {
		p[i] = ' '
	}
	return len(p), nil
}

// raw sends bytes over a connection and returns the status of the answer; 0 if the connection ends without one.
func raw(ctx context.Context, t *testing.T, url, text string) int {
	t.Helper()
	c, err := new(net.Dialer).DialContext(ctx, "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Error(err)
		return 0
	}
	defer func() { _ = c.Close() }()
	_ = c.SetDeadline(time.Now().Add(30 * time.Second)) // of TCP
	_, _ = io.WriteString(c, text)                      // the server may not read all
	response, err := http.ReadResponse(bufio.NewReader(c), nil)
	if err != nil {
		return 0
	}
	_ = response.Body.Close()
	return response.StatusCode
}

// trickle sends a text a byte a second, until the server has enough, and returns how long that took.
func trickle(ctx context.Context, url, head, text string) (time.Duration, error) {
	c, err := new(net.Dialer).DialContext(ctx, "tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		return 0, err
	}
	began := time.Now()
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = io.Copy(io.Discard, c) // until the server ends the connection
	}()
	defer func() { _ = c.Close() }()
	_, _ = io.WriteString(c, head)
	for i := range len(text) {
		_, _ = c.Write([]byte{text[i]})
		select {
		case <-ended:
			return time.Since(began), nil
		case <-time.After(time.Second):
		case <-ctx.Done():
			return 0, errors.New("the server still reads")
		}
	}
	return 0, errors.New("the server took it all")
}

// TestFloods: a client that sends too much or too slowly is refused, the memory of the server is bounded, and another
// client is answered meanwhile.
func TestFloods(t *testing.T) {
	if testing.Short() {
		t.Skip("takes half a minute")
	}
	h := newHouse(t)
	url, pid, _ := h.process(t, "127.0.0.1:0", "--offline")
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	ask := func() (got turn, took time.Duration) {
		began := time.Now()
		if status, err := call(ctx, "POST", url+"/api/ask", `{"question": "`+leaveQuestion+`"}`, &got); err != nil || status != http.StatusOK {
			t.Errorf("another client: %d %v", status, err)
		}
		return got, time.Since(began)
	}
	first, _ := ask()
	if status, err := call(ctx, "PUT", url+"/api/collections/law", "", nil); err != nil || status != http.StatusNoContent {
		t.Fatalf("%d %v", status, err)
	}

	floods := make(chan struct{})
	slow := make(chan error, 1)
	go func() {
		heads := []string{
			"POST /api/ask HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n",
			"POST /v1/responses HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n",
			"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n",
			"POST /nosuch HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n",     // which nobody reads
			"POST /api/ask HTTP/1.1\r\nHost: evil.test\r\nContent-Length: 1000\r\n\r\n",    // likewise
			"GET /api/threads HTTP/1.1\r\nHost: localhost\r\nContent-Length: 1000\r\n\r\n", // likewise
			"POST /api/ask HTTP/1.1\r\nHost: localhost\r\nX-Slow: ",
		}
		_, err := together(30*len(heads), func(i int) error {
			_, err := trickle(ctx, url, heads[i%len(heads)], strings.Repeat("x", 1000))
			return err
		})
		slow <- err
	}()
	go func() {
		defer close(floods)
		flood(ctx, t, url, first.Run)
	}()
	var took []time.Duration
	for done := false; !done; {
		_, d := ask()
		took = append(took, d)
		select {
		case <-floods:
			done = true
		case <-time.After(20 * time.Millisecond):
		}
	}
	if err := <-slow; err != nil {
		t.Errorf("a body of a byte a second: %v", err)
	}
	t.Logf("another client had %d answers: p50 %s, p99 %s; %d MB", len(took), at(took, 0.5), at(took, 0.99), peak(pid))
	if worst := at(took, 1); worst > 10*time.Second {
		t.Errorf("another client waited %s", worst)
	}
	if got := peak(pid); got > maxMemory {
		t.Errorf("%d MB, at most %d", got, maxMemory)
	}
}

// flood sends what is too much.
func flood(ctx context.Context, t *testing.T, url, run string) {
	t.Helper()
	const get = "GET /api/threads HTTP/1.1\r\nHost: localhost\r\n"
	for what, lines := range map[string]string{
		"10,000 headers":        many(10_000, func(i int) string { return "X-" + strconv.Itoa(i) + ": x\r\n" }),
		"50,000 ids of events":  many(50_000, func(i int) string { return "Last-Event-ID: " + strconv.Itoa(i) + "\r\n" }),
		"an id of 1 MB":         "Last-Event-ID: " + strings.Repeat("1", 1<<20) + "\r\n",
		"a header without name": ": x\r\n",
	} {
		if status := raw(ctx, t, url, get+lines+"\r\n"); status != 431 && status != 400 && status != 0 {
			t.Errorf("%s: %d", what, status)
		}
	}
	for _, to := range []string{"POST /api/ask", "POST /v1/chat/completions", "POST /mcp", "POST /threads", "POST /runs/stream", "PUT /api/documents/x.md?collection=law", "POST /nosuch"} {
		method, path, _ := strings.Cut(to, " ")
		body := &endless{}
		body.left.Store(1 << 30)
		r, err := http.NewRequestWithContext(ctx, method, url+path, body)
		if err != nil {
			t.Error(err)
			return
		}
		r.Header.Set("Content-Type", "application/json")
		r.Header.Set("Accept", "application/json, text/event-stream")
		status := 0
		if response, err := http.DefaultClient.Do(r); err == nil { // else the connection was ended meanwhile
			status = response.StatusCode
			_ = response.Body.Close()
		}
		if sent := body.sent.Load() >> 20; status >= 200 && status < 400 || status >= 500 || sent > 100 {
			t.Errorf("1 GB to %s: %d after %d MB", to, status, sent)
		}
	}
	deep := strings.Repeat("[", 100_000) + strings.Repeat("]", 100_000)
	for to, format := range map[string]string{
		"/api/ask": `{"question": %s}`, "/api/search": `{"query": "x", "nosuch": %s}`, "/v1/chat/completions": `{"model": "ragflow", "messages": %s}`,
		"/v1/responses": `{"model": "ragflow", "input": %s}`, "/v1/embeddings": `{"input": %s}`, "/threads": `{"metadata": {"a": %s}}`,
		"/runs/wait": `{"assistant_id": "ragflow", "input": {"messages": %s}}`, "/mcp": `{"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": %s}`,
		"/runs/stream": `{"assistant_id": "ragflow", "input": %s}`,
	} {
		status, err := call(ctx, "POST", url+to, fmt.Sprintf(format, deep), nil)
		if err != nil || status < 400 || status >= 500 {
			t.Errorf("JSON 100,000 deep to %s: %d %v", to, status, err)
		}
	}
	_, err := together(8, func(i int) error {
		for n := range 250 {
			for path, want := range map[string]int{"/api/runs/" + run + "/events": 200, "/api/runs/nosuch/events": 404, "/threads/nosuch/stream": 404} {
				r, err := http.NewRequestWithContext(ctx, "GET", url+path, nil)
				if err != nil {
					return err
				}
				r.Header.Set("Last-Event-Id", strconv.Itoa(250*i+n))
				response, err := http.DefaultClient.Do(r)
				if err != nil {
					return err
				}
				_, _ = io.Copy(io.Discard, response.Body)
				_ = response.Body.Close()
				if response.StatusCode != want {
					return fmt.Errorf("%s after event %d: %s", path, 250*i+n, response.Status)
				}
			}
		}
		return nil
	})
	if err != nil {
		t.Error(err)
	}
}

// many joins n lines.
func many(n int, line func(i int) string) string {
	var out strings.Builder
	for i := range n {
		out.WriteString(line(i))
	}
	return out.String()
}
