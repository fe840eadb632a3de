package text

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Fence is the line that opens a fenced block of code: a run of three or more backticks or
// tildes. The zero Fence is none.
type Fence struct {
	Mark   string // the run
	Indent int    // spaces before it, at most 3
	Info   string // the rest of the line, such as the language
}

// OpenFence parses the opening of a block of code by CommonMark. line is a single line, with or
// without its end; the caller removes marks of quotes and lists before the fence.
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

// Closes reports whether line closes the block that f opens: the same marks, at least as many,
// and nothing else. Nothing closes the zero Fence.
func (f Fence) Closes(line string) bool {
	end, ok := OpenFence(line)
	return ok && f.Mark != "" && end.Info == "" && end.Mark[0] == f.Mark[0] && len(end.Mark) >= len(f.Mark)
}

// Fences returns the fenced blocks of code of a Markdown text, from the opening line to the end
// of the closing line or of the text, without those in quotes and lists.
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

// Placeholders returns s with parameters of a site generator, as in `{{% param "version" %}}`,
// replaced by the placeholder <version>, and without other shortcodes.
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

// PieceEnd returns the end of the character at i, or of the code or escape that begins there.
// open reports that i begins code whose end is not in s.
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

// codeEnd returns the position in s of the run of exactly so many marks that ends code, or -1.
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
