package index

import (
	"slices"
	"strings"

	"example.com/ragflow/search/text"
)

// particles are the words that make an English noun of the verb before them: to
// back up and a backup, to log in and a login.
//
//nolint:gochecknoglobals // never changed
var particles = []string{"up", "in", "out", "down", "off", "on", "over", "back", "away"}

// betweenWords are words that may stand between a verb and its particle: back it up.
//
//nolint:gochecknoglobals // never changed
var betweenWords = []string{"it", "them", "this", "that"}

// nounWeight is what the noun counts beside the verb as it was typed.
const nounWeight = 0.5

// addNouns searches besides for the nouns that the verbs of a query make with their
// particles, where the documents have them: a page about a backup rarely says "back
// up", and many say "back", and "up".
func (l *lookup) addNouns(query string, asked []text.QueryTerm) {
	for _, verb := range asked {
		next, rest := nextWord(query[verb.End:])
		if slices.Contains(betweenWords, next) {
			next, _ = nextWord(rest)
		}
		if !slices.Contains(particles, next) {
			continue
		}
		for _, t := range text.QueryTerms(l.s.db.analyzer, verb.Term+next, l.s.held) {
			if l.docFreq(t.Term) > 0 {
				l.add(t.Term, nounWeight)
			}
		}
	}
}

// nextWord returns the word of ASCII letters that a text goes on with behind a space
// or a hyphen, in lower case, and what comes after it.
func nextWord(s string) (word, rest string) {
	if s == "" || s[0] != ' ' && s[0] != '-' {
		return "", ""
	}
	s = s[1:]
	end := strings.IndexFunc(s, func(r rune) bool { return (r|0x20) < 'a' || (r|0x20) > 'z' })
	if end < 0 {
		end = len(s)
	}
	return strings.ToLower(s[:end]), s[end:]
}
