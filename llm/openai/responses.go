package openai

import (
	"cmp"
	"encoding/json"

	"github.com/openai/openai-go/v3/packages/param"
	"github.com/openai/openai-go/v3/responses"

	"example.com/ragflow/llm"
)

// responseParams returns a request of the protocol Responses. The provider stores nothing.
func (c *chat) responseParams(r llm.Request) responses.ResponseNewParams {
	p := responses.ResponseNewParams{Model: c.model, Temperature: param.NewOpt(r.Temperature), Store: param.NewOpt(false)}
	for _, m := range r.Messages {
		p.Input.OfInputItemList = append(p.Input.OfInputItemList, inputItems(m)...)
	}
	for _, t := range r.Tools {
		tool := responses.ToolParamOfFunction(t.Name, t.Parameters, false) // a strict one takes not all schemas
		tool.OfFunction.Description = param.NewOpt(t.Description)
		p.Tools = append(p.Tools, tool)
	}
	if r.TopP > 0 {
		p.TopP = param.NewOpt(r.TopP)
	}
	if r.MaxTokens > 0 {
		p.MaxOutputTokens = param.NewOpt(int64(r.MaxTokens))
	}
	if r.Schema != nil {
		p.Text.Format = responses.ResponseFormatTextConfigParamOfJSONSchema(r.Schema.Name, r.Schema.JSON)
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

// event takes an event of the protocol Responses. limit is that of the request. Thoughts are in
// events that are skipped.
func (a *answer) event(e event, limit int64) {
	delta, _ := e.Delta.(string)
	switch e.Type {
	case "response.output_text.delta":
		a.say(a.thinking.next(delta))
	case "response.refusal.delta":
		a.refusal.WriteString(delta)
	case "response.output_item.added":
		a.call(e.Index, e.Item)
	case "response.function_call_arguments.delta":
		a.calls.add(e.Index, llm.ToolCall{Arguments: delta})
	case "response.completed", "response.incomplete", "response.failed":
		a.end(e.Response, limit)
	case "error":
		a.failure = &failure{Code: e.Code, Message: e.Message}
	case "": // an answer that is not streamed: see streamed
		for i, item := range e.Response.Output {
			a.whole(int64(i), item)
		}
		a.end(e.Response, limit)
	}
}

// whole takes an item of an answer that is not streamed.
func (a *answer) whole(index int64, item outputItem) {
	a.call(index, item)
	if item.Type != "message" {
		return
	}
	for _, part := range item.Content {
		if part.Type == outputText {
			a.say(a.thinking.next(part.Text))
		}
		a.refusal.WriteString(part.Refusal)
	}
}

// call takes an item if it is a tool call.
func (a *answer) call(index int64, item outputItem) {
	if item.Type == "function_call" {
		a.calls.add(index, llm.ToolCall{ID: item.CallID, Name: item.Name, Arguments: item.Arguments})
	}
}

// end takes the end of an answer. llama.cpp calls an answer completed that its limit cut off.
func (a *answer) end(r response, limit int64) {
	a.Model = cmp.Or(r.Model, a.Model)
	a.Usage = llm.Usage{Input: r.Usage.Input, Output: r.Usage.Output}
	switch cmp.Or(r.Incomplete.Reason, r.Status) {
	case "completed":
		a.finish = "stop"
		if limit > 0 && r.Usage.Output >= limit {
			a.finish = finishLength
		}
	case "max_output_tokens":
		a.finish = finishLength
	case "content_filter":
		a.finish = "content_filter"
	case "failed":
		a.failure = cmp.Or(r.Error, &failure{})
	}
}
