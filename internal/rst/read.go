package rst

import (
	"regexp"
	"strings"
	"unicode/utf8"
)

// Page is what a page of reStructuredText says.
type Page struct {
	Markdown string            // ends with a line feed, unless it is empty
	Places   []Place           // where the lines of the file begin in it, in order
	Fields   map[string]string // the bibliographic fields in front of its text, names in lower case; nil without
}

// Place is where what a line of the file says begins.
type Place struct {
	Offset int // in Page.Markdown, in bytes
	Line   int // of the file, from 1
}

// Read makes Markdown of a page. Nothing that it reads is an error: what it does not
// understand is text. Images, comments, what is included, and what only builds the
// page (contents, indexes, raw HTML) are left out.
func Read(s string) Page {
	r := reader{levels: map[string]int{}}
	lines := linesOf(s)
	r.collect(lines)
	r.blocks(lines)
	if r.out.Len() > 0 {
		r.out.WriteByte('\n')
	}
	return Page{r.out.String(), r.places, r.fields}
}

// sourceLine is a line of reStructuredText, without the indentation of what it stands in.
type sourceLine struct {
	text string
	line int // of the file, from 1
}

// tabStop is how far apart the stops of tabs are, as Docutils has it.
const tabStop = 8

// longestLine is the longest line, in bytes, whose tabs are told apart from spaces.
const longestLine = 64 << 10

func linesOf(s string) []sourceLine {
	var out []sourceLine
	for l := range strings.Lines(s) {
		l = strings.TrimRight(strings.Map(space, l), " \t\r\n")
		for i := strings.IndexByte(l, '\t'); i >= 0 && len(l) < longestLine; i = strings.IndexByte(l, '\t') {
			l = l[:i] + strings.Repeat(" ", tabStop-utf8.RuneCountInString(l[:i])%tabStop) + l[i+1:]
		}
		out = append(out, sourceLine{l, len(out) + 1})
	}
	return out
}

// space makes spaces of what else is one; r.inline has a use for the vertical tab.
func space(c rune) rune {
	if c == '\v' || c == '\f' {
		return ' '
	}
	return c
}

// reader writes Markdown.
type reader struct {
	out    strings.Builder
	places []Place

	indent string // of what is written, below items of lists
	bullet string // of the item that begins with the next line
	tight  bool   // no blank line comes before what is written next
	inList bool   // an item was written last
	count  int    // of items that letters number
	depth  int    // of blocks within blocks

	levels   map[string]int    // of headings, by their adornment
	level    int               // of the heading above
	inObject bool              // what is written describes a class, whose members come as headings
	language string            // of code that does not name its own
	targets  map[string]string // addresses by the names of links; empty within the page
	labels   map[string]string // headings by the labels in front of them
	words    map[string]string // what substitutions stand for
	fields   map[string]string // what the page says of itself
}

// maxDepth is how deep blocks may lie within blocks; deeper ones are left out.
const maxDepth = 64

var (
	bulletPattern = regexp.MustCompile(`^[-*+•‣⁃](?: +|$)`)
	numberPattern = regexp.MustCompile(`^\(?(\d{1,9}|#|[A-Za-z]|[ivxlc]{2,6})[.)] +`)
	fieldPattern  = regexp.MustCompile("^:([^:`\\s][^:`]*):(?: +|$)")
	optionPattern = regexp.MustCompile(`^((?:--?|/)\w[^\s,]*(?: <?[A-Za-z][\w-]*>?)?(?:, (?:--?|/)\w[^\s,]*(?: <?[A-Za-z][\w-]*>?)?)*)(?:  +(.*))?$`)
	gridPattern   = regexp.MustCompile(`^\+(?:-+\+)+$`)
	simplePattern = regexp.MustCompile(`^=+(?: +=+)+$`)
)

// blocks writes the blocks of some lines.
func (r *reader) blocks(lines []sourceLine) {
	if r.depth++; r.depth <= maxDepth {
		for len(lines) > 0 {
			lines = lines[max(1, r.block(lines)):]
		}
	}
	r.depth--
}

// block writes the block that lines begin with, and returns how many lines it has.
func (r *reader) block(lines []sourceLine) int {
	line := lines[0].text
	if line == "" {
		return 1
	}
	if n := r.heading(lines); n > 0 {
		return n
	}
	switch {
	case line == ".." || strings.HasPrefix(line, ".. "):
		return r.explicit(lines)
	case strings.HasPrefix(line, "__ "):
		return 1
	case adorns(line) && len(line) >= 4 && lineAt(lines, 1) == "": // a transition
		return 1
	case line[0] == ' ':
		n := below(lines, 1)
		r.blocks(dedent(lines[:n], longestLine))
		return n
	case strings.HasPrefix(line, ">>> "):
		n := untilBlank(lines)
		r.fenced(lines[:n], "python")
		return n
	case gridPattern.MatchString(line):
		return r.gridTable(lines)
	case simplePattern.MatchString(line):
		return r.simpleTable(lines)
	}
	if n := r.list(lines); n > 0 {
		return n
	}
	return r.paragraph(lines)
}

// heading writes a heading and returns how many lines it has; 0 where there is none.
func (r *reader) heading(lines []sourceLine) int {
	if r.depth > 1 {
		return 0
	}
	line, next := lines[0].text, strings.TrimSpace(lineAt(lines, 1))
	switch {
	case adorns(line) && next != "" && lineAt(lines, 2) == line && utf8.RuneCountInString(next) <= len(line):
		r.title(levelOf(r.levels, line[:1]+line[:1]), next, lines[1].line)
		return 3
	case line[0] != ' ' && !adorns(line) && adorns(next) && lineAt(lines, 1) == next && (utf8.RuneCountInString(line) <= len(next) || len(next) >= 4):
		r.title(levelOf(r.levels, next[:1]), line, lines[0].line)
		return 2
	}
	return 0
}

func (r *reader) title(level int, text string, line int) {
	r.level = level
	r.begin()
	r.write(strings.Repeat("#", level)+" "+oneLine(r.inline(text)), line)
}

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

// paragraph writes a paragraph with the literal block that it announces, or a term
// with its definition.
func (r *reader) paragraph(lines []sourceLine) int {
	n := 1
	for n < len(lines) && lines[n].text != "" && lines[n].text[0] != ' ' {
		n++
	}
	literal := strings.HasSuffix(lines[n-1].text, "::")
	if n == 1 && !literal && indented(lineAt(lines, 1)) {
		return r.definition(lines)
	}
	text := joined(lines[:n])
	if literal {
		text = strings.TrimSuffix(text, "::")
		if strings.TrimRight(text, " \n") == text && text != "" {
			text += ":"
		}
	}
	r.text(text, lines[0].line)
	if literal {
		n += r.literal(lines[n:])
	}
	return n
}

// literal writes the code below a paragraph that announces it, indented or each
// line with the same mark.
func (r *reader) literal(lines []sourceLine) int {
	blank := 0
	for blank < len(lines) && lines[blank].text == "" {
		blank++
	}
	lines = lines[blank:]
	if len(lines) == 0 {
		return blank
	}
	n := 0
	if first := lines[0].text[0]; first == ' ' {
		n = below(lines, 1)
	} else if strings.IndexByte("!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", first) >= 0 {
		for n < len(lines) && strings.HasPrefix(lines[n].text, string(first)) {
			n++
		}
	}
	r.fenced(lines[:n], r.language)
	return blank + n
}

// definition writes a term with what stands indented below it.
func (r *reader) definition(lines []sourceLine) int {
	n := 1 + below(lines[1:], 1)
	body := dedent(lines[1:n], longestLine)
	term, classifier, _ := strings.Cut(lines[0].text, " : ")
	if classifier != "" {
		term += " (" + classifier + ")"
	}
	r.item("- ", withTerm(term, body, lines[0].line))
	return n
}

// withTerm puts a term in front of the text that defines it.
func withTerm(term string, body []sourceLine, line int) []sourceLine {
	if !strings.ContainsAny(term[max(0, len(term)-1):], ":.?!") {
		term += ":"
	}
	for len(body) > 0 && body[0].text == "" {
		body = body[1:]
	}
	first := sourceLine{term, line}
	if len(body) > 0 && plainStart(body[0].text) && !indented(lineAt(body, 1)) {
		return append([]sourceLine{{term + " " + body[0].text, line}}, body[1:]...)
	}
	return append([]sourceLine{first, {}}, body...)
}

// plainStart reports whether a line begins a paragraph and nothing else.
func plainStart(line string) bool {
	return !strings.HasPrefix(line, "..") && !bulletPattern.MatchString(line) && !numberPattern.MatchString(line) && !fieldPattern.MatchString(line) &&
		line[0] != ' ' && line[0] != '|' && line[0] != '+' && !adorns(line) && !strings.HasPrefix(line, ">>>")
}

// explicit writes what two dots begin: a directive, or nothing for targets,
// substitutions and comments.
func (r *reader) explicit(lines []sourceLine) int {
	n := 1 + below(lines[1:], 1)
	line := strings.TrimSpace(strings.TrimPrefix(lines[0].text, ".."))
	if m := directivePattern.FindStringSubmatch(line); m != nil {
		r.directive(m[1], directiveOf(m[2], lines[:n]))
		return n
	}
	if _, note, ok := strings.Cut(line, "] "); ok && strings.HasPrefix(line, "[") { // a footnote
		r.blocks(append([]sourceLine{{strings.TrimSpace(note), lines[0].line}}, dedent(lines[1:n], longestLine)...))
	}
	return n
}

// below is how many of the lines, from the first, are blank or indented by least
// at least; blank ones at the end are not counted.
func below(lines []sourceLine, least int) int {
	n := 0
	for i, l := range lines {
		if l.text == "" {
			continue
		}
		if indentOf(l.text) < least {
			break
		}
		n = i + 1
	}
	return n
}

// dedent takes the indentation off that all lines have, most at most.
func dedent(lines []sourceLine, most int) []sourceLine {
	least := most
	for _, l := range lines {
		if l.text != "" {
			least = min(least, indentOf(l.text))
		}
	}
	out := make([]sourceLine, len(lines))
	for i, l := range lines {
		out[i] = sourceLine{l.text[min(least, len(l.text)):], l.line}
	}
	return out
}

func indentOf(s string) int { return len(s) - len(strings.TrimLeft(s, " ")) }

func indented(line string) bool { return line != "" && line[0] == ' ' }

func untilBlank(lines []sourceLine) int {
	for i, l := range lines {
		if l.text == "" {
			return i
		}
	}
	return len(lines)
}

func lineAt(lines []sourceLine, i int) string {
	if i < len(lines) {
		return lines[i].text
	}
	return ""
}

func joined(lines []sourceLine) string {
	texts := make([]string, len(lines))
	for i, l := range lines {
		texts[i] = l.text
	}
	return strings.Join(texts, "\n")
}
