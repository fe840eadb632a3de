package llmtest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"time"

	"example.com/ragflow/llm"
)

// Key is a key for clients under test. CheckError finds it in errors.
const Key = "sk-planted-0123456789abcdefghij"

// Question is the shortest request of a chat.
func Question() llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "What is a volume?"}}, MaxTokens: 50}
}

// FullQuestion is a request with every parameter that a server may refuse.
func FullQuestion() llm.Request {
	q := Question()
	q.Temperature, q.TopP, q.Stop = 0.3, 0.9, []string{"==="}
	return q
}

// Dialogue is a request with each role and parameter.
func Dialogue() llm.Request {
	return llm.Request{
		Messages: []llm.Message{
			{Role: llm.System, Content: "Be brief."},
			{Role: llm.User, Content: "Hello"},
			{Role: llm.Assistant, Content: "Hello."},
			{Role: llm.User, Content: "What is a volume?"},
		},
		Temperature: 0.3, TopP: 0.9, MaxTokens: 2000, Stop: []string{"==="},
	}
}

// ToolCalls returns calls of the tools that ToolQuestion offers.
func ToolCalls() []llm.ToolCall {
	return []llm.ToolCall{
		{ID: "c1", Name: "weather", Arguments: `{"city":"Łódź","days":3}`},
		{ID: "c2", Name: "clock", Arguments: `{}`},
	}
}

// ToolQuestion is a request that offers two tools.
func ToolQuestion() llm.Request {
	q := Question()
	q.Tools = []llm.Tool{
		{Name: "weather", Description: "Tells the weather", Parameters: map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}}},
		{Name: "clock", Parameters: map[string]any{"type": "object"}},
	}
	return q
}

// AskForTools asks a ToolQuestion, which the model must answer by ToolCalls, and returns the request that has
// their results. said is the text beside the calls.
func AskForTools(tb testing.TB, chat llm.Chat, said string) llm.Request {
	tb.Helper()
	q, streamed := ToolQuestion(), map[string]string{}
	q.Calling = func(c llm.ToolCall) { streamed[c.ID+c.Name] += c.Arguments }
	r, err := chat.Complete(tb.Context(), q, nil)
	if err != nil {
		tb.Fatal(err)
	}
	want := ToolCalls()
	if !reflect.DeepEqual(r.Calls, want) || r.Finish != llm.FinishTools || r.Text != "" {
		tb.Errorf("got %+v, want the calls %+v", r, want)
	}
	if arguments := map[string]string{"c1weather": want[0].Arguments, "c2clock": want[1].Arguments}; !reflect.DeepEqual(streamed, arguments) {
		tb.Errorf("streamed %q, want %q", streamed, arguments)
	}
	q.Messages = append(
		q.Messages, llm.Message{Role: llm.Assistant, Content: said, Calls: r.Calls},
		llm.Message{Role: llm.ToolResult, Content: "rain", CallID: "c1"}, llm.Message{Role: llm.ToolResult, Content: "noon", CallID: "c2"},
	)
	return q
}

// Events streams events.
func Events(events ...string) Behaviour {
	return Body("text/event-stream", "data: "+strings.Join(events, "\n\ndata: ")+"\n\n")
}

// Asked returns the body of a call, from 0.
func (s *Server) Asked(tb testing.TB, call int) map[string]any {
	tb.Helper()
	var body map[string]any
	if err := json.Unmarshal([]byte(s.Calls()[call].Body), &body); err != nil {
		tb.Fatal(err)
	}
	return body
}

// CheckError checks that a call gave nothing but an error that matches want, with this text if text is not
// empty, and that no form of it shows Key.
func CheckError(tb testing.TB, got llm.Response, err, want error, text string) {
	tb.Helper()
	if !errors.Is(err, want) || !reflect.DeepEqual(got, llm.Response{}) {
		tb.Fatalf("got %+v and %v, want nothing and %v", got, err, want)
	}
	if text != "" && err.Error() != text {
		tb.Errorf("got  %s\nwant %s", err, text)
	}
	if all := fmt.Sprintf("%v %+v %#v %q", err, err, err, err); strings.Contains(all, Key) {
		tb.Errorf("the key stands in %s", all)
	}
}

// Instantly retries without a wait and appends the waits that were asked for.
func Instantly(waits *[]time.Duration) llm.RetryOptions {
	return llm.RetryOptions{
		Wait:   func(_ context.Context, d time.Duration) error { *waits = append(*waits, d); return nil },
		Jitter: func() float64 { return 1 },
	}
}

// Transport answers every request with the same bytes.
type Transport struct {
	ContentType string
	Body        []byte
}

// RoundTrip implements http.RoundTripper.
func (t Transport) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {t.ContentType}}, Request: r,
		Body: io.NopCloser(bytes.NewReader(t.Body)), ContentLength: -1, ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}
