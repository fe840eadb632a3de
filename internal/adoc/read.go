// Package adoc makes Markdown of AsciiDoc, as Asciidoctor understands it: titles,
// paragraphs, lists, definitions, tables, admonitions and blocks of code, with the lines of
// the file that they come from. What only builds the page (attributes, anchors, comments,
// conditions, includes, images) is left out.
package adoc

import (
	"regexp"
	"strconv"
	"strings"
)

// Page is what a page of AsciiDoc says.
type Page struct {
	Markdown string            // ends with a line feed, unless it is empty
	Places   []Place           // where the lines of the file begin in it, in order
	Fields   map[string]string // the attributes in front of its text that tell of it; nil without
}

// Place is where what a line of the file says begins.
type Place struct {
	Offset int // in Page.Markdown, in bytes
	Line   int // of the file, from 1
}

// Read makes Markdown of a page. Nothing that it reads is an error: what it does not
// understand is text.
func Read(s string) Page {
	r := reader{attributes: map[string]string{}}
	for l := range strings.Lines(s) {
		r.lines = append(r.lines, strings.TrimRight(l, " \t\r\n"))
	}
	for r.at < len(r.lines) {
		r.block()
	}
	r.closeTable()
	out := strings.TrimRight(r.out.String(), "\n")
	if out != "" {
		out += "\n"
	}
	for len(r.places) > 0 && r.places[len(r.places)-1].Offset >= len(out) {
		r.places = r.places[:len(r.places)-1]
	}
	return Page{out, r.places, r.fields}
}

// reader reads a page line by line.
type reader struct {
	lines      []string
	at         int // the line that is read
	out        strings.Builder
	places     []Place
	fields     map[string]string
	attributes map[string]string // what stands for {name}
	expanded   int               // bytes that attributes stood for
	started    bool              // text was written
	counts     [7]int            // of the items of numbered lists, by depth
	depth      int               // of the item of a list that is open, from 1; 0 in none
	broken     bool              // a blank line stands before
	style      string            // of the block that follows, such as source,go
	table      *table
}

var (
	titlePattern      = regexp.MustCompile(`^(={1,6}|#{1,6})[ \t]+(\S.*?)(?:[ \t]+=+)?$`)
	attributePattern  = regexp.MustCompile(`^:(!?[\w][\w-]*!?):(?:[ \t]+(.*))?$`)
	directivePattern  = regexp.MustCompile(`^(?:ifdef|ifndef|ifeval|endif|include|image|video|audio|toc)::?[^\s\[]*\[.*\]$`)
	stylePattern      = regexp.MustCompile(`^\[([^\[\]]*|\[[^\[\]]*\])\]$`)
	blockTitlePattern = regexp.MustCompile(`^\.([^\s.].*)$`)
	bulletPattern     = regexp.MustCompile(`^[ \t]*(\*{1,5}|-)[ \t]+(\S.*)$`)
	numberPattern     = regexp.MustCompile(`^[ \t]*(?:(\.{1,5})|\d+\.|<(?:\d+|\.)>)[ \t]+(\S.*)$`)
	termPattern       = regexp.MustCompile(`^[ \t]*(\S.*?)(:{2,4}|;;)(?:[ \t]+(.*))?$`)
	underlinePattern  = regexp.MustCompile(`^(={3,}|-{3,}|~{3,}|\^{3,}|\+{3,})$`)
	languagePattern   = regexp.MustCompile(`^(?:source|,)\s*,?\s*(?:language=)?"?([\w+#-]+)`)
)

// block reads what the next line begins.
func (r *reader) block() {
	line := r.lines[r.at]
	bare := strings.TrimSpace(line)
	switch {
	case r.table != nil:
		r.tableLine(line)
	case bare == "":
		r.broken = true
		r.at++
	case r.invisible(line):
		r.at++
	case r.delimited(bare):
	case r.title(line):
	case r.listed(line):
	case bare == "+": // what follows belongs to the item
		r.broken = false
		r.at++
	case r.depth == 0 && (line[0] == ' ' || line[0] == '\t'):
		r.literal()
	default:
		r.paragraph()
	}
}

// invisible takes a line that says nothing to a reader, and keeps what it says of what
// follows.
func (r *reader) invisible(line string) bool {
	switch m := attributePattern.FindStringSubmatch(line); {
	case m != nil:
		r.attribute(strings.ToLower(m[1]), m[2])
	case strings.HasPrefix(line, "//") && !strings.HasPrefix(line, "///"), directivePattern.MatchString(line), line == "'''", line == "<<<":
	case stylePattern.MatchString(line):
		if style := line[1 : len(line)-1]; !strings.HasPrefix(style, "[") && !strings.HasPrefix(style, "#") {
			r.style = style
		}
	default:
		m := blockTitlePattern.FindStringSubmatch(line)
		if m == nil {
			return false
		}
		r.line(r.inline(m[1])+":", true)
		r.broken = true
	}
	return true
}

// attribute keeps what an attribute stands for; those in front of the text tell of it.
func (r *reader) attribute(name, value string) {
	if len(value) > 1000 || len(r.attributes) > 1000 {
		return
	}
	r.attributes[name] = value
	switch name {
	case "description", "keywords", "author", "category", "tags", "version", "page-tags", "page-category":
		if r.depth == 0 && value != "" && strings.Count(r.out.String(), "\n") < 3 {
			if r.fields == nil {
				r.fields = map[string]string{}
			}
			r.fields[strings.TrimPrefix(name, "page-")] = value
		}
	}
}

// title reads a heading: = Title, or a line with a rule of its length below it. Lines
// right below the title of the page name its author and revision.
func (r *reader) title(line string) bool {
	var level, n int
	var said string
	if m := titlePattern.FindStringSubmatch(line); m != nil {
		level, said, n = len(m[1]), m[2], 1
	} else if r.at+1 < len(r.lines) && (r.broken || r.at == 0 || r.style != "") && line[0] != ' ' && line[0] != '\t' {
		rule := r.lines[r.at+1]
		if len(rule) > 200 || !underlinePattern.MatchString(rule) || abs(len([]rune(line))-len(rule)) > 1 {
			return false
		}
		level, said, n = 1+strings.IndexByte("=-~^+", rule[0]), line, 2
	} else {
		return false
	}
	first := !r.started
	clear(r.counts[:])
	r.depth, r.style = 0, ""
	r.line(strings.Repeat("#", level)+" "+r.inline(said), true)
	r.at += n
	for first && level == 1 && r.at < len(r.lines) && r.lines[r.at] != "" && r.lines[r.at][0] != ':' && !strings.HasPrefix(r.lines[r.at], "[") {
		r.at++
	}
	r.broken = true
	return true
}

func abs(n int) int { return max(n, -n) }

// listed reads an item of a list, or a term that is defined.
func (r *reader) listed(line string) bool {
	if m := bulletPattern.FindStringSubmatch(line); m != nil {
		r.item("- ", m[2], len(m[1]))
		return true
	}
	if m := numberPattern.FindStringSubmatch(line); m != nil {
		depth := max(1, len(m[1]))
		if strings.HasPrefix(strings.TrimSpace(line), "<") { // what a sign in a block of code says
			r.item("- ", m[2], depth)
			return true
		}
		r.counts[depth]++
		clear(r.counts[depth+1:])
		r.item(strconv.Itoa(r.counts[depth])+". ", m[2], depth)
		return true
	}
	if m := termPattern.FindStringSubmatch(line); m != nil && !strings.Contains(m[1], "::") && !strings.HasSuffix(m[1], ":") {
		r.term(m[1], m[3])
		return true
	}
	return false
}

// item writes an item and the lines that go on with it.
func (r *reader) item(bullet, text string, depth int) {
	r.depth = 0
	lead := strings.Repeat("  ", depth-1)
	r.line(lead+bullet+r.inline(text), r.broken)
	r.depth, r.broken = depth, false
	r.at++
	r.goOn(lead + strings.Repeat(" ", len(bullet)))
}

// term writes what is defined, several by one definition too, and its definition.
func (r *reader) term(name, text string) {
	r.depth = 0
	terms := []string{r.named(name)}
	from := r.at
	for r.at++; text == "" && r.at < len(r.lines) && len(terms) < 20; r.at++ {
		m := termPattern.FindStringSubmatch(r.lines[r.at])
		if m == nil || strings.Contains(m[1], "::") {
			break
		}
		terms = append(terms, r.named(m[1]))
		text = m[3]
	}
	for text == "" && r.at < len(r.lines) && strings.TrimSpace(r.lines[r.at]) == "" && r.at+1 < len(r.lines) && !r.begins(r.at+1) {
		r.at++
	}
	if text == "" && r.at < len(r.lines) && !r.begins(r.at) {
		text = r.lines[r.at]
		r.at++
	}
	r.lineFrom("- "+strings.Join(terms, ", ")+": "+r.inline(strings.TrimSpace(text)), true, from)
	r.depth, r.broken = 1, false
	r.goOn("  ")
}

// named is a term; one that is an option is code.
func (r *reader) named(term string) string {
	if strings.HasPrefix(term, "-") && !strings.Contains(term, "`") {
		return "`" + term + "`"
	}
	return r.inline(term)
}

// goOn writes the lines that go on with what was begun.
func (r *reader) goOn(lead string) {
	for r.at < len(r.lines) && !r.begins(r.at) {
		r.line(lead+r.inline(strings.TrimSpace(r.lines[r.at])), false)
		r.at++
	}
}

// begins reports whether a line is no further one of a paragraph.
func (r *reader) begins(at int) bool {
	line := r.lines[at]
	bare := strings.TrimSpace(line)
	return bare == "" || bare == "+" || delimiter(bare) || directivePattern.MatchString(line) || stylePattern.MatchString(line) ||
		bulletPattern.MatchString(line) || numberPattern.MatchString(line) || termPattern.MatchString(line) || strings.HasPrefix(line, "//")
}

var admonition = regexp.MustCompile(`^(NOTE|TIP|IMPORTANT|WARNING|CAUTION):[ \t]+`)

// paragraph writes lines up to a blank one. One of an item is set in.
func (r *reader) paragraph() {
	lead := ""
	if r.depth > 0 && !r.broken {
		lead = strings.Repeat("  ", r.depth)
	} else {
		r.depth = 0
		clear(r.counts[:])
	}
	text := strings.TrimSpace(r.lines[r.at])
	if m := admonition.FindStringSubmatch(text); m != nil {
		text = said(m[1]) + text[len(m[0]):]
	} else {
		text = said(r.style) + text
	}
	verse := strings.HasPrefix(r.style, "verse") || strings.HasPrefix(r.style, "listing") || strings.HasPrefix(r.style, "source")
	if verse {
		r.code(r.language(), "")
		return
	}
	r.style = ""
	r.line(lead+r.inline(text), true)
	r.at++
	for r.at < len(r.lines) && strings.TrimSpace(r.lines[r.at]) != "" && !delimiter(strings.TrimSpace(r.lines[r.at])) && strings.TrimSpace(r.lines[r.at]) != "+" {
		if !r.invisible(r.lines[r.at]) {
			r.line(lead+r.inline(strings.TrimSpace(r.lines[r.at])), false)
		}
		r.at++
	}
}

// said is what an admonition begins with.
func said(style string) string {
	switch kind, _, _ := strings.Cut(style, ","); kind {
	case "NOTE", "TIP", "IMPORTANT", "WARNING", "CAUTION":
		return kind[:1] + strings.ToLower(kind[1:]) + ": "
	}
	return ""
}
