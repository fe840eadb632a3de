package cite

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/internal/text"
)

// token is a word, figure or code of a sentence.
type token struct {
	raw     string // in lower case
	stem    string // common part of the forms of a word; the digits of a number
	content bool   // not a function word
	figure  bool   // a number, in digits or spelled out
	name    bool   // capitalized, though not at the start of a sentence
	denied  bool   // in the scope of a negation
	clause  int    // number of its clause, between commas, stops and brackets
}

// reading is a sentence split into tokens.
type reading struct {
	tokens             []token
	counts             map[string]int // of stems
	content            []int          // indexes of the content tokens
	denials            [][]int        // for each negation, the content tokens in its scope
	negated            map[int]bool   // clauses with a negation
	limited, universal bool           // it restricts to one case; it says that all cases are meant
}

// maxTokens is the number of words and marks of a sentence that are compared.
const maxTokens = 400

// deniedWords is the number of content words in the scope of a negation.
const deniedWords = 4

var tokenPattern = regexp.MustCompile(`[\p{L}\p{N}_](?:[\p{L}\p{N}\p{M}_'’]|[.:/=+-]+[\p{L}\p{N}_]|,\d)*%?|[,;:.!?()|]`)

// measure is a number with its unit: 20GB.
var measure = regexp.MustCompile(`\b(\d+(?:[.,]\d+)*)(\p{L}{1,3})\b`)

// read splits a sentence into tokens.
func (l *lexicon) read(sentence string) *reading {
	r := &reading{counts: map[string]int{}, negated: map[int]bool{}}
	scope, clause := 0, 0 // content words left in the scope of a negation; number of the clause
	begins := true        // at the start of a sentence
	found := tokenPattern.FindAllString(measure.ReplaceAllString(sentence, "$1 $2"), maxTokens)
	for i, raw := range found {
		word := strings.ReplaceAll(strings.ToLower(raw), "’", "'")
		if strings.ContainsAny(word[:1], ",;:.!?()|") {
			scope, clause, begins = 0, clause+1, !strings.ContainsAny(word[:1], ",;)")
			continue
		}
		if l.openers[word] {
			clause++
		}
		t := l.token(raw, word)
		t.denied, t.clause = scope > 0, clause
		t.name = isCapital(raw) && (!begins || strings.ToUpper(raw) == raw || i+1 < len(found) && isCapital(found[i+1]) && t.content)
		begins = false
		if t.content {
			if t.denied {
				last := &r.denials[len(r.denials)-1]
				*last = append(*last, len(r.tokens))
			}
			r.content = append(r.content, len(r.tokens))
			scope--
		}
		if l.negates(word) && (i+1 == len(found) || !l.limits[strings.ToLower(found[i+1])]) {
			scope, r.negated[clause] = deniedWords, true
			r.denials = append(r.denials, nil)
		}
		r.limited, r.universal = r.limited || l.limits[word], r.universal || l.universals[word]
		r.counts[t.stem]++
		r.tokens = append(r.tokens, t)
	}
	return r
}

// token returns the token of a word, without its position. word is raw in lower case.
func (l *lexicon) token(raw, word string) token {
	digits := l.digits[word]
	t := token{raw: word, stem: word, figure: digits != "" || isDigit(rune(word[0])), content: !text.StopWord(l.language, word) && !l.negates(word)}
	code := strings.ContainsFunc(word, unicode.IsDigit) || strings.ContainsAny(word, "_=/") || strings.ContainsFunc(raw[1:], unicode.IsUpper)
	switch {
	case digits != "":
		t.stem = digits
	case !code:
		t.stem = l.stem(word)
	case groupless(word) != "":
		t.stem = groupless(word)
	}
	return t
}

func (r *reading) has(stem string) bool { return r.counts[stem] > 0 }

// hasWord reports whether a sentence contains a word, denied or not denied as asked.
func (r *reading) hasWord(stem string, denied bool) bool {
	return slices.ContainsFunc(r.tokens, func(t token) bool { return t.stem == stem && t.denied == denied })
}

// shared counts the words that two sentences share.
func (r *reading) shared(other *reading) int {
	n := 0
	for _, t := range r.tokens {
		if other.has(t.stem) {
			n++
		}
	}
	return n
}

// ends reports whether the step to i left its clause.
func (r *reading) ends(i, step int) bool {
	return i < 0 || i == len(r.tokens) || i-step >= 0 && i-step < len(r.tokens) && r.tokens[i].clause != r.tokens[i-step].clause
}

// place returns the index of the n-th content word after token i, or before it if n is negative; -1 if there
// is none.
func (r *reading) place(i, n int) int {
	at, is := slices.BinarySearch(r.content, i)
	if n > 0 && !is {
		n--
	}
	if at += n; at < 0 || at >= len(r.content) {
		return -1
	}
	return r.content[at]
}

// neighbour returns the token at that place; the zero token if there is none.
func (r *reading) neighbour(i, n int) token {
	if at := r.place(i, n); at >= 0 {
		return r.tokens[at]
	}
	return token{}
}

// unit returns the word after the figure at i; the zero token if there is none.
func (r *reading) unit(i int) token {
	if !r.tokens[i].figure || r.ends(i+1, 1) || !r.tokens[i+1].content || r.tokens[i+1].figure {
		return token{}
	}
	return r.tokens[i+1]
}

// clauseOf returns the clause of each content word; -1 for words that occur twice.
func (r *reading) clauseOf() map[string]int {
	out := map[string]int{}
	for _, i := range r.content {
		t := r.tokens[i]
		if r.counts[t.stem] > 1 {
			t.clause = -1
		}
		out[t.stem] = t.clause
	}
	return out
}

// commonRun counts the equal words after i and j in two sentences, or before them if step is -1. The end of
// both clauses counts as one.
func commonRun(a *reading, i int, b *reading, j, step int) int {
	for n := range 2 * minContext {
		i, j = i+step, j+step
		endA, endB := a.ends(i, step), b.ends(j, step)
		switch {
		case endA && endB:
			return n + 1
		case endA || endB || a.tokens[i].stem != b.tokens[j].stem:
			return n
		}
	}
	return 2 * minContext
}

// minContext is the number of equal neighbours that show that words are in the same place; at most
// 2*minContext are counted.
const minContext = 3

// shareNeighbour reports whether the words at i and j have a common content word near them.
func shareNeighbour(a *reading, i int, b *reading, j int) bool {
	for n := -nearWords; n <= nearWords; n++ {
		ours := a.neighbour(i, n)
		if n == 0 || ours.stem == "" {
			continue
		}
		for m := -nearWords; m <= nearWords; m++ {
			if m != 0 && b.neighbour(j, m).stem == ours.stem {
				return true
			}
		}
	}
	return false
}

// nearWords is the distance of a neighbour, in content words.
const nearWords = 2

// isCapital reports whether a word of at least two letters begins with a capital letter.
func isCapital(s string) bool {
	first, n := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(first) && n < len(s) && !strings.ContainsFunc(s, unicode.IsDigit)
}
