package anthropic

import (
	"cmp"
	"encoding/json"
	"strings"

	"example.com/ragflow/internal/llmclient"
	"example.com/ragflow/llm"
)

// Types of blocks and reasons.
const (
	textBlock   = "text"
	toolUse     = "tool_use" // also the reason why an answer with calls ends
	toolOutcome = "tool_result"
)

// params is a request.
type params struct {
	Model       string   `json:"model"`
	MaxTokens   int      `json:"max_tokens"`
	Tools       []tool   `json:"tools,omitempty"`
	System      []block  `json:"system,omitempty"`
	Messages    []turn   `json:"messages"`
	Temperature float64  `json:"temperature"`
	TopP        float64  `json:"top_p,omitempty"`
	Stop        []string `json:"stop_sequences,omitempty"`
}

type tool struct {
	Name        string         `json:"name"`
	Description string         `json:"description,omitempty"`
	Schema      map[string]any `json:"input_schema"`
}

// turn is what one side says, in blocks.
type turn struct {
	Role    llm.Role `json:"role"` // User or Assistant
	Content []block  `json:"content"`
}

// block is a part of a turn or of an answer: a text, a tool call, the result of one, or an
// image. Blocks of other types, such as thoughts, are skipped.
type block struct {
	Type    string          `json:"type"`
	Text    string          `json:"text,omitempty"`
	ID      string          `json:"id,omitempty"`
	Name    string          `json:"name,omitempty"`
	Input   json.RawMessage `json:"input,omitempty"`
	CallID  string          `json:"tool_use_id,omitempty"`
	Content any             `json:"content,omitempty"`
	Source  *imageSource    `json:"source,omitempty"`
	Cache   *cacheControl   `json:"cache_control,omitempty"`
}

// imageSource is an image.
type imageSource struct {
	Type  string `json:"type"`
	Media string `json:"media_type"`
	Data  []byte `json:"data"`
}

// cacheControl asks the provider to cache the request up to the block that has it.
type cacheControl struct {
	Type string `json:"type"`
}

// paramsOf returns the request to send. System messages are a parameter of their own. The provider reads tools before them, so one mark caches both. Request.Schema
// is ignored: not all models of the protocol can be held to one.
func paramsOf(q llmclient.Query) params {
	p := params{
		Model: q.Model, MaxTokens: cmp.Or(q.MaxTokens, DefaultTokens),
		Temperature: min(q.Temperature, 1), TopP: q.TopP, Stop: q.Stop,
	}
	var system []string
	for _, m := range q.Messages {
		switch {
		case m.Role != llm.System:
			p.add(m)
		case m.Content != "":
			system = append(system, m.Content)
		}
	}
	if len(system) > 0 {
		p.System = []block{{Type: textBlock, Text: strings.Join(system, "\n\n"), Cache: &cacheControl{Type: "ephemeral"}}}
	}
	for _, t := range q.Tools {
		p.Tools = append(p.Tools, tool{Name: t.Name, Description: t.Description, Schema: t.Parameters})
	}
	return p
}

// add appends a message. Messages of one side in a row become one turn, because turns must
// alternate. A blank text is left out, because the provider refuses it. Images come before the
// text, as Anthropic advises.
func (p *params) add(m llm.Message) {
	said := turn{Role: llm.User}
	if m.Role == llm.Assistant {
		said.Role = llm.Assistant
	}
	if m.Role == llm.User {
		for _, i := range m.Images {
			said.Content = append(said.Content, block{Type: "image", Source: &imageSource{Type: "base64", Media: i.Media, Data: i.Data}})
		}
	}
	switch {
	case m.Role == llm.ToolResult:
		said.Content = append(said.Content, block{Type: toolOutcome, CallID: m.CallID, Content: m.Content})
	case strings.TrimSpace(m.Content) != "":
		said.Content = append(said.Content, block{Type: textBlock, Text: m.Content})
	}
	for _, call := range m.Calls {
		said.Content = append(said.Content, block{Type: toolUse, ID: call.ID, Name: call.Name, Input: object(call.Arguments)})
	}
	if last := len(p.Messages) - 1; last >= 0 && p.Messages[last].Role == said.Role {
		p.Messages[last].Content = append(p.Messages[last].Content, said.Content...)
	} else if len(said.Content) > 0 {
		p.Messages = append(p.Messages, said)
	}
}

// object returns arguments of a call as a JSON object: an empty one if they are none.
func object(arguments string) json.RawMessage {
	var fields map[string]json.RawMessage
	if json.Unmarshal([]byte(arguments), &fields) != nil || fields == nil {
		return json.RawMessage("{}")
	}
	return json.RawMessage(arguments)
}

// event is an event of a stream, with the fields that are used.
type event struct {
	Type    string `json:"type"`
	Index   int64  `json:"index"`
	Message struct {
		Model   string  `json:"model"`
		Content []block `json:"content"`
		Reason  string  `json:"stop_reason"`
		Usage   usage   `json:"usage"`
	} `json:"message"` // at the beginning, or a whole answer
	Block block `json:"content_block"`
	Delta struct {
		Type   string `json:"type"`
		Text   string `json:"text"`
		JSON   string `json:"partial_json"`
		Reason string `json:"stop_reason"`
	} `json:"delta"`
	Usage usage `json:"usage"`
}

// usage counts tokens. Those of the prompt that are read from the cache or written to
// it are not among Input.
type usage struct {
	Input   int64 `json:"input_tokens"`
	Read    int64 `json:"cache_read_input_tokens"`
	Written int64 `json:"cache_creation_input_tokens"`
	Output  int64 `json:"output_tokens"`
}

// take takes an event.
func take(a *llmclient.Answer, e event) {
	switch e.Type {
	case "message_start":
		a.Model = cmp.Or(e.Message.Model, a.Model)
		count(a, e.Message.Usage)
	case "content_block_start":
		e.Block.Input = nil // it follows in pieces
		add(a, e.Index, e.Block)
	case "content_block_delta":
		switch e.Delta.Type {
		case "text_delta":
			a.Say(e.Delta.Text)
		case "input_json_delta":
			a.Call(e.Index, llm.ToolCall{Arguments: e.Delta.JSON})
		}
	case "message_delta":
		count(a, e.Usage)
		stop(a, e.Delta.Reason)
	case "": // an answer that is not streamed
		a.Model = cmp.Or(e.Message.Model, a.Model)
		count(a, e.Message.Usage)
		for i, b := range e.Message.Content {
			add(a, int64(i), b)
		}
		stop(a, e.Message.Reason)
	}
}

// add takes a block as far as it is known.
func add(a *llmclient.Answer, index int64, b block) {
	switch b.Type {
	case textBlock:
		a.Say(b.Text)
	case toolUse:
		a.Call(index, llm.ToolCall{ID: b.ID, Name: b.Name, Arguments: string(b.Input)})
	}
}

// count takes the usage so far. Some servers know that of the prompt only at the end.
func count(a *llmclient.Answer, u usage) {
	a.Usage.Input = max(a.Usage.Input, u.Input+u.Read+u.Written)
	a.Usage.Output = max(a.Usage.Output, u.Output)
}

// stop takes the reason why the answer ended.
func stop(a *llmclient.Answer, reason string) {
	switch reason {
	case "end_turn", "stop_sequence":
		a.End(llmclient.Stop)
	case "max_tokens", "model_context_window_exceeded":
		a.End(llmclient.Length)
	case "refusal":
		a.End(llmclient.Filter)
	case toolUse:
		a.End(llmclient.Tools)
		a.FillArguments()
	}
}
