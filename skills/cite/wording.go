package cite

import (
	"regexp"
	"slices"
	"strings"
	"sync"
	"unicode"

	"example.com/ragflow/search/text"
)

// token is a word, figure or code of a sentence.
type token struct {
	raw     string // in lower case
	stem    string // what all forms of a word have in common
	content bool   // no stop word
	literal bool   // a figure, or a name of code
	figure  bool   // a number, in digits or not
	name    bool   // with a capital letter though it begins no sentence
	denied  bool   // a negation before it acts on it
	clause  int    // number of its part between commas, stops and brackets
}

// wording is a sentence taken apart for the comparison with another.
type wording struct {
	tokens  []token
	stems   map[string]bool
	content []int   // indexes of the tokens that are no stop words
	denials [][]int // for each negation the content words that it acts on
	only    bool    // says that something is so in one case alone
}

// maxTokens is how many words and marks of a sentence are compared.
const maxTokens = 400

// deniedWords is how many content words a negation acts on.
const deniedWords = 4

var tokenPattern = regexp.MustCompile(`[\p{L}\p{N}_](?:[\p{L}\p{N}\p{M}_'’]|[.:/=+-]+[\p{L}\p{N}_])*%?|[,;:.!?()|]`)

func wordingOf(language, sentence string) wording {
	w := wording{stems: map[string]bool{}}
	scope, clause := 0, 0 // content words that a negation still acts on; number of the clause
	found := tokenPattern.FindAllString(sentence, maxTokens)
	for i, raw := range found {
		lower := strings.ReplaceAll(strings.ToLower(raw), "’", "'")
		if strings.ContainsAny(lower[:1], ",;:.!?()|") {
			scope, clause = 0, clause+1
			continue
		}
		if splits(lower) {
			clause++
		}
		t := token{raw: lower, stem: lower, name: i > 0 && unicode.IsUpper([]rune(raw)[0]), content: !text.StopWord(language, lower) && !negates(lower), denied: scope > 0, clause: clause}
		t.figure = isFigure(lower) || spelled(language, lower) != ""
		t.literal = strings.ContainsFunc(lower, unicode.IsDigit) || strings.ContainsAny(lower, "_=/") || strings.ContainsFunc(raw[1:], unicode.IsUpper)
		if digits := spelled(language, lower); digits != "" {
			t.stem = digits
		} else if !t.literal {
			t.stem = stemOf(language, lower)
		}
		if t.content && t.denied {
			last := &w.denials[len(w.denials)-1]
			*last = append(*last, len(w.tokens))
		}
		if t.content {
			w.content = append(w.content, len(w.tokens))
			scope--
		}
		if negates(lower) && (i+1 == len(found) || !only(strings.ToLower(found[i+1]))) {
			scope = deniedWords
			w.denials = append(w.denials, nil)
		}
		w.only = w.only || only(lower)
		w.stems[t.stem] = true
		w.tokens = append(w.tokens, t)
	}
	return w
}

// splits reports whether a word begins another clause.
func splits(w string) bool {
	switch w {
	case "if", "when", "whether", "unless", "because", "but", "which", "that", "while", "where", "and":
		return true
	}
	return false
}

// shared counts the words of a sentence that another has, too.
func (w wording) shared(other wording) int {
	n := 0
	for _, t := range w.tokens {
		if other.stems[t.stem] {
			n++
		}
	}
	return n
}

// neighbour returns the content word that stands n content words behind token
// i, or before it where n is negative; the zero token where there is none.
func (w wording) neighbour(i, n int) token {
	at, is := slices.BinarySearch(w.content, i)
	if n > 0 && !is {
		n--
	}
	at += n
	if at < 0 || at >= len(w.content) {
		return token{}
	}
	return w.tokens[w.content[at]]
}

// nearWords is how far, in content words, the company of a word reaches.
const nearWords = 2

// company reports whether the words at i of one sentence and j of the other
// have a content word near them in common.
func company(a wording, i int, b wording, j int) bool {
	for n := -nearWords; n <= nearWords; n++ {
		ours := a.neighbour(i, n)
		if n == 0 || ours.stem == "" {
			continue
		}
		for m := -nearWords; m <= nearWords; m++ {
			if theirs := b.neighbour(j, m); m != 0 && theirs.stem == ours.stem {
				return true
			}
		}
	}
	return false
}

// numbers are the words for numbers by language: "digits word word…" from two upwards. One, and
// words that mean other things too, are no figures.
var numbers = map[string]string{
	"en": "2 two|3 three|4 four fourth|5 five fifth|6 six sixth|7 seven seventh|8 eight eighth|9 nine ninth|10 ten tenth|11 eleven|12 twelve|" +
		"13 thirteen|14 fourteen|15 fifteen|16 sixteen|17 seventeen|18 eighteen|19 nineteen|20 twenty|30 thirty|40 forty|50 fifty|60 sixty|90 ninety",
	"pl": "2 dwa dwie dwóch dwoma dwu|3 trzy trzech trzema trzeci trzeciego|4 cztery czterech czterema czwarty czwartego|5 pięć pięciu piąty piątego|" +
		"6 sześć sześciu|7 siedem siedmiu|8 osiem ośmiu|9 dziewięć dziewięciu|10 dziesięć dziesięciu dziesiąty dziesiątego|11 jedenaście jedenastu|" +
		"12 dwanaście dwunastu|14 czternaście czternastu|15 piętnaście piętnastu|20 dwadzieścia dwudziestu|30 trzydzieści trzydziestu",
	"vi": "2 hai|3 ba|4 bốn|6 sáu|7 bảy|8 tám|9 chín|10 mười",
}

// spellings are the rows of numbers by language and by each word and digits in them.
var spellings = sync.OnceValue(func() map[string]map[string][]string {
	out := map[string]map[string][]string{}
	for language, rows := range numbers {
		out[language] = map[string][]string{}
		for row := range strings.SplitSeq(rows, "|") {
			for form := range strings.FieldsSeq(row) {
				out[language][form] = strings.Fields(row)
			}
		}
	}
	return out
})

// spelled returns the digits of a number that a language writes out as word, "" for another
// word.
func spelled(language, word string) string {
	if row := spellings()[language][word]; row != nil && word != row[0] {
		return row[0]
	}
	return ""
}

// writings are the ways in which languages write a small number.
func writings(literal string) []string {
	var out []string
	for _, rows := range spellings() {
		out = append(out, rows[literal]...)
	}
	return out
}

// negates reports whether a word denies what follows, in English, Polish or
// Vietnamese.
func negates(w string) bool {
	switch w {
	case "not", "never", "no", "without", "cannot", "nor", "neither", "none", "nothing", "hardly", "lack", "lacks",
		"nie", "nigdy", "bez", "ani", "żaden", "żadna", "żadne", "brak", "outside", "poza",
		"không", "chưa", "chẳng", "đừng", "chớ", "cấm", "bất":
		return true
	}
	return strings.HasSuffix(w, "n't") || strings.HasSuffix(w, "n’t")
}

// only reports whether a word takes a negation back: not only, nie tylko.
func only(w string) bool {
	return slices.Contains([]string{"only", "tylko", "wyłącznie", "jedynie", "chỉ"}, w)
}
