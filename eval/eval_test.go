package eval_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/eval"
)

func TestRead(t *testing.T) {
	items, err := eval.Read(strings.NewReader("\ufeff" + `{"id":"q1","lang":"en","kind":"fact","question":"Why?","expected_keywords":["so"],"expected_answer":"So.","relevant":["a.md"]}

{"id":"d1","lang":"en","turns":[{"turn":1,"question":"What?","relevant":["b.md"]}]}
`))
	want := []eval.Item{
		{ID: "q1", Lang: "en", Kind: "fact", Question: "Why?", Expected: eval.Expected{
			ExpectedKeywords: []string{"so"}, ExpectedAnswer: "So.", Relevant: []string{"a.md"},
		}},
		{ID: "d1", Lang: "en", Turns: []eval.Turn{{Turn: 1, Question: "What?", Expected: eval.Expected{Relevant: []string{"b.md"}}}}},
	}
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(want, items); diff != "" {
		t.Errorf("items (-want +got):\n%s", diff)
	}
}

func TestKeywordShare(t *testing.T) {
	for _, tt := range []struct {
		name, answer string
		keywords     []string
		want         float64
	}{
		{"case and space", "Run  `Docker\n Swarm` now", []string{"docker swarm"}, 1},
		{"a short number stands alone", "100 or 4.5 or v5 or 57", []string{"10", "5", "7"}, 0},
		{"at the end of a sentence", "It is 10. Or (5), or 7", []string{"10", "5", "7"}, 1},
		{"with a unit", "700m of swap and 50% of RAM", []string{"700", "50%"}, 1},
		{"a fraction goes on", "version 4.8.1", []string{"4.8"}, 0},
		{"half of them", "alpha", []string{"alpha", "beta"}, 0.5},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got, ok := eval.KeywordShare(tt.answer, tt.keywords); !ok || got != tt.want {
				t.Errorf("KeywordShare() = %v, %v, want %v", got, ok, tt.want)
			}
		})
	}
	if _, ok := eval.KeywordShare("x", nil); ok {
		t.Error("nothing expected, yet there is a share")
	}
}

func TestRanks(t *testing.T) {
	pages := []string{"a", "a", "b", "a", "c"}
	for want, relevant := range map[int][]string{1: {"a"}, 2: {"b", "c"}, 3: {"c"}, 0: {"d"}} {
		if got := eval.PageRank(pages, relevant); got != want {
			t.Errorf("PageRank(%v) = %d, want %d", relevant, got, want)
		}
	}
}

func TestBootstrap(t *testing.T) {
	values := []float64{0, 1, 1, 0, 1, 1, 1, 0, 1, 1}
	got := eval.Bootstrap(values)
	if got != eval.Bootstrap(values) {
		t.Error("two intervals of the same values differ")
	}
	if m := eval.Mean(values); !(got.Low < m && m < got.High && got.Low >= 0.3 && got.High <= 1) {
		t.Errorf("interval %v around %v", got, m)
	}
	if got := eval.Bootstrap(nil); got != (eval.Interval{}) {
		t.Errorf("interval of nothing = %v", got)
	}
}

func ExampleKeywordShare() {
	share, _ := eval.KeywordShare("Use `docker update --restart unless-stopped web`.", []string{"unless-stopped", "docker update", "10"})
	fmt.Printf("%.2f\n", share)
	// Output: 0.67
}
