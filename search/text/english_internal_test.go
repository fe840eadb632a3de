package text

import (
	"strings"
	"testing"

	"github.com/kljensen/snowball/english"

	"example.com/ragflow/internal/mutate"
)

// TestEnglishStem compares with the library: for words with all endings that the
// rules name, one or two behind each other, behind beginnings of all kinds.
func TestEnglishStem(t *testing.T) {
	suffixes := strings.Fields(`s es ed ing ly sses ied ies us ss eedly ingly edly eed ational fulness iveness ization ousness biliti lessli tional
		alism aliti ation entli fulli iviti ousli anci abli alli ator enci izer bli ogi li logi alize icate ative iciti ical ful ness ement ance ence
		able ible ment ent ant ism ate iti ous ive ize ion sion tion al er ic e l ll y ying yed 's ' 's' at bl iz bb dd tt nn lity logy`)
	stems := strings.Fields(`a b y by say cry f fl fluid gener genera commun arsen hop hopp control ow ax ay tr th str be ea ie yo youth yy 7 p53 x-r
		o'b caly synonym absolut un re de in con inter micro thou rel oper rat possib skis skies dying lying tying idly gently ugly early only singly sky news
		howe atlas cosmos bias andes inning innings outing outings canning cannings herring herrings earring earrings proceed proceeds proceeded proceeding
		exceed exceeds exceeded exceeding succeed succeeds succeeded succeeding ünder 'tis`)
	stems = append(stems, strings.Repeat("longer", 11), "")
	n := 0
	compare := func(word string) {
		n++
		if got, want := englishStem(word), english.Stem(word, true); got != want {
			t.Errorf("englishStem(%q) = %q, the library says %q", word, got, want)
		}
	}
	for _, stem := range stems {
		compare(stem)
		for _, s := range suffixes {
			compare(stem + s)
			for _, more := range suffixes {
				compare(stem + s + more)
			}
		}
	}
	t.Logf("%d words", n)
}

// FuzzEnglishStem compares with the library.
func FuzzEnglishStem(tf *testing.F) {
	f := mutate.New(tf)
	for word := range strings.FieldsSeq("generalizations flying o'brien's yyyly ss ied 'ing eedly naïve") {
		f.Add(word)
	}
	f.Fuzz(func(t *testing.T, word string) {
		word = strings.Join(strings.Fields(word), "") // the library takes blanks off
		if got, want := englishStem(strings.ToLower(word)), english.Stem(strings.ToLower(word), true); got != want && len(word) > 2 {
			t.Errorf("englishStem(%q) = %q, the library says %q", word, got, want)
		}
	})
}

// BenchmarkEnglishStem stems words of all kinds.
func BenchmarkEnglishStem(b *testing.B) {
	words := strings.Fields("generalizations containers running relational cell proteins associated hopefulness expression p53 conditional mice")
	for name, stem := range map[string]func(string) string{"ours": englishStem, "library": func(w string) string { return english.Stem(w, true) }} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for i := 0; b.Loop(); i++ {
				stem(words[i%len(words)])
			}
		})
	}
}
