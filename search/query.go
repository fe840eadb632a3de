package search

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/state"
)

// ParseQuery reads a query as people type it: "words in quotes" must be adjacent, and
// -word and -"several words" must not occur. Everything else, and the words in quotes,
// is searched for. A minus counts only before a word of at least three letters or
// digits that begins with a letter, and only where something is left to search for, so
// that "docker run -it" is searched for as it is.
func ParseQuery(query string) state.Query {
	q := state.Query{Weight: 1, Attempt: 1}
	var kept strings.Builder
	for rest := query; rest != ""; {
		minus := strings.HasPrefix(rest, "-") && (kept.Len() == 0 || endsWithSpace(kept.String()))
		phrase, after, quoted := cutQuoted(strings.TrimPrefix(rest, "-"))
		switch {
		case quoted && minus:
			q.Without, rest = append(q.Without, phrase), after
			continue
		case quoted && !strings.HasPrefix(rest, "-"):
			q.Phrases, rest = append(q.Phrases, phrase), after
			kept.WriteString(phrase)
			continue
		case minus:
			if word := leadingWord(rest[1:]); utf8.RuneCountInString(word) >= 3 {
				q.Without, rest = append(q.Without, word), rest[1+len(word):]
				continue
			}
		}
		_, n := utf8.DecodeRuneInString(rest)
		if !strings.HasPrefix(rest, "-") && len(after) < len(rest) { // quotes without a word
			n = len(rest) - len(after)
		}
		kept.WriteString(rest[:n])
		rest = rest[n:]
	}
	q.Text = strings.Join(strings.Fields(kept.String()), " ")
	if q.Text == "" { // nothing is left to search for
		return state.Query{Text: query, Weight: 1, Attempt: 1}
	}
	return q
}

func endsWithSpace(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(s)
	return unicode.IsSpace(r)
}

// cutQuoted cuts off a quoted phrase at the beginning of s. ok reports whether the
// phrase has a word.
func cutQuoted(s string) (phrase, rest string, ok bool) {
	open, size := utf8.DecodeRuneInString(s)
	var closing string
	switch open {
	case '"':
		closing = `"`
	case '“', '„', '”':
		closing = `”“"`
	case '«':
		closing = `»`
	case '「':
		closing = `」`
	default:
		return "", s, false
	}
	end := strings.IndexAny(s[size:], closing)
	if end < 0 {
		return "", s, false
	}
	phrase = strings.TrimSpace(s[size : size+end])
	_, last := utf8.DecodeRuneInString(s[size+end:])
	return phrase, s[size+end+last:], len(wordsIn(phrase)) > 0
}

// leadingWord returns the word that s begins with, including hyphens.
func leadingWord(s string) string {
	if r, _ := utf8.DecodeRuneInString(s); !unicode.IsLetter(r) {
		return ""
	}
	end := strings.IndexFunc(s, func(r rune) bool { return !isWordRune(r) && r != '-' && r != '_' })
	if end < 0 {
		end = len(s)
	}
	return strings.TrimRight(s[:end], "-")
}

func isWordRune(r rune) bool { return unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r) }

// wordsIn returns the words of a text as they are written.
func wordsIn(s string) []string {
	return strings.FieldsFunc(s, func(r rune) bool { return !isWordRune(r) })
}

// Character classes of phrasePattern: what is in no word, and letters of scripts that do not
// separate words by spaces.
const (
	noWord   = `[^\pL\p{Nd}\pM]`
	unspaced = `[\p{Han}\p{Hiragana}\p{Katakana}\p{Thai}\p{Lao}\p{Khmer}\p{Myanmar}]`
)

// phrasePattern matches a text in lower case that has the words of a phrase one after the
// other, with no other word between them.
func phrasePattern(phrase string) (*regexp.Regexp, error) {
	words := wordsIn(strings.ToLower(phrase))
	beginsUnspaced := regexp.MustCompile(`^` + unspaced)
	pattern := `(?:^|` + noWord + `|` + unspaced + `)`
	for i, w := range words {
		switch {
		case i > 0 && beginsUnspaced.MatchString(w):
			pattern += noWord + `*`
		case i > 0:
			pattern += noWord + `+`
		}
		pattern += regexp.QuoteMeta(w)
	}
	return regexp.Compile(pattern + `(?:$|` + noWord + `|` + unspaced + `)`)
}
