package llmtest

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"time"
)

// Behaviour answers one call.
type Behaviour func(w http.ResponseWriter, r *http.Request)

// Call is one request that came.
type Call struct {
	Path   string
	Key    string // of the header Authorization, without "Bearer ", or of x-api-key
	Model  string
	System string // of a chat: what the rules say
	User   string // of a chat: the last thing the person says
	Texts  []string
	Body   string
}

// Server is a provider under the test's control.
type Server struct {
	http *httptest.Server
	stop chan struct{}

	mu         sync.Mutex // owns what follows
	behaviours []Behaviour
	calls      []Call
}

// NewServer starts a provider that behaves so, call after call; the last
// behaviour repeats. The caller closes it.
func NewServer(b ...Behaviour) *Server { return start(b, httptest.NewServer) }

// NewTLSServer is NewServer with a certificate that nobody trusts.
func NewTLSServer(b ...Behaviour) *Server {
	return start(b, func(h http.Handler) *httptest.Server {
		s := httptest.NewUnstartedServer(h)
		// Its handshakes fail on purpose; nobody needs to read that.
		s.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)
		s.StartTLS()
		return s
	})
}

func start(b []Behaviour, serve func(http.Handler) *httptest.Server) *Server {
	s := &Server{behaviours: b, stop: make(chan struct{})}
	s.http = serve(http.HandlerFunc(s.handle))
	return s
}

// URL is the base URL to give to a client.
func (s *Server) URL() string { return s.http.URL + "/v1" }

// Close ends the server, and the calls it still holds up.
func (s *Server) Close() {
	close(s.stop)
	s.http.CloseClientConnections()
	s.http.Close()
}

// Calls are the calls that came, in order.
func (s *Server) Calls() []Call {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]Call(nil), s.calls...)
}

// Then replaces the behaviours for the calls to come.
func (s *Server) Then(b ...Behaviour) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.behaviours = b
}

func (s *Server) handle(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	var asked struct {
		Model    string `json:"model"`
		System   words  `json:"system"`
		Messages []struct {
			Role    string `json:"role"`
			Content words  `json:"content"`
		} `json:"messages"`
		Input []string `json:"input"`
	}
	_ = json.Unmarshal(body, &asked) // a request that is no JSON is kept as it is
	call := Call{
		Path: r.URL.Path, Key: keyOf(r),
		Model: asked.Model, System: string(asked.System), Texts: asked.Input, Body: string(body),
	}
	for _, m := range asked.Messages {
		switch m.Role {
		case "system":
			call.System = string(m.Content)
		case "user":
			call.User = string(m.Content)
		}
	}
	b := s.next(call)
	// A behaviour that waits does so until the client leaves or the test ends.
	done := r.Context().Done()
	b(&stoppable{ResponseWriter: w, call: call, done: done, stop: s.stop}, r)
}

// keyOf is the key that came with a request.
func keyOf(r *http.Request) string {
	return cmp.Or(r.Header.Get("x-api-key"), strings.TrimPrefix(r.Header.Get("Authorization"), "Bearer "))
}

// words is a text, or those of several parts.
type words string

// UnmarshalJSON implements json.Unmarshaler.
func (t *words) UnmarshalJSON(data []byte) error {
	if json.Unmarshal(data, (*string)(t)) == nil {
		return nil
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(data, &parts) // of another form: no text
	*t = ""
	for _, p := range parts {
		*t += words(p.Text)
	}
	return nil
}

func (s *Server) next(c Call) Behaviour {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.calls = append(s.calls, c)
	b := s.behaviours[0]
	if len(s.behaviours) > 1 {
		s.behaviours = s.behaviours[1:]
	}
	return b
}

// stoppable is a response that can be held up.
type stoppable struct {
	http.ResponseWriter
	call Call
	done <-chan struct{}
	stop <-chan struct{}
}

// Unwrap lets http.ResponseController reach the response.
func (s *stoppable) Unwrap() http.ResponseWriter { return s.ResponseWriter }

// hold waits for d, or until nobody is there any more.
func hold(w http.ResponseWriter, d time.Duration) {
	s, ok := w.(*stoppable)
	if !ok {
		return
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-s.done:
	case <-s.stop:
	}
}

// forever is longer than any test.
const forever = time.Hour

func event(w http.ResponseWriter, v any) {
	data, err := json.Marshal(v)
	if err != nil {
		panic(err) // what is sent is ours
	}
	fmt.Fprintf(w, "data: %s\n\n", data)
	_ = http.NewResponseController(w).Flush() // who is gone needs no more
}

// messages reports whether a call is in the protocol of Anthropic.
func messages(w http.ResponseWriter) bool { return strings.HasSuffix(lastCall(w).Path, "/messages") }

func piece(w http.ResponseWriter, text string) map[string]any {
	if messages(w) {
		return map[string]any{"type": "content_block_delta", "index": 0, "delta": map[string]any{"type": "text_delta", "text": text}}
	}
	return map[string]any{
		"object": "chat.completion.chunk", "model": "played",
		"choices": []any{map[string]any{"index": 0, "delta": map[string]any{"content": text}}},
	}
}

func begin(w http.ResponseWriter) {
	w.Header().Set("Content-Type", "text/event-stream")
	w.WriteHeader(http.StatusOK)
	if messages(w) {
		event(w, map[string]any{"type": "message_start", "message": map[string]any{"model": "played", "usage": map[string]any{"input_tokens": InputTokens}}})
	}
}
