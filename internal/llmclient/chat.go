package llmclient

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/openai/openai-go/v3/option"

	"example.com/ragflow/llm"
)

// Ask sends a request in a protocol and collects the answer.
type Ask func(ctx context.Context, q Query, a *Answer) error

// Query is a request as a server takes it.
type Query struct {
	llm.Request

	Model      string
	OtherLimit bool                   // the token limit has the other one of its two names
	Options    []option.RequestOption // leave out what the server refuses
}

// Chat returns a chat model. Parameters that its server refuses are remembered
// and left out of later requests. oneLimit means that the protocol has one name for the token limit.
func (c *Client) Chat(model string, ask Ask, oneLimit bool) llm.Chat {
	return &chat{client: c, model: model, ask: ask, adapted: adaptation{otherLimit: oneLimit}}
}

type chat struct {
	client *Client
	model  string
	ask    Ask

	mu      sync.Mutex // guards adapted
	adapted adaptation
}

// Model implements llm.Chat.
func (c *chat) Model() string { return c.model }

// Complete implements llm.Chat. The answer is always streamed, so that a stall is noticed
// and the time of the first token is known. A request whose parameters the server refuses
// is sent again without them. Thoughts are neither passed on nor returned.
func (c *chat) Complete(ctx context.Context, r llm.Request, token func(string)) (llm.Response, error) {
	if len(r.Messages) == 0 {
		return llm.Response{}, errors.New("complete: no messages")
	}
	c.mu.Lock()
	adapted := c.adapted
	c.mu.Unlock()
	adapted.changesSoFar = 0
	for {
		out, raw, err := c.try(ctx, r, adapted, token)
		if err == nil {
			c.mu.Lock()
			c.adapted = adapted
			c.mu.Unlock()
			return out, nil
		}
		next, again := adapted.after(raw, err, r)
		if !again || ctx.Err() != nil {
			return llm.Response{}, c.client.withModels(ctx, err)
		}
		adapted = next
	}
}

// try sends a request once. It returns the error of the SDK, if any,
// beside that for the caller.
func (c *chat) try(ctx context.Context, r llm.Request, adapted adaptation, token func(string)) (out llm.Response, raw, err error) {
	start := time.Now()
	w := c.client.watch(ctx, c.model, mediaStream)
	defer w.end()
	a := Answer{Response: llm.Response{Model: c.model, Provider: c.client.endpoint.Provider}, start: start, limit: r.MaxTokens, token: token, calls: toolCalls{calling: r.Calling}}
	changed, options := adapted.apply(r)
	raw = c.ask(w.ctx, Query{changed, c.model, adapted.otherLimit, options}, &a) //nolint:contextcheck // w.ctx is the context of the caller, with a timer
	if raw == nil && a.failure != nil {
		raw = a.failure
	}
	if raw == nil && ctx.Err() != nil {
		raw = ctx.Err() // the stream ends without the error of the context
	}
	if raw != nil {
		err = c.client.fault(w, raw)
	} else {
		a.say(a.thinking.rest())
		a.Calls = a.calls.whole()
		if a.calls.tooMuch {
			err = c.client.Bad(c.model, fmt.Sprintf("it calls more than %d tools, or with more than %d bytes of arguments", maxCalls, maxCallArguments))
		} else {
			a.Finish, err = c.client.finished(c.model, &a, len(r.Tools) > 0)
		}
	}
	if err != nil {
		if e, ok := errors.AsType[*llm.Error](err); ok {
			refusedImages(e, r)
			e.Streamed = token != nil && a.Chunks > 0 || r.Calling != nil && len(a.calls.list) > 0
			e.Thought = a.finish == Length && a.text.Len() == 0 && len(a.Calls) == 0
		}
		return llm.Response{}, raw, err
	}
	a.Text, a.Latency = a.text.String(), time.Since(start)
	return a.Response, nil, nil
}

// bytesPerToken is more than a token of any language has on average. An answer of
// more bytes per token of its limit comes from a server that ignores the limit.
const bytesPerToken = 16

// Reasons why an answer ends, in the words of OpenAI's protocol for chats.
const (
	Stop   = "stop"
	Length = "length"
	Filter = "content_filter"
	Tools  = "tool_calls"
)

// Answer collects the pieces of a stream. A protocol sets Model and Usage.
type Answer struct {
	llm.Response

	start    time.Time
	limit    int // in tokens; 0 means none
	token    func(string)
	text     strings.Builder
	thinking thinkingFilter
	calls    toolCalls
	refusal  strings.Builder // what the model says instead of an answer
	finish   string
	failure  error // of the provider, in the middle of the answer
	tooLong  bool
}

// wantsMore reports whether the rest of the stream is needed.
func (a *Answer) wantsMore() bool { return !a.tooLong && !a.calls.tooMuch && a.failure == nil }

// Say takes a piece of the text, which may contain thoughts.
func (a *Answer) Say(piece string) { a.say(a.thinking.next(piece)) }

// Call takes a piece of a tool call. index is that of the call in the stream.
func (a *Answer) Call(index int64, piece llm.ToolCall) { a.calls.add(index, piece) }

// Refuse takes a piece of what the model says instead of an answer.
func (a *Answer) Refuse(piece string) { a.refusal.WriteString(piece) }

// End takes the reason why the answer ended; the empty one changes nothing.
func (a *Answer) End(reason string) { a.finish = cmp.Or(reason, a.finish) }

// Fail takes an error in the middle of the answer.
func (a *Answer) Fail(code json.RawMessage, message string) {
	a.failure = &failure{Code: code, Message: message}
}

// FillArguments gives calls without arguments, which are of tools without parameters, an empty object.
func (a *Answer) FillArguments() {
	for _, arguments := range a.calls.written {
		if arguments.Len() == 0 {
			arguments.WriteString("{}")
		}
	}
}

// say appends a part of the answer and passes it on.
func (a *Answer) say(said string) {
	if a.limit > 0 && a.text.Len()+len(said) > a.limit*bytesPerToken {
		said = strings.ToValidUTF8(said[:a.limit*bytesPerToken-a.text.Len()], "")
		a.tooLong, a.finish = true, Length
	}
	if said == "" {
		return
	}
	if a.Chunks == 0 {
		a.FirstToken = time.Since(a.start)
	}
	a.Chunks++
	a.text.WriteString(said)
	if a.token != nil {
		a.token(said)
	}
}

// finished returns an error if the answer is not complete.
// Calls of tools that were not offered are left out.
func (c *Client) finished(model string, a *Answer, offered bool) (llm.FinishReason, error) {
	called := ""
	if len(a.Calls) > 0 && !offered {
		called, a.Calls = a.Calls[0].Name, nil
		if a.finish == Tools || a.finish == "function_call" {
			a.finish = Stop
		}
	}
	reason, text, calls := a.finish, a.text.String(), len(a.Calls)
	switch {
	case a.refusal.Len() > 0:
		return "", &llm.Error{Provider: c.endpoint.Provider, Model: model, Kind: llm.ErrRefused, Detail: c.redact("the model says: " + a.refusal.String())}
	case reason == Filter:
		return "", &llm.Error{Provider: c.endpoint.Provider, Model: model, Kind: llm.ErrRefused, Detail: "its content filter held the answer back"}
	case reason == "":
		if text == "" && calls == 0 {
			return "", c.Bad(model, "the answer is empty")
		}
		return "", c.Bad(model, "the answer was cut off")
	case calls > 0 && reason == Length:
		return llm.FinishLength, nil
	case calls > 0: // some servers say "stop"
		return llm.FinishTools, nil
	case reason == Tools || reason == "function_call":
		return "", c.Bad(model, "it says that it calls a tool, but there is no call")
	case strings.TrimSpace(text) == "":
		e := c.Bad(model, "the answer is empty")
		e.Empty, e.Called = true, called
		if called != "" {
			e.Detail = "it wants to call a tool, and none was offered"
		}
		return "", e
	case reason == Length:
		return llm.FinishLength, nil
	}
	return llm.FinishStop, nil
}
