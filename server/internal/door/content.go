package door

import "encoding/json"

// Content is what a message says: a text, or a list of parts whose texts belong together. Any other value has no text.
type Content struct {
	Text  string
	Other string // type of a part that is no text
}

// UnmarshalJSON implements json.Unmarshaler. It never fails.
func (c *Content) UnmarshalJSON(data []byte) error {
	var parts []struct{ Type, Text, Refusal string }
	if json.Unmarshal(data, &c.Text) == nil {
		return nil
	}
	if json.Unmarshal(data, &parts) != nil {
		c.Other = "unknown"
	}
	for _, p := range parts {
		switch p.Type {
		case "text", "input_text", "output_text":
			c.Text += p.Text
		case "refusal":
			c.Text += p.Refusal
		default:
			c.Other = p.Type
		}
	}
	return nil
}
