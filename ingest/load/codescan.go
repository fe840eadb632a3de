package load

import (
	"strings"
	"unicode/utf8"
)

// scanner tells code from strings and comments. It does not understand a
// language: it must only know where text is no code, so that a brace in a string
// is none.
type scanner struct {
	s        string
	language string

	hash      bool // # begins a comment
	slashes   bool // // and /* */ are comments
	nested    bool // /* */ may hold itself
	triple    bool // """ quotes lines
	single    bool // ' quotes a string
	char      bool // ' quotes a character, or begins the name of a lifetime
	backtick  bool // ` quotes lines
	pattern   bool // / may begin a regular expression
	raw       bool // r#" and R"x( begin raw strings
	directive bool // # at the beginning of a line is for the preprocessor
	newlines  bool // a statement may end with its line
	prototype bool // functions have no keyword

	own func(at, to int) (end int, comment bool) // skip, of languages that have little in common with the others

	// By what begins a string, up to where it was looked for its end in vain. What
	// begins before is none either, and is not looked for again.
	vain map[string]int

	closings map[string][]int // see closing
}

func newScanner(language, s string) *scanner {
	x := &scanner{s: s, language: language, slashes: true, vain: map[string]int{}}
	switch language {
	case langPython:
		x.slashes, x.hash, x.triple, x.single, x.newlines = false, true, true, true, true
	case langGo:
		x.char, x.backtick, x.newlines = true, true, true
	case langJavaScript, langTypeScript:
		x.single, x.backtick, x.pattern, x.newlines = true, true, true, true
	case langJava:
		x.char, x.triple, x.prototype = true, true, true
	case langRust:
		x.char, x.nested, x.raw = true, true, true
	case langC, langCPP:
		x.char, x.raw, x.directive, x.prototype = true, language == langCPP, true, true
	case langCSharp:
		x.char, x.triple, x.directive, x.prototype = true, true, true, true
	case langKotlin:
		x.char, x.triple, x.nested, x.newlines = true, true, true, true
	case langSwift:
		x.triple, x.nested, x.newlines = true, true, true
	case langPHP:
		x.own = x.skipPHP
	}
	return x
}

// skip returns the end of the comment or string that begins at an offset, and
// whether it is a comment; the offset itself where none begins. It does not look
// beyond to.
func (x *scanner) skip(at, to int) (end int, comment bool) {
	if x.own != nil {
		return x.own(at, to)
	}
	s := x.s[at:to]
	switch c := s[0]; {
	case c == '#' && x.hash, c == '/' && x.slashes && strings.HasPrefix(s, "//"):
		return at + length(s, strings.IndexByte(s, '\n')), true // the line end is code
	case c == '/' && x.slashes && strings.HasPrefix(s, "/*"):
		return at + x.blockComment(s), true
	case c == '/' && x.pattern && x.operand(at):
		return at + x.closed(at, s[:length(s, strings.IndexByte(s, '\n'))], "/", regexLength), false
	case x.triple && (strings.HasPrefix(s, `"""`) || x.hash && strings.HasPrefix(s, "'''")):
		return at + x.closed(at, s, s[:3], func(s string) int { return quoted(s, s[:3]) }), false
	case c == '"', c == '\'' && x.single:
		line := s[:length(s, lineBreak(s))]
		return at + x.closed(at, line, s[:1], func(s string) int { return quoted(s, s[:1]) }), false
	case c == '`' && x.backtick:
		return at + x.closed(at, s, "`", x.template), false
	case c == '\'' && x.char:
		return at + charLength(s), false
	case (c == 'r' || c == 'R') && x.raw && !x.inWord(at):
		const longest = 1 << 16
		return at + rawLength(s[:min(len(s), longest)]), false
	}
	return at, false
}

// length is i, or all of s where i says that nothing was found.
func length(s string, i int) int {
	if i < 0 {
		return len(s)
	}
	return i
}

func (x *scanner) blockComment(s string) int {
	depth := 0
	for i := 0; i+1 < len(s); i++ {
		switch s[i : i+2] {
		case "/*":
			if depth == 0 || x.nested {
				depth++
				i++
			}
		case "*/":
			depth--
			i++
			if depth == 0 {
				return i + 1
			}
		}
	}
	return len(s)
}

// closed asks for the length of a string, which is that of what begins it where
// it is not closed.
func (x *scanner) closed(at int, s, begins string, lengthOf func(string) int) int {
	if at < x.vain[begins] {
		return len(begins)
	}
	n := lengthOf(s)
	if n <= len(begins) {
		x.vain[begins] = at + len(s)
	}
	return n
}

// lineBreak is where a line ends that no backslash continues, or -1.
func lineBreak(s string) int {
	for i := 0; ; i++ {
		n := strings.IndexByte(s[i:], '\n')
		if n < 0 {
			return -1
		}
		if i += n; !strings.HasSuffix(strings.TrimSuffix(s[max(0, i-2):i], "\r"), "\\") {
			return i
		}
	}
}

// quoted is the length of a string with backslashes; that of its quote where it
// is not closed.
func quoted(s, quote string) int {
	for i := len(quote); i < len(s); i++ {
		if strings.HasPrefix(s[i:], quote) {
			return i + len(quote)
		}
		if s[i] == '\\' {
			i++
		}
	}
	return len(quote)
}

// template is the length of a string between backticks; 1 where it is not closed.
// In JavaScript it holds code in ${}, which may hold templates.
func (x *scanner) template(s string) int {
	open := []byte{'`'} // templates and braces that are open
	for i := 1; i < len(s); i++ {
		c, in := s[i], open[len(open)-1]
		switch {
		case x.language == langGo && c != '`':
		case c == '\\' && x.language != langGo:
			i++
		case c == '`' && in == '`', c == '}' && in == '{':
			if open = open[:len(open)-1]; len(open) == 0 {
				return i + 1
			}
		case in == '`' && strings.HasPrefix(s[i:], "${"):
			open = append(open, '{')
			i++
		case in == '{' && (c == '{' || c == '`'):
			open = append(open, c)
		}
	}
	return 1
}

// operand reports whether a slash at an offset stands where a value is expected,
// so that it begins a regular expression and does not divide.
func (x *scanner) operand(at int) bool {
	before := strings.TrimRight(x.s[max(0, at-64):at], " \t\r\n")
	if before == "" {
		return true
	}
	if strings.IndexByte("(,=:[!&|?{};+-*%<>~^", before[len(before)-1]) >= 0 {
		return true
	}
	for _, word := range []string{"return", "typeof", "case", "in", "of", "delete", "void", "throw"} {
		if rest, ok := strings.CutSuffix(before, word); ok && (rest == "" || !isWord(rest[len(rest)-1])) {
			return true
		}
	}
	return false
}

// regexLength is the length of a regular expression; 1 where it is none.
func regexLength(s string) int {
	class := false
	for i := 1; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '[':
			class = true
		case ']':
			class = false
		case '/':
			if !class {
				return i + 1
			}
		}
	}
	return 1
}

// charLength is the length of a character in quotes; 1 where it is a lifetime or
// none.
func charLength(s string) int {
	if strings.HasPrefix(s, `'\`) {
		if i := strings.IndexByte(s[min(3, len(s)):min(len(s), 16)], '\''); i >= 0 {
			return 3 + i + 1
		}
		return 1
	}
	if len(s) < 3 {
		return 1
	}
	_, n := utf8.DecodeRuneInString(s[1:])
	if 1+n < len(s) && s[1] != '\'' && s[1+n] == '\'' {
		return n + 2
	}
	return 1
}

// rawLength is the length of r#"…"# or R"x(…)x"; 0 where it is none.
func rawLength(s string) int {
	rest := s[1:]
	var closing string
	if s[0] == 'r' {
		hashes := rest[:len(rest)-len(strings.TrimLeft(rest, "#"))]
		rest = rest[len(hashes):]
		closing = `"` + hashes
	}
	if !strings.HasPrefix(rest, `"`) {
		return 0
	}
	from := len(s) - len(rest) + 1
	if s[0] == 'R' {
		const longest = 16 // of a delimiter, by the standard
		i := strings.IndexByte(rest[1:min(len(rest), longest+2)], '(')
		if i < 0 {
			return 0
		}
		closing = ")" + rest[1:1+i] + `"`
	}
	if i := strings.Index(s[from:], closing); i >= 0 {
		return from + i + len(closing)
	}
	return 0
}

func (x *scanner) inWord(at int) bool { return at > 0 && isWord(x.s[at-1]) }

func isWord(c byte) bool {
	return c == '_' || c == '$' || c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= utf8.RuneSelf
}
