package prompts

import (
	"bytes"
	"encoding/json"
)

// Schema is the form of the reply as a JSON schema, for models that miss the
// lines that were asked for. [ParsePreRetrieval] reads both.
func (PreRetrieval) Schema() map[string]any {
	query := map[string]any{"type": "string", "maxLength": 200}
	return object(members{{"q1", query}, {"q2", query}})
}

// Schema is the form of the reply as a JSON schema, for models that miss the
// lines that were asked for. [ParseCheckAndRefine] reads both. A score is one of
// eleven: what holds a model to a form knows no bounds of numbers everywhere. It
// comes first, so that it is there in a reply that ends at its limit.
func (CheckAndRefine) Schema() map[string]any {
	scores := make([]any, 0, 11)
	for tenths := range 11 {
		scores = append(scores, float64(tenths)/10)
	}
	return object(members{
		{"score", map[string]any{"enum": scores}},
		{"refined", map[string]any{"type": "string", "maxLength": 200}},
	})
}

// object is the schema of an object with these members and no others.
func object(all members) map[string]any {
	names := make([]string, len(all))
	for i, m := range all {
		names[i] = m.name
	}
	return map[string]any{"type": "object", "properties": all, "additionalProperties": false, "required": names}
}

// members are the members of an object in the order in which a model writes them:
// servers go by that of the schema.
type members []member

type member struct {
	name   string
	schema map[string]any
}

// MarshalJSON implements [json.Marshaler]: a map would be written by name.
func (all members) MarshalJSON() ([]byte, error) {
	var b bytes.Buffer
	for i, m := range all {
		b.WriteByte("{,"[min(i, 1)])
		schema, err := json.Marshal(m.schema)
		if err != nil {
			return nil, err
		}
		name, err := json.Marshal(m.name)
		if err != nil {
			return nil, err
		}
		b.Write(name)
		b.WriteByte(':')
		b.Write(schema)
	}
	b.WriteByte('}')
	return b.Bytes(), nil
}
