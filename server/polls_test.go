package server_test

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/server"
)

// TestPolls: what clients of LangGraph ask for again and again stays small for a thread of 500 turns.
func TestPolls(t *testing.T) {
	t.Parallel()
	turns := 500
	if testing.Short() {
		turns = 50
	}
	h := open(t, server.Options{}, nil)
	for i := range turns {
		if _, err := h.a.Ask(t.Context(), ragflow.Question{Text: fmt.Sprintf("How many days of leave? Number %d", i), Thread: "long"}); err != nil {
			t.Fatal(err)
		}
	}
	for i := range 20 {
		if _, err := h.a.Ask(t.Context(), ragflow.Question{Text: "How many days of leave?", Thread: fmt.Sprint("short ", i)}); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		method, path, body string
		rows               int
		max, maxZipped     int // bytes
	}{
		{"POST", "/threads/search", `{"select": ["thread_id", "status"], "limit": 10}`, 10, 450, 450},
		{"POST", "/threads/search", `{"limit": 10}`, 10, 11_000, 1_300},
		{"POST", "/threads/long/history", `{"limit": 10}`, 10, 600_000, 26_000}, // all messages once, and the live ones, which have an end, nine times
		{"GET", "/threads/long/runs?limit=10", ``, 10, 3_100, 3_100},
	} {
		for zip, most := range map[string]int{"": c.max, "gzip": c.maxZipped} {
			r := httptest.NewRequestWithContext(t.Context(), c.method, "http://localhost"+c.path, strings.NewReader(c.body))
			r.Header.Set("Accept-Encoding", zip)
			w, began := httptest.NewRecorder(), time.Now()
			h.ServeHTTP(w, r)
			size := w.Body.Len()
			var rows []json.RawMessage
			if zip == "" {
				if err := json.Unmarshal(w.Body.Bytes(), &rows); err != nil || len(rows) != c.rows {
					t.Errorf("%s: %d rows, %v: %.200s", c.path, len(rows), err, w.Body)
				}
			}
			t.Logf("%s %s %s %q: %d bytes in %s", c.method, c.path, c.body, zip, size, time.Since(began).Round(time.Microsecond))
			if w.Code != 200 || size > most {
				t.Errorf("%s %s %q: %d, %d bytes, at most %d", c.path, c.body, zip, w.Code, size, most)
			}
		}
	}
}
