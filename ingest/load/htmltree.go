package load

import (
	"fmt"
	"strings"

	"golang.org/x/net/html"
	"golang.org/x/net/html/atom"
)

const maxPageDepth = 256 // of elements; deeper ones become siblings

func set(names string) map[string]bool {
	out := map[string]bool{}
	for n := range strings.FieldsSeq(names) {
		out[n] = true
	}
	return out
}

// blockElements begin and end a line. A paragraph ends where one of them begins.
//
//nolint:gochecknoglobals // a table
var blockElements = set(`address article aside body center details dd div dl dt fieldset figcaption figure footer form
	header hgroup hr legend li main nav ol p section summary table tbody td tfoot th thead tr ul menu dir caption
	blockquote pre listing xmp plaintext h1 h2 h3 h4 h5 h6 html`)

// headElements are those of the head of a page; any other element ends the head.
//
//nolint:gochecknoglobals // a table
var headElements = set("base head html link meta noscript script style template title")

// voidElements have no content and no end tag.
//
//nolint:gochecknoglobals // a table
var voidElements = set("area base br col embed hr img input link meta param source track wbr")

// ends lists the elements that a start tag ends, and those that it does not look beyond.
var ends = map[string]struct{ closed, within map[string]bool }{
	"li": {set("li"), set("ul ol menu dir")}, "dt": {set("dt dd"), set("dl")}, "dd": {set("dt dd"), set("dl")},
	"td": {set("td th"), set("tr table")}, "th": {set("td th"), set("tr table")}, "tr": {set("tr"), set("table")},
	"thead": {set("thead tbody caption"), set("table")}, "tbody": {set("thead tbody caption"), set("table")},
	"tfoot": {set("thead tbody"), set("table")}, "a": {set("a"), blockElements}, "option": {set("option"), set("select datalist")},
}

// tree builds the tree of a page from its tags, and keeps the line of each text. The parser
// of x/net/html reports no lines and needs much memory for some pages; this one repairs
// less, and its time and memory are proportional to the page.
type tree struct {
	root  *html.Node   // the DataAtom of a text is its first line, from 1
	open  []*html.Node // from the root
	drawn int          // depth of an open svg or math element; 0 outside
	nodes int
	last  int // line of the page
}

func parseTree(page string, most int) (*tree, error) {
	t := &tree{root: &html.Node{Type: html.DocumentNode}}
	t.open = []*html.Node{t.root}
	line := 1
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		kind := z.Next()
		raw := z.Raw()
		feeds := 0
		for _, c := range raw {
			if c == '\n' {
				feeds++
			}
		}
		switch kind {
		case html.ErrorToken:
			t.last = line
			return t, nil
		case html.TextToken:
			t.text(string(z.Text()), line)
		case html.StartTagToken, html.SelfClosingTagToken:
			token := z.Token()
			if t.start(token); t.drawn > 0 {
				z.NextIsNotRawText()
			}
		case html.EndTagToken:
			name, _ := z.TagName()
			t.end(string(name))
		case html.CommentToken, html.DoctypeToken:
		}
		if line += feeds; t.nodes > most {
			return nil, fmt.Errorf("%w: more than %d tags and texts", ErrTooLarge, most)
		}
	}
}

func (t *tree) top() *html.Node { return t.open[len(t.open)-1] }

// append adds a node to the innermost open element.
func (t *tree) append(n *html.Node) {
	t.top().AppendChild(n)
	t.nodes++
}

func (t *tree) text(s string, line int) {
	if strings.TrimSpace(s) != "" && (t.top().Data == "head" || t.top().Data == "html") {
		t.endHead()
	}
	t.append(&html.Node{Type: html.TextNode, Data: s, DataAtom: atom.Atom(line)}) //nolint:gosec // fits: a page is below 32 MiB
}

func (t *tree) start(token html.Token) {
	name := token.Data
	switch {
	case headElements[name] && name != "html" && name != "head" && len(t.open) == 1 && t.root.FirstChild == nil:
		t.push(&html.Node{Type: html.ElementNode, Data: "head"}) // the page leaves its tag out
	case !headElements[name] && t.drawn == 0:
		t.endHead()
	}
	if blockElements[name] && t.drawn > 0 {
		t.pop(t.drawn) // the page does not end the drawing
	}
	if blockElements[name] {
		t.endOf(map[string]bool{"p": true}, blockElements)
	}
	if e, ok := ends[name]; ok {
		t.endOf(e.closed, e.within)
	}
	n := &html.Node{Type: html.ElementNode, Data: name, Attr: token.Attr}
	closed := voidElements[name] || token.Type == html.SelfClosingTagToken && (t.drawn > 0 || name == "svg" || name == "math")
	if closed || len(t.open) >= maxPageDepth {
		t.append(n)
		return
	}
	if t.push(n); t.drawn == 0 && (name == "svg" || name == "math") {
		t.drawn = len(t.open) - 1
	}
}

func (t *tree) push(n *html.Node) {
	t.append(n)
	t.open = append(t.open, n)
}

// pop closes the open elements from a depth on.
func (t *tree) pop(depth int) {
	if t.open = t.open[:depth]; depth <= t.drawn {
		t.drawn = 0
	}
}

// endHead ends the head of the page.
func (t *tree) endHead() {
	for i, n := range t.open[:min(len(t.open), 3)] {
		if n.Data == "head" {
			t.pop(i)
			return
		}
	}
}

// endOf closes the innermost open element of some names, unless one of others is inside.
func (t *tree) endOf(closed, within map[string]bool) {
	for i := len(t.open) - 1; i > 0; i-- {
		switch name := t.open[i].Data; {
		case closed[name]:
			t.pop(i)
			return
		case within[name]:
			return
		}
	}
}

// end closes the innermost element of a name. A table keeps the end tags in it from closing
// what is around it, and a block those of inline elements.
func (t *tree) end(name string) {
	barrier := map[string]bool{"table": true}
	if !blockElements[name] && name != "svg" && name != "math" {
		barrier = blockElements
	}
	for i := len(t.open) - 1; i > 0; i-- {
		switch open := t.open[i].Data; {
		case open == name:
			t.pop(i)
			return
		case barrier[open]:
			return
		}
	}
}
