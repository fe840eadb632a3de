package openai

import (
	"context"

	sdk "github.com/openai/openai-go/v3"
	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/shared"

	"example.com/ragflow/internal/llmclient"
	"example.com/ragflow/llm"
)

// Chat returns a chat model. Parameters that its server refuses are remembered
// and left out of later requests. Answers are always streamed, so that a stall is noticed
// and the time of the first token is known. Thoughts are neither passed on nor returned.
func (c *Client) Chat(model string) llm.Chat {
	if c.protocol == Responses {
		return c.http.Chat(model, c.askResponses, false)
	}
	return c.http.Chat(model, c.askChat, false)
}

func (c *Client) askChat(ctx context.Context, q llmclient.Query, a *llmclient.Answer) error {
	return llmclient.Stream(ctx, c.http, "chat/completions", c.params(q), q, a, func(piece sdk.ChatCompletionChunk) { add(a, piece) })
}

// add takes a piece of a chat.
func add(a *llmclient.Answer, piece sdk.ChatCompletionChunk) {
	if piece.Model != "" {
		a.Model = piece.Model
	}
	if piece.JSON.Usage.Valid() {
		a.Usage = llm.Usage{Input: piece.Usage.PromptTokens, Output: piece.Usage.CompletionTokens}
	}
	if len(piece.Choices) == 0 {
		return
	}
	a.End(piece.Choices[0].FinishReason)
	a.Say(piece.Choices[0].Delta.Content)
	a.Refuse(piece.Choices[0].Delta.Refusal)
	for _, d := range piece.Choices[0].Delta.ToolCalls {
		a.Call(d.Index, llm.ToolCall{ID: d.ID, Name: d.Function.Name, Arguments: d.Function.Arguments})
	}
}

func (c *Client) params(q llmclient.Query) sdk.ChatCompletionNewParams {
	p := sdk.ChatCompletionNewParams{
		Model:         q.Model,
		Messages:      make([]sdk.ChatCompletionMessageParamUnion, len(q.Messages)),
		Temperature:   param.NewOpt(q.Temperature),
		StreamOptions: sdk.ChatCompletionStreamOptionsParam{IncludeUsage: param.NewOpt(true)},
	}
	for i, m := range q.Messages {
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
	for _, t := range q.Tools {
		p.Tools = append(p.Tools, sdk.ChatCompletionFunctionTool(shared.FunctionDefinitionParam{
			Name: t.Name, Description: param.NewOpt(t.Description), Parameters: t.Parameters,
		}))
	}
	if q.TopP > 0 {
		p.TopP = param.NewOpt(q.TopP)
	}
	if len(q.Stop) > 0 {
		p.Stop = sdk.ChatCompletionNewParamsStopUnion{OfStringArray: q.Stop}
	}
	if q.Schema != nil {
		p.ResponseFormat.OfJSONSchema = &shared.ResponseFormatJSONSchemaParam{JSONSchema: shared.ResponseFormatJSONSchemaJSONSchemaParam{
			Name: q.Schema.Name, Schema: q.Schema.JSON,
		}}
	}
	switch {
	case q.MaxTokens == 0:
	case (c.baseURL == DefaultBaseURL) != q.OtherLimit:
		// Newer models of OpenAI accept only this name, other servers only the older one.
		p.MaxCompletionTokens = param.NewOpt(int64(q.MaxTokens))
	default:
		p.MaxTokens = param.NewOpt(int64(q.MaxTokens))
	}
	return p
}

func assistantMessage(m llm.Message) sdk.ChatCompletionMessageParamUnion {
	out := sdk.AssistantMessage(m.Content)
	if len(m.Calls) == 0 {
		return out
	}
	if m.Content == "" {
		out.OfAssistant.Content = sdk.ChatCompletionAssistantMessageParamContentUnion{}
	}
	for _, c := range m.Calls {
		out.OfAssistant.ToolCalls = append(out.OfAssistant.ToolCalls, sdk.ChatCompletionMessageToolCallUnionParam{
			OfFunction: &sdk.ChatCompletionMessageFunctionToolCallParam{
				ID: c.ID, Function: sdk.ChatCompletionMessageFunctionToolCallFunctionParam{Name: c.Name, Arguments: c.Arguments},
			},
		})
	}
	return out
}
