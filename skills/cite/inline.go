package cite

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
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
// sources[n-1] is the first citation of document n, whether or not its mark was placed.
func Inline(answer string, citations []state.Citation) (numbered string, sources []state.Citation) {
	for _, c := range citations {
		n := 1 + slices.IndexFunc(sources, func(s state.Citation) bool { return s.Root == c.Root && s.Source == c.Source })
		if n == 0 {
			sources = append(sources, c)
			n = len(sources)
		}
		words := strings.Fields(strings.TrimRight(text.First(strings.ToValidUTF8(c.Quote, ""), InlineRunes), ".,;:!?"))
		if utf8.RuneCountInString(strings.Join(words, " ")) < minInline {
			continue
		}
		for i := range words {
			words[i] = regexp.QuoteMeta(words[i])
		}
		mark := " [" + strconv.Itoa(n) + "]"
		place := regexp.MustCompile(`(?i)` + strings.Join(words, `\s+`) + `(?: \[\d+\])*`).FindStringIndex(answer)
		if place != nil && !strings.Contains(answer[place[0]:place[1]], mark) {
			answer = answer[:place[1]] + mark + answer[place[1]:]
		}
	}
	return answer, sources
}
