package doors_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"
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

// TestIntegrationKillServer: kill -9 under load loses no answer that a client has, and a thread whose
// turn was cut short continues.
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
	resumed := 0
	for i := range 8 {
		thread := fmt.Sprintf("client %d", i)
		status, err := call(ctx, http.MethodPost, url+"/api/ask", fmt.Sprintf(`{"thread_id": %q, "resume": true}`, thread), nil)
		if err == nil && status == http.StatusOK {
			resumed++
		}
		var next turn
		if status, err := call(ctx, http.MethodPost, url+"/api/ask", fmt.Sprintf(`{"question": "And of what?", "thread_id": %q}`, thread), &next); err != nil || status != http.StatusOK || next.Answer == "" {
			t.Errorf("%s goes on with %d, %v", thread, status, err)
		}
	}
	t.Logf("%d answers kept, %d turns resumed", len(kept), resumed)
}
