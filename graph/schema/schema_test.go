package schema_test

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	"example.com/ragflow/graph/schema"
)

func TestSchema(t *testing.T) {
	type inner struct {
		When  time.Time         `json:"when"`
		Tags  map[string]string `json:"tags,omitempty"`
		Pair  [2]uint8          `json:"pair"`
		Maybe *float64          `json:"maybe"`
		Any   any               `json:"any,omitempty"`
		Raw   json.RawMessage   `json:"raw,omitempty"`
		Bytes []byte            `json:"bytes,omitempty"`
		Kind  string            `json:"kind,omitempty" enum:"a,b" doc:"what it is"`
		none  int
	}
	_ = inner{}.none
	got, err := schema.Of(reflect.TypeFor[[]inner]())
	if err != nil {
		t.Fatal(err)
	}
	const want = `{"type":["null","array"],"items":{"type":"object","properties":{` +
		`"when":{"type":"string","pattern":"^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?(Z|[+-]\\d\\d:\\d\\d)$","format":"date-time"},` +
		`"tags":{"type":"object","additionalProperties":{"type":"string"}},` +
		`"pair":{"type":"array","items":{"type":"integer","minimum":0,"maximum":255},"minItems":2,"maxItems":2},` +
		`"maybe":{"type":["null","number"]},"any":true,"raw":{"type":["null","boolean","number","string","array","object"]},` +
		`"bytes":{"type":["null","string"]},"kind":{"type":"string","description":"what it is","enum":["a","b"]}},` +
		`"required":["when","pair"],"additionalProperties":false}}`
	if string(got) != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	type loop struct{ Next *loop }
	for _, bad := range []reflect.Type{reflect.TypeFor[loop](), reflect.TypeFor[chan int]()} {
		if _, err := schema.Of(bad); err == nil {
			t.Errorf("%v has a schema", bad)
		}
	}
}
