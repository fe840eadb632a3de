package load

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/net/html"

	"example.com/ragflow/internal/document"
)

const (
	maxIndentDepth = 8    // of nested lists
	maxHeading     = 1000 // bytes; a longer heading lacks its end tag
	maxURL         = 200  // bytes of an address that is useful to a reader
)

// blockElements begin and end a line.
//
//nolint:gochecknoglobals // a table
var blockElements = set(`address article aside body center details dd div dl dt fieldset figcaption figure footer form
	header hgroup hr legend li main nav ol p section summary table tbody td tfoot th thead tr ul menu dir caption blockquote html`)

// pageReader writes the text of a tree as Markdown. White space is collapsed as in a browser.
type pageReader struct {
	builder
	loose bool       // read furniture as text
	index bool       // the index of a book was left out
	cell  bool       // in a table cell: one line without addresses
	lists []htmlList // that are open

	mark   string // of the heading or item that the next text begins
	inList bool   // the previous line is in a list
	quotes int
	open   bool // a line of text is open
	space  bool // white space since the last text
	breaks int  // line breaks since the last text
}

// htmlList is an open list.
type htmlList struct {
	next  int // number of the next item; -1 in lists without numbers
	width int // of the mark of its item
}

// readNodes returns the text of some elements.
func readNodes(nodes []*html.Node, loose bool) *pageReader {
	r := &pageReader{loose: loose}
	for _, n := range nodes {
		r.node(n)
		r.end()
	}
	return r
}

// skips reports whether an element is left out with all of its content.
func (r *pageReader) skips(n *html.Node) bool {
	if class := attr(n, "class"); class != "" && bookIndex.MatchString(class) {
		r.index = true
		return true
	}
	return never[n.Data] || isHidden(n) || !r.loose && isFurniture(n)
}

func (r *pageReader) children(n *html.Node) {
	for c := range n.ChildNodes() {
		r.node(c)
	}
}

func (r *pageReader) node(n *html.Node) {
	switch {
	case n.Type == html.TextNode:
		r.text(n.Data)
	case n.Type == html.ElementNode && n.Data == "math":
		r.text(attr(n, "alttext"))
	case n.Type == html.ElementNode && !r.skips(n):
		r.element(n)
	case n.Type == html.DocumentNode:
		r.children(n)
	}
}

func (r *pageReader) element(n *html.Node) {
	switch n.Data {
	case "br":
		r.breaks++
	case "h1", "h2", "h3", "h4", "h5", "h6":
		r.heading(n)
	case "pre", "listing", "xmp", "plaintext":
		r.code(n)
	case "table":
		r.table(n)
	case "ul", "ol", "menu", "dir", "dl":
		r.list(n)
	case "li", "dt":
		r.end()
		r.mark = "- "
		if last := len(r.lists) - 1; last >= 0 {
			l := &r.lists[last]
			if l.next >= 0 {
				r.mark = strconv.Itoa(l.next) + ". "
				l.next++
			}
			l.width = len(r.mark)
		}
		r.children(n)
		r.end()
	case "blockquote":
		r.end()
		r.quotes++
		r.children(n)
		r.end()
		r.quotes--
	case "a":
		r.link(n)
	case "img":
		if alt := attr(n, "alt"); len(alt) <= 2000 && strings.ContainsAny(strings.TrimSpace(alt), ` \=`) { // more than a name
			r.text(alt)
		}
	case "q":
		r.text("“")
		r.children(n)
		r.text("”")
	case "code":
		quote := "`"
		if s := textOf(n); s == "" || strings.Contains(s, "`") {
			quote = ""
		}
		r.text(quote)
		r.children(n)
		r.text(quote)
	default:
		if blockElements[n.Data] {
			r.end()
		}
		r.children(n)
		if blockElements[n.Data] {
			r.end()
		}
	}
}

func (r *pageReader) heading(n *html.Node) {
	r.end()
	if len(r.lists) == 0 && r.quotes == 0 && len(textOf(n)) <= maxHeading && !holdsBlocks(n) {
		r.mark = strings.Repeat("#", int(n.Data[1]-'0')) + " "
	}
	r.children(n)
	r.end()
	r.mark = ""
}

// holdsBlocks reports whether a heading contains blocks, because its end tag is missing.
func holdsBlocks(n *html.Node) bool { return holds(n, "p", "ul", "ol", "table", "pre", "blockquote") }

// list reads a list. Items of nested lists are further items.
func (r *pageReader) list(n *html.Node) {
	r.end()
	next := -1
	if n.Data == "ol" {
		next = number(attr(n, "start"), 1_000_000)
	}
	r.lists = append(r.lists, htmlList{next: next})
	r.children(n)
	r.end()
	r.mark = ""
	r.lists = r.lists[:len(r.lists)-1]
	r.inList = r.inList && len(r.lists) > 0
}

// link reads a link, with its address if that is complete and differs from the text. Signs that link to their
// own heading are left out.
func (r *pageReader) link(n *html.Node) {
	if isAnchor(n) {
		return
	}
	r.children(n)
	href := strings.TrimSpace(attr(n, "href"))
	s := textOf(n)
	u, err := url.Parse(href)
	if r.cell || s == "" || len(href) > maxURL || err != nil ||
		u.User != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return // an address with a user name misleads
	}
	if to := u.String(); !strings.Contains(to, strings.TrimSuffix(s, "/")) {
		r.text(" (" + to + ")")
	}
}

func isAnchor(n *html.Node) bool {
	c := n.FirstChild
	return c != nil && c == n.LastChild && c.Type == html.TextNode && document.HasWord("¶ # § 🔗", strings.TrimSpace(c.Data))
}

// textOf returns the visible text of a node as one line. Of long texts it returns the beginning.
func textOf(n *html.Node) string {
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		for c := n.FirstChild; c != nil && b.Len() <= 4*maxHeading; c = c.NextSibling {
			switch {
			case c.Type == html.TextNode:
				b.WriteString(c.Data)
			case c.Data == "br":
				b.WriteByte(' ')
			case !never[c.Data] && !isHidden(c) && (c.Data != "a" || !isAnchor(c)):
				walk(c)
			}
		}
	}
	walk(n)
	return strings.Join(strings.Fields(strings.Map(visibleRune, b.String())), " ")
}

// text writes text.
func (r *pageReader) text(s string) {
	for _, c := range s {
		if unicode.IsSpace(c) {
			r.space = true
		} else if c = visibleRune(c); c >= 0 {
			r.write(c)
		}
	}
}

func (r *pageReader) write(c rune) {
	switch {
	case r.cell:
		if (r.space || r.breaks > 0 || !r.open) && r.out.Len() > 0 {
			r.out.WriteByte(' ')
		}
		r.open = true
	case r.breaks > 1:
		r.end()
	case r.open && r.breaks == 1:
		r.newLine()
	case r.open && r.space:
		r.out.WriteByte(' ')
	}
	r.space, r.breaks = false, 0
	r.beginLine()
	r.out.WriteRune(c)
}

// beginLine opens a line of text, in a new part or in that of the list.
func (r *pageReader) beginLine() {
	if r.open {
		return
	}
	if r.open = true; r.inList {
		r.out.WriteByte('\n')
	} else {
		r.begin()
	}
	r.inList = len(r.lists) > 0
	r.startLine(len(r.mark))
	r.out.WriteString(r.mark)
	r.mark = ""
}

// newLine begins the next line of a part.
func (r *pageReader) newLine() {
	r.out.WriteByte('\n')
	r.startLine(0)
}

// startLine indents a line, minus the width of its mark.
func (r *pageReader) startLine(mark int) {
	indent := 0
	for _, l := range r.lists {
		indent += l.width
	}
	if len(r.lists) > 0 {
		indent -= mark
	}
	r.out.WriteString(strings.Repeat(" ", min(max(indent, 0), 3*maxIndentDepth)))
	if r.quotes > 0 {
		r.out.WriteString("> ")
	}
}

// end closes the line of text.
func (r *pageReader) end() { r.open, r.space, r.breaks = false, false, 0 }

var leadingBlank = regexp.MustCompile(`^(?:[ \t\r]*\n)+`)

// code writes preformatted text as a fenced block.
func (r *pageReader) code(n *html.Node) {
	r.end()
	var b strings.Builder
	for d := range n.Descendants() {
		switch {
		case d.Data == "br" && d.Type == html.ElementNode:
			b.WriteByte('\n')
		case d.Type == html.TextNode && !isHiddenBelow(d.Parent):
			b.WriteString(d.Data)
		}
	}
	text := strings.TrimRight(leadingBlank.ReplaceAllString(b.String(), ""), " \t\r\n")
	if text == "" {
		return
	}
	for line := range strings.SplitSeq(fenced(text, language(n)), "\n") {
		if r.open {
			r.newLine()
		}
		r.beginLine()
		r.out.WriteString(strings.Map(func(c rune) rune {
			if c == '\t' {
				return c
			}
			return visibleRune(c)
		}, strings.TrimRight(line, " \t\r")))
	}
	r.end()
}

var languageClass = regexp.MustCompile(`(?:^|\s)lang(?:uage)?-([A-Za-z0-9+#-]{1,20})(?:\s|$)`)

// language returns the programming language that an element names for a highlighter.
func language(n *html.Node) string {
	for d := n; d != nil && d.Type == html.ElementNode; d = d.FirstChild {
		if m := languageClass.FindStringSubmatch(attr(d, "class")); m != nil {
			return m[1]
		}
	}
	return ""
}

// number parses a whole number from 1 to a limit; others are 1.
func number(s string, most int) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 1 {
		return 1
	}
	return min(n, most)
}
