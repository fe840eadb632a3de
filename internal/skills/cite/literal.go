package cite

import (
	"regexp"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	// figure is a number with its parts: 24.000, 3.2.1, 2024-05-01, 01/VBHN-VPQH, v2, 80:80.
	figure   = regexp.MustCompile(`[\p{L}\p{N}]*\p{N}[\p{L}\p{N}]*(?:[.,:/_-][\p{L}\p{N}]+)*`)
	codeSpan = regexp.MustCompile("`+([^`]+)`+")
	// identifier is a name used in programs: --mount, depends_on, a.yml, /etc/hosts, FooBar.
	identifier = regexp.MustCompile(`--?[A-Za-z][\w-]*|\b_*[A-Za-z]\w*_\w+|(?:/[\w.-]+){2,}|[\w-]+\.(?:ya?ml|json|toml|conf|txt|md|sh|env|go|py|js)\b|\b[a-z]+[A-Z]\w*`)
)

// literals returns the parts of a sentence that its source must contain literally: figures, dates, versions,
// legal and error codes, flags, identifiers and inline code.
func literals(said string) []string {
	var out []string
	add := func(s string) {
		s = strings.Trim(normal(s), " .,:;!?()[]{}\"'“”„*")
		if s != "" && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	rest := codeSpan.ReplaceAllStringFunc(said, func(m string) string {
		for f := range strings.FieldsSeq(strings.Trim(m, "`")) {
			add(f)
		}
		return " "
	})
	for _, at := range identifier.FindAllStringIndex(rest, -1) {
		if before, _ := utf8.DecodeLastRuneInString(rest[:at[0]]); at[0] == 0 || !unicode.IsLetter(before) && !unicode.IsDigit(before) {
			add(rest[at[0]:at[1]])
		}
	}
	for _, m := range figure.FindAllString(rest, -1) {
		add(m)
	}
	return out
}

// has reports whether a source contains a literal, in this form or an equivalent one.
func (e *evidence) has(literal string) bool {
	if containsWord(e.plain, literal) {
		return true
	}
	if apart := measure.ReplaceAllString(literal, "$1 $2"); apart != literal && containsWord(e.plain, apart) {
		return true
	}
	if bare := strings.TrimPrefix(literal, "v"); bare != literal && strings.ContainsFunc(bare, unicode.IsNumber) && containsWord(e.plain, bare) {
		return true
	}
	n := groupless(literal)
	return n != "" && slices.ContainsFunc(figure.FindAllString(e.plain, -1), func(m string) bool { return m == n || groupless(m) == n })
}

var grouping = regexp.MustCompile(`^\d{1,3}(?:[.,]\d{3})+$`)

// groupless returns a number without digit group separators; "" if s is not such a number.
func groupless(s string) string {
	if s == "" || !isDigit(rune(s[0])) {
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

// containsWord reports whether s contains w as a whole word or number: 3.2 is not in 3.2.1 or 13.2. A number
// may be followed by its unit.
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
		if !partOfWord(s, w, i) {
			return true
		}
		at = i + 1
	}
}

func partOfWord(s, w string, at int) bool {
	before, _ := utf8.DecodeLastRuneInString(s[:at])
	after, n := utf8.DecodeRuneInString(s[at+len(w):])
	first, _ := utf8.DecodeRuneInString(w)
	last, _ := utf8.DecodeLastRuneInString(w)
	if at > 0 && isWordRune(first) && (isWordRune(before) || isDigit(first) && endsInPoint(s[:at])) {
		return true
	}
	if n == 0 || !isWordRune(last) {
		return false
	}
	if isDigit(last) {
		next, _ := utf8.DecodeRuneInString(s[at+len(w)+n:])
		return isDigit(after) || (after == '.' || after == ',') && isDigit(next)
	}
	return isWordRune(after) || after == '-' && strings.HasPrefix(w, "-")
}

// endsInPoint reports whether s ends in a digit and a decimal point, before the second part of a number.
func endsInPoint(s string) bool {
	n := len(s)
	return n >= 2 && (s[n-1] == '.' || s[n-1] == ',') && '0' <= s[n-2] && s[n-2] <= '9'
}

func isDigit(r rune) bool { return '0' <= r && r <= '9' }

func isWordRune(r rune) bool {
	return r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r) || unicode.IsMark(r)
}
