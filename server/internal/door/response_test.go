package door_test

import (
	"compress/gzip"
	"encoding/json"
	"net/http"
	"strings"
	"testing"

	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/server/internal/door"
)

// TestGzip: a long answer is compressed for those who take that, a short one and a stream never.
func TestGzip(t *testing.T) {
	t.Parallel()
	long := strings.Repeat("a passage about leave ", 1000)
	f := newFixture(t, door.Rules{},
		door.Route{Pattern: "GET /long", Scope: tokens.Read, Do: func(w http.ResponseWriter, _ *http.Request) { door.WriteJSON(w, http.StatusOK, long) }},
		door.Route{Pattern: "GET /short", Scope: tokens.Read, Do: func(w http.ResponseWriter, _ *http.Request) { door.WriteJSON(w, http.StatusOK, "short") }},
		door.Route{Pattern: "GET /stream", Scope: tokens.Read, Do: func(w http.ResponseWriter, r *http.Request) {
			_, s := door.OpenStream(w, r)
			defer s.Close()
			_ = s.Send(door.Message{Data: []byte(long)})
		}},
	)
	for accepts, want := range map[string]bool{
		"gzip": true, "br, GZIP;q=0.5": true, "deflate, gzip": true, "": false, "identity": false, "gzip;q=0": false, "gzip; q=0.000": false, "xgzip": false,
	} {
		w := f.get("/long", "Accept-Encoding", accepts)
		if got := w.Header().Get("Content-Encoding") == "gzip"; got != want || w.Header().Get("Vary") != "Accept-Encoding" {
			t.Errorf("%q: %v", accepts, w.Header())
		}
		if !want {
			continue
		}
		if w.Body.Len() > len(long)/10 {
			t.Errorf("%d bytes of %d", w.Body.Len(), len(long))
		}
		z, err := gzip.NewReader(w.Body)
		if err != nil {
			t.Fatal(err)
		}
		var got string
		if err := json.NewDecoder(z).Decode(&got); err != nil || got != long {
			t.Errorf("%q: %v", accepts, err)
		}
	}
	for _, path := range []string{"/short", "/stream"} {
		if w := f.get(path, "Accept-Encoding", "gzip"); w.Header().Get("Content-Encoding") != "" {
			t.Errorf("%s is compressed", path)
		}
	}
}
