package eval_test

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/eval"
)

// TestReadForms checks that the same questions in every form give the same dataset.
func TestReadForms(t *testing.T) {
	want := []eval.Item{{ID: "1", Kind: "fact", Question: "Why?", Expected: eval.Expected{ExpectedKeywords: []string{"a", "b c"}, Relevant: []string{"x.md"}}}}
	for _, tt := range []struct{ name, in string }{
		{"JSON lines", "\ufeff# a comment\r\n\r\n// another\r\n" + `  {"id":"1","question":"Why?","kind":"fact","expected_keywords":["a","b c"],"relevant":["x.md"],"own":7}` + "\r\n"},
		{"array", "\n[\n {\"id\":\"1\", \"question\":\"Why?\",\n \"kind\":\"fact\", \"expected_keywords\":[\"a\",\"b c\"],\"relevant\":[\"x.md\"]}\n]\n"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := eval.Read(strings.NewReader(tt.in))
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("items (-want +got):\n%s", diff)
			}
		})
	}
}

// TestReadGroundTruth reads datasets of other programs, whose items have no id.
func TestReadGroundTruth(t *testing.T) {
	got, err := eval.Read(strings.NewReader(`{"name": "theirs", "questions": [
  {"question": "Why?", "groundTruth": "Because."},
  {"id": "own", "question": "Who?", "relevant": ["x.md"]}
]}`))
	want := []eval.Item{
		{ID: "q1", Question: "Why?", Expected: eval.Expected{ExpectedAnswer: "Because."}},
		{ID: "own", Question: "Who?", Expected: eval.Expected{Relevant: []string{"x.md"}}},
	}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("%v, items (-want +got):\n%s", err, diff)
	}
}

func TestReadFaults(t *testing.T) {
	for _, tt := range []struct {
		name, in string
		want     []string // one for each fault, in order
	}{
		{"not closed", `{"id":"1"`, []string{"line 1: not a JSON object"}},
		{"broken", "{\"id\":\"1\",\"question\":\"q\"}\n{\"id\": é}", []string{"line 2: not a JSON object such as"}},
		{"no id", `{"question":"q"}`, []string{"line 1: no id"}},
		{"neither question nor turns", `{"id":"1"}`, []string{"either question or turns"}},
		{"both", `{"id":"1","question":"q","turns":[{"question":"q"}]}`, []string{"either question or turns"}},
		{"an id twice", `{"id":"1","question":"q"}` + "\n" + `{"id":"1","question":"r"}`, []string{`line 2: id "1" is that of line 1`}},
		{"wrong types, all at once", "\n{\"id\":7,\"question\":\"q\"}\n\n  [1]\n{\"id\":\"2\",\"question\":\"q\",\"relevant\":\"a.md\"}", []string{
			`line 2: "id" is a number, but a string is expected`,
			"line 4: not a JSON object",
			`line 5: "relevant" is a string, but a list is expected`,
		}},
		{"turns without objects", `{"id":"1","turns":["q"]}`, []string{`line 1: "turns" is a string, but an object such as {"question": "…"} is expected`}},
		{"turns out of order", `{"id":"1","turns":[{"turn":2,"question":"q"}]}`, []string{"turn 2 stands in place 1"}},
		{"blank question", `{"id":"1","question":" "}`, []string{"the question is empty"}},
		{"blank keyword", `{"id":"1","question":"q","expected_keywords":["a"," "]}`, []string{`"expected_keywords" holds an empty text`}},
		{"UTF-16", "\xff\xfe{\x00", []string{"line 1: not valid UTF-8"}},
		{"Latin-1", "\n{\"id\":\"1\",\"question\":\"caf\xe9\"}", []string{"line 2: not valid UTF-8"}},
		{"questions without a text", `{"questions":[{"question":"q"},{"groundTruth":"a"}]}`, []string{`item 2: item "q2": either question or turns`}},
		{"questions of a wrong type", `{"questions":[{"question":"q","groundTruth":7}]}`, []string{`item 1: "groundTruth" is a number`}},
		{"array not closed", `[{"id":"1","question":"q"}`, []string{"broken JSON array"}},
		{"array broken", "[\n{\"id\":\"1\",\"question\":\"q\"},\n{\"id\":\"2\" \"question\"}]", []string{"broken JSON array"}},
		{"text after an array", "[]\nmore", []string{"broken JSON array"}},
	} {
		t.Run(tt.name, func(t *testing.T) {
			items, err := eval.Read(strings.NewReader(tt.in))
			if !errors.Is(err, eval.ErrDataset) || items != nil {
				t.Fatalf("Read() = %v, %v, want ErrDataset", items, err)
			}
			got := strings.Split(strings.TrimPrefix(err.Error(), eval.ErrDataset.Error()+": "), "; l")
			for i, want := range tt.want {
				if i >= len(got) || !strings.Contains("l"+got[i], want) {
					t.Errorf("faults %q, want %q in that of place %d", got, want, i)
				}
			}
		})
	}
	if _, err := eval.ReadFile("testdata/none.jsonl"); err == nil {
		t.Error("a missing file is no error")
	}
}

// TestFaultsAreBounded checks that a dataset with many faults has a short error.
func TestFaultsAreBounded(t *testing.T) {
	_, err := eval.Read(strings.NewReader(strings.Repeat("{]\n", 5000)))
	if !errors.Is(err, eval.ErrDataset) || len(err.Error()) > 1000 {
		t.Errorf("%d bytes: %v", len(err.Error()), err)
	}
}

func TestReadEmpty(t *testing.T) {
	for _, in := range []string{"", "\ufeff", "\n\n", "# only a comment\n", "[]"} {
		if items, err := eval.Read(strings.NewReader(in)); err != nil || len(items) != 0 {
			t.Errorf("Read(%q) = %v, %v, want no items", in, items, err)
		}
	}
}

func TestReadTooMuch(t *testing.T) {
	_, err := eval.Read(strings.NewReader(strings.Repeat("\n", eval.MaxDatasetBytes+1)))
	if err == nil || !strings.Contains(err.Error(), "more than 64 MiB") {
		t.Errorf("%v, want that it is too large", err)
	}
}

func TestBuiltIn(t *testing.T) {
	sizes := map[string]int{"docker-8": 8, "guide": 8}
	for _, name := range eval.BuiltIn() {
		d, err := eval.Load(name)
		if err != nil {
			t.Fatal(err)
		}
		if got := d.Questions(); got != sizes[name] || d.Name != name {
			t.Errorf("%s: %q has %d questions, want %d", name, d.Name, got, sizes[name])
		}
		for _, item := range d.Items {
			if eval.Answerable(item.Kind) && len(item.Turns) == 0 && (len(item.ExpectedKeywords) == 0 || item.ExpectedAnswer == "" || len(item.Relevant) == 0) {
				t.Errorf("%s: %s does not say what is expected", name, item.ID)
			}
		}
	}
}

func FuzzRead(f *testing.F) {
	for _, seed := range []string{`{"id":"1","question":"q"}`, "[{}]", "id,question\n1,q\n", `{"id":"1","turns":[{"question":"q"}]}`, "[{\"id\":1}", "id;question\n\"", "\ufeff# x"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		items, err := eval.Read(bytes.NewReader(data))
		if err != nil && (!errors.Is(err, eval.ErrDataset) || items != nil) {
			t.Errorf("Read(%q) = %v, %v", data, items, err)
		}
		for _, item := range items {
			if item.ID == "" || item.Question == "" && len(item.Turns) == 0 {
				t.Errorf("Read(%q) accepted %+v", data, item)
			}
		}
	})
}
