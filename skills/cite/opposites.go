package cite

import (
	_ "embed" // the pairs
	"slices"
	"strings"
	"sync"

	"example.com/ragflow/search/text"
)

//go:embed opposites.txt
var opposites string

// oppositesOf are the stems of the opposites of a stem.
var oppositesOf = sync.OnceValue(func() map[string][]string {
	analyzer := text.For("en")
	stem := func(word string) string {
		if terms := analyzer.Analyze(word); len(terms) > 0 {
			return terms[0].Term
		}
		return word
	}
	out := map[string][]string{}
	for line := range strings.Lines(opposites) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		for pair := range strings.FieldsSeq(line) {
			a, b, _ := strings.Cut(pair, "/")
			a, b = stem(a), stem(b)
			out[a], out[b] = append(out[a], b), append(out[b], a)
		}
	}
	return out
})

// opposing are prefixes that turn a word into its opposite.
var opposing = []string{"un", "in", "im", "ir", "il", "dis", "non", "de", "anti", "mis"}

// areOpposite reports whether two stems are of words that exclude each other.
func areOpposite(a, b string) bool {
	if a == b {
		return false
	}
	for _, ending := range []string{"", "er", "est"} { // larger, smaller
		short, isA := strings.CutSuffix(a, ending)
		other, isB := strings.CutSuffix(b, ending)
		if isA && isB && slices.Contains(oppositesOf()[short], other) {
			return true
		}
	}
	if len(a) > len(b) {
		a, b = b, a
	}
	if rest, ok := strings.CutPrefix(b, "down"); ok {
		return strings.TrimPrefix(a, "up") == rest
	}
	return len(a) >= 4 && slices.ContainsFunc(opposing, func(p string) bool { return b == p+a })
}
