package offline_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/dictionary"
	"example.com/ragflow/internal/skills/offline"
	"example.com/ragflow/state"
)

// expansions returns the synonyms that are searched for besides a question.
func expansions(t *testing.T, d dictionary.Dictionary, question string) string {
	t.Helper()
	plan, err := offline.New(manual(), 0).Rewriter.WithDictionary(d).Rewrite(t.Context(), question, state.Memory{})
	if err != nil {
		t.Fatal(err)
	}
	if plan.Queries[0].Text != question || len(plan.Queries[0].Boosts) > 0 {
		t.Errorf("the first query is %+v, want the raw turn", plan.Queries[0])
	}
	for _, q := range plan.Queries[1:] {
		for _, b := range q.Boosts {
			return b.Text
		}
	}
	return ""
}

func TestDictionary(t *testing.T) { // Q05, Q06, Q13
	own, err := dictionary.Read(strings.NewReader("# ours\n\nLeave: holiday, time off\nthủ tục: cách làm\nHR: personnel\nodd words: a, b, c, d\n"))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ question, want string }{
		{"Quy định về ngân sách?", "quy chế; quy tắc; điều lệ"},
		{"Hồ sơ gồm những gì?", "giấy tờ; tài liệu; chứng từ"},
		{"Thủ tục cấp phép là gì?", "cách làm; trình tự; quy trình"},
		{"Nghị định 123/NĐ-CP nói gì?", "NĐ; nghị định của chính phủ"},
		{"QĐ của TTg là gì?", "quyết định; thủ tướng chính phủ"},
		{"Do tt and cp mean anything?", ""},
		{"How much leave do I have?", "holiday; time off"},
		{"Who is in HR here?", "personnel"},
		{"Which odd words are there?", "a; b; c"},
	} {
		if got := expansions(t, own, tt.question); got != tt.want {
			t.Errorf("%q: %q, want %q", tt.question, got, tt.want)
		}
	}
	var many, all strings.Builder
	for _, r := range "abcdefghijklmnop" {
		w := strings.Repeat(string(r), 4)
		many.WriteString(w + ": x" + w + ", y" + w + ", z" + w + "\n")
		all.WriteString(w + " ")
	}
	d, err := dictionary.Read(strings.NewReader(many.String()))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Split(expansions(t, d, all.String()), "; ")); n != 20 {
		t.Errorf("%d expansions, want 20", n)
	}
}

// TestExpansionWeights checks Q13 and W2: an added word weighs at most 0.3 of a word of the question, and all
// added words together stay within the growth limits.
func TestExpansionWeights(t *testing.T) {
	d, err := dictionary.Read(strings.NewReader("alpha: one1, two2, three3\n[concepts]\nalpha: c1 c2 c3 c4 c5, c6 c7 c8 c9 c10\n"))
	if err != nil {
		t.Fatal(err)
	}
	r := offline.New(manual(), 0).Rewriter.WithDictionary(d)
	for _, tt := range []struct {
		question string
		want     []state.Boost
	}{
		{"alpha", []state.Boost{{Text: "one1; two2; three3", Weight: 0.167}, {Text: "c1 c2 c3 c4 c5; c6 c7 c8 c9 c10", Weight: 0.05}}},
		{"alpha kettle boiler lamp", []state.Boost{{Text: "one1; two2; three3", Weight: 0.3}, {Text: "c1 c2 c3 c4 c5; c6 c7 c8 c9 c10", Weight: 0.15}}},
	} {
		if diff := cmp.Diff(tt.want, r.Boosts(tt.question, r.Expansions(tt.question))); diff != "" {
			t.Errorf("%q (-want +got):\n%s", tt.question, diff)
		}
	}
}

// TestOtherWordsChoose checks that synonyms of a dictionary, which found a passage, also choose its paragraph
// and count in its grade.
func TestOtherWordsChoose(t *testing.T) {
	l := library{page("p", "## Files\n\nErase the folder with the tool rmx.\n\n## Other\n\nThe garden has nine trees.")}
	skills, question := offline.New(l, 0), "How do I remove a directory?"
	plan, err := skills.Rewriter.Rewrite(t.Context(), question, state.Memory{})
	if err != nil {
		t.Fatal(err)
	}
	in := task(question, 0.9, l...)
	in.Queries = plan.Queries
	if got := answer(t, l, in); !strings.Contains(got.Text, "rmx") {
		t.Errorf("shown is:\n%s", got.Text)
	}
	with, _ := skills.Grader.Grade(t.Context(), plan.Queries, l.sources())
	without, _ := skills.Grader.Grade(t.Context(), plan.Queries[:1], l.sources())
	if with.Score <= without.Score {
		t.Errorf("the grade is %.4f, without the words %.4f", with.Score, without.Score)
	}
}
