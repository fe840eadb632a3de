package offline

import (
	"regexp"
	"strings"
	"unicode"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// outlineSource takes a passage of source code apart: what those comments say that
// stand by themselves, as prose is taken apart, and the code between them, in blocks.
// said is the text that the units are of: the passage with blanks in place of the
// marks of those comments, so that every offset is that of the passage.
func outlineSource(src state.Source, name string) (said string, out []unit, headings []string) {
	x := readSource(src.Text, src.Cut)
	b := builder{s: string(x.said), language: src.Cut.Language, lead: -1, head: -1, headings: []string{name}}
	for i := 0; i < len(x.lines); {
		end := x.runEnd(i)
		if x.lines[i].remark {
			b.remarks(x.lines[i:end])
		} else {
			b.code(x.lines[i:end])
		}
		i = end
	}
	return b.s, b.out, b.headings
}

// codeLine is a line of source code.
type codeLine struct {
	start, end int  // without the line's end and blanks before it
	indent     int  // columns before its first character
	blank      bool // there is nothing
	remark     bool // of a comment that stands by itself
}

// sourceText is a passage of source code as lines.
type sourceText struct {
	s        string
	said     []byte
	language string
	lines    []codeLine
	top      int // columns before what stands at its top, or right in its class
}

// readSource finds the comments that stand by themselves: at the top of the passage, or
// among the members of its class, and the strings of several lines that describe what
// they stand in.
func readSource(s string, cut state.Cut) sourceText {
	x := sourceText{s: s, said: []byte(s), language: cut.Language}
	for at := 0; at < len(s); {
		end := len(s)
		if i := strings.IndexByte(s[at:], '\n'); i >= 0 {
			end = at + i
		}
		line := strings.TrimRight(s[at:end], " \t\r")
		first := at + len(line) - len(strings.TrimLeft(line, " \t"))
		x.lines = append(x.lines, codeLine{start: at, end: at + len(line), indent: indentation(s, first), blank: line == ""})
		at = end + 1
	}
	x.top = x.topOf(cut.Declaration)
	for i := 0; i < len(x.lines); {
		n := 1
		if mark, closer := x.opens(i); closer != "" {
			n = x.block(i, mark, closer)
		} else if mark := x.remarkMark(i); mark > 0 && x.lines[i].indent <= x.top {
			x.hide(i, mark)
		}
		i += n
	}
	return x
}

// topOf is the least indentation, or that of the members of a class.
func (x *sourceText) topOf(declaration string) int {
	outer, inner := -1, -1
	for i, l := range x.lines {
		if l.blank || strings.HasPrefix(x.line(i), "*") { // a comment goes on
			continue
		}
		if outer < 0 || l.indent < outer {
			outer = l.indent
		}
		if l.indent > outer && (inner < 0 || l.indent < inner) {
			inner = l.indent
		}
	}
	switch declaration {
	case "class_declaration", "interface_declaration", "impl_declaration", "module_declaration":
		return max(outer, inner)
	}
	return outer
}

// line is what stands on line i behind its indentation.
func (x *sourceText) line(i int) string {
	return strings.TrimLeft(x.s[x.lines[i].start:x.lines[i].end], " \t")
}

// remarkMark is how long the mark is that makes a comment of line i; 0 without one.
func (x *sourceText) remarkMark(i int) int {
	line := x.line(i)
	run := func(marks string) int { return len(line) - len(strings.TrimLeft(line, marks)) }
	hash := strings.HasPrefix(line, "#") && !strings.HasPrefix(line, "#!") && !strings.HasPrefix(line, "#[")
	switch x.language {
	case "python", "ruby", "shell":
		if hash {
			return run("#")
		}
		return 0
	case "sql":
		if strings.HasPrefix(line, "--") {
			return run("-")
		}
		return 0
	case "php":
		if hash {
			return run("#")
		}
	}
	if strings.HasPrefix(line, "//") {
		return 2 + len(line[2:]) - len(strings.TrimLeft(line[2:], "/!"))
	}
	return 0
}

// opens is how long the mark is by which a comment of several lines begins on line i,
// or a string that describes what it stands in, and what it ends with.
func (x *sourceText) opens(i int) (mark int, closer string) {
	line := x.line(i)
	switch x.language {
	case "python":
		quotes := strings.TrimLeft(line, "rRuU")
		for _, q := range []string{`"""`, `'''`} {
			if strings.HasPrefix(quotes, q) && len(line)-len(quotes) <= 1 && x.describes(i) {
				return len(line) - len(quotes) + len(q), q
			}
		}
		return 0, ""
	case "ruby", "shell":
		return 0, ""
	}
	if strings.HasPrefix(line, "/*") && x.lines[i].indent <= x.top {
		return 2 + len(line[2:]) - len(strings.TrimLeft(line[2:], "*!")), "*/"
	}
	return 0, ""
}

// describes reports whether a string on line i stands where one describes the module,
// the class or the function: first in it.
func (x *sourceText) describes(i int) bool {
	for i--; i >= 0; i-- {
		if l := x.lines[i]; !l.blank && !l.remark && !strings.HasPrefix(x.line(i), "#!") {
			return strings.HasSuffix(x.line(i), ":")
		}
	}
	return true
}

// block makes a comment of line i and those after it up to its end, and returns how
// many they are. What goes on behind its end, or is a string of one line in a function,
// is code.
func (x *sourceText) block(i, mark int, closer string) int {
	last, body := i, x.line(i)[min(mark, len(x.line(i))):]
	for !strings.Contains(body, closer) && last+1 < len(x.lines) {
		last++
		body = x.line(last)
	}
	_, behind, closed := strings.Cut(body, closer)
	if closed && strings.TrimSpace(behind) != "" || last == i && closer != "*/" && x.lines[i].indent > 0 {
		return last - i + 1
	}
	for j := i; j <= last; j++ {
		line := x.line(j)
		switch {
		case j == i:
		case closer == "*/" && strings.HasPrefix(line, "*") && line != closer:
			mark = len(line) - len(strings.TrimLeft(line, "*"))
		default:
			mark = 0
		}
		x.hide(j, mark)
	}
	if closed {
		at := x.lines[last].end - len(behind) - len(closer)
		for at > x.lines[last].start && closer == "*/" && x.s[at-1] == '*' {
			at--
		}
		x.blank(at, x.lines[last].end)
	}
	return last - i + 1
}

// hide makes a comment of line i, of which so many bytes behind the indentation are
// its mark.
func (x *sourceText) hide(i, mark int) {
	l := &x.lines[i]
	first := l.end - len(x.line(i))
	l.remark = true
	x.blank(first, first+mark)
	for { // {@link Observable}
		line := string(x.said[l.start:l.end])
		open := strings.Index(line, "{@")
		end := strings.IndexByte(line[max(open, 0):], '}')
		if open < 0 || end < 0 {
			return
		}
		word, _, _ := strings.Cut(line[open:open+end], " ")
		x.blank(l.start+open, l.start+open+len(word))
		if after := l.start + open + end; after+1 < l.end && strings.IndexByte(".,;:)", x.said[after+1]) >= 0 {
			x.said[after], x.said[after+1] = x.said[after+1], ' '
		} else {
			x.said[after] = ' '
		}
	}
}

func (x *sourceText) blank(from, to int) {
	for i := from; i < to; i++ {
		x.said[i] = ' '
	}
}

// runEnd is the line after those that belong together from line i on: of a comment, or
// of a block of code, which ends before what stands at the top behind a blank line, and
// where it is too long to be shown, at one.
func (x *sourceText) runEnd(i int) int {
	remark := x.lines[i].remark
	for j := i + 1; j < len(x.lines); j++ {
		l := x.lines[j]
		if l.remark != remark && (!remark || !l.blank) {
			return j
		}
		if !remark && !l.blank && x.lines[j-1].blank && (l.indent <= x.top || j-i > maxCode/2) {
			return j
		}
	}
	return len(x.lines)
}

// remarks appends what a comment says: its paragraphs, of which a tag such as @param
// begins one, and its examples.
func (b *builder) remarks(lines []codeLine) {
	b.block++
	b.inItem, b.itemText, b.comment, b.end = false, 0, false, 0
	least := -1
	for _, l := range lines {
		if column := b.column(l); column >= 0 && (least < 0 || column < least) {
			least = column
		}
	}
	for from := 0; from < len(lines); {
		to, fence := from+1, text.Fence{}
		for ; to <= len(lines); to++ {
			before := b.line(lines[to-1])
			if opened, ok := text.OpenFence(before); fence.Mark == "" && ok {
				fence = opened
			} else if fence.Mark != "" && fence.Closes(before) {
				fence = text.Fence{}
			}
			if to == len(lines) || fence.Mark == "" && (before == "" || tagged(b.line(lines[to]))) {
				break
			}
		}
		to = min(to, len(lines))
		if b.example(lines[from:to], from > 0, least) {
			b.code(lines[from:to])
		} else {
			b.prose(lines[from].start, lines[to-1].end)
		}
		from = to
	}
}

// line is what is said on a line.
func (b *builder) line(l codeLine) string { return strings.TrimSpace(b.s[l.start:l.end]) }

// column is how many columns stand before what is said on a line; -1 where nothing is.
func (b *builder) column(l codeLine) int {
	if b.line(l) == "" {
		return -1
	}
	return indentation(b.s, l.end-len(strings.TrimLeft(b.s[l.start:l.end], " \t")))
}

// tagged reports whether a line of a comment says something of one thing, as @param does.
func tagged(line string) bool {
	return strings.HasPrefix(line, "@") || strings.HasPrefix(line, ":param ") || strings.HasPrefix(line, ":return")
}

// exampleIndent is how many columns deeper than the text an example stands in a comment.
const exampleIndent = 3

// codeInRemark is a line of code: an assignment or a call, with a comment or without.
var codeInRemark = regexp.MustCompile(`^\$ |^[\w.\[\]"']+(?:, [\w.]+)* :?= \S|^[\w.]+\(.*\);?\s*(?:(?:#|//).*)?$|[;{}]$|^(?:#|//|\.\.\.) `)

// example reports whether a paragraph of a comment is one: it stands deeper than the
// text, which the first one behind its mark does not tell, or most of its lines are code.
func (b *builder) example(lines []codeLine, placed bool, least int) bool {
	said, like := 0, 0
	for _, l := range lines {
		if line := b.line(l); line != "" {
			if said == 0 && (strings.HasPrefix(line, ">>> ") || placed && b.column(l) >= least+exampleIndent && listMarker(line) == 0) {
				return true
			}
			said++
			if codeInRemark.MatchString(line) {
				like++
			}
		}
	}
	return 2*like > said
}

// prose appends the units of a part of the text.
func (b *builder) prose(from, to int) {
	for _, span := range text.Sentences(b.s[from:to]) {
		b.add(text.Span{Start: from + span.Start, End: from + span.End})
	}
}

// code appends a block of code that stands in no fence.
func (b *builder) code(lines []codeLine) {
	for len(lines) > 0 && strings.TrimSpace(b.s[lines[0].start:lines[0].end]) == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && strings.TrimSpace(b.s[lines[len(lines)-1].start:lines[len(lines)-1].end]) == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 {
		return
	}
	from, to := lines[0].start, lines[len(lines)-1].end
	if !strings.ContainsFunc(b.s[from:to], unicode.IsLetter) {
		return // braces
	}
	b.append(unit{kind: code, bare: true, language: b.language, start: from, end: to, lead: b.leading(), head: -1})
	b.inItem, b.itemText = false, 0
}
