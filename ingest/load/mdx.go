package load

import (
	"path"
	"regexp"
	"strings"

	"example.com/ragflow/search/text"
)

// isMDX reports whether a file is Markdown with components.
func isMDX(source string) bool { return strings.EqualFold(path.Ext(source), ".mdx") }

// blankMDX puts spaces in place of what is program and not text in a page of
// MDX: imports and exports, tags of components with their attributes, and expressions in
// braces. Line ends stay, so every offset and line is that of the file. What
// stands between tags is text. Code in fences and between backticks is left alone, and so is
// what begins like a tag or an expression and never ends.
func blankMDX(s string, from int) string {
	m := mdx{s: s}
	fences := text.Fences(s[from:])
	at := from
	for _, f := range fences {
		m.prose(at, from+f.Start)
		at = from + f.End
	}
	m.prose(at, len(s))
	if m.out == nil {
		return s
	}
	return string(m.out)
}

// mdx is a page that is being blanked.
type mdx struct {
	s   string
	out []byte // nil: nothing was blanked

	failed int // bytes read in vain
}

func (m *mdx) blank(start, end int) {
	if m.out == nil {
		m.out = []byte(m.s)
	}
	for i, c := range m.out[start:end] {
		if c != '\n' && c != '\r' {
			m.out[start+i] = ' '
		}
	}
}

// prose blanks a part of the page that is not code.
func (m *mdx) prose(start, end int) {
	s := m.s[:end]
	fresh := true // a block may begin
	for i := start; i < end; {
		if i == 0 || s[i-1] == '\n' {
			if fresh && (s[i] == 'i' || s[i] == 'e') {
				if stop := m.program(i, moduleEnd, s); stop > i+1 {
					i = stop
					continue
				}
			}
			fresh = isBlank(s[i:min(end, lineEnd(s, i))])
		}
		switch s[i] {
		case '\\':
			i += 2
		case '`':
			i = ticksEnd(s, i)
		case '<':
			i = m.program(i, tagEnd, s)
		case '{':
			i = m.program(i, bracesEnd, s)
		default:
			i++
		}
	}
}

// program blanks the tag or expression at i, and returns where to go on. Where
// too much was read in vain already, the page is not MDX, and nothing more is tried.
func (m *mdx) program(i int, endOf func(string, int) int, s string) int {
	if m.failed > 4*len(m.s)+maxMDX {
		return i + 1
	}
	end := endOf(s, i)
	if end == i {
		m.failed += min(len(s)-i, maxMDX)
		return i + 1
	}
	m.blank(i, end)
	return end
}

var moduleStart = regexp.MustCompile(`^(?:import\s*(?:["'{*]|[\w$]+\s+from\s|[\w$]+\s*,\s*[{*]|type\s)|export\s+(?:default|const|let|var|function|class|async|\{|\*))`)

// moduleEnd returns the end of the imports and exports that begin on the line at
// i: a blank line outside of braces. It is i where there are none.
func moduleEnd(s string, i int) int {
	if !moduleStart.MatchString(s[i:min(len(s), i+80)]) {
		return i
	}
	for at := i; at < len(s); {
		switch s[at] {
		case '{':
			end := bracesEnd(s, at)
			if end == at {
				return i
			}
			at = end
			continue
		case '\n':
			if next := lineEnd(s, at+1); isBlank(s[at+1 : next]) {
				return at + 1
			}
		}
		at++
	}
	return len(s)
}

// ticksEnd returns the end of the code between backticks that begins at i, or of
// its backticks where it does not end in its paragraph.
func ticksEnd(s string, i int) int {
	n := len(s[i:]) - len(strings.TrimLeft(s[i:], "`"))
	ticks := s[i : i+n]
	paragraph := s[i+n:]
	if j := strings.Index(paragraph, "\n\n"); j >= 0 {
		paragraph = paragraph[:j]
	}
	for at := 0; ; {
		j := strings.Index(paragraph[at:], ticks)
		if j < 0 {
			return i + n
		}
		at += j
		run := len(paragraph[at:]) - len(strings.TrimLeft(paragraph[at:], "`"))
		if at += run; run == n {
			return i + n + at
		}
	}
}

// maxMDX bounds a tag or an expression in bytes, so that reading stays linear.
const maxMDX = 16 << 10

// bracesEnd returns the end of the expression in braces that begins at i: strings,
// templates and comments may hold braces of their own. It is i where it does not end.
func bracesEnd(s string, i int) int {
	s = s[:min(len(s), i+maxMDX)]
	x := newScanner(langTypeScript, s)
	depth := 0
	for at := i; at < len(s); {
		if end, _ := x.skip(at, len(s)); end > at {
			at = end
			continue
		}
		switch s[at] {
		case '{':
			depth++
		case '}':
			if depth--; depth == 0 {
				return at + 1
			}
		}
		at++
	}
	return i
}

// tagEnd returns the end of the tag that begins at i, as JSX has it: a name,
// then attributes. It is i where it is none, as in "a <b" or "<https://…>".
func tagEnd(s string, i int) int {
	s = s[:min(len(s), i+maxMDX)]
	at := i + 1
	closing := at < len(s) && s[at] == '/'
	if closing {
		at++
	}
	name := at
	for at < len(s) && (isWord(s[at]) || at > name && strings.IndexByte(".:-", s[at]) >= 0) {
		at++
	}
	if at > name && (s[name] >= '0' && s[name] <= '9' || strings.HasSuffix(s[name:at], ":")) {
		return i
	}
	for at < len(s) {
		switch c := s[at]; {
		case c == '>':
			return at + 1
		case at == name: // only <> and </> have no name
			return i
		case c == '/' && strings.HasPrefix(s[at:], "/>"):
			return at + 2
		case strings.IndexByte(" \t\r\n", c) >= 0:
			at++
		case closing:
			return i
		case c == '{':
			end := bracesEnd(s, at)
			if end == at {
				return i
			}
			at = end
		default:
			end := attributeEnd(s, at)
			if end == at {
				return i
			}
			at = end
		}
	}
	return i
}

// attributeEnd returns the end of the attribute at i: name, name="…", name={…}.
func attributeEnd(s string, i int) int {
	at := i
	for at < len(s) && (isWord(s[at]) || at > i && strings.IndexByte(".:-", s[at]) >= 0) {
		at++
	}
	value := len(s) - len(strings.TrimLeft(s[at:], " \t\r\n"))
	if at == i || value >= len(s) || s[value] != '=' {
		return at
	}
	value = len(s) - len(strings.TrimLeft(s[value+1:], " \t\r\n"))
	if value >= len(s) {
		return i
	}
	switch s[value] {
	case '"', '\'':
		if j := strings.IndexByte(s[value+1:], s[value]); j >= 0 {
			return value + 1 + j + 1
		}
	case '{':
		if end := bracesEnd(s, value); end > value {
			return end
		}
	case '<':
		if end := tagEnd(s, value); end > value {
			return end
		}
	}
	return i
}
