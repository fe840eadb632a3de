package openai_test

import (
	"bytes"
	"testing"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
)

// FuzzReply reads what a server may send to a question, to texts and to a call of the list of
// models: each ends with an answer or an error, and what was streamed is what is returned.
func FuzzReply(f *testing.F) {
	f.Add(true, []byte("data: {\"choices\":[{\"delta\":{\"content\":\"a\"}}]}\n\ndata: [DONE]\n\n"))
	f.Add(true, []byte("data: {\"choices\":[{\"delta\":{\"tool_calls\":[{\"index\":9,\"function\":{\"name\":\"x\",\"arguments\":\"{\"}}]},\"finish_reason\":\"tool_calls\"}]}\n\n"))
	f.Add(true, []byte("event: error\ndata: {\"error\":{\"code\":500}}\n\n"))
	f.Add(false, []byte(`{"choices":[{"message":{"content":"a"},"finish_reason":"stop"}],"usage":{"prompt_tokens":-1}}`))
	f.Add(false, []byte(`{"data":[{"index":7,"embedding":[1e400]},{"index":-1,"embedding":[]}],"object":"list"}`))
	f.Add(true, []byte("data: {\"type\":\"response.output_text.delta\",\"delta\":\"a\"}\n\ndata: {\"type\":\"response.completed\",\"response\":{\"status\":\"completed\"}}\n\n"))
	f.Add(true, []byte("data: {\"type\":\"response.function_call_arguments.delta\",\"output_index\":-1,\"delta\":{}}\n\ndata: {\"type\":\"error\",\"code\":7}\n\n"))
	f.Add(false, []byte(`{"object":"response","status":"incomplete","output":[{"type":"message","content":[{"type":"output_text","text":"a"}]}]}`))
	f.Fuzz(func(t *testing.T, stream bool, body []byte) {
		kind := "application/json"
		if stream {
			kind = "text/event-stream"
		}
		protocol := openai.ChatCompletions
		if bytes.Contains(body, []byte("response")) {
			protocol = openai.Responses
		}
		c, err := openai.New(openai.Config{BaseURL: "http://127.0.0.1:9/v1", Protocol: protocol, Transport: llmtest.Transport{ContentType: kind, Body: body}})
		if err != nil {
			t.Fatal(err)
		}
		var said bytes.Buffer
		out, err := c.Chat("m").Complete(t.Context(), llm.Request{Messages: []llm.Message{{Role: llm.User, Content: "q"}}}, func(s string) { said.WriteString(s) })
		if err == nil && said.String() != out.Text {
			t.Errorf("streamed %q, returned %q", &said, out.Text)
		}
		embedded, err := c.Embedder(openai.EmbedderConfig{Model: "m"}).Embed(t.Context(), []string{"q"}, llm.Query)
		if err == nil && len(embedded.Vectors) != 1 {
			t.Errorf("%d vectors for one text", len(embedded.Vectors))
		}
		_, _ = c.Models(t.Context())
	})
}
