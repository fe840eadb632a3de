package llmtest

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"example.com/ragflow/llm"
)

// Token counts of every fake answer.
const (
	InputTokens  = 11
	OutputTokens = 7
)

// Say streams text word by word, as a complete answer. It and other behaviours that stream
// text speak the protocol of Anthropic if the path of the call is that of its messages.
func Say(text string) Behaviour { return say(text, "stop") }

// SayUntil streams text and ends with the finish reason length.
func SayUntil(text string) Behaviour { return say(text, "length") }

// Filter streams text and ends with the finish reason content_filter.
func Filter(text string) Behaviour { return say(text, "content_filter") }

// SayThen streams text, waits until next is closed or the client is gone, and streams the
// rest.
func SayThen(text string, next <-chan struct{}, rest string) Behaviour {
	return func(w http.ResponseWriter, r *http.Request) {
		begin(w)
		speak(w, text)
		select {
		case <-next:
		case <-r.Context().Done():
			return
		}
		speak(w, rest)
		end(w, "stop")
	}
}

// CallTools streams tool calls, the arguments of each in pieces.
func CallTools(calls ...llm.ToolCall) Behaviour {
	now := make(chan struct{})
	close(now)
	return SayThenCall("", now, calls...)
}

// SayThenCall streams text, waits until next is closed or the client is gone, and streams tool calls.
func SayThenCall(text string, next <-chan struct{}, calls ...llm.ToolCall) Behaviour {
	return func(w http.ResponseWriter, r *http.Request) {
		begin(w)
		if text != "" {
			speak(w, text)
		}
		select {
		case <-next:
		case <-r.Context().Done():
			return
		}
		for i, c := range calls {
			delta := func(call map[string]any) {
				call["index"] = i
				event(w, map[string]any{"object": "chat.completion.chunk", "model": "played", "choices": []any{
					map[string]any{"index": 0, "delta": map[string]any{"tool_calls": []any{call}}},
				}})
			}
			delta(map[string]any{"id": c.ID, "type": "function", "function": map[string]any{"name": c.Name, "arguments": ""}})
			for piece := range slices.Chunk([]rune(c.Arguments), max(7, len(c.Arguments)/64)) {
				delta(map[string]any{"function": map[string]any{"arguments": string(piece)}})
			}
		}
		end(w, "tool_calls")
	}
}

// CallTool is [CallTools] with one call.
func CallTool(name, arguments string) Behaviour {
	return CallTools(llm.ToolCall{ID: "call_" + name, Name: name, Arguments: arguments})
}

func say(text, finish string) Behaviour {
	return func(w http.ResponseWriter, _ *http.Request) {
		begin(w)
		speak(w, text)
		end(w, finish)
	}
}

// speak streams a text word by word.
func speak(w http.ResponseWriter, text string) {
	for _, word := range strings.SplitAfter(text, " ") {
		event(w, piece(w, word))
	}
}

func end(w http.ResponseWriter, finish string) {
	if messages(w) {
		reason := map[string]string{"stop": "end_turn", "length": "max_tokens", "content_filter": "refusal"}[finish]
		event(w, map[string]any{"type": "message_delta", "delta": map[string]any{"stop_reason": reason}, "usage": map[string]any{"output_tokens": OutputTokens}})
		event(w, map[string]any{"type": "message_stop"})
		return
	}
	event(w, map[string]any{
		"model":   "played",
		"choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": finish}},
	})
	event(w, map[string]any{
		"model": "played", "choices": []any{},
		"usage": map[string]any{"prompt_tokens": InputTokens, "completion_tokens": OutputTokens, "total_tokens": InputTokens + OutputTokens},
	})
	fmt.Fprint(w, "data: [DONE]\n\n")
}

// Script selects the answer by the request: the first entry whose key is in the system message
// or in the last human message.
func Script(entries ...Entry) Behaviour {
	return func(w http.ResponseWriter, r *http.Request) {
		call := lastCall(w)
		for _, e := range entries {
			if strings.Contains(call.System, e.When) || strings.Contains(call.User, e.When) {
				e.Do(w, r)
				return
			}
		}
		Status(http.StatusTeapot, "nothing in the script fits")(w, r)
	}
}

// Entry is one line of a [Script].
type Entry struct {
	When string
	Do   Behaviour
}

// Status answers with an error in the format of OpenAI.
func Status(code int, message string) Behaviour {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(code)
		body, _ := json.Marshal(map[string]any{"error": map[string]any{"message": message, "type": "played", "code": nil}}) // plain strings
		_, _ = w.Write(body)
	}
}

// RefuseParameter answers 400 as long as the body of the request has the parameter, in the
// format of OpenAI.
func RefuseParameter(name string, then Behaviour) Behaviour {
	return func(w http.ResponseWriter, r *http.Request) {
		if !strings.Contains(lastCall(w).Body, strconv.Quote(name)) {
			then(w, r)
			return
		}
		w.Header().Set("Content-Type", "application/json")
		w.WriteHeader(http.StatusBadRequest)
		body, _ := json.Marshal(map[string]any{"error": map[string]any{ // plain strings
			"message": "Unsupported parameter: '" + name + "'", "type": "invalid_request_error", "param": name, "code": "unsupported_parameter",
		}})
		_, _ = w.Write(body)
	}
}

// Whole answers with JSON instead of a stream, as servers without streaming do.
func Whole(text string) Behaviour {
	body, _ := json.Marshal(map[string]any{ // plain strings
		"object": "chat.completion", "model": "played",
		"choices": []any{map[string]any{"index": 0, "message": map[string]any{"role": "assistant", "content": text}, "finish_reason": "stop"}},
		"usage":   map[string]any{"prompt_tokens": InputTokens, "completion_tokens": OutputTokens, "total_tokens": InputTokens + OutputTokens},
	})
	return Body("application/json", string(body))
}

// RetryAfter answers 429 with the header Retry-After. A d below a second is written as a
// fraction, as some providers do.
func RetryAfter(d time.Duration) Behaviour {
	return func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", strconv.FormatFloat(d.Seconds(), 'f', -1, 64))
		Status(http.StatusTooManyRequests, "slow down")(w, r)
	}
}

// RetryAt is RetryAfter with a date: d after the time of the server.
func RetryAt(d time.Duration) Behaviour {
	return func(w http.ResponseWriter, r *http.Request) {
		now := time.Date(2001, 1, 1, 0, 0, 0, 0, time.UTC)
		w.Header().Set("Date", now.Format(http.TimeFormat))
		w.Header().Set("Retry-After", now.Add(d).Format(http.TimeFormat))
		Status(http.StatusTooManyRequests, "slow down")(w, r)
	}
}

// Echo answers with an error that quotes the key, as careless providers do.
func Echo(code int) Behaviour {
	return func(w http.ResponseWriter, r *http.Request) {
		Status(code, "the key "+keyOf(r)+" is not good enough")(w, r)
	}
}

// Body answers 200 with the given body.
func Body(contentType, body string) Behaviour {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", contentType)
		_, _ = io.WriteString(w, body)
	}
}

// Silent accepts the call and never answers.
func Silent() Behaviour {
	return func(w http.ResponseWriter, _ *http.Request) { hold(w, forever) }
}

// Slow waits before another behaviour.
func Slow(d time.Duration, then Behaviour) Behaviour {
	return func(w http.ResponseWriter, r *http.Request) {
		hold(w, d)
		then(w, r)
	}
}

// Stall streams text and then sends nothing more.
func Stall(text string) Behaviour {
	return func(w http.ResponseWriter, _ *http.Request) {
		begin(w)
		event(w, piece(w, text))
		hold(w, forever)
	}
}

// Cut streams text and breaks the connection.
func Cut(text string) Behaviour {
	return func(w http.ResponseWriter, _ *http.Request) {
		begin(w)
		if text != "" {
			event(w, piece(w, text))
		}
		panic(http.ErrAbortHandler)
	}
}

// Stop streams text and ends the stream correctly, but without a finish reason.
func Stop(text string) Behaviour {
	return func(w http.ResponseWriter, _ *http.Request) {
		begin(w)
		event(w, piece(w, text))
	}
}

// ErrorInStream streams text and then an error event.
func ErrorInStream(text string, code int, message string) Behaviour {
	return func(w http.ResponseWriter, _ *http.Request) {
		begin(w)
		if text != "" {
			event(w, piece(w, text))
		}
		event(w, map[string]any{"error": map[string]any{"code": code, "message": message}})
	}
}

// NoChoices sends correct events without choices.
func NoChoices() Behaviour {
	return func(w http.ResponseWriter, _ *http.Request) {
		begin(w)
		event(w, map[string]any{"model": "played", "choices": []any{}})
		fmt.Fprint(w, "data: [DONE]\n\n")
	}
}

// Huge streams pieces of 64 KiB until the client leaves.
func Huge() Behaviour {
	text := strings.Repeat("word ", 13<<10)
	return func(w http.ResponseWriter, r *http.Request) {
		begin(w)
		for r.Context().Err() == nil {
			event(w, piece(w, text))
		}
	}
}

// Embed answers a call for embeddings with vectors of n dimensions that follow
// from the length of each text.
func Embed(n int) Behaviour {
	return func(w http.ResponseWriter, _ *http.Request) {
		data := []any{}
		for i, t := range lastCall(w).Texts {
			v := make([]float64, n)
			for d := range v {
				v[d] = float64(len(t)%(d+2)) + 0.5
			}
			data = append([]any{map[string]any{"object": "embedding", "index": i, "embedding": v}}, data...) // out of order, which is allowed
		}
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(map[string]any{
			"object": "list", "model": "played", "data": data,
			"usage": map[string]any{"prompt_tokens": InputTokens, "total_tokens": InputTokens},
		})
	}
}

// Models lists models.
func Models(names ...string) Behaviour {
	data := []any{}
	for _, n := range names {
		data = append(data, map[string]any{"id": n, "object": "model"})
	}
	body, _ := json.Marshal(map[string]any{"object": "list", "data": data}) // plain strings
	return Body("application/json", string(body))
}

// lastCall is the call that a behaviour answers.
func lastCall(w http.ResponseWriter) Call {
	if s, ok := w.(*stoppable); ok {
		return s.call
	}
	return Call{}
}
