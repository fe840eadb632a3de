package cite

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/search/text"
)

// word is a run of letters, marks, digits and apostrophes in a normalised text.
type word struct {
	string
	start, end int
}

// wordsOf returns the words of a normalised text.
func wordsOf(s string) []word {
	out := make([]word, 0, len(s)/6+1)
	start := -1
	for i, r := range s {
		in := 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || r == '\'' || r == '’' ||
			r >= utf8.RuneSelf && (unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r))
		switch {
		case in && start < 0:
			start = i
		case !in && start >= 0:
			out = append(out, word{s[start:i], start, i})
			start = -1
		}
	}
	if start >= 0 {
		out = append(out, word{s[start:], start, len(s)})
	}
	return out
}

// sharesPhrase reports whether n words in a row of one text stand in a row in
// the other.
func sharesPhrase(a, b []word, n int) bool {
	for i := 0; i+n <= len(a); i++ {
		for j := 0; j+n <= len(b); j++ {
			k := 0
			for k < n && a[i+k].string == b[j+k].string {
				k++
			}
			if k == n {
				return true
			}
		}
	}
	return false
}

// SharesPhrase reports whether any phrase of [PhraseWords] words of chunk stands
// in answer, whatever the case and punctuation: such a chunk counts as used
// (X18).
func SharesPhrase(answer, chunk string) bool {
	return sharesPhrase(wordsOf(normal(chunk)), wordsOf(normal(Strip(answer))), PhraseWords)
}

var (
	// figure is a number with what belongs to it: 24.000, 3.2.1, 2024-05-01, 01/VBHN-VPQH, v2, 80:80.
	figure   = regexp.MustCompile(`[\p{L}\p{N}]*\p{N}[\p{L}\p{N}]*(?:[.,:/_-][\p{L}\p{N}]+)*`)
	codeSpan = regexp.MustCompile("`+([^`]+)`+")
	// identifier is a name that only programs use: --mount, depends_on, a.yml, /etc/hosts, FooBar.
	identifier = regexp.MustCompile(`--?[A-Za-z][\w-]*|\b_*[A-Za-z]\w*_\w+|(?:/[\w.-]+){2,}|[\w-]+\.(?:ya?ml|json|toml|conf|txt|md|sh|env|go|py|js)\b|\b[a-z]+[A-Z]\w*`)
)

// literals returns what of a sentence must stand in its source as it is:
// figures, dates, versions, legal and error codes, flags, identifiers and
// inline code; and the names of people, places and things.
func literals(said string, words []word, language string) (exact, names []string) {
	add := func(s string) {
		s = strings.Trim(normal(s), " .,:;!?()[]{}\"'“”„*")
		if s != "" && !slices.Contains(exact, s) {
			exact = append(exact, s)
		}
	}
	rest := said
	if strings.IndexByte(said, '`') >= 0 {
		rest = codeSpan.ReplaceAllStringFunc(said, func(m string) string {
			for f := range strings.FieldsSeq(strings.Trim(m, "`")) {
				add(f)
			}
			return " "
		})
	}
	for _, at := range identifier.FindAllStringIndex(rest, -1) {
		if before, _ := utf8.DecodeLastRuneInString(rest[:at[0]]); at[0] == 0 || !unicode.IsLetter(before) && !unicode.IsDigit(before) {
			add(rest[at[0]:at[1]])
		}
	}
	for _, m := range figure.FindAllString(rest, -1) {
		add(m)
	}
	for _, w := range words {
		if spelled(language, w.string) != "" {
			add(w.string)
		}
	}
	if language != "de" { // there every noun has a capital letter
		names = namesOf(rest)
	}
	return exact, names
}

// namesOf returns the words that a sentence writes with a capital letter though
// nothing but their being names asks for one, in lower case.
func namesOf(said string) []string {
	var out []string
	fields := strings.Fields(said)
	begins := true
	for i, f := range fields {
		w := strings.TrimFunc(f, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
		first, n := utf8.DecodeRuneInString(w)
		name := unicode.IsUpper(first) && n < len(w) && !strings.ContainsFunc(w, unicode.IsDigit)
		if name && begins {
			name = i+1 < len(fields) && isCapital(fields[i+1]) && !text.StopWord("en", strings.ToLower(w)) || strings.ToUpper(w) == w
		}
		if name {
			w = strings.TrimSuffix(strings.TrimSuffix(strings.ToLower(w), "'s"), "’s")
			if i := strings.IndexAny(w, "-–/’'"); i > 0 {
				w = w[:i]
			}
			if !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
		begins = strings.ContainsAny(f[len(f)-1:], ".!?:|*(\"") || f == "—" || f == "-"
	}
	return out
}

func isCapital(s string) bool {
	r, n := utf8.DecodeRuneInString(s)
	return unicode.IsUpper(r) && n < len(s) && !strings.ContainsFunc(s, unicode.IsDigit)
}

// has reports whether a source holds a figure or a name of code, in this form
// or another that means the same.
func (e *evidence) has(literal string) bool {
	if containsWord(e.plain, literal) {
		return true
	}
	if slices.ContainsFunc(writings(literal), func(w string) bool { return containsWord(e.plain, w) }) {
		return true
	}
	if bare := strings.TrimPrefix(literal, "v"); bare != literal && strings.ContainsFunc(bare, unicode.IsNumber) && containsWord(e.plain, bare) {
		return true
	}
	n := groupless(literal)
	if n == "" {
		return false
	}
	if e.figures == nil {
		e.figures = map[string]bool{}
		for _, m := range figure.FindAllString(e.plain, -1) {
			e.figures[m] = true
			e.figures[groupless(m)] = true
		}
	}
	return e.figures[n]
}

var grouping = regexp.MustCompile(`^\d{1,3}(?:[.,]\d{3})+$`)

// groupless is a number without the marks that group its digits, "" for what is
// no such number.
func groupless(s string) string {
	if s == "" || !isDigitByte(rune(s[0])) {
		return ""
	}
	if grouping.MatchString(s) {
		return strings.NewReplacer(".", "", ",", "").Replace(s)
	}
	if len(s) > 3 && strings.Trim(s, "0123456789") == "" {
		return s
	}
	return ""
}

// containsWord reports whether s holds w with nothing around it that would make
// it part of something else: 3.2 does not stand in 3.2.1 nor in 13.2. After a
// number its unit may follow.
func containsWord(s, w string) bool {
	if w == "" {
		return false
	}
	for at := 0; ; {
		i := strings.Index(s[at:], w)
		if i < 0 {
			return false
		}
		i += at
		if !joins(s, w, i) {
			return true
		}
		at = i + 1
	}
}

func joins(s, w string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	after, n := utf8.DecodeRuneInString(s[at+len(w):])
	first, _ := utf8.DecodeRuneInString(w)
	last, _ := utf8.DecodeLastRuneInString(w)
	if at > 0 && isWordRune(first) && (isWordRune(before) || isDigitByte(first) && pointed(s[:at])) {
		return true
	}
	if n == 0 || !isWordRune(last) {
		return false
	}
	if isDigitByte(last) {
		next, _ := utf8.DecodeRuneInString(s[at+len(w)+n:])
		return isDigitByte(after) || (after == '.' || after == ',') && isDigitByte(next)
	}
	return isWordRune(after) || after == '-' && strings.HasPrefix(w, "-")
}

// pointed reports whether s ends in a digit and a point, as before the second
// part of a number.
func pointed(s string) bool {
	n := len(s)
	return n >= 2 && (s[n-1] == '.' || s[n-1] == ',') && '0' <= s[n-2] && s[n-2] <= '9'
}

func isDigitByte(r rune) bool { return '0' <= r && r <= '9' }

func isWordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}
