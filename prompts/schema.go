package prompts

import (
	"maps"
	"slices"
)

// Schema is the form of the reply as a JSON schema, for models that miss the
// lines that were asked for. [ParsePreRetrieval] reads both.
func (PreRetrieval) Schema() map[string]any {
	query := map[string]any{"type": "string", "maxLength": 200}
	return object(map[string]any{"q1": query, "q2": query})
}

// Schema is the form of the reply as a JSON schema, for models that miss the
// lines that were asked for. [ParseCheckAndRefine] reads both. A score is one of
// eleven: what holds a model to a form knows no bounds of numbers everywhere.
func (CheckAndRefine) Schema() map[string]any {
	scores := make([]any, 0, 11)
	for tenths := range 11 {
		scores = append(scores, float64(tenths)/10)
	}
	return object(map[string]any{
		"score":   map[string]any{"enum": scores},
		"refined": map[string]any{"type": "string", "maxLength": 200},
	})
}

// object is the schema of an object with these members and no others.
func object(members map[string]any) map[string]any {
	return map[string]any{
		"type": "object", "properties": members, "additionalProperties": false,
		"required": slices.Sorted(maps.Keys(members)),
	}
}
