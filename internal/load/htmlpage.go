package load

import (
	"math"
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
	loose bool // read furniture as text
	index bool // the index of a book was left out
	cell  bool // in a table cell: one line without addresses

	line   strings.Builder // text of the open part
	space  bool            // white space since the last text
	breaks int             // line breaks since the last text
	level  int             // of the heading that the open part is
	mark   string          // of the item that the next text begins
	lists  []int           // number of the next item of the open lists; 0 in lists without numbers
	quotes int             // that are open
}

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
		r.mark = bullet
		if last := len(r.lists) - 1; last >= 0 && r.lists[last] > 0 {
			r.mark = strconv.Itoa(r.lists[last]) + "."
			r.lists[last]++
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
		r.level = int(n.Data[1] - '0')
	}
	r.children(n)
	r.end()
	r.level = 0
}

// holdsBlocks reports whether a heading contains blocks, because its end tag is missing.
func holdsBlocks(n *html.Node) bool { return holds(n, "p", "ul", "ol", "table", "pre", "blockquote") }

// list reads a list. Items of nested lists are further items.
func (r *pageReader) list(n *html.Node) {
	r.end()
	next := 0
	if n.Data == "ol" {
		next = number(attr(n, "start"), 1_000_000)
	}
	r.lists = append(r.lists, next)
	r.children(n)
	r.end()
	r.mark = ""
	r.lists = r.lists[:len(r.lists)-1]
	r.builder.list = r.builder.list && len(r.lists) > 0
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
	return strings.Join(strings.Fields(strings.Map(document.Visible, rawText(n, 4*maxHeading))), " ")
}

// rawText returns the visible text of a node as it is, until it has so many bytes.
func rawText(n *html.Node, most int) string {
	var b strings.Builder
	var walk func(n *html.Node)
	walk = func(n *html.Node) {
		for c := n.FirstChild; c != nil && b.Len() <= most; c = c.NextSibling {
			switch {
			case c.Type == html.TextNode:
				b.WriteString(c.Data)
			case c.Data == "br":
				b.WriteByte('\n')
			case !never[c.Data] && !isHidden(c) && (c.Data != "a" || !isAnchor(c)):
				walk(c)
			}
		}
	}
	walk(n)
	return b.String()
}

// text adds text to the open part.
func (r *pageReader) text(s string) {
	for _, c := range s {
		if unicode.IsSpace(c) {
			r.space = true
			continue
		}
		if c = document.Visible(c); c < 0 {
			continue
		}
		switch {
		case r.breaks > 1 && !r.cell:
			r.end()
		case r.line.Len() == 0:
		case r.breaks > 0 && !r.cell:
			r.line.WriteByte('\n')
		case r.space || r.breaks > 0:
			r.line.WriteByte(' ')
		}
		r.space, r.breaks = false, 0
		r.line.WriteRune(c)
	}
}

// end writes the open part.
func (r *pageReader) end() {
	if r.cell {
		r.space = true
		return
	}
	text := r.line.String()
	r.line.Reset()
	if r.space, r.breaks = false, 0; text != "" && r.level > 0 {
		r.builder.heading(r.level, text)
	} else if text != "" {
		r.part(text)
	}
}

// part writes a part, as an item if it is the first one of one.
func (r *pageReader) part(text string) {
	if r.quote = ""; r.quotes > 0 {
		r.quote = "> "
	}
	switch depth := len(r.lists) - 1; {
	case r.mark != "":
		r.marked(max(depth, 0), r.mark, text)
		r.mark = ""
	case depth >= 0:
		r.continued(depth, text)
	default:
		r.paragraph(r.quote + strings.ReplaceAll(text, "\n", "\n"+r.quote))
	}
}

var leadingBlank = regexp.MustCompile(`^(?:[ \t\r]*\n)+`)

// code writes preformatted text as a fenced block.
func (r *pageReader) code(n *html.Node) {
	if r.end(); r.cell {
		r.text(rawText(n, math.MaxInt))
		return
	}
	var lines []string
	for line := range strings.SplitSeq(leadingBlank.ReplaceAllString(rawText(n, math.MaxInt), ""), "\n") {
		lines = append(lines, strings.TrimRight(strings.Map(func(c rune) rune {
			if c == '\t' {
				return c
			}
			return document.Visible(c)
		}, line), " \t"))
	}
	if text := strings.TrimRight(strings.Join(lines, "\n"), "\n"); text != "" {
		r.part(document.Fenced(text, language(n)))
	}
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
