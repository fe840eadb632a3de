package text

import "strings"

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
