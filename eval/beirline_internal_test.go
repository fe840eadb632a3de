package eval

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/mutate"
)

// FuzzLineReader compares the quick way to read a line with encoding/json.
func FuzzLineReader(tf *testing.F) {
	f := mutate.New(tf)
	for _, line := range []string{
		`{"_id": "d1", "title": "A title", "text": "Some text.", "metadata": {}}`,
		`{"id":"d1","contents":"x","n":-1.5e3,"list":["}",{"a":"\"]"}],"yes":true,"no":null}`,
		` {"_id":"\u0041\ud83d\ude00\\","text":"a\"b\/\b\f\n\r\t"} `,
		`{"_id":"d1","text":"\ud83d"}`, `{"_id":"d1","text":"\ud83d\u0041"}`, `{"_id":"d1","text":"\x"}`, `{"_id":"d1","text":"\"}`,
		`{"_id":"d1","_id":"d2","text":"x"}`, `{"_id":"d1","TEXT":"x"}`, `{"_id":"d1","te\u0078t":"x"}`, `{"_id":"d1","ſ":"x","ıd":"y"}`,
		`{"_id":12,"text":"x"}`, `{"_id":"d1","text":null}`, `{"_id":"d1","text":["x"]}`, `{"id":"d0","_id":"d1","text":""}`,
		`{"_id":"d1","n":01}`, `{"_id":"d1","n":}`, `{"_id":"d1","n":[}]}`, `{"_id":"d1"} x`, `{"_id":"d1",}`, `{}`, `{`, ``, `[]`, "{\"_id\":\"a\tb\"}", `{"_id":" "}`,
	} {
		f.Add(line)
	}
	f.Fuzz(func(t *testing.T, line string) {
		line = strings.ToValidUTF8(line, "\uFFFD") // as eachLine does not let others through
		type read struct{ ID, Title, Text, Err string }
		told := func(id, title, text string, err error) read {
			if err != nil {
				return read{Err: err.Error()}
			}
			return read{id, title, text, ""}
		}
		want := told(decodeLine([]byte(line), corpusExample))
		var r lineReader
		for range 2 { // memory of the time before does not show
			if diff := cmp.Diff(want, told(r.decode([]byte(line), corpusExample))); diff != "" {
				t.Fatalf("%q (-encoding/json +ours):\n%s", line, diff)
			}
		}
	})
}

func TestMostLinesAreReadTheQuickWay(t *testing.T) {
	for _, line := range []string{
		`{"_id": "d1", "title": "A title", "text": "Some text.", "metadata": {}}`,
		`{"id": "d1", "contents": "Two\nlines, \"quoted\", \u017cle.", "metadata": {"law": "L", "list": [1, {"a": "}"}]}, "n": 12}`,
	} {
		r := lineReader{line: []byte(line)}
		if _, _, ok := r.read(); !ok {
			t.Errorf("%s is left to encoding/json", line)
		}
		line = strings.Replace(line, "d1", "", 1)
		if _, _, _, err := r.decode([]byte(line), corpusExample); err == nil {
			t.Errorf("%s has no id and is no fault", line)
		}
	}
}
