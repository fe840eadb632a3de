package openai

import (
	"encoding/json"
	"fmt"
	"strings"

	"example.com/ragflow/server/internal/door"
	"example.com/ragflow/state"
)

// message is a message of a chat, or an item of the input of a response.
type message struct {
	Type    string       `json:"type"` // of an item: empty or "message"
	Role    string       `json:"role"`
	Content door.Content `json:"content"`
}

// input is the input of a response: a text, or messages.
type input []message

// UnmarshalJSON implements json.Unmarshaler.
func (in *input) UnmarshalJSON(data []byte) error {
	var said string
	if json.Unmarshal(data, &said) == nil {
		*in = input{{Role: "user", Content: door.Content{Text: said}}}
		return nil
	}
	return json.Unmarshal(data, (*[]message)(in))
}

// question returns the question that messages end with, and what people and assistants said before. System
// messages are left out, since clients put the date into them, and so is all that concerns tools.
func question(param string, messages []message) (text string, before []state.Message, err error) {
	var all []state.Message
	for _, m := range messages {
		switch said := m.Content.Text; {
		case m.Type != "" && m.Type != "message":
		case m.Role == "user" && m.Content.Other != "":
			return "", nil, refuse(param, fmt.Sprintf("only text can be read, and there is a part of the type %q", m.Content.Other))
		case m.Role == "user":
			all = append(all, state.Message{Role: state.Human, Content: said})
		case m.Role == "assistant" && said != "":
			all = append(all, state.Message{Role: state.AI, Content: listed.ReplaceAllString(said, "")})
		}
	}
	last := len(all) - 1
	if last < 0 || all[last].Role != state.Human || strings.TrimSpace(all[last].Content) == "" {
		return "", nil, refuse(param, "the last message must be a question of the user")
	}
	return all[last].Content, all[:last:last], nil
}

// format is the form of an answer that a client wants.
type format struct {
	Type string `json:"type"`
}

// common are the parameters that both ways to ask share. Those that are not here are ignored.
type common struct {
	Model      string            `json:"model"`
	Stream     bool              `json:"stream"`
	ToolChoice json.RawMessage   `json:"tool_choice"`
	Metadata   map[string]string `json:"metadata"`
}

// check refuses what cannot be met.
func (c common) check(param string, f format) error {
	switch choice := string(c.ToolChoice); {
	case f.Type != "" && f.Type != "text":
		return refuse(param, fmt.Sprintf("answers of the form %q cannot be given: only text", f.Type))
	case choice != "" && choice != "null" && choice != `"auto"` && choice != `"none"`:
		return refuse("tool_choice", "no tool is ever called: choose auto or none")
	}
	return nil
}
