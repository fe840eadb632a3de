package prompts

import "encoding/json"

// Schema returns a JSON schema of the reply, for models that do not write the requested
// lines. [ParsePreRetrieval] parses both forms.
func (PreRetrieval) Schema() map[string]any {
	return object(`{"q1":{"maxLength":200,"type":"string"},"q2":{"maxLength":200,"type":"string"}}`, "q1", "q2")
}

// Schema returns a JSON schema of the reply, for models that do not write the requested
// lines. [ParseCheckAndRefine] parses both forms. The score is an enum of eleven values,
// because not all servers support minimum and maximum. It comes first, so that a reply
// that is cut off still has it.
func (CheckAndRefine) Schema() map[string]any {
	return object(`{"score":{"enum":[0,0.1,0.2,0.3,0.4,0.5,0.6,0.7,0.8,0.9,1]},"refined":{"maxLength":200,"type":"string"}}`, "score", "refined")
}

// object returns the schema of an object with exactly these properties. They are JSON,
// because models write them in the order of the schema and a map has none.
func object(properties string, names ...string) map[string]any {
	return map[string]any{"type": "object", "properties": json.RawMessage(properties), "additionalProperties": false, "required": names}
}
