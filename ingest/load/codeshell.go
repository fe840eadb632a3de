package load

import (
	"regexp"
	"strings"
)

var (
	shellHead   = regexp.MustCompile(`^(?:function[ \t]+([\w:.+@-]+)(?:[ \t]*\([ \t]*\))?|([\w:.+@-]+)[ \t]*\([ \t]*\))[ \t]*($|[{(\[])`)
	shellOpens  = regexp.MustCompile(`(?:^|[\s;)])[{(](?:\s|$)`)
	shellCloses = regexp.MustCompile(`(?:^|[\s;&])[})]`)
)

// shellDeclarations finds the functions of lines. Where one ends tells the
// brace that stands below its first letter.
func shellDeclarations(lines []codeLine) []declaration {
	var out []declaration
	lead := -1 // first line of the comments above
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		if l.comment {
			if lead < 0 {
				lead = i
			}
			continue
		}
		first := i
		if lead >= 0 {
			first = lead
		}
		lead = -1
		m := shellHead.FindStringSubmatch(l.text)
		if m == nil {
			continue
		}
		open := i
		if m[3] == "" { // the brace stands on the next line
			if open++; open == len(lines) || lines[open].indent != l.indent || !strings.HasPrefix(lines[open].text, "{") && !strings.HasPrefix(lines[open].text, "(") {
				continue
			}
		}
		last := blockEnd(lines, open, shellEnds)
		name := m[1] + m[2]
		out = append(out, declaration{
			start: lines[first].start, end: lines[last].end,
			kind: declFunction, name: name, label: "function " + name,
		})
		i = last
	}
	return out
}

// shellEnds tells how many blocks a line opens.
func shellEnds(line string, first bool) int {
	if !first && (line[0] == '}' || line[0] == ')') {
		if strings.HasSuffix(line, "{") || strings.HasSuffix(line, "(") {
			return 0
		}
		return -1
	}
	n := len(shellOpens.FindAllStringIndex(line, -1)) - len(shellCloses.FindAllStringIndex(line, -1))
	if first {
		return min(max(n, 0), 1)
	}
	return max(n, 0)
}

// skipShell is skip for shells of the family of Bourne's. What a backslash
// stands in front of is no code either.
func (x *scanner) skipShell(at, to int) (end int, comment bool) {
	s := x.s[at:to]
	switch c := s[0]; {
	case c == '\\':
		n := min(2, len(s))
		if strings.HasPrefix(s, "\\\r\n") {
			n = 3
		}
		return at + n, false
	case c == '#' && (at == 0 || strings.IndexByte(" \t\r\n;&|()", x.s[at-1]) >= 0):
		return at + length(s, strings.IndexByte(s, '\n')), true
	case c == '\'' && at > 0 && x.s[at-1] == '$':
		return at + x.closed(at, s, "'", func(s string) int { return quoted(s, "'") }), false
	case c == '\'':
		return at + x.closed(at, s, "'", literal), false
	case c == '"':
		return at + x.closed(at, s, `"`, func(string) int { return x.shellString(at, to) }), false
	}
	return at, false
}

// literal is the length of a string that goes to the next quote like its first;
// 1 where it is not closed.
func literal(s string) int { return strings.IndexByte(s[1:], s[0]) + 2 }

// shellString is the length of a string in double quotes, which may hold
// commands, which may hold strings; 1 where it is not closed.
func (x *scanner) shellString(at, to int) int {
	open := []byte{'"'} // quotes, brackets and braces that are open
	below := -1         // the last line of a text that begins below
	for i := at + 1; i < to; i++ {
		c, in := x.s[i], open[len(open)-1]
		switch {
		case c == '\\':
			i++
		case c == '\n' && below >= 0:
			i, below = lineEnd(x.s, below)-1, -1
		case c == '"' && in != '"':
			open = append(open, c)
		case c == '"', c == ')' && in == '(', c == '}' && in == '{':
			if open = open[:len(open)-1]; len(open) == 0 {
				return i - at + 1
			}
		case (c == '(' || c == '{') && x.s[i-1] == '$', c == '(' && in == '(':
			open = append(open, c)
		case in != '(':
		case c == '\'':
			n := literal(x.s[i:to])
			if n == 1 {
				return 1
			}
			i += n - 1
		case c == '<':
			if n, closes := x.here(i, max(i, below), to); n > 0 {
				i, below = i+n-1, closes
			}
		}
	}
	return 1
}
