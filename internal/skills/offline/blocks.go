package offline

import (
	"path"
	"regexp"
	"strings"

	"example.com/ragflow/internal/skills/readable"
	"example.com/ragflow/internal/text"
	"example.com/ragflow/state"
)

// kind is the kind of a block.
type kind int

const (
	paragraph kind = iota
	item           // of a list, with the lines that continue it
	row            // of a table
	code           // a fenced or indented block, or a run of lines of source code
	heading
)

// block is a part of a passage, set apart by blank lines, markers or indentation.
type block struct {
	kind       kind
	start, end int    // bytes of the text
	indent     int    // columns before its first line
	group      int    // number of its list or table
	head       int    // of a row, the index of its header block; -1 without one
	rule       string // of a header, the line below it
	section    int    // number of headings before it
	marker     string // of an item: "-" or "3."
	quoted     int    // number of mails, one in the other, that quote it
	field      bool   // a line of the head of a mail
}

// begins reports whether a block of s is incomplete: a paragraph that ends within a sentence, or an item that
// ends in a colon. The rest may follow as a heading, but not as a value.
func (b block) begins(s string) bool {
	s = s[b.start:b.end]
	return b.kind == paragraph && text.Unfinished(s) && !headingLine.MatchString(s) || b.kind == item && strings.HasSuffix(s, ":")
}

// parser reads the lines of a text into blocks.
type parser struct {
	s       string
	out     []block
	open    int  // the block that the next line may continue; -1: none
	blank   bool // a blank line precedes the next one
	section int
	groups  int
	fence   text.Fence
	comment bool
	plain   bool // plain text: lines are not joined
	marked  bool // Markdown written by a person: link definitions and open comments are possible
	mail    bool // quotes are those of other mails, and fields of the head are lines of their own
}

var (
	headingLine = regexp.MustCompile(`^#{1,6}(?:[ \t]|$)`)
	itemMark    = regexp.MustCompile(`^(?:[-*+•]|\d{1,3}[.)])(?:[ \t]+|$)`)
	linkLine    = regexp.MustCompile(`^\[[^\]^][^\]]*\]:[ \t]*\S+[ \t]*(?:"[^"]*"|'[^']*'|\([^)]*\))?$`) // a link definition
	ruleLine    = regexp.MustCompile(`^[-=*_~^"'#.|:+ \t—–─━═]{3,}$`)
	mailExt     = regexp.MustCompile(`(?i)\.(?:eml|mbox|msg)$`)
	mailField   = regexp.MustCompile(`^(?:From|To|Cc|Date|Sent|Subject|Attachments): `) // as package load writes the head
	markdownExt = regexp.MustCompile(`(?i)\.(?:md|markdown|mdown|mkd|mdx|ipynb)$`)
)

// minWrapped is the least length, in columns, of a line that its writer wrapped in plain text.
const minWrapped = 40

// parseBlocks splits the text of a chunk into blocks. Everything that a reader sees is in a block. Rules,
// comments, link definitions of Markdown and lines that [readable.Line] makes empty are left out.
func parseBlocks(c state.Chunk) []block {
	ext := strings.ToLower(path.Ext(c.Source))
	p := parser{s: c.Text, open: -1, blank: true, plain: ext == "" || ext == ".txt" || ext == ".text", marked: markdownExt.MatchString(ext), mail: mailExt.MatchString(ext)}
	if c.Cut.Inside != "" {
		p.fence, _ = text.OpenFence(strings.TrimLeft(c.Cut.Inside, "> \t"))
		p.add(block{kind: code})
	}
	at := 0
	for line := range strings.Lines(c.Text) {
		end := at + len(strings.TrimRight(line, " \t\r\n"))
		if c.Cut.Language != "" {
			p.source(at, end)
		} else {
			p.line(at, end)
		}
		at += len(line)
	}
	return p.out
}

// source reads a line of source code. Blank lines separate blocks.
func (p *parser) source(start, end int) {
	switch {
	case start == end:
		p.open = -1
	case p.open >= 0:
		p.out[p.open].end = end
	default:
		p.add(block{kind: code, start: start, end: end})
	}
}

func (p *parser) line(start, end int) {
	whole := p.s[start:end]
	body := strings.TrimLeft(whole, "> \t")
	margin := strings.ReplaceAll(whole[:len(whole)-len(body)], "\t", "    ")
	quotes := strings.Count(margin, ">")
	indent := len(margin) - quotes
	if p.mail {
		indent = max(indent-quotes, 0) // each mark has a space
	}
	switch {
	case p.fence != (text.Fence{}):
		p.out[p.open].end = end
		if p.fence.Closes(body) {
			p.fence, p.open, p.blank = text.Fence{}, -1, true
		}
		return
	case p.comment || strings.HasPrefix(body, "<!--") && (p.marked || strings.Contains(p.s[end-len(body):], "-->")):
		_, behind, closed := strings.Cut(body, "-->")
		p.comment, p.open = !closed, -1
		if behind = strings.TrimLeft(behind, " \t"); behind != "" {
			p.line(end-len(behind), end)
		}
		return
	case body == "":
		p.blank = true
		return
	}
	if fence, ok := text.OpenFence(body); ok {
		p.fence = fence
		p.add(block{kind: code, start: start, end: end, indent: indent})
		return
	}
	blocks := len(p.out)
	p.prose(start, end, indent, body)
	p.blank = false
	if p.mail && len(p.out) > blocks {
		p.out[blocks].quoted, p.out[blocks].field = quotes, mailField.MatchString(body)
	}
}

// prose reads a line outside a code fence.
func (p *parser) prose(start, end, indent int, body string) {
	blank := p.blank
	last := p.last()
	switch mark := itemMark.FindString(body); {
	case headingLine.MatchString(body):
		if o := p.last(); o != nil && o.begins(p.s) && len(strings.Fields(body)) <= valueWords {
			p.add(block{kind: paragraph, start: end - len(body), end: end, indent: o.indent})
		} else {
			p.section++
			p.add(block{kind: heading, start: start, end: end})
		}
		p.open = -1
	case strings.HasPrefix(body, "|"):
		p.row(start, end, indent, body)
	case ruleLine.MatchString(body), p.marked && (blank || p.open < 0) && linkLine.MatchString(body):
		p.open = -1
	case mark != "" && indent < 4*6:
		if last == nil || last.kind != item && (last.kind != paragraph || last.indent == 0) {
			p.groups++
		}
		p.add(block{kind: item, start: start, end: end, indent: indent, group: p.groups, marker: strings.TrimSpace(mark)})
	case blank && indent >= 4 && (last == nil || last.kind != item && last.indent == 0): // Markdown whose text is not indented
		p.add(block{kind: code, start: start, end: end, indent: indent})
	case p.open >= 0 && p.out[p.open].kind == code && indent >= 4: // indented code runs over blank lines
		p.out[p.open].end = end
	case blank || p.open < 0 || p.plain && p.endsItem(indent), p.mail && mailField.MatchString(body):
		if !readable.Blank(body) {
			p.add(block{kind: paragraph, start: start, end: end, indent: indent})
		}
	default:
		p.out[p.open].end = end
	}
}

// endsItem reports whether a line of plain text ends the open list item: it is indented no deeper, and the
// last line of the item is too short to be wrapped.
func (p *parser) endsItem(indent int) bool {
	b := p.out[p.open]
	return b.kind == item && indent <= b.indent && b.end-max(b.start, strings.LastIndexByte(p.s[:b.end], '\n')+1) < minWrapped
}

func (p *parser) row(start, end, indent int, body string) {
	last := p.last()
	follows := last != nil && last.kind == row && !p.blank
	n := len(p.out)
	second := follows && (n == 1 || p.out[n-2].group != last.group)
	switch isRule := strings.Trim(body, "|-: \t") == ""; {
	case strings.Trim(body, "|: \t") == "", isRule && !follows && strings.Contains(body, "--"): // an empty row, or a rule without its header
		return
	case isRule && second:
		last.head, last.rule = n-1, body
		return
	}
	b := block{kind: row, start: start, end: end, indent: indent, head: -1}
	if follows {
		b.head, b.group = last.head, last.group
	} else {
		p.groups++
		b.group = p.groups
	}
	p.add(b)
	p.out[p.open].head = b.head
}

func (p *parser) last() *block {
	if n := len(p.out); n > 0 && p.out[n-1].section == p.section {
		return &p.out[n-1]
	}
	return nil
}

func (p *parser) add(b block) {
	b.section = p.section
	if b.kind != row {
		b.head = -1
	}
	p.out = append(p.out, b)
	p.open = len(p.out) - 1
}
