package cite

import (
	"cmp"
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

// Inline numbers an answer that holds no marks yet, as a list of sources for
// people wants it: " [1]" behind the first place that repeats the beginning of
// what a citation quotes, whatever the case of letters and the white space. Each
// document has one number, in the order of citations; sources[n-1] is the first
// citation of document n, whether or not its mark was placed.
//
// Nothing is taken for a pattern, and blocks of code are left as they are. Take
// the marks out and the answer is what it was.
func Inline(answer string, citations []state.Citation) (numbered string, sources []state.Citation) {
	type mark struct{ at, n int }
	var marks []mark
	code := text.Fences(answer)
	for _, c := range citations {
		n := 1 + slices.IndexFunc(sources, func(s state.Citation) bool { return s.Root == c.Root && s.Source == c.Source })
		if n == 0 {
			sources = append(sources, c)
			n = len(sources)
		}
		if at := repeats(answer, strings.TrimSpace(c.Quote), code); at > 0 && !slices.Contains(marks, mark{at, n}) {
			marks = append(marks, mark{at, n})
		}
	}
	slices.SortFunc(marks, func(a, b mark) int { return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.n, b.n)) })
	var out strings.Builder
	at := 0
	for _, m := range marks {
		out.WriteString(answer[at:m.at] + " [" + strconv.Itoa(m.n) + "]")
		at = m.at
	}
	out.WriteString(answer[at:])
	return out.String(), sources
}

// repeats returns where a mark goes for the first place of answer, outside of
// code, that repeats the beginning of quote: behind what is repeated, before a
// full stop. It is 0 where there is no such place.
func repeats(answer, quote string, code []text.Span) int {
	inWord := false
	for i, r := range answer {
		if wordRune(r) && !inWord || !wordRune(r) && !unicode.IsSpace(r) {
			if end := repeated(answer[i:], quote); end > 0 && !within(code, i, i+end) {
				return i + end
			}
		}
		inWord = wordRune(r)
	}
	return 0
}

func wordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

func within(spans []text.Span, start, end int) bool {
	return slices.ContainsFunc(spans, func(s text.Span) bool { return start < s.End && s.Start < end })
}

// repeated returns how many bytes of s repeat the beginning of quote, as far as
// whole words go and without the punctuation at their end; 0 where that is less
// than InlineRunes runes of quote, and less than all of it.
func repeated(s, quote string) int {
	i, j, runes := 0, 0, 0
	end := 0      // of the last whole word
	open := false // what is repeated ends within a word
	for i < len(s) && j < len(quote) {
		a, n := utf8.DecodeRuneInString(s[i:])
		b, m := utf8.DecodeRuneInString(quote[j:])
		if unicode.IsSpace(a) && unicode.IsSpace(b) {
			n, m = len(s[i:])-len(strings.TrimLeftFunc(s[i:], unicode.IsSpace)), len(quote[j:])-len(strings.TrimLeftFunc(quote[j:], unicode.IsSpace))
		} else if !sameLetter(a, b) {
			break
		}
		i, j = i+n, j+m
		runes++
		next, _ := utf8.DecodeRuneInString(s[i:])
		open = wordRune(a) && i < len(s) && wordRune(next)
		if wordRune(a) && !open {
			end = i
		}
	}
	if runes < minInline || runes < InlineRunes && (j < len(quote) || open) {
		return 0
	}
	return end
}

// sameLetter reports whether two runes are the same but for their case.
func sameLetter(a, b rune) bool {
	if a == utf8.RuneError || b == utf8.RuneError {
		return false
	}
	for f := unicode.SimpleFold(a); a != b && f != a; f = unicode.SimpleFold(f) {
		if f == b {
			return true
		}
	}
	return a == b
}
