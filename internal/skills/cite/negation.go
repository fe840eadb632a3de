package cite

import (
	"slices"
	"strings"
)

// negation finds a word that is denied in only one of the two sentences.
func negation(a *alignment) string {
	if a.claim.limited != a.said.limited { // "not before", "only after"
		return ""
	}
	words := slices.Concat(deniedAlone(a.claim, a.said), deniedAlone(a.said, a.claim))
	word := ""
	if len(words)%2 == 1 { // two negations cancel out
		word = words[0]
	}
	for _, of := range [][2]*reading{{a.claim, a.said}, {a.said, a.claim}} {
		if word == "" {
			word = a.words.negated(of[0], of[1])
		}
	}
	if word == "" {
		return ""
	}
	return "only one of the two denies “" + word + "”"
}

// deniedAlone returns words that r denies and the other sentence affirms in the same context, one for each
// negation without a counterpart. Words that the other lacks are skipped: "does not become part", "is not
// part".
func deniedAlone(r, other *reading) []string {
	var out []string
	for _, denied := range r.denials {
		if slices.ContainsFunc(denied, func(i int) bool { return other.denies(r.tokens[i].stem) }) {
			continue
		}
		first := slices.IndexFunc(denied, func(i int) bool { // not automatically removed
			t := r.tokens[i]
			return !strings.HasSuffix(t.raw, "ly") && other.has(t.stem) && !r.hasWord(t.stem, false)
		})
		if first < 0 {
			continue
		}
		if stem := r.tokens[denied[first]].stem; !slices.Contains(out, stem) && sharesContext(r, denied[first], other) {
			out = append(out, stem)
		}
	}
	return out
}

// denies reports whether a word is in a clause with a negation.
func (r *reading) denies(stem string) bool {
	return slices.ContainsFunc(r.tokens, func(t token) bool { return t.stem == stem && r.negated[t.clause] })
}

// sharesContext reports whether the other sentence has the word at i in the same context. A sentence of one
// word needs no context.
func sharesContext(r *reading, i int, other *reading) bool {
	for j, t := range other.tokens {
		if t.stem == r.tokens[i].stem && (min(len(r.content), len(other.content)) < minTerms || shareNeighbour(r, i, other, j)) {
			return true
		}
	}
	return false
}

// negated returns the word after a negation that the other sentence has in the same order without denying it.
func (l *lexicon) negated(r, other *reading) string {
	for i, t := range r.tokens {
		if !l.negates(t.raw) || i+1 == len(r.tokens) {
			continue
		}
		longest, at := 0, -1
		for j := range other.tokens {
			if n := commonRun(r, i, other, j-1, 1); n > longest {
				longest, at = n, j
			}
		}
		if longest >= minContext && !other.tokens[at].denied {
			return r.tokens[i+1].raw
		}
	}
	return ""
}
