package offline

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// abbreviations are those in capitals that a question names ("What is MVCC?"), by the
// terms that the lexicon has for them; nil for most questions.
func (l lexicon) abbreviations(question string) map[string]string {
	var out map[string]string
	for _, w := range capitals.FindAllString(question, -1) {
		for t := range l.set(w) {
			if out == nil {
				out = map[string]string{}
			}
			out[t] = w
		}
	}
	return out
}

var capitals = regexp.MustCompile(`\b\p{Lu}[\p{Lu}\p{Nd}]{1,7}\b`)

// spellsOut reports whether a text writes an abbreviation out, with it in brackets
// behind the words or they behind it: "multiversion concurrency control (MVCC)". The
// first of the words begins with its first letter, the last one with its last.
func spellsOut(said, abbreviation string) bool {
	for from := 0; ; {
		i := strings.Index(said[from:], abbreviation)
		if i < 0 {
			return false
		}
		at := from + i
		from = at + len(abbreviation)
		before, behind := said[:at], said[from:]
		switch {
		case strings.HasSuffix(before, "(") && strings.HasPrefix(behind, ")"):
			if initialsEnd(strings.Fields(strings.TrimSuffix(before, "(")), abbreviation) {
				return true
			}
		case strings.HasSuffix(before, ", ") && strings.HasPrefix(behind, ")"): // (multiversion concurrency control, MVCC)
			open := strings.LastIndexByte(before, '(')
			if open >= 0 && initialsEnd(strings.Fields(strings.TrimSuffix(before[open+1:], ", ")), abbreviation) {
				return true
			}
		case strings.HasPrefix(behind, " ("):
			words, _, closed := strings.Cut(behind[2:], ")")
			if closed && initialsEnd(strings.Fields(words), abbreviation) {
				return true
			}
		}
	}
}

// initialsEnd reports whether the last words of a text may be those of an abbreviation.
func initialsEnd(words []string, abbreviation string) bool {
	initial := func(w string) rune {
		r, _ := utf8.DecodeRuneInString(strings.TrimLeft(w, `"'“‘*_`))
		return unicode.ToUpper(r)
	}
	first, _ := utf8.DecodeRuneInString(abbreviation)
	end, _ := utf8.DecodeLastRuneInString(abbreviation)
	last := len(words) - 1
	if last < 1 || initial(words[last]) != end {
		return false
	}
	from := max(0, last-len(abbreviation)-2)
	return slices.ContainsFunc(words[from:last], func(w string) bool { return initial(w) == first })
}
