package openai

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"example.com/ragflow/llm"
)

type chat struct {
	client *Client
	model  string

	mu      sync.Mutex // guards adapted
	adapted adaptation
}

// Chat returns a chat model. What its server refuses is remembered and left out
// of later requests.
func (c *Client) Chat(model string) llm.Chat {
	// The protocol Messages has one name of the limit only.
	return &chat{client: c, model: model, adapted: adaptation{otherLimit: c.config.Protocol == Messages}}
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

// try sends a request once. It returns the error of the SDK, where there is one,
// beside that for the caller.
func (c *chat) try(ctx context.Context, r llm.Request, adapted adaptation, token func(string)) (out llm.Response, raw, err error) {
	start := time.Now()
	w := c.client.watch(ctx, c.model, mediaStream)
	defer w.end()
	a := answer{Response: llm.Response{Model: c.model, Provider: c.client.config.Provider}, start: start, limit: r.MaxTokens, token: token, calls: toolCalls{calling: r.Calling}}
	raw = c.ask(w.ctx, r, adapted, &a) //nolint:contextcheck // w.ctx is the context of the caller, with a timer
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
			err = c.client.bad(c.model, fmt.Sprintf("it calls more than %d tools, or with more than %d bytes of arguments", maxCalls, maxCallArguments))
		} else {
			a.Finish, err = c.client.finished(c.model, &a, len(r.Tools) > 0)
		}
	}
	if err != nil {
		if e, ok := errors.AsType[*llm.Error](err); ok {
			refusedImages(e, r)
			e.Streamed = token != nil && a.Chunks > 0 || r.Calling != nil && len(a.calls.list) > 0
			e.Thought = a.finish == finishLength && a.text.Len() == 0 && len(a.Calls) == 0
		}
		return llm.Response{}, raw, err
	}
	a.Text, a.Latency = a.text.String(), time.Since(start)
	return a.Response, nil, nil
}

// ask sends a request in the protocol of the client and collects the answer in a.
func (c *chat) ask(ctx context.Context, r llm.Request, adapted adaptation, a *answer) error {
	r, options := adapted.apply(r)
	switch c.client.config.Protocol {
	case Messages:
		return stream(ctx, c.client, "messages", c.messagesParams(r), options, func(e messagesEvent) bool {
			a.messagesEvent(e)
			return a.wantsMore()
		})
	case Responses:
		return stream(ctx, c.client, "responses", c.responseParams(r), options, func(e event) bool {
			a.event(e, int64(r.MaxTokens))
			return a.wantsMore()
		})
	}
	return stream(ctx, c.client, "chat/completions", c.params(r, adapted.otherLimit), options, func(piece sdk.ChatCompletionChunk) bool {
		a.add(piece)
		return a.wantsMore()
	})
}

// bytesPerToken is more than a token of any language has on average. An answer of
// more bytes per token of its limit comes from a server that ignores the limit.
const bytesPerToken = 16

const finishLength = "length"

// answer collects the pieces of a stream.
type answer struct {
	llm.Response
	start    time.Time
	limit    int // in tokens; 0 means none
	token    func(string)
	text     strings.Builder
	thinking thinkingFilter
	calls    toolCalls
	refusal  strings.Builder // what the model says instead of an answer
	finish   string          // the reason in the words of the protocol for chats
	failure  error           // of the provider, in the middle of the answer
	tooLong  bool
}

// wantsMore reports whether the rest of the stream is needed.
func (a *answer) wantsMore() bool { return !a.tooLong && !a.calls.tooMuch && a.failure == nil }

// add takes a piece of a chat.
func (a *answer) add(piece sdk.ChatCompletionChunk) {
	if piece.Model != "" {
		a.Model = piece.Model
	}
	if piece.JSON.Usage.Valid() {
		a.Usage = llm.Usage{Input: piece.Usage.PromptTokens, Output: piece.Usage.CompletionTokens}
	}
	if len(piece.Choices) == 0 {
		return
	}
	if choice := piece.Choices[0]; choice.FinishReason != "" {
		a.finish = choice.FinishReason
	}
	a.say(a.thinking.next(piece.Choices[0].Delta.Content))
	a.refusal.WriteString(piece.Choices[0].Delta.Refusal)
	for _, d := range piece.Choices[0].Delta.ToolCalls {
		a.calls.add(d.Index, llm.ToolCall{ID: d.ID, Name: d.Function.Name, Arguments: d.Function.Arguments})
	}
}

// say appends a part of the answer and passes it on.
func (a *answer) say(said string) {
	if a.limit > 0 && a.text.Len()+len(said) > a.limit*bytesPerToken {
		said = strings.ToValidUTF8(said[:a.limit*bytesPerToken-a.text.Len()], "")
		a.tooLong, a.finish = true, finishLength
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

func (c *chat) params(r llm.Request, otherLimit bool) sdk.ChatCompletionNewParams {
	p := sdk.ChatCompletionNewParams{
		Model:         c.model,
		Messages:      make([]sdk.ChatCompletionMessageParamUnion, len(r.Messages)),
		Temperature:   param.NewOpt(r.Temperature),
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	}
	for i, m := range r.Messages {
		switch m.Role {
		case llm.System:
			p.Messages[i] = sdk.SystemMessage(m.Content)
		case llm.Assistant:
			p.Messages[i] = assistantMessage(m)
		case llm.User:
			p.Messages[i] = userMessage(m)
		case llm.ToolResult:
			p.Messages[i] = sdk.ToolMessage(m.Content, m.CallID)
		}
	}
	for _, t := range r.Tools {
		p.Tools = append(p.Tools, sdk.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: t.Name, Description: param.NewOpt(t.Description), Parameters: t.Parameters,
		}))
	}
	if r.TopP > 0 {
		p.TopP = param.NewOpt(r.TopP)
	}
	if len(r.Stop) > 0 {
		p.Stop = sdk.ChatCompletionNewParamsStopUnion{OfStringArray: r.Stop}
	}
	if r.Schema != nil {
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: r.Schema.Name, Schema: r.Schema.JSON,
		}}
	}
	switch {
	case r.MaxTokens == 0:
	case (c.client.config.BaseURL == DefaultBaseURL) != otherLimit:
		// Newer models of OpenAI accept only this name, other servers only the older one.
		p.MaxCompletionTokens = param.NewOpt(int64(r.MaxTokens))
	default:
		p.MaxTokens = param.NewOpt(int64(r.MaxTokens))
	}
	return p
}

// finished returns an error if the answer is not complete.
// Calls of tools that were not offered are left out.
func (c *Client) finished(model string, a *answer, offered bool) (llm.FinishReason, error) {
	called := ""
	if len(a.Calls) > 0 && !offered {
		called, a.Calls = a.Calls[0].Name, nil
		if a.finish == "tool_calls" || a.finish == "function_call" {
			a.finish = "stop"
		}
	}
	reason, text, calls := a.finish, a.text.String(), len(a.Calls)
	switch {
	case a.refusal.Len() > 0:
		return "", &llm.Error{Provider: c.config.Provider, Model: model, Kind: llm.ErrRefused, Detail: c.redact("the model says: " + a.refusal.String())}
	case reason == "content_filter":
		return "", &llm.Error{Provider: c.config.Provider, Model: model, Kind: llm.ErrRefused, Detail: "its content filter held the answer back"}
	case reason == "":
		if text == "" && calls == 0 {
			return "", c.bad(model, "the answer is empty")
		}
		return "", c.bad(model, "the answer was cut off")
	case calls > 0 && reason == finishLength:
		return llm.FinishLength, nil
	case calls > 0: // some servers say "stop"
		return llm.FinishTools, nil
	case reason == "tool_calls" || reason == "function_call":
		return "", c.bad(model, "it says that it calls a tool, but there is no call")
	case strings.TrimSpace(text) == "":
		e := c.bad(model, "the answer is empty")
		e.Empty, e.Called = true, called
		if called != "" {
			e.Detail = "it wants to call a tool, and none was offered"
		}
		return "", e
	case reason == finishLength:
		return llm.FinishLength, nil
	}
	return llm.FinishStop, nil
}
