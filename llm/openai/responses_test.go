package openai_test

import (
	"encoding/json"
	"errors"
	"os"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/openai"
)

// Events of the protocol Responses.
const (
	created   = `{"type":"response.created","response":{"status":"in_progress","error":null,"incomplete_details":null,"usage":null,"output":[]}}`
	thought   = `{"type":"response.output_item.added","output_index":0,"item":{"id":"rs_1","type":"reasoning","summary":[],"content":[{"type":"reasoning_text","text":"Hm."}]}}`
	thinks    = `{"type":"response.reasoning_text.delta","output_index":0,"delta":"Hm."}`
	summary   = `{"type":"response.reasoning_summary_text.delta","output_index":0,"delta":"Hm."}`
	message   = `{"type":"response.output_item.added","output_index":1,"item":{"id":"msg_1","type":"message","role":"assistant","content":[]}}`
	piece     = `{"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"A volume "}`
	piece2    = `{"type":"response.output_text.delta","item_id":"msg_1","output_index":1,"content_index":0,"delta":"keeps data."}`
	textDone  = `{"type":"response.output_text.done","item_id":"msg_1","output_index":1,"content_index":0,"text":"A volume keeps data."}`
	completed = `{"type":"response.completed","response":{"model":"played","status":"completed","error":null,"incomplete_details":null,` + used + `,"output":[` +
		`{"type":"message","content":[{"type":"output_text","text":"A volume keeps data."}]}]}}`
	used = `"usage":{"input_tokens":11,"output_tokens":7,"total_tokens":18}`
)

// responses is a chat model that speaks the protocol Responses.
func responses(t *testing.T, s *llmtest.Server) llm.Chat {
	t.Helper()
	return client(t, s, func(c *openai.Config) { c.Protocol = openai.Responses }).Chat("small")
}

func TestResponses(t *testing.T) {
	s := llmtest.NewServer(llmtest.Events(created, thought, thinks, summary, message, piece, piece2, textDone, completed))
	defer s.Close()
	var said []string
	r, err := responses(t, s).Complete(t.Context(), llmtest.Dialogue(), func(s string) { said = append(said, s) })
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{"A volume ", "keeps data."}, said); diff != "" {
		t.Error(diff)
	}
	if r.FirstToken <= 0 || r.Latency < r.FirstToken {
		t.Errorf("first token after %v of %v", r.FirstToken, r.Latency)
	}
	r.FirstToken, r.Latency = 0, 0
	want := llm.Response{
		Text: "A volume keeps data.", Model: "played", Provider: "played", Finish: llm.FinishStop, Chunks: 2, Usage: llm.Usage{Input: 11, Output: 7},
	}
	if diff := cmp.Diff(want, r); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff(map[string]any{
		"model": "small", "temperature": 0.3, "top_p": 0.9, "max_output_tokens": 2000.0, "stream": true, "store": false,
		"input": []any{
			map[string]any{"role": "system", "content": "Be brief."},
			map[string]any{"role": "user", "content": "Hello"},
			map[string]any{"type": "message", "role": "assistant", "content": []any{map[string]any{"type": "output_text", "text": "Hello."}}},
			map[string]any{"role": "user", "content": "What is a volume?"},
		},
	}, s.Asked(t, 0)); diff != "" {
		t.Error(diff)
	}
	if call := s.Calls()[0]; call.Path != "/v1/responses" || call.Key != llmtest.Key {
		t.Errorf("asked %+v", call)
	}
}

func TestResponsesTools(t *testing.T) {
	call := func(index, id, name string) string {
		return `{"type":"response.output_item.added","output_index":` + index + `,"item":{"id":"fc_` + id + `","type":"function_call","call_id":"` + id + `","name":"` + name + `","arguments":""}}`
	}
	arguments := func(index, text string) string {
		delta, _ := json.Marshal(text) // a string
		return `{"type":"response.function_call_arguments.delta","output_index":` + index + `,"delta":` + string(delta) + `}`
	}
	done := `{"type":"response.output_item.done","output_index":2,"item":{"type":"function_call","call_id":"c2","name":"clock","arguments":"{}"}}`
	end := `{"type":"response.completed","response":{"status":"completed",` + used + `}}`
	for name, index := range map[string][2]string{"OpenAI": {"1", "2"}, "one index for all": {"0", "0"}} {
		t.Run(name, func(t *testing.T) {
			s := llmtest.NewServer(llmtest.Events(
				created, thought, call(index[0], "c1", "weather"), arguments(index[0], llmtest.ToolCalls()[0].Arguments[:5]), arguments(index[0], llmtest.ToolCalls()[0].Arguments[5:]),
				call(index[1], "c2", "clock"), arguments(index[1], "{}"), done, end,
			), llmtest.Events(piece, completed))
			defer s.Close()
			chat := responses(t, s)
			r, err := chat.Complete(t.Context(), llmtest.AskForTools(t, chat, "Let me see."), nil)
			if err != nil || r.Calls != nil {
				t.Fatal(r, err)
			}
			input := s.Asked(t, 1)["input"].([]any) //nolint:forcetypeassert // a panic is a failure
			if diff := cmp.Diff([]any{
				map[string]any{"type": "message", "role": "assistant", "content": []any{map[string]any{"type": "output_text", "text": "Let me see."}}},
				map[string]any{"type": "function_call", "call_id": "c1", "name": "weather", "arguments": llmtest.ToolCalls()[0].Arguments},
				map[string]any{"type": "function_call", "call_id": "c2", "name": "clock", "arguments": "{}"},
				map[string]any{"type": "function_call_output", "call_id": "c1", "output": "rain"},
				map[string]any{"type": "function_call_output", "call_id": "c2", "output": "noon"},
			}, input[1:]); diff != "" {
				t.Error(diff)
			}
			tools := s.Asked(t, 1)["tools"].([]any) //nolint:forcetypeassert // as above
			if diff := cmp.Diff(map[string]any{
				"type": "function", "name": "weather", "description": "Tells the weather", "strict": false,
				"parameters": map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}},
			}, tools[0]); diff != "" || len(tools) != 2 {
				t.Error(len(tools), diff)
			}
		})
	}
}

func TestResponsesSchema(t *testing.T) {
	s := llmtest.NewServer(llmtest.Events(piece, completed))
	defer s.Close()
	order := `{"z":{"type":"string"},"a":{"type":"string"}}` // is that in which a model writes
	q := llmtest.Question()
	q.Schema = &llm.Schema{Name: "verdict", JSON: map[string]any{"type": "object", "properties": json.RawMessage(order)}}
	if _, err := responses(t, s).Complete(t.Context(), q, nil); err != nil {
		t.Fatal(err)
	}
	if want := `"text":{"format":{"name":"verdict","schema":{"properties":` + order + `,"type":"object"},"type":"json_schema"}}`; !strings.Contains(s.Calls()[0].Body, want) {
		t.Errorf("asked %s\nwant  %s", s.Calls()[0].Body, want)
	}
}

// TestResponsesEnd reads the ways in which an answer ends.
func TestResponsesEnd(t *testing.T) {
	refusal := `{"type":"response.refusal.delta","output_index":0,"delta":"I cannot help with that."}`
	incomplete := func(reason string) string {
		return `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"` + reason + `"},` + used + `}}`
	}
	failed := func(code string) string {
		return `{"type":"response.failed","response":{"status":"failed","error":{"code":"` + code + `","message":"for ` + llmtest.Key + `"},"usage":null}}`
	}
	const ended = "Provider played sent no usable answer: it ended its answer with an error"
	for _, tt := range []struct {
		name      string
		answer    llmtest.Behaviour
		finish    llm.FinishReason
		want      error
		text      string // of the answer or the error
		transient bool
	}{
		{"length", llmtest.Events(piece, incomplete("max_output_tokens")), llm.FinishLength, nil, "A volume ", false},
		{"completed at the limit", llmtest.Events(piece, strings.Replace(completed, `"output_tokens":7`, `"output_tokens":50`, 1)), llm.FinishLength, nil, "A volume ", false},
		{"content filter", llmtest.Events(piece, incomplete("content_filter")), "", llm.ErrRefused, "Provider played refused the request: its content filter held the answer back", false},
		{"another reason", llmtest.Events(piece, incomplete("max_tool_calls")), "", llm.ErrBadResponse, "Provider played sent no usable answer: the answer was cut off", true},
		{"no end", llmtest.Events(created, piece, textDone), "", llm.ErrBadResponse, "Provider played sent no usable answer: the answer was cut off", true},
		{"nothing", llmtest.Events(created, thinks, `{"type":"response.completed","response":{"status":"completed"}}`), "", llm.ErrBadResponse, "Provider played sent no usable answer: the answer is empty", true},
		{"refusal", llmtest.Events(created, refusal, completed), "", llm.ErrRefused, "Provider played refused the request: the model says: I cannot help with that.", false},
		{"failed", llmtest.Events(piece, failed("server_error")), "", llm.ErrUnavailable, "Provider played is not available: it ended its answer with an error: for [key]", true},
		{"failed by the rate", llmtest.Events(failed("rate_limit_exceeded")), "", llm.ErrRateLimited, "", true},
		{"failed by the prompt", llmtest.Events(failed("invalid_prompt")), "", llm.ErrRefused, "", false},
		{"failed by the length", llmtest.Events(failed("context_length_exceeded")), "", llm.ErrContextLength, "", false},
		{"failed for another reason", llmtest.Events(failed("vector_store_timeout")), "", llm.ErrBadResponse, ended + ": for [key]", true},
		{"failed without one", llmtest.Events(`{"type":"response.failed","response":{"status":"failed","error":null}}`), "", llm.ErrBadResponse, ended, true},
		{"error", llmtest.Events(piece, `{"type":"error","code":"server_error","message":"oh","param":null}`), "", llm.ErrUnavailable, "", true},
		{"error without a code", llmtest.Events(piece, `{"type":"error","code":null,"message":"oh","param":null}`), "", llm.ErrBadResponse, ended + ": oh", true},
		{"error in another form", llmtest.Events(piece, `{"type":"error","error":{"code":"rate_limit_exceeded","message":"oh"}}`), "", llm.ErrRateLimited, "", true},
		{"whole", llmtest.Body("application/json", `{"object":"response","status":"completed","error":null,"output":[{"type":"reasoning","content":[{"type":"reasoning_text","text":"Hm."}]},`+
			`{"type":"message","content":[{"type":"output_text","text":"A volume"}]}]}`), llm.FinishStop, nil, "A volume", false},
		{"whole refusal", llmtest.Body("application/json", `{"object":"response","status":"completed","output":[{"type":"message","content":[{"type":"refusal","refusal":"No."}]}]}`), "", llm.ErrRefused, "Provider played refused the request: the model says: No.", false},
		{"whole failure", llmtest.Body("application/json", `{"object":"response","status":"failed","error":{"code":"server_error","message":"oh"},"output":[]}`), "", llm.ErrUnavailable, "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := llmtest.NewServer(tt.answer)
			defer s.Close()
			got, err := responses(t, s).Complete(t.Context(), llmtest.Question(), nil)
			if tt.want != nil {
				llmtest.CheckError(t, got, err, tt.want, tt.text)
			} else if err != nil || got.Text != tt.text || got.Finish != tt.finish {
				t.Errorf("got %+v, %v", got, err)
			}
			if e, ok := errors.AsType[*llm.Error](err); ok && e.Transient != tt.transient {
				t.Errorf("transient %v", e.Transient)
			}
		})
	}
}

func TestResponsesWithoutAStream(t *testing.T) {
	s := llmtest.NewServer(llmtest.Body("application/json", `{"object":"response","status":"completed","output":[{"type":"function_call","call_id":"c1","name":"weather","arguments":"{}"}]}`))
	defer s.Close()
	r, err := responses(t, s).Complete(t.Context(), llmtest.ToolQuestion(), nil)
	if diff := cmp.Diff([]llm.ToolCall{{ID: "c1", Name: "weather", Arguments: "{}"}}, r.Calls); err != nil || diff != "" || r.Finish != llm.FinishTools {
		t.Error(r.Finish, err, diff)
	}
}

func TestResponsesAdapt(t *testing.T) {
	long := `{"type":"response.incomplete","response":{"status":"incomplete","incomplete_details":{"reason":"max_output_tokens"}}}`
	s := llmtest.NewServer(llmtest.RefuseParameter("temperature", nil), llmtest.Events(thinks, long), llmtest.Events(thinks, piece, completed))
	defer s.Close()
	chat := responses(t, s)
	for range 2 {
		if r, err := chat.Complete(t.Context(), llmtest.FullQuestion(), nil); err != nil || r.Text != "A volume " || r.Finish != llm.FinishStop {
			t.Fatal(r, err)
		}
	}
	if n := len(s.Calls()); n != 4 { // refused, without room for thoughts, and twice well
		t.Fatalf("%d calls, want 4", n)
	}
	body := s.Asked(t, 3)
	delete(body, "input")
	if diff := cmp.Diff(map[string]any{"model": "small", "top_p": 0.9, "max_output_tokens": 50.0 + 8192, "stream": true, "store": false}, body); diff != "" {
		t.Error(diff)
	}
}

func TestResponsesOfAServerWithoutThem(t *testing.T) {
	s := llmtest.NewServer(llmtest.Status(404, "File Not Found"), llmtest.Models("small"))
	defer s.Close()
	_, err := responses(t, s).Complete(t.Context(), llmtest.Question(), nil)
	if want := `Provider played does not know the model "small": it lists the model, so perhaps it does not speak the protocol responses`; err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

// TestRefusalOfAChat reads a refusal in the protocol for chats.
func TestRefusalOfAChat(t *testing.T) {
	s := llmtest.NewServer(llmtest.Body("application/json", `{"choices":[{"index":0,"message":{"content":null,"refusal":"No."},"finish_reason":"stop"}]}`))
	defer s.Close()
	got, err := client(t, s, nil).Chat("small").Complete(t.Context(), llmtest.Question(), nil)
	llmtest.CheckError(t, got, err, llm.ErrRefused, "Provider played refused the request: the model says: No.")
}

// TestIntegrationProtocols asks a real server in both protocols, with a listener and without one.
func TestIntegrationProtocols(t *testing.T) {
	address, model := os.Getenv("RAGFLOW_TEST_BASE_URL"), os.Getenv("RAGFLOW_TEST_CHAT_MODEL")
	if address == "" || model == "" {
		t.Skip("no models run here; scripts/models starts some")
	}
	for _, protocol := range []string{openai.ChatCompletions, openai.Responses} {
		c, err := openai.New(openai.Config{BaseURL: address, Protocol: protocol})
		if err != nil {
			t.Fatal(err)
		}
		q := llm.Request{MaxTokens: 8, Messages: []llm.Message{
			{Role: llm.System, Content: "Be brief."}, {Role: llm.User, Content: "Hello"}, {Role: llm.Assistant, Content: "Hello."}, {Role: llm.User, Content: "Count to fifty."},
		}}
		var said strings.Builder
		for _, token := range []func(string){nil, func(s string) { said.WriteString(s) }} {
			r, err := llm.Retry(c.Chat(model), llm.RetryOptions{}).Complete(t.Context(), q, token)
			if err != nil || r.Text == "" || r.Finish != llm.FinishLength || r.Usage.Output != 8 || r.Usage.Input == 0 || token != nil && said.String() != r.Text {
				t.Errorf("%s: got %+v, streamed %q, %v", protocol, r, &said, err)
			}
		}
		c.CloseIdle()
	}
}
