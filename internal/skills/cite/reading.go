package cite

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/search/text"
)

// token is a word, figure or code of a sentence.
type token struct {
	raw     string // in lower case
	stem    string // what all forms of a word have in common; the digits of a number
	content bool   // no function word
	figure  bool   // a number, in digits or not
	name    bool   // with a capital letter though it begins no sentence
	denied  bool   // a negation before it acts on it
	clause  int    // number of its part between commas, stops and brackets
}

// reading is a sentence taken apart.
type reading struct {
	tokens             []token
	counts             map[string]int // of stems
	content            []int          // indexes of the content tokens
	denials            [][]int        // for each negation the content tokens that it acts on
	negated            map[int]bool   // clauses with a negation
	limited, universal bool           // it says that something is so in one case alone, in every case
}

// maxTokens is how many words and marks of a sentence are compared.
const maxTokens = 400

// deniedWords is how many content words a negation acts on.
const deniedWords = 4

var tokenPattern = regexp.MustCompile(`[\p{L}\p{N}_](?:[\p{L}\p{N}\p{M}_'’]|[.:/=+-]+[\p{L}\p{N}_]|,\d)*%?|[,;:.!?()|]`)

// measure is a number with its unit: 20GB.
var measure = regexp.MustCompile(`\b(\d+(?:[.,]\d+)*)(\p{L}{1,3})\b`)

// read takes a sentence apart.
func (l *lexicon) read(sentence string) *reading {
	r := &reading{counts: map[string]int{}, negated: map[int]bool{}}
	scope, clause := 0, 0 // content words that a negation still acts on; number of the clause
	begins := true        // a sentence
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

// token makes the token of a word, without its place. word is raw in lower case.
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

// says reports whether a sentence has a word in a place where it is denied, or is not.
func (r *reading) says(stem string, denied bool) bool {
	return slices.ContainsFunc(r.tokens, func(t token) bool { return t.stem == stem && t.denied == denied })
}

// shared counts the words of a sentence that another has, too.
func (r *reading) shared(other *reading) int {
	n := 0
	for _, t := range r.tokens {
		if other.has(t.stem) {
			n++
		}
	}
	return n
}

// ends reports whether a clause ended before the word at i, to which a step led.
func (r *reading) ends(i, step int) bool {
	return i < 0 || i == len(r.tokens) || i-step >= 0 && i-step < len(r.tokens) && r.tokens[i].clause != r.tokens[i-step].clause
}

// place returns the place of the content word that stands n content words behind token i, or
// before it if n is negative; -1 if there is none.
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

// neighbour returns the word at a place; the zero token if there is none.
func (r *reading) neighbour(i, n int) token {
	if at := r.place(i, n); at >= 0 {
		return r.tokens[at]
	}
	return token{}
}

// unit returns the word behind the figure at i; the zero token if there is none.
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

// run counts the words that follow in two sentences on the words at i and j, or stand
// before them if step is -1. The end of both clauses counts as one.
func run(a *reading, i int, b *reading, j, step int) int {
	for n := range 2 * likeness {
		i, j = i+step, j+step
		endA, endB := a.ends(i, step), b.ends(j, step)
		switch {
		case endA && endB:
			return n + 1
		case endA || endB || a.tokens[i].stem != b.tokens[j].stem:
			return n
		}
	}
	return 2 * likeness
}

// likeness is how many words beside others show their place; 2*likeness are the most that count.
const likeness = 3

// company reports whether the words at i of one sentence and j of the other have a content
// word near them in common.
func company(a *reading, i int, b *reading, j int) bool {
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

// nearWords is how far, in content words, the company of a word reaches.
const nearWords = 2

// isCapital reports whether a word of two letters or more begins with a capital letter.
func isCapital(s string) bool {
	first, n := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(first) && n < len(s) && !strings.ContainsFunc(s, unicode.IsDigit)
}
