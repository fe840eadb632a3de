package langgraph

import (
	"encoding/json"
	"slices"
)

// inputOf is an input as graphs get it: its messages have an id and a type, and nothing that says nothing.
func inputOf(body json.RawMessage) json.RawMessage {
	var in map[string]json.RawMessage
	var list []map[string]json.RawMessage
	if json.Unmarshal(body, &in) != nil || json.Unmarshal(in["messages"], &list) != nil || len(list) == 0 {
		return body
	}
	for _, m := range list {
		for k, v := range m {
			if slices.Contains([]string{"null", "{}", "[]", "false"}, string(v)) {
				delete(m, k)
			}
		}
		if m["type"] == nil && m["role"] != nil {
			m["type"] = m["role"]
			if kind := map[string]string{`"user"`: `"human"`, `"assistant"`: `"ai"`}[string(m["role"])]; kind != "" {
				m["type"] = json.RawMessage(kind)
			}
			delete(m, "role")
		}
		if m["id"] == nil {
			m["id"] = json.RawMessage(`"` + newID() + `"`)
		}
	}
	in["messages"], _ = json.Marshal(list) // it was decoded from JSON
	out, _ := json.Marshal(in)             // as above
	return out
}
