package door_test

import (
	"encoding/json"
	"testing"

	"example.com/ragflow/server/internal/door"
)

func TestContent(t *testing.T) {
	t.Parallel()
	for body, want := range map[string]door.Content{
		`"Hello"`: {Text: "Hello"},
		`[{"type":"text","text":"Hel"},{"type":"input_text","text":"lo"}]`: {Text: "Hello"},
		`[{"type":"refusal","refusal":"No"}]`:                              {Text: "No"},
		`[{"type":"text","text":"Look"},{"type":"image_url"}]`:             {Text: "Look", Other: "image_url"},
		`null`:     {},
		`{"a": 1}`: {Other: "unknown"},
	} {
		var got struct{ Content door.Content }
		if err := json.Unmarshal([]byte(`{"content":`+body+`}`), &got); err != nil || got.Content != want {
			t.Errorf("%s: %+v, %v", body, got.Content, err)
		}
	}
}
