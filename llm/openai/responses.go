package openai

import (
	"cmp"
	"context"
	"encoding/json"

	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"example.com/ragflow/internal/llmclient"
	"example.com/ragflow/llm"
)

// responseParams returns a request of the protocol Responses. The provider stores nothing.
func responseParams(q llmclient.Query) responses.ResponseNewParams {
	p := responses.ResponseNewParams{Model: q.Model, Temperature: param.NewOpt(q.Temperature), Store: param.NewOpt(false)}
	for _, m := range q.Messages {
		p.Input.OfInputItemList = append(p.Input.OfInputItemList, inputItems(m)...)
	}
	for _, t := range q.Tools {
		tool := responses.ToolParamOfFunction(t.Name, t.Parameters, false) // a strict one takes not all schemas
		tool.OfFunction.Description = param.NewOpt(t.Description)
		p.Tools = append(p.Tools, tool)
	}
	if q.TopP > 0 {
		p.TopP = param.NewOpt(q.TopP)
	}
	if q.MaxTokens > 0 {
		p.MaxOutputTokens = param.NewOpt(int64(q.MaxTokens))
	}
	if q.Schema != nil {
		p.Text.Format = responses.ResponseFormatTextConfigParamOfJSONSchema(q.Schema.Name, q.Schema.JSON)
	}
	return p
}

// inputItems returns the items of a message. The text of an assistant has a form of its own,
// because llama.cpp refuses the short one; so has the result of a tool, because releases of the
// SDK write it differently.
func inputItems(m llm.Message) (out []responses.ResponseInputItemUnionParam) {
	switch m.Role {
	case llm.System, llm.User:
		if m.Role == llm.User && len(m.Images) > 0 {
			return append(out, item(map[string]any{"role": m.Role, "content": inputParts(m)}))
		}
		return append(out, responses.ResponseInputItemParamOfMessage(m.Content, responses.EasyInputMessageRole(m.Role)))
	case llm.ToolResult:
		return append(out, item(map[string]any{"type": "function_call_output", "call_id": m.CallID, "output": m.Content}))
	case llm.Assistant:
		if m.Content != "" || len(m.Calls) == 0 {
			out = append(out, item(map[string]any{
				"type": "message", "role": m.Role, "content": []any{map[string]any{"type": outputText, "text": m.Content}},
			}))
		}
		for _, call := range m.Calls {
			out = append(out, responses.ResponseInputItemParamOfFunctionCall(call.Arguments, call.ID, call.Name))
		}
	}
	return out
}

// item is an item with the fields of its JSON.
func item(fields map[string]any) responses.ResponseInputItemUnionParam {
	return param.Override[responses.ResponseInputItemUnionParam](fields)
}

const outputText = "output_text"

// event is an event of the protocol Responses, with the fields that are used. The type of the
// SDK has those of all events, and takes three times as long to read.
type event struct {
	Type     string          `json:"type"`
	Delta    any             `json:"delta"` // a string in the events that are used
	Index    int64           `json:"output_index"`
	Item     outputItem      `json:"item"`
	Response response        `json:"response"`
	Code     json.RawMessage `json:"code"` // of an error
	Message  string          `json:"message"`
}

// failure is the error of an answer that failed.
type failure struct {
	Code    json.RawMessage `json:"code"`
	Message string          `json:"message"`
}

// outputItem is a part of an answer: a message, a tool call or thoughts.
type outputItem struct {
	Type      string `json:"type"`
	CallID    string `json:"call_id"`
	Name      string `json:"name"`
	Arguments string `json:"arguments"`
	Content   []struct {
		Type    string `json:"type"`
		Text    string `json:"text"`
		Refusal string `json:"refusal"`
	} `json:"content"`
}

// response is an answer at its end, or a whole one.
type response struct {
	Model      string       `json:"model"`
	Status     string       `json:"status"`
	Output     []outputItem `json:"output"`
	Error      *failure     `json:"error"`
	Incomplete struct {
		Reason string `json:"reason"`
	} `json:"incomplete_details"`
	Usage struct {
		Input  int64 `json:"input_tokens"`
		Output int64 `json:"output_tokens"`
	} `json:"usage"`
}

func (c *Client) askResponses(ctx context.Context, q llmclient.Query, a *llmclient.Answer) error {
	return llmclient.Stream(ctx, c.http, "responses", responseParams(q), q, a, func(e event) { take(a, e, int64(q.MaxTokens)) })
}

// take takes an event of the protocol Responses. limit is that of the request. Thoughts are in
// events that are skipped.
func take(a *llmclient.Answer, e event, limit int64) {
	delta, _ := e.Delta.(string)
	switch e.Type {
	case "response.output_text.delta":
		a.Say(delta)
	case "response.refusal.delta":
		a.Refuse(delta)
	case "response.output_item.added":
		call(a, e.Index, e.Item)
	case "response.function_call_arguments.delta":
		a.Call(e.Index, llm.ToolCall{Arguments: delta})
	case "response.completed", "response.incomplete", "response.failed":
		end(a, e.Response, limit)
	case "error":
		a.Fail(e.Code, e.Message)
	case "": // an answer that is not streamed: see streamed
		for i, item := range e.Response.Output {
			whole(a, int64(i), item)
		}
		end(a, e.Response, limit)
	}
}

// whole takes an item of an answer that is not streamed.
func whole(a *llmclient.Answer, index int64, item outputItem) {
	call(a, index, item)
	if item.Type != "message" {
		return
	}
	for _, part := range item.Content {
		if part.Type == outputText {
			a.Say(part.Text)
		}
		a.Refuse(part.Refusal)
	}
}

// call takes an item if it is a tool call.
func call(a *llmclient.Answer, index int64, item outputItem) {
	if item.Type == "function_call" {
		a.Call(index, llm.ToolCall{ID: item.CallID, Name: item.Name, Arguments: item.Arguments})
	}
}

// end takes the end of an answer. llama.cpp calls an answer completed that its limit cut off.
func end(a *llmclient.Answer, r response, limit int64) {
	a.Model = cmp.Or(r.Model, a.Model)
	a.Usage = llm.Usage{Input: r.Usage.Input, Output: r.Usage.Output}
	switch cmp.Or(r.Incomplete.Reason, r.Status) {
	case "completed":
		a.End(llmclient.Stop)
		if limit > 0 && r.Usage.Output >= limit {
			a.End(llmclient.Length)
		}
	case "max_output_tokens":
		a.End(llmclient.Length)
	case "content_filter":
		a.End(llmclient.Filter)
	case "failed":
		failed := cmp.Or(r.Error, &failure{})
		a.Fail(failed.Code, failed.Message)
	}
}
