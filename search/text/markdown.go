package text

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Fence is the line that opens a fenced block of code: a run of three or more
// backticks or tildes. The zero Fence is none.
type Fence struct {
	Mark   string // the run
	Indent int    // spaces before it, at most 3
	Info   string // what stands behind it, such as the language
}

// OpenFence reads the opening of a block of code as CommonMark has it. line is a
// single line, with or without its end; marks of quotes and lists before the
// fence are the caller's to take off.
func OpenFence(line string) (Fence, bool) {
	body := strings.TrimRight(line, " \t\r\n")
	rest := strings.TrimLeft(body, " ")
	f := Fence{Indent: len(body) - len(rest)}
	if f.Indent > 3 || rest == "" || rest[0] != '`' && rest[0] != '~' {
		return Fence{}, false
	}
	n := len(rest) - len(strings.TrimLeft(rest, rest[:1]))
	f.Mark, f.Info = rest[:n], strings.TrimSpace(rest[n:])
	if n < 3 || rest[0] == '`' && strings.Contains(f.Info, "`") { // inline code
		return Fence{}, false
	}
	return f, true
}

// Closes reports whether line ends the block that f opens: the same marks, at
// least as many, and nothing else. Nothing ends the zero Fence.
func (f Fence) Closes(line string) bool {
	end, ok := OpenFence(line)
	return ok && f.Mark != "" && end.Info == "" && end.Mark[0] == f.Mark[0] && len(end.Mark) >= len(f.Mark)
}

// Fences returns the fenced blocks of code of a Markdown text, each from the
// line that opens it to the end of the line that closes it, or to the end of the
// text. Blocks inside of quotes and lists are not looked for.
func Fences(s string) []Span {
	var out []Span
	var open Fence
	start, at := 0, 0
	for line := range strings.Lines(s) {
		if open.Mark == "" {
			open, _ = OpenFence(line)
			start = at
		} else if open.Closes(line) {
			out = append(out, Span{start, at + len(line)})
			open = Fence{}
		}
		at += len(line)
	}
	if open.Mark != "" {
		out = append(out, Span{start, len(s)})
	}
	return out
}

// Placeholders returns s as a person should read its code: a parameter that a
// site generator fills in, as in `{{% param "version" %}}`, is the placeholder
// <version>, and other shortcodes are gone. What has none is returned as it is.
func Placeholders(s string) string {
	if !strings.Contains(s, "{{") {
		return s
	}
	return shortcode.ReplaceAllStringFunc(s, func(code string) string {
		if m := parameterName.FindStringSubmatch(code); m != nil {
			return "<" + m[1] + ">"
		}
		return ""
	})
}

var (
	shortcode     = regexp.MustCompile(`\{\{[<%].*?[>%]\}\}`)
	parameterName = regexp.MustCompile(`^\{\{[<%]\s*param\s+"?([\w.-]+)"?\s*[>%]\}\}$`)
)

// PieceEnd returns where the character at i ends, or the code or escape that begins there. open says that it is
// the beginning of code whose end is not in s.
func PieceEnd(s string, i int) (end int, open bool) {
	switch c := s[i]; {
	case c == '`':
		marks := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
		if n := codeEnd(s[i+marks:], marks); n >= 0 {
			return i + marks + n + marks, false
		}
		return i + marks, true
	case c == '\\' && i+1 < len(s) && s[i+1] < utf8.RuneSelf && s[i+1] != ' ' && s[i+1] != '\t':
		return i + 2, false
	case c < utf8.RuneSelf:
		return i + 1, false
	}
	_, n := utf8.DecodeRuneInString(s[i:])
	return i + n, false
}

// codeEnd returns where in s the run of exactly so many marks begins that ends code; -1 without one.
func codeEnd(s string, marks int) int {
	for at := 0; ; {
		i := strings.IndexByte(s[at:], '`')
		if i < 0 {
			return -1
		}
		at += i
		run := len(s[at:]) - len(strings.TrimLeft(s[at:], "`"))
		if run == marks {
			return at
		}
		at += run
	}
}
