package anthropic_test

import (
	"encoding/json"
	"errors"
	"net/http"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/llmtest"
	"example.com/ragflow/llm"
	"example.com/ragflow/llm/anthropic"
)

// Events of the protocol Messages.
const (
	begun     = `{"type":"message_start","message":{"id":"msg_1","type":"message","role":"assistant","content":[],"model":"played","stop_reason":null,"usage":{"input_tokens":2,"cache_creation_input_tokens":4,"cache_read_input_tokens":5,"output_tokens":1}}}`
	ping      = `{"type":"ping"}`
	pondering = `{"type":"content_block_start","index":0,"content_block":{"type":"thinking","thinking":"","signature":""}}`
	ponders   = `{"type":"content_block_delta","index":0,"delta":{"type":"thinking_delta","thinking":"Hm."}}`
	signed    = `{"type":"content_block_delta","index":0,"delta":{"type":"signature_delta","signature":"Eq=="}}`
	pondered  = `{"type":"content_block_stop","index":0}`
	aText     = `{"type":"content_block_start","index":1,"content_block":{"type":"text","text":""}}`
	aPiece    = `{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"A volume "}}`
	aPiece2   = `{"type":"content_block_delta","index":1,"delta":{"type":"text_delta","text":"keeps data."}}`
	aTextDone = `{"type":"content_block_stop","index":1}`
	stopped   = `{"type":"message_stop"}`
)

// ending is the event with the reason why an answer ends.
func ending(reason string) string {
	return `{"type":"message_delta","delta":{"stop_reason":"` + reason + `","stop_sequence":null},"usage":{"output_tokens":7}}`
}

// messages is a chat model that speaks the protocol Messages.
func messages(t *testing.T, s *llmtest.Server) llm.Chat {
	t.Helper()
	c, err := anthropic.New(anthropic.Config{
		Provider: "played", BaseURL: s.URL(), Key: llmtest.Key,
		FirstByte: time.Second, Stall: 1200 * time.Millisecond, Total: 6 * time.Second, MaxBytes: 1 << 20,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.CloseIdle)
	return c.Chat("small")
}

func TestMessages(t *testing.T) { // L04, L06
	s := llmtest.NewServer(llmtest.Events(begun, ping, pondering, ponders, signed, pondered, aText, aPiece, aPiece2, aTextDone, ending("end_turn"), stopped))
	defer s.Close()
	q := llmtest.Dialogue()
	q.Messages = append(q.Messages, llm.Message{Role: llm.User, Content: "Tell me."}, llm.Message{Role: llm.System, Content: "In English."}, llm.Message{Role: llm.Assistant, Content: " "})
	var said []string
	r, err := messages(t, s).Complete(t.Context(), q, func(s string) { said = append(said, s) })
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
	text := func(said string) any { return map[string]any{"type": "text", "text": said} }
	if diff := cmp.Diff(map[string]any{
		"model": "small", "temperature": 0.3, "top_p": 0.9, "max_tokens": 2000.0, "stop_sequences": []any{"==="}, "stream": true,
		"system": []any{map[string]any{"type": "text", "text": "Be brief.\n\nIn English.", "cache_control": map[string]any{"type": "ephemeral"}}},
		"messages": []any{
			map[string]any{"role": "user", "content": []any{text("Hello")}},
			map[string]any{"role": "assistant", "content": []any{text("Hello.")}},
			map[string]any{"role": "user", "content": []any{text("What is a volume?"), text("Tell me.")}},
		},
	}, s.Asked(t, 0)); diff != "" {
		t.Error(diff)
	}
	if call := s.Calls()[0]; call.Path != "/v1/messages" {
		t.Errorf("asked %+v", call)
	}
}

// TestMessagesLimits sends what the protocol demands, and no temperature that it refuses.
func TestMessagesLimits(t *testing.T) {
	s := llmtest.NewServer(llmtest.Say("fine"))
	defer s.Close()
	q := llmtest.Question()
	q.MaxTokens, q.Temperature, q.Schema = 0, 1.5, &llm.Schema{Name: "verdict", JSON: map[string]any{"type": "object"}}
	if _, err := messages(t, s).Complete(t.Context(), q, nil); err != nil {
		t.Fatal(err)
	}
	body := s.Asked(t, 0)
	delete(body, "messages")
	if diff := cmp.Diff(map[string]any{"model": "small", "temperature": 1.0, "max_tokens": float64(anthropic.DefaultTokens), "stream": true}, body); diff != "" {
		t.Error(diff)
	}
}

func TestMessagesTools(t *testing.T) {
	start := func(index, id, name string) string {
		return `{"type":"content_block_start","index":` + index + `,"content_block":{"type":"tool_use","id":"` + id + `","name":"` + name + `","input":{}}}`
	}
	input := func(index, text string) string {
		delta, _ := json.Marshal(text) // a string
		return `{"type":"content_block_delta","index":` + index + `,"delta":{"type":"input_json_delta","partial_json":` + string(delta) + `}}`
	}
	s := llmtest.NewServer(llmtest.Events(
		begun, start("1", "c1", "weather"), input("1", ""), input("1", llmtest.ToolCalls()[0].Arguments[:5]), input("1", llmtest.ToolCalls()[0].Arguments[5:]), aTextDone,
		start("2", "c2", "clock"), input("2", "{}"), ending("tool_use"), stopped,
	), llmtest.Events(begun, aPiece, ending("end_turn"), stopped))
	defer s.Close()
	chat := messages(t, s)
	q := llmtest.AskForTools(t, chat, "Let me see.")
	q.Messages = append(
		q.Messages, llm.Message{Role: llm.Assistant, Calls: []llm.ToolCall{{ID: "c3", Name: "clock", Arguments: `"now"`}, {ID: "c4", Name: "clock", Arguments: "null"}}},
		llm.Message{Role: llm.ToolResult, Content: "", CallID: "c3"}, llm.Message{Role: llm.User, Content: "And now?"},
	)
	r, err := chat.Complete(t.Context(), q, nil)
	if err != nil || r.Calls != nil {
		t.Fatal(r, err)
	}
	body := s.Asked(t, 1)
	use := func(id, name string, input map[string]any) any {
		return map[string]any{"type": "tool_use", "id": id, "name": name, "input": input}
	}
	result := func(id, content string) any {
		return map[string]any{"type": "tool_result", "tool_use_id": id, "content": content}
	}
	if diff := cmp.Diff([]any{
		map[string]any{"role": "user", "content": []any{map[string]any{"type": "text", "text": "What is a volume?"}}},
		map[string]any{"role": "assistant", "content": []any{
			map[string]any{"type": "text", "text": "Let me see."}, use("c1", "weather", map[string]any{"city": "Łódź", "days": 3.0}), use("c2", "clock", map[string]any{}),
		}},
		map[string]any{"role": "user", "content": []any{result("c1", "rain"), result("c2", "noon")}},
		map[string]any{"role": "assistant", "content": []any{use("c3", "clock", map[string]any{}), use("c4", "clock", map[string]any{})}},
		map[string]any{"role": "user", "content": []any{result("c3", ""), map[string]any{"type": "text", "text": "And now?"}}},
	}, body["messages"]); diff != "" {
		t.Error(diff)
	}
	if diff := cmp.Diff([]any{
		map[string]any{
			"name": "weather", "description": "Tells the weather",
			"input_schema": map[string]any{"type": "object", "properties": map[string]any{"city": map[string]any{"type": "string"}}},
		},
		map[string]any{"name": "clock", "input_schema": map[string]any{"type": "object"}},
	}, body["tools"]); diff != "" {
		t.Error(diff)
	}
	none := []llm.ToolCall{{ID: "c2", Name: "clock", Arguments: "{}"}}
	for name, answer := range map[string]llmtest.Behaviour{
		"a tool without parameters": llmtest.Events(begun, start("0", "c2", "clock"), input("0", ""), ending("tool_use")),
		"whole":                     llmtest.Body("application/json", `{"type":"message","content":[{"type":"tool_use","id":"c2","name":"clock","input":{}}],"stop_reason":"tool_use"}`),
	} {
		s.Then(answer)
		r, err := chat.Complete(t.Context(), llmtest.ToolQuestion(), nil)
		if diff := cmp.Diff(none, r.Calls); err != nil || diff != "" || r.Finish != llm.FinishTools {
			t.Error(name, r.Finish, err, diff)
		}
	}
}

// TestMessagesEnd reads the ways in which an answer ends.
func TestMessagesEnd(t *testing.T) {
	failed := func(kind string) llmtest.Behaviour {
		return llmtest.Events(begun, aPiece, `{"type":"error","error":{"type":"`+kind+`","message":"for `+llmtest.Key+`"}}`)
	}
	whole := func(rest string) llmtest.Behaviour {
		return llmtest.Body("application/json", `{"type":"message","role":"assistant","content":[{"type":"thinking","thinking":"Hm."},{"type":"text","text":"A volume "}],`+rest+`}`)
	}
	for _, tt := range []struct {
		name      string
		answer    llmtest.Behaviour
		finish    llm.FinishReason
		want      error
		text      string // of the answer or the error
		transient bool
	}{
		{"stop sequence", llmtest.Events(begun, aPiece, ending("stop_sequence")), llm.FinishStop, nil, "A volume ", false},
		{"length", llmtest.Events(begun, aPiece, ending("max_tokens")), llm.FinishLength, nil, "A volume ", false},
		{"context window", llmtest.Events(begun, aPiece, ending("model_context_window_exceeded")), llm.FinishLength, nil, "A volume ", false},
		{"refusal", llmtest.Events(begun, aPiece, ending("refusal")), "", llm.ErrRefused, "Provider played refused the request: its content filter held the answer back", false},
		{"another reason", llmtest.Events(begun, aPiece, ending("pause_turn")), "", llm.ErrBadResponse, "Provider played sent no usable answer: the answer was cut off", true},
		{"no end", llmtest.Events(begun, aPiece, aTextDone), "", llm.ErrBadResponse, "Provider played sent no usable answer: the answer was cut off", true},
		{"nothing", llmtest.Events(begun, ending("end_turn"), stopped), "", llm.ErrBadResponse, "Provider played sent no usable answer: the answer is empty", true},
		{"no call", llmtest.Events(begun, aPiece, ending("tool_use")), "", llm.ErrBadResponse, "Provider played sent no usable answer: it says that it calls a tool, but there is no call", true},
		{"overloaded", failed("overloaded_error"), "", llm.ErrUnavailable, "Provider played is not available: status 529: for [key]", true},
		{"its fault", failed("api_error"), "", llm.ErrUnavailable, "", true},
		{"rate", failed("rate_limit_error"), "", llm.ErrRateLimited, "", true},
		{"credentials", failed("authentication_error"), "", llm.ErrCredentials, "Invalid credentials for played", false},
		{"invalid", failed("invalid_request_error"), "", llm.ErrRefused, "Provider played refused the request: status 400: for [key]", false},
		{"another error", failed("odd_error"), "", llm.ErrBadResponse, "Provider played sent no usable answer: it ended its answer with an error: for [key]", true},
		{"whole", whole(`"stop_reason":"end_turn"`), llm.FinishStop, nil, "A volume ", false},
		{"whole length", whole(`"stop_reason":"max_tokens"`), llm.FinishLength, nil, "A volume ", false},
		{"whole without a reason", whole(`"stop_reason":null`), "", llm.ErrBadResponse, "Provider played sent no usable answer: the answer was cut off", true},
		{"whole error", llmtest.Body("application/json", `{"type":"error","error":{"type":"overloaded_error","message":"oh"}}`), "", llm.ErrUnavailable, "", true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			s := llmtest.NewServer(tt.answer)
			defer s.Close()
			got, err := messages(t, s).Complete(t.Context(), llmtest.Question(), nil)
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

// TestMessagesFaults reads the errors that come instead of an answer.
func TestMessagesFaults(t *testing.T) { // L05
	for _, tt := range []struct {
		status        int
		kind, message string
		want          error
		text          string
		calls         int
	}{
		{400, "invalid_request_error", "prompt is too long: 207368 tokens > 200000 maximum", llm.ErrContextLength, `The prompt is longer than the context window of the model "small": status 400: prompt is too long: 207368 tokens > 200000 maximum`, 1},
		{400, "invalid_request_error", "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease input length or `max_tokens` and try again", llm.ErrContextLength, "", 1},
		{400, "invalid_request_error", "max_tokens: 100000 > 8192, which is the maximum for small", llm.ErrRefused, "", 1},
		{400, "invalid_request_error", "Your credit balance is too low to access the API.", llm.ErrRefused, "Provider played refused the request: status 400: Your credit balance is too low to access the API.", 1},
		{401, "authentication_error", "invalid x-api-key " + llmtest.Key, llm.ErrCredentials, "Invalid credentials for played", 1},
		{403, "permission_error", "not for " + llmtest.Key, llm.ErrCredentials, "", 1},
		{404, "not_found_error", "model: small", llm.ErrModelNotFound, "", 2}, // and the list of models
		{413, "request_too_large", "Request exceeds the maximum size", llm.ErrRefused, "", 1},
		{429, "rate_limit_error", "slow down", llm.ErrRateLimited, "", 4},
		{500, "api_error", "Internal server error", llm.ErrUnavailable, "", 4},
		{529, "overloaded_error", "Overloaded", llm.ErrUnavailable, "Provider played is not available: status 529: Overloaded (asked 4 times)", 4},
	} {
		t.Run(tt.kind, func(t *testing.T) {
			s := llmtest.NewServer(func(w http.ResponseWriter, _ *http.Request) {
				w.Header().Set("Content-Type", "application/json")
				w.WriteHeader(tt.status)
				_ = json.NewEncoder(w).Encode(map[string]any{"type": "error", "request_id": "req_1", "error": map[string]any{"type": tt.kind, "message": tt.message}})
			})
			defer s.Close()
			var waits []time.Duration
			got, err := llm.Retry(messages(t, s), llmtest.Instantly(&waits)).Complete(t.Context(), llmtest.FullQuestion(), nil)
			llmtest.CheckError(t, got, err, tt.want, tt.text)
			if n := len(s.Calls()); n != tt.calls {
				t.Errorf("%d calls, want %d", n, tt.calls)
			}
		})
	}
}

func TestMessagesAdapt(t *testing.T) {
	refuse := llmtest.RefuseParameter
	s := llmtest.NewServer(refuse("temperature", nil), refuse("stop_sequences", nil), llmtest.Say("fine"))
	defer s.Close()
	chat := messages(t, s)
	for range 2 {
		if r, err := chat.Complete(t.Context(), llmtest.FullQuestion(), nil); err != nil || r.Text != "fine" || r.Usage.Input != llmtest.InputTokens {
			t.Fatal(r, err)
		}
	}
	if n := len(s.Calls()); n != 4 { // refused twice, and twice well
		t.Fatalf("%d calls, want 4", n)
	}
	body := s.Asked(t, 3)
	delete(body, "messages")
	if diff := cmp.Diff(map[string]any{"model": "small", "top_p": 0.9, "max_tokens": 50.0, "stream": true}, body); diff != "" {
		t.Error(diff)
	}
}
