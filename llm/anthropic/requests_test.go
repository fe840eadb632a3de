package anthropic_test

import (
	"bytes"
	"encoding/base64"
	"image"
	"image/png"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/anthropic"
)

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
	}, s.Asked(t, 0)["messages"]); diff != "" {
		t.Error(diff)
	}
	got, err := chat.Complete(t.Context(), q, nil)
	llmtest.CheckError(t, got, err, llm.ErrRefused, "Provider played refused the request: does the model take images? status 400: image exceeds 5 MB maximum")
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
		c, err := anthropic.New(anthropic.Config{BaseURL: "http://127.0.0.1:9/v1", Transport: llmtest.Transport{ContentType: kind, Body: body}})
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		out, err := c.Chat("m").Complete(t.Context(), llmtest.Question(), func(s string) { said.WriteString(s) })
		if err == nil && said.String() != out.Text {
			t.Errorf("streamed %q, returned %q", &said, out.Text)
		}
	})
}
