package openai_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"net/http"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
)

func TestComplete(t *testing.T) { // L04
	s := llmtest.NewServer(llmtest.Say("A volume keeps data."))
	defer s.Close()
	var said []string
	r, err := client(t, s, nil).Chat("small").Complete(t.Context(), llmtest.Dialogue(), func(s string) { said = append(said, s) })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"A ", "volume ", "keeps ", "data."}, said); diff != "" {
		t.Error(diff)
	}
	if r.FirstToken <= 0 || r.Latency < r.FirstToken {
		t.Errorf("first token after %v of %v", r.FirstToken, r.Latency)
	}
	r.FirstToken, r.Latency = 0, 0
	want := llm.Response{
		Text: "A volume keeps data.", Model: "played", Provider: "played", Finish: llm.FinishStop, Chunks: 4,
		Usage: llm.Usage{Input: llmtest.InputTokens, Output: llmtest.OutputTokens},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
	call := s.Calls()[0]
	var body map[string]any
	if err := json.Unmarshal([]byte(call.Body), &body); err != nil {
		t.Fatal(err)
	}
	delete(body, "messages")
	if diff := cmp.Diff(map[string]any{
		"model": "small", "temperature": 0.3, "top_p": 0.9, "max_tokens": 2000.0, "stop": []any{"==="},
		"stream": true, "stream_options": map[string]any{"include_usage": true},
	}, body); diff != "" {
		t.Error(diff)
	}
	if call.Path != "/v1/chat/completions" || call.Key != llmtest.Key || call.System != "Be brief." || call.User != "What is a volume?" {
		t.Errorf("asked %+v", call)
	}
}

func TestSchema(t *testing.T) {
	s := llmtest.NewServer(llmtest.Say(`{"score": 1}`))
	defer s.Close()
	order := `{"z":{"type":"string"},"a":{"type":"string"}}` // is that in which a model writes
	form := map[string]any{"type": "object", "required": []any{"score"}, "properties": json.RawMessage(order)}
	q := llmtest.Question()
	q.Schema = &llm.Schema{Name: "verdict", JSON: form}
	if _, err := client(t, s, nil).Chat("small").Complete(t.Context(), q, nil); err != nil {
		t.Fatal(err)
	}
	var body struct {
		Format map[string]any `json:"response_format"`
	}
	if err := json.Unmarshal([]byte(s.Calls()[0].Body), &body); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(s.Calls()[0].Body, order) {
		t.Errorf("asked %s, want the members in order: %s", s.Calls()[0].Body, order)
	}
	form["properties"] = map[string]any{"z": map[string]any{"type": "string"}, "a": map[string]any{"type": "string"}}
	want := map[string]any{"type": "json_schema", "json_schema": map[string]any{"name": "verdict", "schema": form}}
	if diff := cmp.Diff(want, body.Format); diff != "" {
		t.Error(diff)
	}
}

func TestLength(t *testing.T) {
	s := llmtest.NewServer(llmtest.SayUntil("A volume"))
	defer s.Close()
	r, err := client(t, s, nil).Chat("small").Complete(t.Context(), llmtest.Question(), nil)
	if err != nil || r.Finish != llm.FinishLength || r.Text != "A volume" {
		t.Errorf("got %+v, %v", r, err)
	}
}

func TestNew(t *testing.T) {
	for _, tt := range []struct {
		name   string
		config openai.Config
		want   string // of the error; empty: none
	}{
		{"loopback needs no key", openai.Config{BaseURL: "http://127.0.0.1:8080/v1"}, ""},
		{"loopback by name", openai.Config{BaseURL: "http://localhost:11434/v1/"}, ""},
		{"loopback in IPv6", openai.Config{BaseURL: "http://[::1]:8080/v1"}, ""},
		{"others do", openai.Config{Provider: "openai"}, "Invalid credentials for openai: no key is set"},
		{"a host that begins so", openai.Config{BaseURL: "http://127.0.0.1.example.com/v1"}, "Invalid credentials for 127.0.0.1.example.com: no key is set"},
		{"key", openai.Config{Key: llmtest.Key}, ""},
		{"key with a line break", openai.Config{Key: llmtest.Key + "\n", Provider: "openai"}, "the key for openai contains characters that are not allowed in a key, such as a space or a line break"},
		{"protocol", openai.Config{Key: llmtest.Key, Protocol: "grpc"}, `protocol "grpc" of chat models is neither chat nor responses`},
		{"password", openai.Config{BaseURL: "http://me:" + llmtest.Key + "@example.com/v1"}, "the base URL must not contain a user, password, query or fragment; give the key in the environment"},
		{"query", openai.Config{BaseURL: "http://example.com/v1?key=" + llmtest.Key}, "the base URL must not contain a user, password, query or fragment; give the key in the environment"},
		{"broken", openai.Config{BaseURL: "http://exa mple.com/" + llmtest.Key}, "the base URL cannot be parsed"},
		{"scheme", openai.Config{BaseURL: "ftp://example.com"}, `base URL "ftp://example.com": want http:// or https:// and a host`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			_, err := openai.New(tt.config)
			got := ""
			if err != nil {
				got = err.Error()
			}
			if got != tt.want {
				t.Errorf("got  %q\nwant %q", got, tt.want)
			}
		})
	}
}

// TestKeyFromEnvironmentIsNotRead makes sure that a key that lies around is sent
// nowhere: the SDK's own client would read it.
func TestKeyFromEnvironmentIsNotRead(t *testing.T) {
	t.Setenv("OPENAI_API_KEY", llmtest.Key)
	t.Setenv("OPENAI_ORG_ID", "org-"+llmtest.Key)
	t.Setenv("OPENAI_CUSTOM_HEADERS", "X-Key: "+llmtest.Key)
	s := llmtest.NewServer(func(w http.ResponseWriter, r *http.Request) {
		if all := fmt.Sprint(r.Header); strings.Contains(all, llmtest.Key) {
			t.Errorf("sent %s", all)
		}
		llmtest.Say("fine")(w, r)
	})
	defer s.Close()
	c := client(t, s, func(c *openai.Config) { c.Key = "" })
	if _, err := c.Chat("small").Complete(t.Context(), llmtest.Question(), nil); err != nil {
		t.Fatal(err)
	}
}

func TestConfigHidesItsKey(t *testing.T) {
	c := openai.Config{Provider: "openai", BaseURL: "https://example.com/v1", Key: llmtest.Key}
	if all := fmt.Sprintf("%v %+v %#v %s %q", c, c, c, c, c); strings.Contains(all, llmtest.Key) {
		t.Errorf("the key stands in %s", all)
	}
}

func TestModels(t *testing.T) { // L09
	s := llmtest.NewServer(llmtest.Models("small", "large"))
	defer s.Close()
	got, err := client(t, s, nil).Models(t.Context())
	if diff := cmp.Diff([]string{"small", "large"}, got); diff != "" || err != nil {
		t.Error(diff, err)
	}
	s.Then(llmtest.Echo(401))
	if _, err = client(t, s, nil).Models(t.Context()); !errors.Is(err, llm.ErrCredentials) {
		t.Errorf("got %v", err)
	}
}

func TestEmbed(t *testing.T) {
	s := llmtest.NewServer(llmtest.Embed(3))
	defer s.Close()
	e := client(t, s, nil).Embedder(openai.EmbedderConfig{Model: "vectors", QueryModel: "vectors-query", Batch: 2})
	got, err := e.Embed(t.Context(), []string{"one", "three", "seventeen"}, llm.Passage)
	if err != nil {
		t.Fatal(err)
	}
	got.Latency = 0
	want := llm.Embeddings{
		Vectors: [][]float32{{1.5, 0.5, 3.5}, {1.5, 2.5, 1.5}, {1.5, 0.5, 1.5}},
		Model:   "played", Provider: "played", Calls: 2, Usage: llm.Usage{Input: 2 * llmtest.InputTokens},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if _, err := e.Embed(t.Context(), []string{"what?"}, llm.Query); err != nil || s.Calls()[2].Model != "vectors-query" {
		t.Errorf("asked %+v, %v", s.Calls()[2], err)
	}
	if out, err := e.Embed(t.Context(), nil, llm.Query); err != nil || len(out.Vectors) > 0 || len(s.Calls()) != 3 {
		t.Errorf("no texts: %v, %v after %d calls", out, err, len(s.Calls()))
	}
	if _, err := e.Embed(t.Context(), []string{"a", ""}, llm.Query); err == nil || len(s.Calls()) != 3 {
		t.Errorf("an empty text: %v", err)
	}
}

func TestEmbedFaults(t *testing.T) {
	const head, tail = `{"object":"list","model":"m","data":[`, `],"usage":{"prompt_tokens":1}}`
	vector := func(index int, values string) string {
		return fmt.Sprintf(`{"object":"embedding","index":%d,"embedding":[%s]}`, index, values)
	}
	for _, tt := range []struct {
		name, body string
		want       string
	}{
		{"too few", head + vector(0, "1") + tail, "want 2 vectors"},
		{"one twice", head + vector(0, "1") + "," + vector(0, "1") + tail, "a vector for text 1 of 2, or two"},
		{"beyond", head + vector(0, "1") + "," + vector(7, "1") + tail, "a vector for text 8 of 2, or two"},
		{"lengths", head + vector(0, "1") + "," + vector(1, "1,2") + tail, "vectors of 1 and of 2 dimensions"},
		{"none", head + vector(0, "") + "," + vector(1, "") + tail, "a vector without dimensions"},
		{"too large a number", head + vector(0, "1e300") + "," + vector(1, "1") + tail, "a vector with an invalid number at position 0"},
		{"no JSON", "{", "what came is not the JSON of an answer"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := llmtest.NewServer(llmtest.Body("application/json", tt.body))
			defer s.Close()
			_, err := client(t, s, nil).Embedder(openai.EmbedderConfig{Model: "m"}).Embed(t.Context(), []string{"a", "b"}, llm.Passage)
			if !errors.Is(err, llm.ErrBadResponse) || !strings.HasSuffix(err.Error(), ": "+tt.want) {
				t.Errorf("got %v, want %s", err, tt.want)
			}
		})
	}
	s := llmtest.NewServer(llmtest.Status(500, "oh"), llmtest.Embed(2))
	defer s.Close()
	e := llm.PriceEmbedder(llm.RetryEmbedder(client(t, s, nil).Embedder(openai.EmbedderConfig{Model: "m"}), llm.RetryOptions{Backoff: 1}), llm.PerMillion{Input: 2})
	got, err := e.Embed(t.Context(), []string{"a"}, llm.Passage)
	if err != nil || got.Retries != 1 || !got.Priced || math.Abs(got.CostUSD-22e-6) > 1e-12 {
		t.Errorf("got %+v, %v", got, err)
	}
}

// TestCommentsInStream reads a stream with comments, with which servers keep a connection open.
func TestCommentsInStream(t *testing.T) {
	s := llmtest.NewServer(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "text/event-stream")
		for _, word := range []string{"A ", "volume"} {
			fmt.Fprintf(w, ": processing\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{\"content\":%q}}]}\n\n", word)
		}
		fmt.Fprint(w, ":\n\ndata: {\"choices\":[{\"index\":0,\"delta\":{},\"finish_reason\":\"stop\"}]}\n\ndata: [DONE]\n\n")
	})
	defer s.Close()
	got, err := client(t, s, nil).Chat("small").Complete(t.Context(), llmtest.Question(), nil)
	if err != nil || got.Text != "A volume" || got.Chunks != 2 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func Example() {
	s := llmtest.NewServer(llmtest.Say("A volume keeps data."))
	defer s.Close()
	client, err := openai.New(openai.Config{BaseURL: s.URL()})
	if err != nil {
		fmt.Println(err)
		return
	}
	chat := llm.Price(llm.Retry(client.Chat("small"), llm.RetryOptions{}), llm.PerMillion{Input: 1, Output: 2})
	r, err := chat.Complete(context.Background(), llm.Request{
		Messages: []llm.Message{{Role: llm.User, Content: "What is a volume?"}},
	}, nil)
	fmt.Println(r.Text, r.Usage.Input, r.Usage.Output, r.CostUSD, err)
	// Output: A volume keeps data. 11 7 2.5e-05 <nil>
}
