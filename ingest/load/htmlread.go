package load

import (
	"net/url"
	"strings"

	"golang.org/x/net/html"
)

// blockElements begin and end a line.
//
//nolint:gochecknoglobals // a table
var blockElements = set(`address article aside body center details dd div dl dt fieldset figcaption figure footer form
	header hgroup hr legend li main nav ol p section summary table tbody td tfoot th thead tr ul menu dir caption
	blockquote pre listing xmp plaintext h1 h2 h3 h4 h5 h6 html`)

// pageReader reads the text out of a tree.
type pageReader struct {
	w     *pageWriter
	loose bool  // furniture is text like any other
	limit int   // of the text, in bytes, beyond which nothing is repeated
	items []int // number of the next item, by list; -1 where items have none
	cells bool  // in a table, where addresses would hide the data
}

// readPage returns the writer that holds the text of some elements.
func readPage(nodes []*html.Node, loose bool, limit int) *pageWriter {
	r := &pageReader{w: newPageWriter(), loose: loose, limit: limit}
	for _, n := range nodes {
		r.node(n)
		r.w.end()
	}
	return r.w
}

// skips reports whether an element is passed over with all it holds.
func (r *pageReader) skips(n *html.Node) bool {
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
		r.w.text(n.Data)
	case n.Type == html.ElementNode && !r.skips(n):
		r.element(n)
	case n.Type == html.DocumentNode:
		r.children(n)
	}
}

func (r *pageReader) element(n *html.Node) {
	switch n.Data {
	case "br":
		r.w.breaks++
	case "h1", "h2", "h3", "h4", "h5", "h6":
		r.heading(n)
	case "pre", "listing", "xmp", "plaintext":
		r.w.code(r.preformatted(n), language(n))
	case "table":
		r.table(n)
	case "ul", "ol", "menu", "dir", "dl":
		r.list(n)
	case "li", "dt":
		r.item(n)
	case "blockquote":
		r.w.end()
		r.w.quotes++
		r.children(n)
		r.w.quotes--
		r.w.end()
	case "a", "img", "q", codeElement:
		r.w.text(r.inline(n))
	default:
		block := blockElements[n.Data]
		if block {
			r.w.end()
		}
		r.children(n)
		if block {
			r.w.end()
		}
	}
}

// longestHeading is how long a heading is at most, in bytes.
const longestHeading = 1000

func (r *pageReader) heading(n *html.Node) {
	r.w.end()
	defer r.w.end()
	marked := r.inlineChildren(n)
	s := plainText(marked)
	if s == "" {
		return
	}
	if len(s) > longestHeading || holdsBlocks(n) {
		r.children(n)
		return
	}
	if r.w.lists > 0 || r.w.quotes > 0 { // it heads nothing but the item or quote it stands in
		r.w.text(marked)
		return
	}
	r.w.level = int(n.Data[1] - '0')
	r.w.text(marked)
	r.w.level = 0
	r.w.blocks[len(r.w.blocks)-1].heading = s
}

// holdsBlocks reports whether a heading was never closed: it holds what no
// heading does.
func holdsBlocks(n *html.Node) bool { return holds(n, "p", "ul", "ol", "table", "pre", "blockquote") }

// list reads a list; the items of one that lies in another are further items.
func (r *pageReader) list(n *html.Node) {
	r.w.end()
	count := -1
	if n.Data == "ol" {
		count = number(attr(n, "start"), 1, 1_000_000)
	}
	r.items = append(r.items, count)
	r.w.lists++
	r.children(n)
	r.w.end()
	r.w.item = ""
	r.w.lists--
	r.items = r.items[:len(r.items)-1]
	if r.w.lists == 0 {
		r.w.inList = false
	}
}

func (r *pageReader) item(n *html.Node) {
	r.w.end()
	r.w.item = "- "
	if last := len(r.items) - 1; last >= 0 && r.items[last] >= 0 {
		r.w.item = itoa(r.items[last]) + ". "
		r.items[last]++
	}
	r.children(n)
	r.w.end()
}

// inline returns an element as marked text of one line.
func (r *pageReader) inline(n *html.Node) string {
	if n.Type == html.TextNode {
		return n.Data
	}
	if n.Type != html.ElementNode || r.skips(n) {
		return ""
	}
	switch n.Data {
	case "br":
		return " "
	case "img":
		return imageText(n)
	case "a":
		return r.link(n)
	case "q":
		return "“" + r.inlineChildren(n) + "”"
	case codeElement:
		s := r.inlineChildren(n)
		if plain := plainText(s); plain == "" || strings.Contains(plain, "`") {
			return s
		}
		return "`" + s + "`"
	}
	s := r.inlineChildren(n)
	if blockElements[n.Data] {
		return " " + s + " "
	}
	return s
}

func (r *pageReader) inlineChildren(n *html.Node) string {
	var b strings.Builder
	for c := range n.ChildNodes() {
		b.WriteString(r.inline(c))
	}
	return b.String()
}

// link returns the text of a link, with where it leads to if that is somewhere
// else. Signs that lead to the heading they stand at are furniture.
func (r *pageReader) link(n *html.Node) string {
	s := r.inlineChildren(n)
	plain := plainText(s)
	if plain == "¶" || plain == "#" || plain == "§" || plain == "🔗" {
		return ""
	}
	r.w.hrefs = append(r.w.hrefs, strings.Map(dropMarks, attr(n, "href")))
	if to := target(attr(n, "href")); !r.cells && to != "" && plain != "" && !strings.Contains(to, strings.TrimSuffix(plain, "/")) {
		return s + " (" + to + ")"
	}
	return s
}

// longestURL is how long an address may be, in bytes, to be of use to a reader.
const longestURL = 200

// target returns the address a link leads to: of the web, whole, and short
// enough to be read; else nothing. Addresses with a name in front of the host
// are left out: they are made to mislead.
func target(href string) string {
	href = strings.TrimSpace(href)
	if len(href) > longestURL {
		return ""
	}
	u, err := url.Parse(href)
	if err != nil || u.User != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" {
		return ""
	}
	return plainText(strings.Map(dropMarks, u.String()))
}

// imageText returns what stands for a picture, where it says more than a name
// does.
func imageText(n *html.Node) string {
	alt := strings.TrimSpace(strings.Map(dropMarks, attr(n, "alt")))
	if len(alt) > 2000 || !strings.ContainsAny(alt, " \\=") {
		return ""
	}
	return alt
}

// preformatted returns the marked text of an element with its line feeds.
func (r *pageReader) preformatted(n *html.Node) string {
	var b strings.Builder
	var walk func(*html.Node)
	walk = func(n *html.Node) {
		switch {
		case n.Type == html.TextNode:
			b.WriteString(n.Data)
		case n.Type == html.ElementNode && n.Data == "br":
			b.WriteByte('\n')
		case n.Type == html.ElementNode && r.skips(n):
		default:
			for c := range n.ChildNodes() {
				walk(c)
			}
		}
	}
	walk(n)
	return b.String()
}

// language returns the programming language that an element names, as
// highlighters have it.
func language(n *html.Node) string {
	for d := n; d != nil && d.Type == html.ElementNode; d = d.FirstChild {
		for c := range strings.FieldsSeq(attr(d, "class")) {
			name, ok := strings.CutPrefix(c, "language-")
			if !ok {
				name, ok = strings.CutPrefix(c, "lang-")
			}
			if ok && len(name) <= 20 && strings.Trim(strings.ToLower(name), "abcdefghijklmnopqrstuvwxyz0123456789+#-") == "" {
				return name
			}
		}
	}
	return ""
}
