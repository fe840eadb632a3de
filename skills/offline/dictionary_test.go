package offline_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/skills/offline"
	"example.com/ragflow/state"
)

// expansions are the other words that are searched for besides a question.
func expansions(t *testing.T, d offline.Dictionary, question string) string {
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

// written is one dictionary in both forms.
const (
	plainDictionary = `# ours
leave: holiday, time off
Backup: snapshot
容器: 集装箱，コンテナ

[concepts]
backup: volume, restore, archive, tape
[abbreviations]
Tp: thành phố
CI: continuous integration
`
)

func TestDictionaryForms(t *testing.T) { // Q05, Q06, Q13
	read := func(d offline.Dictionary, err error) offline.Dictionary {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return d
	}
	for form, d := range map[string]offline.Dictionary{
		"plain": read(offline.ReadDictionary(strings.NewReader(plainDictionary))),
	} {
		for _, tt := range []struct {
			name, question string
			want           []offline.Expansion
		}{
			{"a word", "LEAVE days?", []offline.Expansion{{"LEAVE", offline.Synonyms, []string{"holiday", "time off"}}}},
			{"the others lead nowhere", "time off", nil},
			{"what the question says", "Is leave a Holiday?", []offline.Expansion{{"leave", offline.Synonyms, []string{"time off"}}}},
			{"two kinds", "backup", []offline.Expansion{
				{"backup", offline.Synonyms, []string{"snapshot"}},
				{"backup", offline.Concepts, []string{"volume", "restore", "archive", "tape"}},
			}},
			{"no spaces", "如何停止容器？", []offline.Expansion{{"容器", offline.Synonyms, []string{"集装箱", "コンテナ"}}}},
			{"no spaces, mixed", "Docker容器吗", []offline.Expansion{{"容器", offline.Synonyms, []string{"集装箱", "コンテナ"}}}},
			{"short for long", "Tp nào?", []offline.Expansion{{"Tp", offline.Abbreviations, []string{"thành phố"}}}},
			{"as it is written", "tp nào?", nil},
			{"long for short", "continuous Integration jobs", []offline.Expansion{{"continuous Integration", offline.Synonyms, []string{"CI"}}}},
			{"part of a code", "CI-7", nil},
			{"part of a word", "leaves", nil},
		} {
			if diff := cmp.Diff(tt.want, d.Expand(tt.question)); diff != "" {
				t.Errorf("%s, %s (-want +got):\n%s", form, tt.name, diff)
			}
		}
	}
}

// TestExpansionWeights is Q13 beside W2: a word that is added weighs 0.3 of one that
// was asked at most, and all of them together no more than the factors let a query
// grow by.
func TestExpansionWeights(t *testing.T) {
	d, err := offline.ReadDictionary(strings.NewReader("alpha: one1, two2, three3\n[concepts]\nalpha: c1 c2 c3 c4 c5, c6 c7 c8 c9 c10\n"))
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

func TestReadDictionaryRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"a: b\nnonsense":                 `line 2: "nonsense" is no entry such as "leave: holiday, time off"`,
		": b":                            `line 1: ": b" is no entry such as "leave: holiday, time off"`,
		"a: , ,":                         `line 1: "a: , ," is no entry such as "leave: holiday, time off"`,
		"a: " + strings.Repeat("b", 1e5): "a line is longer than 64 KB",
		strings.Repeat("a: b\n", 1e5+1):  "more than 100000 lines",
	} {
		_, err := offline.ReadDictionary(strings.NewReader(in))
		if err == nil || cmp.Diff(want, err.Error()) != "" {
			t.Errorf("%.20q: %v, want %s", in, err, want)
		}
	}
}

// FuzzDictionary: whatever a file holds, it is read or refused, and what is read
// adds at most 20 words to a question, none twice.
// TestLongDictionary reads a key and a question of 4,000 words, which took a minute once.
func TestLongDictionary(t *testing.T) {
	words := strings.Repeat("x ", 4000)
	d, err := offline.ReadDictionary(strings.NewReader(words + ": y"))
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if got := d.Expand(words); len(got) != 0 || time.Since(begun) > 20*time.Second {
		t.Errorf("got %d expansions in %v", len(got), time.Since(begun))
	}
}

func FuzzDictionary(f *testing.F) {
	f.Add(plainDictionary, "backup of CI in 容器")
	f.Add("\xff: \xfe, \u0301\n[", "\xff")
	f.Fuzz(func(t *testing.T, file, question string) {
		d, err := offline.ReadDictionary(strings.NewReader(file))
		if err != nil || len(file)+len(question) > 2000 { // larger ones are slow to minimise
			return
		}
		n, seen := 0, map[string]bool{}
		for _, x := range d.Expand(question) {
			if !strings.Contains(question, x.Word) || len(x.Others) == 0 {
				t.Fatalf("%+v of %q", x, question)
			}
			for _, o := range x.Others {
				if n++; seen[o] {
					t.Fatalf("%q twice for %q", o, question)
				}
				seen[o] = true
			}
		}
		if n > 20 {
			t.Fatalf("%d words for %q", n, question)
		}
	})
}
