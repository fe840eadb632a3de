package cite

import (
	"cmp"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// InlineRunes is how much of a cited text an answer has to repeat to be numbered
// by [Inline] (X15); all of a text that is shorter.
const InlineRunes = 50

// minInline is how many runes of a text say where it comes from: "Yes." stands
// in many documents.
const minInline = 10

// Inline numbers an answer that holds no marks yet: " [1]" behind the first place
// that repeats the beginning of what a citation quotes, whatever the case of letters
// and the white space. Each document has one number, in the order of citations;
// sources[n-1] is the first citation of document n, whether or not its mark was
// placed. Blocks of code are left as they are.
func Inline(answer string, citations []state.Citation) (numbered string, sources []state.Citation) {
	type mark struct{ at, n int }
	var marks []mark
	for _, c := range citations {
		n := 1 + slices.IndexFunc(sources, func(s state.Citation) bool { return s.Root == c.Root && s.Source == c.Source })
		if n == 0 {
			sources = append(sources, c)
			n = len(sources)
		}
		if at := repeats(answer, c.Quote); at > 0 && !slices.Contains(marks, mark{at, n}) {
			marks = append(marks, mark{at, n})
		}
	}
	slices.SortFunc(marks, func(a, b mark) int { return cmp.Or(cmp.Compare(b.at, a.at), cmp.Compare(b.n, a.n)) })
	for _, m := range marks { // the last first
		answer = answer[:m.at] + " [" + strconv.Itoa(m.n) + "]" + answer[m.at:]
	}
	return answer, sources
}

// repeats returns the end of the first place of answer, outside of code, that
// repeats the beginning of quote, as far as whole words go and without the
// punctuation at its end; 0 where there is none.
func repeats(answer, quote string) int {
	quote = strings.TrimSpace(strings.ToValidUTF8(quote, ""))
	if start := text.First(quote, InlineRunes); start != quote {
		if next, _ := utf8.DecodeRuneInString(quote[len(start):]); isWordRune(next) {
			start = strings.TrimRightFunc(start, isWordRune)
		}
		quote = start
	}
	if quote = strings.TrimRightFunc(quote, func(r rune) bool { return !isWordRune(r) }); utf8.RuneCountInString(quote) < minInline {
		return 0
	}
	words := strings.Fields(quote)
	for i := range words {
		words[i] = regexp.QuoteMeta(words[i])
	}
	code := text.Fences(answer)
	for _, at := range regexp.MustCompile(`(?i)`+strings.Join(words, `\s+`)).FindAllStringIndex(answer, -1) {
		before, _ := utf8.DecodeLastRuneInString(answer[:at[0]])
		after, _ := utf8.DecodeRuneInString(answer[at[1]:])
		inCode := slices.ContainsFunc(code, func(s text.Span) bool { return at[0] < s.End && s.Start < at[1] })
		if !inCode && !unicode.IsLetter(before) && !isWordRune(after) {
			return at[1]
		}
	}
	return 0
}
