package anthropic_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"image"
	"image/png"
	"io"
	"net/http"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/anthropic"
)

// planted is a key that must appear nowhere.
const planted = "sk-planted-0123456789abcdefghij"

func question() llm.Request {
	return llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "What is a volume?"}}, MaxTokens: 50}
}

// everything is a request with every parameter that a server may refuse.
func everything() llm.Request {
	q := question()
	q.Temperature, q.TopP, q.Stop = 0.3, 0.9, []string{"==="}
	return q
}

// dialogue is a request with each role and parameter.
func dialogue() llm.Request {
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

var weather = []llm.ToolCall{
	{ID: "c1", Name: "weather", Arguments: `{"city":"Łódź","days":3}`},
	{ID: "c2", Name: "clock", Arguments: `{}`},
}

func withTools() llm.Request {
	q := question()
	q.Tools = []llm.Tool{
		{Name: "weather", Description: "Tells the weather", Parameters: map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}}},
		{Name: "clock", Parameters: map[string]any{"type": "object"}},
	}
	return q
}

// called lets a model call the tools, checks the calls, and returns the request that has their
// results. said is the text beside the calls.
func called(t *testing.T, chat llm.Chat, said string) llm.Request {
	t.Helper()
	q, streamed := withTools(), map[string]string{}
	q.Calling = func(c llm.ToolCall) { streamed[c.ID+c.Name] += c.Arguments }
	r, err := chat.Complete(t.Context(), q, nil)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(weather, r.Calls); diff != "" || r.Finish != llm.FinishTools || r.Text != "" {
		t.Errorf("%+v %s", r, diff)
	}
	if diff := cmp.Diff(map[string]string{"c1weather": weather[0].Arguments, "c2clock": "{}"}, streamed); diff != "" {
		t.Error(diff)
	}
	q.Messages = append(
		q.Messages, llm.Message{Role: llm.Assistant, Content: said, Calls: r.Calls},
		llm.Message{Role: llm.ToolResult, Content: "rain", CallID: "c1"}, llm.Message{Role: llm.ToolResult, Content: "noon", CallID: "c2"},
	)
	return q
}

// responding streams events.
func responding(events ...string) llmtest.Behaviour {
	return llmtest.Body("text/event-stream", "data: "+strings.Join(events, "\n\ndata: ")+"\n\n")
}

// asked is the body of a call.
func asked(t *testing.T, s *llmtest.Server, call int) map[string]any {
	t.Helper()
	var body map[string]any
	if err := json.Unmarshal([]byte(s.Calls()[call].Body), &body); err != nil {
		t.Fatal(err)
	}
	return body
}

func check(t *testing.T, got llm.Response, err, want error, text string) {
	t.Helper()
	if !errors.Is(err, want) || !reflect.DeepEqual(got, llm.Response{}) {
		t.Fatalf("got %+v and %v, want nothing and %v", got, err, want)
	}
	if text != "" && err.Error() != text {
		t.Errorf("got  %s\nwant %s", err, text)
	}
	if all := fmt.Sprintf("%v %+v %#v %q", err, err, err, err); strings.Contains(all, planted) {
		t.Errorf("the key stands in %s", all)
	}
}

// instantly waits for nothing and writes down what it was asked to wait for.
func instantly(waits *[]time.Duration) llm.RetryOptions {
	return llm.RetryOptions{
		Wait:   func(_ context.Context, d time.Duration) error { *waits = append(*waits, d); return nil },
		Jitter: func() float64 { return 1 },
	}
}

func TestImages(t *testing.T) {
	var data bytes.Buffer
	if err := png.Encode(&data, image.NewGray(image.Rect(0, 0, 8, 8))); err != nil {
		t.Fatal(err)
	}
	shown, err := llm.ReadImage(data.Bytes())
	if err != nil {
		t.Fatal(err)
	}
	s := llmtest.NewServer(llmtest.Say("fine"), llmtest.Status(400, "image exceeds 5 MB maximum"))
	defer s.Close()
	all := []llm.Image{shown}
	q := llm.Request{Messages: []llm.Message{ // images of other roles are not sent
		{Role: llm.System, Content: "Be brief.", Images: all},
		{Role: llm.User, Content: "What is this?", Images: all},
		{Role: llm.Assistant, Content: "A square.", Images: all},
		{Role: llm.User, Images: all},
	}}
	chat := messages(t, s)
	if _, err := chat.Complete(t.Context(), q, nil); err != nil {
		t.Fatal(err)
	}
	type fields = map[string]any
	picture := fields{"type": "image", "source": fields{"type": "base64", "media_type": "image/png", "data": base64.StdEncoding.EncodeToString(data.Bytes())}}
	if diff := cmp.Diff([]any{
		fields{"role": "user", "content": []any{picture, fields{"type": "text", "text": "What is this?"}}},
		fields{"role": "assistant", "content": []any{fields{"type": "text", "text": "A square."}}},
		fields{"role": "user", "content": []any{picture}},
	}, asked(t, s, 0)["messages"]); diff != "" {
		t.Error(diff)
	}
	got, err := chat.Complete(t.Context(), q, nil)
	check(t, got, err, llm.ErrRefused, "Provider played refused the request: does the model take images? status 400: image exceeds 5 MB maximum")
}

// TestIntegration asks a real server, with a listener and without one.
func TestIntegration(t *testing.T) {
	address, model := os.Getenv("RAGFLOW_TEST_BASE_URL"), os.Getenv("RAGFLOW_TEST_CHAT_MODEL")
	if address == "" || model == "" {
		t.Skip("no models run here; scripts/models starts some")
	}
	c, err := anthropic.New(anthropic.Config{BaseURL: address})
	if err != nil {
		t.Fatal(err)
	}
	defer c.CloseIdle()
	q := llm.Request{MaxTokens: 8, Messages: []llm.Message{
		{Role: llm.System, Content: "Be brief."}, {Role: llm.User, Content: "Hello"}, {Role: llm.Assistant, Content: "Hello."}, {Role: llm.User, Content: "Count to fifty."},
	}}
	var said strings.Builder
	for _, token := range []func(string){nil, func(s string) { said.WriteString(s) }} {
		r, err := llm.Retry(c.Chat(model), llm.RetryOptions{}).Complete(t.Context(), q, token)
		if err != nil || r.Text == "" || r.Finish != llm.FinishLength || r.Usage.Output != 8 || r.Usage.Input == 0 || token != nil && said.String() != r.Text {
			t.Errorf("got %+v, streamed %q, %v", r, &said, err)
		}
	}
}

// replying answers every request with the same bytes.
type replying struct {
	kind string
	body []byte
}

func (r replying) RoundTrip(request *http.Request) (*http.Response, error) {
	return &http.Response{
		StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {r.kind}}, Request: request,
		Body: io.NopCloser(bytes.NewReader(r.body)), ContentLength: -1, ProtoMajor: 1, ProtoMinor: 1,
	}, nil
}

// FuzzReply reads what a server may send to a question: an answer or an error, and what was
// streamed is what is returned.
func FuzzReply(f *testing.F) {
	f.Add(true, []byte("data: {\"type\":\"content_block_delta\",\"delta\":{\"type\":\"text_delta\",\"text\":\"a\"}}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"end_turn\"}}\n\n"))
	f.Add(true, []byte("data: {\"type\":\"content_block_start\",\"index\":-1,\"content_block\":{\"type\":\"tool_use\",\"input\":7}}\n\ndata: {\"type\":\"message_delta\",\"delta\":{\"stop_reason\":\"tool_use\"}}\n\n"))
	f.Add(false, []byte(`{"type":"message","content":[{"type":"text","text":"a"},{"type":"tool_use","input":[]}],"stop_reason":"max_tokens","usage":{"input_tokens":-1}}`))
	f.Fuzz(func(t *testing.T, stream bool, body []byte) {
		kind := "application/json"
		if stream {
			kind = "text/event-stream"
		}
		c, err := anthropic.New(anthropic.Config{BaseURL: "http://127.0.0.1:9/v1", Transport: replying{kind, body}})
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		out, err := c.Chat("m").Complete(t.Context(), question(), func(s string) { said.WriteString(s) })
		if err == nil && said.String() != out.Text {
			t.Errorf("streamed %q, returned %q", &said, out.Text)
		}
	})
}
