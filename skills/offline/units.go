package offline

import (
	"regexp"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/search/text"
)

// kind is what a unit of a passage is.
type kind int

const (
	sentence kind = iota
	item          // of a list, with all its sentences
	row           // of a table
	code          // a whole block
)

// unit is the smallest part of a passage that an answer quotes.
type unit struct {
	kind       kind
	start, end int // in bytes of the chunk's text
	block      int // number of the paragraph, list or table it stands in
	lead       int // index of the sentence that leads into its list, table or code; -1 without one
	head       int // index of the table's header, for rows; -1 otherwise and where the table has none
	level      int // indentation of a list item
	ordered    bool
	number     int    // of an ordered item, as written
	section    int    // number of the section it stands in, of those that the chunk holds
	within     bool   // a further paragraph of a list item
	bare       bool   // code that stands in no fence…
	language   string // …and what it is written in, as far as it is known
	part       int    // of a block of code that is cut, from 1; 0: it is whole
	more       int    // lines of code that the block goes on with behind this part of it; below 0: it runs over the end of the passage
}

// units takes a passage apart. Headings, rules, comments, images and lines of
// shortcodes are no units: they say nothing by themselves.
func units(s string) []unit {
	out, _ := outline(s, "")
	return out
}

// outline is units and, for each section, its heading; what stands before the
// first heading is section 0, which name is that of. A tab begins a section too;
// those within it have its name beside theirs and that of section 0, since headings
// within tabs say little by themselves ("From the command line").
func outline(s, name string) ([]unit, []string) {
	b := builder{s: s, lead: -1, head: -1, headings: []string{name}}
	for _, span := range text.Sentences(s) {
		for _, line := range labelled(s, span) {
			b.add(line)
		}
	}
	return b.out, b.headings
}

// label begins a line that says something of its own, as lines of notes do that no
// blank line parts: "Present: Maria, Tom".
var label = regexp.MustCompile(`^\p{Lu}[\p{L}\p{N} %/().&-]{0,30}:(?:[ \t]+\S|[ \t]*(?:\n|$))`)

// labelLine is below how many bytes a line with a label says all that belongs to the
// label, where a capital letter begins the next one: no width made it end there.
const labelLine = 56

// labelled parts a sentence before lines with a label, and behind short ones.
func labelled(s string, span text.Span) (out []text.Span) {
	body := s[span.Start:span.End]
	if !strings.Contains(body, ":") || !strings.Contains(body, "\n") {
		return []text.Span{span}
	}
	first, _, _ := strings.Cut(strings.TrimLeft(body, "> \t"), "\n")
	if _, fenced := text.OpenFence(first); fenced {
		return []text.Span{span}
	}
	from, at, ended := span.Start, span.Start, false
	for line := range strings.Lines(body) {
		labels := label.MatchString(s[at:span.End])
		if at > from && (labels || ended && startsCapital(line)) {
			out = append(out, text.Span{Start: from, End: from + len(strings.TrimRight(s[from:at], " \t\r\n"))})
			from = at
		}
		at += len(line)
		ended = labels && len(line) < labelLine
	}
	return append(out, text.Span{Start: from, End: span.End})
}

func startsCapital(line string) bool {
	r, _ := utf8.DecodeRuneInString(line)
	return unicode.IsUpper(r)
}

// builder is one pass over the spans of a passage.
type builder struct {
	s       string
	out     []unit
	end     int // of the span before
	block   int
	lead    int  // the sentence before the list, table or code under way
	head    int  // the first row of the table under way
	inItem  bool // the next sentence may go on with the item before it
	comment bool // inside an HTML comment of several lines

	itemText int // column of the text of the last list item, while its list goes on; 0 outside

	language string   // of code that stands in no fence
	headings []string // of the sections so far
	tab      string   // the one that is open; empty outside
}

// A tab of a page: of Hugo's shortcodes and of Material for MkDocs.
var (
	tabOpens  = regexp.MustCompile(`(?m)\{\{[<%]\s*tab\s+(?:name=|title=)?"([^"]+)"|^===[!+]? "([^"]+)"`)
	tabCloses = regexp.MustCompile(`\{\{[<%]\s*/\s*tabs?\b`)
)

// tabs follows the tabs of a page in what is no prose.
func (b *builder) tabs(line string) {
	if tabCloses.MatchString(line) {
		b.tab = ""
	}
	if m := tabOpens.FindStringSubmatch(line); m != nil {
		b.tab = m[1] + m[2]
		b.heading("")
	}
}

// heading begins a section.
func (b *builder) heading(name string) {
	if b.tab != "" {
		name = strings.TrimSpace(name + " " + b.tab + " " + b.headings[0])
	}
	b.headings = append(b.headings, name)
	b.lead, b.head, b.inItem, b.itemText = -1, -1, false, 0
	b.block++
}

func (b *builder) add(span text.Span) {
	raw := b.s[span.Start:span.End]
	gap := strings.Contains(strings.ReplaceAll(b.s[b.end:span.Start], ">", ""), "\n\n") || b.end == 0
	b.end = span.End
	line := strings.TrimLeft(raw, "> \t")
	firstLine, _, _ := strings.Cut(line, "\n")
	_, isCode := text.OpenFence(firstLine)
	switch {
	case b.comment || strings.HasPrefix(line, "<!--"):
		b.comment = !strings.Contains(raw, "-->")
	case isCode:
		b.append(unit{kind: code, start: span.Start, end: span.End, lead: b.leading(), head: -1})
		b.inItem = false
	case isHeading(line):
		b.heading(tidy(strings.TrimLeft(line, "# ")))
	case strings.HasPrefix(line, "|"):
		b.row(span, line)
	case isNoise(line):
		b.inItem = false
		if !b.within(span) { // the tabs of a step part no list
			b.tabs(line)
		}
	case listMarker(line) > 0:
		b.item(span, raw, line)
	case b.inItem && !gap && !b.labels(span):
		b.out[len(b.out)-1].end = span.End // one more sentence of the item
	default:
		b.sentence(span, gap)
	}
}

// labels reports whether a span begins a line with a label.
func (b *builder) labels(span text.Span) bool {
	return (span.Start == 0 || b.s[span.Start-1] == '\n') && label.MatchString(b.s[span.Start:span.End])
}

func (b *builder) append(u unit) {
	u.block, u.section = b.block, len(b.headings)-1
	b.out = append(b.out, u)
}

// leading is the index of the sentence or item that the next list, table or
// block of code belongs to, which stands below the same heading.
func (b *builder) leading() int {
	if n := len(b.out); n > 0 && b.out[n-1].section == len(b.headings)-1 && (b.out[n-1].kind == sentence || b.out[n-1].kind == item) {
		return n - 1
	}
	return -1
}

func (b *builder) sentence(span text.Span, gap bool) {
	if n := len(b.out); n > 0 && !gap && b.out[n-1].kind == sentence && endsInInitials(b.s[b.out[n-1].start:b.out[n-1].end]) {
		b.out[n-1].end = span.End // "by the U.S. Government" is one sentence
		return
	}
	within := b.within(span)
	if gap && !within {
		b.block++
	}
	b.inItem, b.head = false, -1
	start := span.Start + len(quoteMarks.FindString(b.s[span.Start:span.End]))
	if start == span.End {
		return
	}
	b.append(unit{kind: sentence, start: start, end: span.End, lead: -1, head: -1, within: within})
}

// within reports whether a span stands as deep as the text of the item before, and
// so belongs to it; what stands less deep ends the list.
func (b *builder) within(span text.Span) bool {
	n := len(b.out)
	if b.itemText == 0 || n == 0 || b.out[n-1].section != len(b.headings)-1 {
		return false
	}
	line := strings.LastIndexByte(b.s[:span.Start], '\n') + 1
	if strings.Trim(b.s[line:span.Start], " \t>") != "" { // a further sentence of the line
		return b.out[n-1].within
	}
	lead := len(b.s) - len(strings.TrimLeft(b.s[span.Start:], " \t"))
	if indentation(b.s, lead) < b.itemText {
		b.itemText = 0
	}
	return b.itemText > 0
}

func (b *builder) item(span text.Span, raw, line string) {
	n := len(b.out)
	if n == 0 || b.out[n-1].kind == sentence && !b.out[n-1].within || b.out[n-1].kind == row {
		b.lead = b.leading()
		b.block++
	}
	mark := listMarker(line)
	start := span.Start + len(raw) - len(line) + mark
	start += len(b.s[start:span.End]) - len(strings.TrimLeft(b.s[start:span.End], " \t"))
	if start >= span.End {
		return
	}
	number, err := strconv.Atoi(line[:mark-1])
	b.append(unit{
		kind: item, start: start, end: span.End, lead: b.lead, head: -1,
		level: indentation(b.s, span.Start), ordered: err == nil, number: number,
	})
	b.inItem, b.itemText = true, indentation(b.s, span.Start)+mark+1
}

func (b *builder) row(span text.Span, line string) {
	b.inItem = false
	n := len(b.out)
	if strings.Trim(line, "|-: \t") == "" { // the rule under the header
		if n > 0 && b.out[n-1].kind == row && b.out[n-1].block == b.block {
			b.head = n - 1
			b.out[n-1].head = b.head
		}
		return
	}
	if n == 0 || b.out[n-1].kind != row {
		b.lead, b.head = b.leading(), -1
		b.block++
	}
	b.append(unit{kind: row, start: span.Start, end: span.End, lead: b.lead, head: b.head})
}

// quoteMarks are the marks of a block quote, and of an alert, before its text.
var quoteMarks = regexp.MustCompile(`^(?:[>\s]+|\[!\w+\])+`)

// endsInInitials reports whether a sentence ends in two capital letters or more, each
// with its dot, and no other letter right before them.
func endsInInitials(s string) bool {
	n, from := 0, len(s)
	for from >= 2 && s[from-1] == '.' && 'A' <= s[from-2] && s[from-2] <= 'Z' {
		n, from = n+1, from-2
	}
	return n > 2 || n == 2 && (from == 0 || !letterOrDigit(s[from-1]) && s[from-1] != '_')
}

// indentation is how many columns stand before i on its line.
func indentation(s string, i int) int {
	from := strings.LastIndexByte(s[:i], '\n') + 1
	n := 0
	for _, r := range s[from:i] {
		if r == '\t' {
			n += 3
		}
		n++
	}
	return n
}

func isHeading(line string) bool {
	rest := strings.TrimLeft(line, "#")
	n := len(line) - len(rest)
	return n > 0 && n <= 6 && (rest == "" || rest[0] == ' ' || rest[0] == '\t')
}

// isNoise reports what shows nothing once it is tidied: shortcodes, images,
// rules, tags of their own, link definitions.
func isNoise(line string) bool {
	if line != "" && letterOrDigit(line[0]) { // no markup begins so
		return false
	}
	if strings.HasPrefix(line, "[") && strings.Contains(line, "]: ") {
		return true
	}
	return strings.Trim(tidy(line), "-*_=#>.:|! ") == ""
}

// letterOrDigit reports whether a byte is one of ASCII.
func letterOrDigit(c byte) bool { return 'a' <= c|0x20 && c|0x20 <= 'z' || '0' <= c && c <= '9' }

// listMarker is the length of the list marker that a line begins with, 0
// without one.
func listMarker(line string) int {
	if line == "" {
		return 0
	}
	if strings.IndexByte("-*+", line[0]) >= 0 {
		if len(line) > 1 && (line[1] == ' ' || line[1] == '\t') {
			return 1
		}
		return 0
	}
	n := 0
	for n < len(line) && n < 9 && line[n] >= '0' && line[n] <= '9' {
		n++
	}
	if n > 0 && n+1 < len(line) && (line[n] == '.' || line[n] == ')') && (line[n+1] == ' ' || line[n+1] == '\t') {
		return n + 1
	}
	return 0
}
