package openai_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"example.com/ragflow"
	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/internal/tokens"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
	"example.com/ragflow/server/internal/door"
	served "example.com/ragflow/server/internal/openai"
)

type object = map[string]any

// fixture is a server over an assistant with the default collection and one named finance.
type fixture struct {
	t      *testing.T
	a      *ragflow.Assistant
	url    string
	folder tokens.Folder
	header http.Header // of all requests
}

// serve starts one; chat may be nil.
func serve(t *testing.T, rules door.Rules, chat llm.Chat) *fixture {
	t.Helper()
	docs := t.TempDir()
	leave := "# Leave\n\nEveryone has 28 days of leave a year.\n\n# Parking\n\nParking costs 20 euros a month.\n"
	if err := os.WriteFile(filepath.Join(docs, "leave.md"), []byte(leave), 0o600); err != nil {
		t.Fatal(err)
	}
	a, err := ragflow.Open(t.Context(), ragflow.Config{DataDir: t.TempDir(), Docs: []string{docs}, Models: ragflow.Models{Chat: chat}})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = a.Close() })
	finance, err := a.Collections().Make(t.Context(), "finance")
	if err == nil {
		_, err = finance.PutText(t.Context(), "receipts.md", "Receipts", "Keep receipts for ten years.", nil)
	}
	if err != nil {
		t.Fatal(err)
	}
	f := &fixture{t: t, a: a, folder: tokens.In(t.TempDir()), header: http.Header{}}
	keys := door.NewKeys(f.folder, time.Now, slog.New(slog.DiscardHandler))
	ctx, cancel := context.WithCancel(context.Background())
	t.Cleanup(cancel)
	go keys.Watch(ctx)
	gate, err := door.NewGate(rules, keys, slog.New(slog.DiscardHandler), served.Routes(a, "")...)
	if err != nil {
		t.Fatal(err)
	}
	server := httptest.NewServer(gate)
	t.Cleanup(server.Close)
	f.url = server.URL
	return f
}

// model is a chat model that behaves so if it gets sources. It says "Leave" otherwise, and grades every search result as good.
func model(t *testing.T, answer llmtest.Behaviour) (llm.Chat, *llmtest.Server) {
	t.Helper()
	s := llmtest.NewServer(llmtest.Script(
		llmtest.Entry{When: "You grade search results", Do: llmtest.Say("SCORE: 0.9")}, llmtest.Entry{When: "Sources:", Do: answer},
		llmtest.Entry{Do: llmtest.Say("Leave")},
	))
	t.Cleanup(s.Close)
	client, err := openai.New(openai.Config{BaseURL: s.URL()})
	if err != nil {
		t.Fatal(err)
	}
	return client.Chat("m"), s
}

// do sends a request and returns the status, the headers and the body of the response.
func (f *fixture) do(method, path string, body any) (int, http.Header, string) {
	f.t.Helper()
	data, err := json.Marshal(body)
	if err != nil {
		f.t.Fatal(err)
	}
	r, err := http.NewRequestWithContext(f.t.Context(), method, f.url+path, bytes.NewReader(data))
	if err != nil {
		f.t.Fatal(err)
	}
	for key := range f.header {
		r.Header.Set(key, f.header.Get(key))
	}
	resp, err := http.DefaultClient.Do(r)
	if err != nil {
		f.t.Fatal(err)
	}
	defer func() { _ = resp.Body.Close() }()
	all, err := io.ReadAll(resp.Body)
	if err != nil {
		f.t.Fatal(err)
	}
	return resp.StatusCode, resp.Header, string(all)
}

// json sends a request that must succeed, and returns the response.
func (f *fixture) json(method, path string, body any) (out object) {
	f.t.Helper()
	status, _, said := f.do(method, path, body)
	if err := json.Unmarshal([]byte(said), &out); err != nil || status != http.StatusOK {
		f.t.Fatalf("%s %s: %d %s", method, path, status, said)
	}
	return out
}

// use makes a token, which all further requests carry.
func (f *fixture) use(token tokens.Token) {
	f.t.Helper()
	secret, err := f.folder.Add(token)
	if err != nil {
		f.t.Fatal(err)
	}
	f.header.Set("Authorization", "Bearer "+secret)
	for range 100 {
		if status, _, _ := f.do("GET", "/v1/models", nil); status == http.StatusOK {
			return
		}
		time.Sleep(50 * time.Millisecond)
	}
	f.t.Fatal("the token is not known")
}

// event is one event of a stream.
type event struct {
	name string
	data object
}

func (f *fixture) stream(path string, body object) (events []event, done bool) {
	f.t.Helper()
	body["stream"] = true
	status, header, said := f.do("POST", path, body)
	if status != http.StatusOK || header.Get("Content-Type") != "text/event-stream" {
		f.t.Fatalf("%d %v %s", status, header, said)
	}
	for block := range strings.SplitSeq(strings.TrimSpace(said), "\n\n") {
		var e event
		for line := range strings.Lines(block) {
			name, value, _ := strings.Cut(strings.TrimSpace(line), ": ")
			switch {
			case name == "event":
				e.name = value
			case value == "[DONE]":
				done = true
			case name == "data":
				if err := json.Unmarshal([]byte(value), &e.data); err != nil {
					f.t.Fatalf("%q: %v", line, err)
				}
			}
		}
		if e.data != nil {
			events = append(events, e)
		}
	}
	return events, done
}

func say(role, text string) object { return object{"role": role, "content": text} }

func chat(messages ...object) object { return object{"model": "ragflow", "messages": messages} }

// at returns what is at a path of names and indexes.
func at(v any, path ...any) any {
	for _, p := range path {
		switch p := p.(type) {
		case string:
			v = v.(object)[p] //nolint:forcetypeassert // the test fails
		case int:
			v = v.([]any)[p] //nolint:forcetypeassert // the test fails
		}
	}
	return v
}

func text(v any, path ...any) string {
	s, _ := at(v, path...).(string)
	return s
}

const leave = "How many days of leave do I have?"
