package load

import (
	"regexp"
	"strings"
)

// pythonDeclarations finds the functions and classes of a part of a Python file
// by its indentation. The part begins with a line; member says that it is the
// body of a class.
func pythonDeclarations(s string, part span, member bool) []declaration {
	lines := pythonLines(s, part)
	level := -1 // indentation of the part
	var out []declaration
	lead := -1 // first line of the comments and decorators above
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		if l.blank {
			lead = -1
			continue
		}
		if l.comment || strings.HasPrefix(l.text, "@") {
			if lead < 0 {
				lead = i
			}
			continue
		}
		if level < 0 {
			level = l.indent
		}
		m := pythonHead.FindStringSubmatch(l.text)
		if l.indent != level || m == nil {
			lead = -1
			continue
		}
		first := i
		if lead >= 0 {
			first = lead
		}
		lead = -1
		for next := i + 1; next < len(lines) && (lines[next].blank || lines[next].comment || lines[next].indent > level); next++ {
			if !lines[next].blank && (!lines[next].comment || lines[next].indent > level) {
				i = next // comments further left belong to it only where more follows
			}
		}
		d := declaration{start: lines[first].start, end: lines[i].end, kind: declFunction, name: m[2], label: m[1] + " " + m[2]}
		switch {
		case m[1] == "class":
			d.kind = declClass
			d.members = pythonDeclarations(s, span{l.end, d.end}, true)
		case member:
			d.kind = declMethod
		}
		out = append(out, d)
	}
	return out
}

var pythonHead = regexp.MustCompile(`^(?:async\s+)?(def|class)\s+(\w+)`)

// pythonLines parts a part of a file into statements, each with all that its
// brackets, quotes and backslashes hold together.
func pythonLines(s string, part span) []codeLine {
	x := newScanner(langPython, s)
	var out []codeLine
	for at := part.start; at < part.end; {
		l := codeLine{start: at}
		first, indent := indentation(s, at, part.end)
		l.indent = indent
		i := first
		for depth := 0; i < part.end; {
			if end, _ := x.skip(i, part.end); end > i {
				i = end
				continue
			}
			switch c := s[i]; {
			case c == '\\' && i+1 < part.end:
				i++
				if s[i] == '\r' && i+1 < part.end && s[i+1] == '\n' {
					i++
				}
			case c == '(' || c == '[' || c == '{':
				depth++
			case c == ')' || c == ']' || c == '}':
				depth = max(depth-1, 0)
			}
			i++
			if s[i-1] == '\n' && (depth == 0 || pythonHeadAt(s, i)) && (i < 2 || s[i-2] != '\\') {
				break
			}
		}
		l.end = i
		l.text = strings.TrimSpace(s[first:i])
		l.blank, l.comment = l.text == "", strings.HasPrefix(l.text, "#")
		out = append(out, l)
		at = i
	}
	return out
}

// pythonHeadAt reports whether a function or class begins at the very left: a
// bracket that is still open then was never meant.
func pythonHeadAt(s string, at int) bool {
	return strings.HasPrefix(s[at:], "def ") || strings.HasPrefix(s[at:], "class ")
}
