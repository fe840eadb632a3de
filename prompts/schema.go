package prompts

import (
	"bytes"
	"encoding/json"
)

// Schema returns a JSON schema of the reply, for models that do not write the requested
// lines. [ParsePreRetrieval] parses both forms.
func (PreRetrieval) Schema() map[string]any {
	query := map[string]any{"type": "string", "maxLength": 200}
	return object(members{{"q1", query}, {"q2", query}})
}

// Schema returns a JSON schema of the reply, for models that do not write the requested
// lines. [ParseCheckAndRefine] parses both forms. The score is an enum of eleven values,
// because not all servers support minimum and maximum. It comes first, so that a reply
// that is cut off still has it.
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

// object returns the schema of an object with exactly these members.
func object(all members) map[string]any {
	names := make([]string, len(all))
	for i, m := range all {
		names[i] = m.name
	}
	return map[string]any{"type": "object", "properties": all, "additionalProperties": false, "required": names}
}

// members are the members of an object. Models write them in the order of the schema,
// so the order is kept.
type members []member

type member struct {
	name   string
	schema map[string]any
}

// MarshalJSON writes the members in order; a map would be sorted by name.
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
