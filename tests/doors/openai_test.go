package doors_test

import (
	"bytes"
	"context"
	"encoding/json"
	"math"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"example.com/ragflow"
	"example.com/ragflow/server"
)

// told is what a client of OpenAI's API printed of one call.
type told struct {
	Name, Text, Deltas, Streamed, Again, Second string
	One, First, Previous, Finish                string
	IDs, Items, Events                          []string
	Annotations                                 []struct {
		URL   string `json:"url"`
		Start int    `json:"start_index"`
		End   int    `json:"end_index"`
	}
	Sizes  []int
	Sample float64 // a number of a vector
	Status int
	Error  string
	Code   string
	Param  string
}

// answers checks an answer with its citations.
func (x told) answers(t *testing.T) {
	t.Helper()
	if !strings.Contains(x.Text, "26 days") || !strings.Contains(x.Text, "\n- [1] [") || len(x.Annotations) == 0 {
		t.Errorf("%s: %+v", x.Name, x)
	}
	for _, a := range x.Annotations {
		if text := []rune(x.Text); a.End > len(text) || string(text[a.Start:a.End]) != "[1]" || !strings.Contains(x.Text, a.URL) {
			t.Errorf("%s: annotation %+v of %q", x.Name, a, x.Text)
		}
	}
}

// asked runs a client against a server with the default collection and one named finance.
func asked(t *testing.T, name string) map[string]told {
	t.Helper()
	clients(t, "openai") // or skip
	url, _ := newHouse(t).serve(t, "127.0.0.1:0")
	if status, err := call(t.Context(), http.MethodPut, url+"/api/collections/finance", "", nil); err != nil || status >= http.StatusBadRequest {
		t.Fatalf("make a collection: %d, %v", status, err)
	}
	return tells(t, name, url)
}

// tells runs a client against a server and returns what it printed.
func tells(t *testing.T, name, url string) map[string]told {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	client := script(ctx, t, "openai", name)
	client.Env = append(os.Environ(), "OPENAI_BASE_URL="+url+"/v1", "OPENAI_API_BASE="+url+"/v1", "LANGSMITH_TRACING=false")
	out, err := client.Output()
	if err != nil {
		t.Errorf("the client failed: %v", err)
	}
	seen := map[string]told{}
	for line := range bytes.Lines(out) {
		var x told
		if err := json.Unmarshal(line, &x); err != nil {
			t.Fatalf("%q: %v", line, err)
		}
		seen[x.Name] = x
	}
	return seen
}

// TestIntegrationOpenAIClients: both official clients take answers, streams, responses, vectors and errors.
func TestIntegrationOpenAIClients(t *testing.T) {
	for _, name := range []string{"client.mjs", "client.py"} {
		t.Run(name, func(t *testing.T) {
			seen := asked(t, name)
			if x := seen["models"]; !slices.Equal(x.IDs, []string{"ragflow", "ragflow/finance"}) || x.One != "ragflow/finance" {
				t.Errorf("%+v", x)
			}
			for _, call := range []string{"chat", "chat_stream", "response", "response_stream"} {
				seen[call].answers(t)
			}
			if x := seen["chat_stream"]; x.Deltas != x.Text || x.Finish != "stop" {
				t.Errorf("%+v", x)
			}
			if x := seen["response_stream"]; x.Deltas != x.Text || x.Events[0] != "response.created" || x.Events[len(x.Events)-1] != "response.completed" {
				t.Errorf("%+v", x)
			}
			if x := seen["response"]; x.Again != x.Text {
				t.Errorf("%+v", x)
			}
			if x := seen["previous"]; x.Text == "" || x.Previous != x.First {
				t.Errorf("%+v", x)
			}
			if x := seen["conversation"]; !slices.Equal(x.Items, []string{"user", "assistant"}) {
				t.Errorf("%+v", x)
			}
			if x := seen["embeddings"]; !slices.Equal(x.Sizes, []int{384, 384}) || x.Sample == 0 || math.Abs(x.Sample) > 1 {
				t.Errorf("%+v", x)
			}
			for call, want := range map[string]told{
				"unknown_model":    {Error: "NotFoundError", Status: 404, Code: "model_not_found", Param: "model"},
				"unknown_response": {Error: "NotFoundError", Status: 404, Code: "not_found"},
				"schema":           {Error: "BadRequestError", Status: 400, Code: "unsupported_value", Param: "response_format"},
				"picture":          {Error: "BadRequestError", Status: 400, Code: "unsupported_value", Param: "input"},
			} {
				if x := seen[call]; x.Error != want.Error || x.Status != want.Status || x.Code != want.Code || x.Param != want.Param {
					t.Errorf("%s: %+v", call, x)
				}
			}
		})
	}
}

// TestIntegrationLangChain asks by both protocols, with parameters that are ignored.
func TestIntegrationLangChain(t *testing.T) {
	for _, name := range []string{"chat_openai.mjs", "chat_openai.py"} {
		t.Run(name, func(t *testing.T) {
			seen := asked(t, name)
			seen["responses"].answers(t)
			for _, protocol := range []string{"chat", "responses"} {
				x := seen[protocol]
				if x.Second == "" || !strings.Contains(x.Text, "26 days") || !strings.Contains(x.Streamed, "26 days") {
					t.Errorf("%+v", x)
				}
			}
			if x := seen["embeddings"]; !slices.Equal(x.Sizes, []int{384, 384}) {
				t.Errorf("%+v", x)
			}
		})
	}
}

// TestIntegrationOpenAIFailure: a stream that ends early is an error for both official clients.
func TestIntegrationOpenAIFailure(t *testing.T) {
	for _, name := range []string{"failed.mjs", "failed.py"} {
		t.Run(name, func(t *testing.T) {
			clients(t, "openai") // or skip
			m, h := newHeld(), newHouse(t)
			a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: h.data, Docs: []string{h.docs}, Models: ragflow.Models{Chat: m}})
			if err != nil {
				t.Fatal(err)
			}
			defer func() { _ = a.Close() }()
			s, err := server.New(a, server.Options{})
			if err != nil {
				t.Fatal(err)
			}
			web := httptest.NewServer(s)
			defer web.Close()
			go func() {
				<-m.Asked
				<-m.Asked
				a.Runs().Drain() // both end after the step they are at
				for range 20 {   // a step may ask again
					m.Release <- struct{}{}
				}
			}()
			seen := tells(t, name, web.URL)
			if x := seen["chat"]; x.Error != "APIError" || x.Text == "" {
				t.Errorf("%+v", x)
			}
			if x := seen["response"]; x.Error != "failed" || x.Text == "" {
				t.Errorf("%+v", x)
			}
		})
	}
}
