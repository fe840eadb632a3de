package offline_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/offline"
	"example.com/ragflow/state"
)

// expansions are the other words that are searched for besides a question.
func expansions(t *testing.T, d offline.Dictionary, question string) string {
	t.Helper()
	plan, err := offline.NewRewriter(docs(), nil).WithDictionary(d).Rewrite(t.Context(), question, state.Memory{})
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
	own, err := offline.ReadDictionary(strings.NewReader("# ours\n\nLeave: holiday, time off\nthủ tục: cách làm\nHR: personnel\nodd words: a, b, c, d\n"))
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
	d, err := offline.ReadDictionary(strings.NewReader(many.String()))
	if err != nil {
		t.Fatal(err)
	}
	if n := len(strings.Split(expansions(t, d, all.String()), "; ")); n != 20 {
		t.Errorf("%d expansions, want 20", n)
	}
}

func TestReadDictionaryRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"a: b\nnonsense":                 `line 2: "nonsense" is no entry such as "leave: holiday, time off"`,
		": b":                            `line 1: ": b" is no entry such as "leave: holiday, time off"`,
		"a: , ,":                         `line 1: "a: , ," is no entry such as "leave: holiday, time off"`,
		"a: " + strings.Repeat("b", 1e5): "a line is longer than 64 KB",
	} {
		_, err := offline.ReadDictionary(strings.NewReader(in))
		if err == nil || cmp.Diff(want, err.Error()) != "" {
			t.Errorf("%.20q: %v, want %s", in, err, want)
		}
	}
}
