package text

import (
	"strings"
	"sync"
)

// greekStem reduces a Greek word, in lower case, without accents and with σ at its end, to the
// common part of its inflected forms and, as far as endings allow, of verb, verbal noun and
// participle: ρυθμίζω, ρυθμίσεις and ρυθμισμένο are "ρυθμ". It is a key, not a word: it cuts one
// ending, then one suffix of verbs, and unifies the consonant that changes in the past (γράφω,
// έγραψα). No maintained Go library stems Greek.
func greekStem(w string) string {
	w = cutLongest(w, greekEndings()["inflection"], 3)
	w = cutLongest(w, greekEndings()["verb"], 4)
	for _, change := range [...][2]string{{"ψ", "φ"}, {"ξ", "γ"}, {"ζ", "σ"}} {
		if rest, ok := strings.CutSuffix(w, change[0]); ok {
			return rest + change[1]
		}
	}
	return w
}

// greekEndings are the endings of nouns, adjectives and verbs, and the suffixes of verbs before
// them.
var greekEndings = sync.OnceValue(func() map[string]map[string]bool {
	return readLists(`
inflection: α ασ εσ ε η ησ ι ο οι οσ ου ουσ ον ων υ υσ εισ εων εωσ εασ εα ια ιασ ιεσ ιο ιοι ιοσ ιου ιουσ ιων
inflection: μα ματοσ ματα ματων οντοσ οντα οντων οντασ ωντασ
inflection: ω ει ουμε ετε ειτε ουν ουνε αμε ατε αν ανε αω αει ομαι εσαι εται ομαστε εστε ονται
verb: ουμεν ομεν ημεν ωμεν ισμεν ευμεν μεν θηκ ηθηκ ωθηκ ευτηκ ιστηκ ηθ ωθ ιστ ισμ ισ ιζ ησ ωσ ων ευ ευσ ευτ ασ αζ`)
})

// cutLongest cuts the longest of some endings that leaves at least least letters.
func cutLongest(w string, endings map[string]bool, least int) string {
	starts := []int{}
	for i := range w {
		starts = append(starts, i)
	}
	for _, at := range starts[min(least, len(starts)):] {
		if endings[w[at:]] {
			return w[:at]
		}
	}
	return w
}
