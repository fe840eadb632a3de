package openai

import (
	"context"
	"errors"
	"strings"
	"time"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"example.com/ragflow/llm"
)

type chat struct {
	client *Client
	model  string
}

// Chat returns a chat model.
func (c *Client) Chat(model string) llm.Chat { return &chat{client: c, model: model} }

// Model implements llm.Chat.
func (c *chat) Model() string { return c.model }

// Complete implements llm.Chat. The answer is always streamed, so that a stall is noticed
// and the time of the first token is known.
func (c *chat) Complete(ctx context.Context, r llm.Request, token func(string)) (llm.Response, error) {
	if len(r.Messages) == 0 {
		return llm.Response{}, errors.New("complete: no messages")
	}
	start := time.Now()
	w := c.client.watch(ctx, c.model, mediaStream)
	defer w.end()
	stream := c.client.chats.NewStreaming(w.ctx, c.params(r)) //nolint:contextcheck // w.ctx is the context of the caller, with a timer
	defer stream.Close()                                      //nolint:errcheck // the answer is already read

	out := llm.Response{Model: c.model, Provider: c.client.config.Provider}
	var text strings.Builder
	var finish string
	for stream.Next() {
		piece := stream.Current()
		if piece.Model != "" {
			out.Model = piece.Model
		}
		if piece.JSON.Usage.Valid() {
			out.Usage = llm.Usage{Input: piece.Usage.PromptTokens, Output: piece.Usage.CompletionTokens}
		}
		if len(piece.Choices) == 0 {
			continue
		}
		if choice := piece.Choices[0]; choice.FinishReason != "" {
			finish = choice.FinishReason
		}
		if said := piece.Choices[0].Delta.Content; said != "" {
			if out.Chunks == 0 {
				out.FirstToken = time.Since(start)
			}
			out.Chunks++
			text.WriteString(said)
			if token != nil {
				token(said)
			}
		}
	}
	err := stream.Err()
	if err == nil && ctx.Err() != nil {
		err = ctx.Err() // the stream ends without the error of the context
	}
	if err != nil {
		err = c.client.fault(w, err)
	} else {
		out.Finish, err = c.client.finished(c.model, finish, text.String())
	}
	if err != nil {
		if e, ok := errors.AsType[*llm.Error](err); ok {
			e.Streamed = token != nil && out.Chunks > 0
		}
		return llm.Response{}, err
	}
	out.Text, out.Latency = text.String(), time.Since(start)
	return out, nil
}

func (c *chat) params(r llm.Request) sdk.ChatCompletionNewParams {
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
			p.Messages[i] = sdk.AssistantMessage(m.Content)
		case llm.User:
			p.Messages[i] = sdk.UserMessage(m.Content)
		}
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
	case c.client.config.BaseURL == DefaultBaseURL:
		// Newer models of OpenAI accept only this name, other servers only the older one.
		p.MaxCompletionTokens = param.NewOpt(int64(r.MaxTokens))
	default:
		p.MaxTokens = param.NewOpt(int64(r.MaxTokens))
	}
	return p
}

// finished returns an error if the answer is not complete.
func (c *Client) finished(model, reason, text string) (llm.FinishReason, error) {
	switch {
	case reason == "content_filter":
		return "", &llm.Error{Provider: c.config.Provider, Model: model, Kind: llm.ErrRefused, Detail: "its content filter held the answer back"}
	case reason == "":
		if text == "" {
			return "", c.bad(model, "the answer is empty")
		}
		return "", c.bad(model, "the answer was cut off")
	case strings.TrimSpace(text) == "":
		e := c.bad(model, "the answer is empty")
		e.Empty = true
		return "", e
	case reason == "tool_calls" || reason == "function_call":
		return "", c.bad(model, "it wants to call a tool, and none was offered")
	case reason == "length":
		return llm.FinishLength, nil
	}
	return llm.FinishStop, nil
}
