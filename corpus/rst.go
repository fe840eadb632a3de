package corpus

import (
	"strings"
	"unicode/utf8"
)

// rstBlocks returns the blocks of reStructuredText in s[from:]: headings by
// their adornments, paragraphs, and code and directives with all that is
// indented below them.
func rstBlocks(s string, from int) []block {
	var out []block
	levels := map[string]int{}
	lines := lineSpans(s, from)
	text := func(i int) string {
		if i < 0 || i >= len(lines) {
			return ""
		}
		return strings.TrimRight(s[lines[i].start:lines[i].end], " \t\r\n")
	}
	open := func(b block) { out = append(out, b) }
	gap := true
	for i := 0; i < len(lines); i++ {
		line := text(i)
		at := lines[i].start
		switch {
		case strings.TrimSpace(line) == "":
			gap = true
			if len(out) == 0 {
				open(block{start: at, kind: kindText})
			}
			continue
		case adorns(line) && strings.TrimSpace(text(i+1)) != "" && text(i+2) == line && width(strings.TrimSpace(text(i+1))) <= width(line): // over and under
			open(block{start: at, level: levelOf(levels, line[:1]+line[:1]), heading: strings.TrimSpace(text(i + 1)), kind: kindText})
			i += 2
			gap = true
			continue
		case gap && !indented(line) && !adorns(line) && adorns(text(i+1)) && width(text(i+1)) >= width(line):
			open(block{start: at, level: levelOf(levels, text(i + 1)[:1]), heading: line, kind: kindText})
			i++
			gap = true
			continue
		case len(out) > 0 && !gap: // the same paragraph
		case indented(line) && len(out) > 0 && (out[len(out)-1].kind == kindCode || strings.HasPrefix(s[out[len(out)-1].start:], ".. ")):
		case indented(line) && endsLiteral(s, out, at), isCodeDirective(line):
			open(block{start: at, kind: kindCode})
		default:
			open(block{start: at, kind: kindText})
		}
		gap = false
	}
	for i := range out {
		out[i].end = len(s)
		if i+1 < len(out) {
			out[i].end = out[i+1].start
		}
	}
	return out
}

// lineSpans are the lines of s[from:].
func lineSpans(s string, from int) []block {
	var out []block
	for at := from; at < len(s); {
		end := lineEnd(s, at)
		out = append(out, block{start: at, end: end})
		at = end
	}
	return out
}

func width(s string) int { return utf8.RuneCountInString(s) }

func indented(line string) bool { return line != "" && (line[0] == ' ' || line[0] == '\t') }

// adorns reports whether a line is the adornment of a heading: one mark, at
// least three times.
func adorns(line string) bool {
	return len(line) >= 3 && strings.ContainsRune("=-`:.'\"~^_*+#<>!$%&(),/;?@[\\]{|}", rune(line[0])) && strings.Trim(line, line[:1]) == ""
}

// levelOf is the level of an adornment: they rank in the order they come.
func levelOf(levels map[string]int, mark string) int {
	if levels[mark] == 0 {
		levels[mark] = len(levels) + 1
	}
	return min(levels[mark], 6)
}

// isCodeDirective reports whether a line opens a block of code.
func isCodeDirective(line string) bool {
	for _, name := range []string{"code", "code-block", "sourcecode", "parsed-literal", "literalinclude"} {
		if strings.HasPrefix(line, ".. "+name+"::") {
			return true
		}
	}
	return false
}

// endsLiteral reports whether the block before s[at:] announces a literal one.
func endsLiteral(s string, out []block, at int) bool {
	if len(out) == 0 {
		return false
	}
	last := out[len(out)-1]
	return last.level == 0 && strings.HasSuffix(strings.TrimRight(s[last.start:at], " \t\r\n"), "::")
}
