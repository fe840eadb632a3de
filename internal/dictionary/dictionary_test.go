package dictionary_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/internal/dictionary"
)

// small is a dictionary with entries of all kinds.
const small = `# ours
leave: holiday, time off
Backup: snapshot
容器: 集装箱，コンテナ

[concepts]
backup: volume, restore, archive, tape
[abbreviations]
Tp: thành phố
CI: continuous integration
`

func TestExpand(t *testing.T) { // Q05, Q06, Q13
	d, err := dictionary.Read(strings.NewReader(small))
	if err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		name, question string
		want           []dictionary.Expansion
	}{
		{"a word", "LEAVE days?", []dictionary.Expansion{{Word: "LEAVE", Kind: dictionary.Synonyms, Others: []string{"holiday", "time off"}}}},
		{"the others lead nowhere", "time off", nil},
		{"what the question says", "Is leave a Holiday?", []dictionary.Expansion{{Word: "leave", Kind: dictionary.Synonyms, Others: []string{"time off"}}}},
		{"two kinds", "backup", []dictionary.Expansion{
			{Word: "backup", Kind: dictionary.Synonyms, Others: []string{"snapshot"}},
			{Word: "backup", Kind: dictionary.Concepts, Others: []string{"volume", "restore", "archive", "tape"}},
		}},
		{"no spaces", "如何停止容器？", []dictionary.Expansion{{Word: "容器", Kind: dictionary.Synonyms, Others: []string{"集装箱", "コンテナ"}}}},
		{"no spaces, mixed", "Docker容器吗", []dictionary.Expansion{{Word: "容器", Kind: dictionary.Synonyms, Others: []string{"集装箱", "コンテナ"}}}},
		{"short for long", "Tp nào?", []dictionary.Expansion{{Word: "Tp", Kind: dictionary.Abbreviations, Others: []string{"thành phố"}}}},
		{"as it is written", "tp nào?", nil},
		{"long for short", "continuous Integration jobs", []dictionary.Expansion{{Word: "continuous Integration", Kind: dictionary.Synonyms, Others: []string{"CI"}}}},
		{"part of a code", "CI-7", nil},
		{"part of a word", "leaves", nil},
	} {
		if diff := cmp.Diff(tt.want, d.Expand(tt.question)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestBuiltIn is Q13: everyday words are known in all their forms, and those of a person come first.
func TestBuiltIn(t *testing.T) {
	own, err := dictionary.Read(strings.NewReader("erase: wipe"))
	if err != nil {
		t.Fatal(err)
	}
	d := dictionary.BuiltIn().With(own)
	for _, tt := range []struct {
		question string
		want     []dictionary.Expansion
	}{
		{"remove directory", []dictionary.Expansion{
			{Word: "remove", Kind: dictionary.Synonyms, Others: []string{"delete", "erase"}},
			{Word: "directory", Kind: dictionary.Synonyms, Others: []string{"folder"}},
		}},
		{"Deleting Directories?", []dictionary.Expansion{
			{Word: "Deleting", Kind: dictionary.Synonyms, Others: []string{"remove", "erase"}},
			{Word: "Directories", Kind: dictionary.Synonyms, Others: []string{"folder"}},
		}},
		{"erase", []dictionary.Expansion{{Word: "erase", Kind: dictionary.Synonyms, Others: []string{"wipe", "remove", "delete"}}}},
		{"a folder or directory", nil},
		{"Gdzie jest zamek?", nil},
	} {
		if diff := cmp.Diff(tt.want, d.Expand(tt.question)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.question, diff)
		}
	}
}

func TestReadRefuses(t *testing.T) {
	for in, want := range map[string]string{
		"a: b\nnonsense":                 `line 2: "nonsense" is no entry such as "leave: holiday, time off"`,
		": b":                            `line 1: ": b" is no entry such as "leave: holiday, time off"`,
		"a: , ,":                         `line 1: "a: , ," is no entry such as "leave: holiday, time off"`,
		"a: " + strings.Repeat("b", 1e5): "a line is longer than 64 KB",
		strings.Repeat("a: b\n", 1e5+1):  "more than 100000 lines",
	} {
		_, err := dictionary.Read(strings.NewReader(in))
		if err == nil || cmp.Diff(want, err.Error()) != "" {
			t.Errorf("%.20q: %v, want %s", in, err, want)
		}
	}
}

// TestLongDictionary reads a key and a question of 4,000 words, which took a minute once.
func TestLongDictionary(t *testing.T) {
	words := strings.Repeat("x ", 4000)
	d, err := dictionary.Read(strings.NewReader(words + ": y"))
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if got := d.Expand(words); len(got) != 0 || time.Since(begun) > 20*time.Second {
		t.Errorf("got %d expansions in %v", len(got), time.Since(begun))
	}
}

// FuzzDictionary: whatever a file holds, it is read or refused, and what is read
// adds at most 20 words to a question, none twice.
func FuzzDictionary(f *testing.F) {
	f.Add(small, "backup of CI in 容器")
	f.Add("\xff: \xfe, \u0301\n[", "\xff")
	f.Fuzz(func(t *testing.T, file, question string) {
		d, err := dictionary.Read(strings.NewReader(file))
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
