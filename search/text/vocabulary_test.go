package text_test

import (
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"

	"example.com/ragflow/search/text"
)

// hardTexts are texts of all ways in which terms are made.
func hardTexts() []string {
	return []string{
		"", "volumes", "Containers keep their volumes; a container's data is not lost, it's 24,000 bytes (v1.2.3-rc1) of C++ and F#.",
		"docker run --mount type=bind,src=/a/b -a my_image:latest fooBar HTTPServer http://example.com/a-b?x=1",
		"tim kiem tai lieu", "Tìm kiếm tài liệu theo Nghị định 123/NĐ-CP của Chính phủ, việc đường bộ và hoà bình",
		"Die Behälter behalten ihre Daten, wenn sie gelöscht werden; der Inhalt ist nicht weg", "Les disques gardent l'image et qu'une volume",
		"Контейнеры хранят данные ёлки", "データはボリュームに保存されます 数据 볼륨", "naïve ﬁles \xff\xfe broken", strings.Repeat("x", 300) + " " + strings.Repeat("long-", 80),
		strings.Repeat("the cells of mice express proteins, and the proteins are expressed. ", 10),
	}
}

// TestVocabulary compares numbers with the terms that the analyzers give.
func TestVocabulary(t *testing.T) {
	multi := text.Multilingual()
	for _, a := range []text.Analyzer{text.For("en"), text.For("de"), text.For("vi"), text.For(""), multi} {
		v := text.NewVocabulary(a)
		langs := []string{""}
		if a == text.Analyzer(multi) {
			langs = append(multi.Codes(), "en", "vi", "")
		}
		for range 2 { // met first, and again
			for _, lang := range langs {
				for _, s := range hardTexts() {
					tokens := a.Append(nil, s)
					if a == text.Analyzer(multi) {
						tokens = multi.AppendIn(nil, s, lang)
					}
					var want, got []string
					for _, token := range tokens {
						want = append(want, token.Term)
					}
					for _, n := range v.Append(nil, s, lang) {
						got = append(got, v.Terms()[n])
					}
					slices.Sort(want)
					slices.Sort(got)
					if diff := cmp.Diff(want, got); diff != "" {
						t.Errorf("%s, %q in %q (-want +got):\n%s", a.Name(), s, lang, diff)
					}
				}
			}
		}
		for n, term := range v.Terms() {
			if got := v.Number(term); got != uint32(n) {
				t.Errorf("%s: Number(%q) = %d, want %d", a.Name(), term, got, n)
			}
		}
	}
}

// TestVocabularyAtOnce numbers the same texts in many goroutines.
func TestVocabularyAtOnce(t *testing.T) {
	v := text.NewVocabulary(text.Multilingual())
	var numbering sync.WaitGroup
	got := make([][]uint32, 8)
	for i := range got {
		numbering.Go(func() {
			for _, s := range hardTexts() {
				got[i] = v.Append(got[i], s, "en")
			}
		})
	}
	numbering.Wait()
	for i := range got {
		if diff := cmp.Diff(got[0], got[i]); diff != "" {
			t.Errorf("goroutines 0 and %d (-want +got):\n%s", i, diff)
		}
	}
}

// BenchmarkVocabulary numbers the terms of an abstract; compare with
// BenchmarkAnalyze.
func BenchmarkVocabulary(b *testing.B) {
	v := text.NewVocabulary(text.Multilingual())
	s := strings.Repeat("The expression of proteins in cells of mice (p53, IL-2) was significantly higher than in 24,000 controls. ", 14)
	var numbers []uint32
	b.SetBytes(int64(len(s)))
	for b.Loop() {
		numbers = v.Append(numbers[:0], s, "en")
	}
}
