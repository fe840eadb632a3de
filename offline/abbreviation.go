package offline

import (
	"regexp"
	"strings"
)

// askedAbbreviation is the abbreviation in capitals that a question for a definition
// asks about, "" where it asks about more: "What is MVCC?".
func (s *selection) askedAbbreviation() string {
	if len(s.own) != 1 {
		return ""
	}
	for _, w := range capitals.FindAllString(s.question, -1) {
		if s.lex.set(w).has(s.own[0].term) {
			return w
		}
	}
	return ""
}

var capitals = regexp.MustCompile(`\b\p{Lu}[\p{Lu}\p{Nd}]{1,7}\b`)

// spellsOut reports whether a text writes an abbreviation out, with it in brackets
// behind the words or they behind it: "multiversion concurrency control (MVCC)". The
// words begin with its first letter, the last of them or the one before it with its last one.
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
	initial := func(w string) byte { return strings.ToUpper(strings.TrimLeft(w, `"'“‘*_`))[:1][0] }
	last := len(words) - 1
	if last < 1 || strings.Trim(words[last], `"'“‘*_`) == "" || initial(words[last]) != abbreviation[len(abbreviation)-1] {
		return false
	}
	for k := last - 1; k >= 0 && last-k <= len(abbreviation)+2; k-- {
		if strings.Trim(words[k], `"'“‘*_`) != "" && initial(words[k]) == abbreviation[0] {
			return true
		}
	}
	return false
}
