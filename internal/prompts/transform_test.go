package prompts_test

import (
	"errors"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/prompts"
)

func TestParseMultiQuery(t *testing.T) { // Q07, Q09
	for _, tt := range []struct {
		name, reply string
		want        []string
	}{
		{"an array", `Sure: ["back up a volume", "save volume data", "volume archive"] Done.`, []string{"back up a volume", "save volume data", "volume archive"}},
		{"too many", `["a","b","c","d"]`, []string{"a", "b", "c"}},
		{"numbered lines", "Here they are:\n1. back up a volume\n2) \"save volume data\"\n3. archive\nGood luck!", []string{"back up a volume", "save volume data", "archive"}},
		{"broken", `["a", `, nil},
		{"other values", `[1, 2]`, nil},
		{"empty strings", `["", " "]`, nil},
		{"prose", "I cannot.", nil},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := prompts.ParseMultiQuery(tt.reply, 3)
			if _, bad := errors.AsType[*prompts.ParseError](err); bad != (tt.want == nil) {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseDecompose(t *testing.T) { // Q11
	zero := 0
	for _, tt := range []struct {
		name, reply string
		want        []prompts.Part
		bad         bool
	}{
		{"two parts", `[{"question":"Who wrote it?","dependency":null},{"question":"Where was that person born?","dependency":0}]`, []prompts.Part{{Question: "Who wrote it?"}, {Question: "Where was that person born?", Dependency: &zero}}, false},
		{"one thing", `[]`, []prompts.Part{}, false},
		{"a dependency on a later part", `[{"question":"a","dependency":1},{"question":"b","dependency":null}]`, nil, true},
		{"a cycle of one", `[{"question":"a","dependency":0},{"question":"b","dependency":null}]`, nil, true},
		{"one part", `[{"question":"a","dependency":null}]`, nil, true},
		{"five parts", `[{"question":"a"},{"question":"b"},{"question":"c"},{"question":"d"},{"question":"e"}]`, nil, true},
		{"an empty part", `[{"question":"a"},{"question":" "}]`, nil, true},
		{"prose", `No.`, nil, true},
	} {
		t.Run(tt.name, func(t *testing.T) {
			got, err := prompts.ParseDecompose(tt.reply)
			if (err != nil) != tt.bad {
				t.Errorf("error %v", err)
			}
			if diff := cmp.Diff(tt.want, got); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestParseVerify(t *testing.T) {
	for reply, want := range map[string][]bool{
		"1: yes\n2: no":                        {true, false},
		"Verdicts:\n2. **No**\n1: (p. 1) Yes.": {true, false},
		"1: yes\n1: no\n2: no\n3: yes":         {true, false},
		"No.":                                  {false},
	} {
		if got, err := prompts.ParseVerify(reply, len(want)); err != nil || !slices.Equal(got, want) {
			t.Errorf("%q: got %v, %v, want %v", reply, got, err, want)
		}
	}
	for _, reply := range []string{"", "yes, no", "1: yes", "1: yes\n2: maybe", "1: yes\n3: no", "Yesterday I did not know"} {
		if got, err := prompts.ParseVerify(reply, 2); err == nil {
			t.Errorf("%s: got %v", reply, got)
		}
	}
}

func TestParseRerank(t *testing.T) { // K03
	got, err := prompts.ParseRerank("Scores: [10, 2.5, 0]", 3)
	if err != nil || !cmp.Equal(got, []float64{1, 0.25, 0}) {
		t.Errorf("got %v, %v", got, err)
	}
	for _, reply := range []string{"[1, 2]", "[1, 2, 11]", "[1, 2, -1]", `["a", 1, 2]`, "ten, two, zero", ""} {
		if got, err := prompts.ParseRerank(reply, 3); err == nil {
			t.Errorf("%q gives %v", reply, got)
		}
	}
}
