package rerank_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/llm"
	"example.com/ragflow/llm/rerank"
)

// strict is a server that refuses what its kind of server refuses, and scores a
// text by its length, the longest first.
func strict(protocol, path string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		fail := func(status int, said string) {
			w.WriteHeader(status)
			_, _ = io.WriteString(w, said)
		}
		if r.Method != http.MethodPost || r.URL.Path != path || r.Header.Get("Content-Type") != "application/json" {
			fail(http.StatusNotFound, `{"message":"no such route"}`)
			return
		}
		var asked struct {
			Model     string   `json:"model"`
			Query     string   `json:"query"`
			Documents []string `json:"documents"`
			Texts     []string `json:"texts"`
			Truncate  bool     `json:"truncate"`
		}
		d := json.NewDecoder(r.Body)
		d.DisallowUnknownFields()
		if err := d.Decode(&asked); err != nil || asked.Query == "" {
			fail(http.StatusUnprocessableEntity, `{"error":{"message":"bad request"}}`)
			return
		}
		texts, key := asked.Documents, "relevance_score"
		if protocol == rerank.Texts {
			texts, key = asked.Texts, "score"
		}
		if len(texts) == 0 || len(texts) > 32 || (protocol == rerank.Texts) != (asked.Documents == nil) {
			fail(http.StatusUnprocessableEntity, `{"error":"wrong texts"}`)
			return
		}
		var results []string
		for i := range texts { // not in the order asked for
			i = len(texts) - 1 - i
			results = append(results, fmt.Sprintf(`{"index":%d,%q:%d.5}`, i, key, len(texts[i])-10))
		}
		list := "[" + strings.Join(results, ",") + "]"
		if protocol == rerank.Documents {
			list = `{"model":"served","object":"list","usage":{"prompt_tokens":7,"total_tokens":7},"results":` + list + `}`
		}
		_, _ = io.WriteString(w, list)
	}
}

func serve(t *testing.T, h http.Handler) string {
	t.Helper()
	s := httptest.NewServer(h)
	t.Cleanup(s.Close)
	return s.URL
}

func client(t *testing.T, c rerank.Config) *rerank.Client {
	t.Helper()
	out, err := rerank.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

// One client for the /rerank of Cohere, Jina, llama.cpp and
// Text Embeddings Inference.
func TestProtocols(t *testing.T) {
	for _, tt := range []struct{ name, protocol, base string }{
		{"cohere", rerank.Documents, "/v2"},
		{"jina", rerank.Documents, "/v1"},
		{"llama.cpp", rerank.Documents, "/v1/"},
		{"text embeddings inference", rerank.Texts, ""},
	} {
		t.Run(tt.name, func(t *testing.T) {
			url := serve(t, strict(tt.protocol, strings.TrimRight(tt.base, "/")+"/rerank"))
			c := client(t, rerank.Config{BaseURL: url + tt.base, Model: "m", Protocol: tt.protocol})
			var texts []string
			var want []float64
			for i := range 70 {
				texts = append(texts, strings.Repeat("a", 1+i%20))
				want = append(want, float64(1+i%20-10)+0.5*sign(1+i%20-10))
			}
			got, err := c.Rerank(t.Context(), "which?", texts)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got.Values); diff != "" || got.Calls != 3 {
				t.Errorf("%d calls, scores (-want +got):\n%s", got.Calls, diff)
			}
			if none, err := c.Rerank(t.Context(), "which?", nil); err != nil || none.Calls != 0 {
				t.Errorf("no texts made %d calls: %v", none.Calls, err)
			}
		})
	}
}

// sign is −1 if "-3.5" is less than −3, as the server writes it.
func sign(n int) float64 {
	if n < 0 {
		return -1
	}
	return 1
}

// Whatever a server sends, it is scores for all texts or an error that says what
// is wrong.
func TestBadReplies(t *testing.T) {
	say := func(status int, body string) http.HandlerFunc {
		return func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Location", "http://elsewhere.invalid/")
			w.WriteHeader(status)
			_, _ = io.WriteString(w, body)
		}
	}
	for _, tt := range []struct {
		name string
		h    http.HandlerFunc
		kind error
		want string
	}{
		{"not JSON", say(200, "<html>"), llm.ErrBadResponse, "not the JSON of scores"},
		{"empty", say(200, ""), llm.ErrBadResponse, "not the JSON of scores"},
		{"null", say(200, "null"), llm.ErrBadResponse, "0 scores for 2 texts"},
		{"too few", say(200, `{"results":[{"index":0,"relevance_score":1}]}`), llm.ErrBadResponse, "1 scores for 2 texts"},
		{"twice", say(200, `[{"index":0,"score":1},{"index":0,"score":1}]`), llm.ErrBadResponse, "or two for one"},
		{"another text", say(200, `[{"index":0,"score":1},{"index":2,"score":1}]`), llm.ErrBadResponse, "a text that was not sent"},
		{"no index", say(200, `[{"score":1},{"index":1,"score":1}]`), llm.ErrBadResponse, "a text that was not sent"},
		{"no score", say(200, `[{"index":0},{"index":1,"score":1}]`), llm.ErrBadResponse, "a result without a score"},
		{"a number too great", say(200, `[{"index":0,"score":1e999},{"index":1,"score":1}]`), llm.ErrBadResponse, "not the JSON of scores"},
		{"too large", say(200, strings.Repeat(" ", 2000)), llm.ErrBadResponse, "more than 1000 bytes"},
		{"elsewhere", say(302, ""), llm.ErrBadResponse, "status 302 instead of an answer"},
		{"no key", say(401, `{"message":"key sk-secret is wrong"}`), llm.ErrCredentials, "Invalid credentials"},
		{"not found", say(404, `{"error":"nope"}`), llm.ErrModelNotFound, `does not know the model "m": status 404: nope`},
		{"refused", say(422, `{"detail":"too long"}`), llm.ErrRefused, "status 422: too long"},
		{"not made to rerank", say(501, `{"error":{"code":501,"message":"This server does not support reranking"}}`), llm.ErrUnavailable, "does not support reranking"},
		{"busy", say(429, ""), llm.ErrRateLimited, "limits the rate"},
		{"down", say(503, ""), llm.ErrUnavailable, "status 503"},
		{"too slow", func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body); <-r.Context().Done() }, llm.ErrTimeout, "no answer started in time"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			timeout := 10 * time.Second
			if tt.name == "too slow" {
				timeout = 200 * time.Millisecond
			}
			c := client(t, rerank.Config{BaseURL: serve(t, tt.h), Model: "m", Timeout: timeout, MaxBytes: 1000, Key: "sk-secret"})
			got, err := c.Rerank(t.Context(), "which?", []string{"a", "b"})
			if !errors.Is(err, tt.kind) || !strings.Contains(err.Error(), tt.want) || got.Values != nil {
				t.Errorf("got %v and %v, want an error that says %q", got.Values, err, tt.want)
			}
			if err != nil && strings.Contains(err.Error(), "secret") {
				t.Errorf("the error shows the key: %v", err)
			}
		})
	}
}

func TestCallerLeaves(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	c := client(t, rerank.Config{BaseURL: serve(t, http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		cancel()
		<-r.Context().Done()
	}))})
	_, err := c.Rerank(ctx, "q", []string{"a"})
	if _, isCall := errors.AsType[*llm.Error](err); !errors.Is(err, context.Canceled) || isCall {
		t.Errorf("got %v, want the end of the context alone", err)
	}
}

func TestNew(t *testing.T) {
	for _, tt := range []struct {
		name string
		c    rerank.Config
		want string
	}{
		{"no address", rerank.Config{}, `base URL ""`},
		{"a key in the address", rerank.Config{BaseURL: "http://me:key@localhost"}, "must not contain a user"},
		{"no key for another machine", rerank.Config{BaseURL: "https://api.example.com/v1"}, "no key is set"},
		{"protocol", rerank.Config{BaseURL: "http://localhost", Protocol: "soap"}, `"soap" of the reranker is neither documents nor texts`},
		{"a key with a line break", rerank.Config{BaseURL: "http://localhost", Key: "a\nb"}, "not allowed in a key"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := rerank.New(tt.c)
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("got %v, want %q", err, tt.want)
			}
		})
	}
	if s := fmt.Sprintf("%v %+v %#v", rerank.Config{Key: "k3y"}, rerank.Config{Key: "k3y"}, rerank.Config{Key: "k3y"}); strings.Contains(s, "k3y") {
		t.Errorf("a Config shows its key: %s", s)
	}
}

func ExampleClient_Rerank() {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		_, _ = io.WriteString(w, `{"results":[{"index":1,"relevance_score":0.93},{"index":0,"relevance_score":0.12}]}`)
	}))
	defer server.Close()
	client, err := rerank.New(rerank.Config{BaseURL: server.URL, Model: "small-reranker"})
	if err != nil {
		fmt.Println(err)
		return
	}
	scores, err := client.Rerank(context.Background(), "How do I keep data?", []string{"Networks connect containers.", "Volumes keep data."})
	fmt.Println(scores.Values, err)
	// Output: [0.12 0.93] <nil>
}
