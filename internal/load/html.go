package load

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"example.com/ragflow/internal/document"
)

const maxPage = 32 << 20 // bytes of a page; its tree takes many times that memory

// readHTML reads a page: it decodes it and leaves the furniture out. Nothing is executed or fetched.
func (d *draft) readHTML(data []byte) error {
	root, err := d.parsePage(data)
	if err != nil {
		return err
	}
	w := mainText(root)
	d.Meta, d.Title = htmlMeta(root), pageTitle(root)
	w.finish(d)
	return nil
}

// decodeHTML sets Text and Encoding. UTF-8 has precedence over the declared encoding, and that over
// detection.
func (d *draft) decodeHTML(data []byte) error {
	e, name, _ := charset.DetermineEncoding(data, "")
	if utf8.Valid(data) && name != "iso-2022-jp" || bytes.IndexByte(data, 0) >= 0 || name == "windows-1252" || name == "replacement" {
		return d.decode(data)
	}
	if err := d.convert(data, name, e); err != nil {
		return d.decode(data)
	}
	return nil
}

// formatting are the elements that the parser reopens in each following block until their end tag.
//
//nolint:gochecknoglobals // a table
var formatting = set("a b big code em font i nobr s small strike strong tt u")

// parsePage decodes and parses a page. Its nodes are counted first, with the formatting that the parser may reopen,
// because the parser limits only the depth.
func (d *draft) parsePage(data []byte) (*html.Node, error) {
	if len(data) > maxPage {
		return nil, fmt.Errorf("%w: an HTML page of %s, the limit is %s", ErrTooLarge, inBytes(int64(len(data))), inBytes(maxPage))
	}
	if err := d.decodeHTML(data); err != nil {
		return nil, err
	}
	page, most := strings.TrimPrefix(d.Text, "\uFEFF"), 4*budgetOf(d.size).blocks
	nodes, open := 0, 0
	for z := html.NewTokenizer(strings.NewReader(page)); ; {
		kind := z.Next()
		if kind == html.ErrorToken {
			break
		}
		name, _ := z.TagName() // nil of texts
		switch {
		case kind == html.StartTagToken && formatting[string(name)]:
			open++
		case kind == html.StartTagToken:
			z.NextIsNotRawText() // in a drawing, titles and styles contain tags
		case kind == html.EndTagToken && formatting[string(name)]:
			open = max(open-1, 0)
		}
		if nodes += 1 + open; nodes > most {
			return nil, fmt.Errorf("%w: more than %d tags and texts", ErrTooLarge, most)
		}
	}
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		return nil, fmt.Errorf("%w: its tags are nested too deeply", ErrTooLarge)
	}
	return root, nil
}

const minText = 200 // bytes of a part that may be the text of a page

// mainText returns the text of a page: of its main element or only article if they have enough of it, else of
// the body without furniture, else of the whole body.
func mainText(root *html.Node) *pageReader {
	whole := readNodes([]*html.Node{root}, false)
	for _, part := range [][]*html.Node{outermost(root, "main"), outermost(root, "article")} {
		if len(part) == 0 || part[0].Data == "article" && len(part) > 1 {
			continue
		}
		w := readNodes(part, false)
		if n := w.out.Len(); n >= minText || n > 0 && 4*n >= whole.out.Len() {
			return w
		}
	}
	if whole.out.Len() >= minText || whole.index {
		return whole
	}
	if all := readNodes([]*html.Node{root}, true); all.out.Len() > 4*whole.out.Len() {
		return all // a page of links consists of furniture
	}
	return whole
}

// outermost returns the visible elements of a name that are not inside another one.
func outermost(n *html.Node, name string) (out []*html.Node) {
	for c := range n.ChildNodes() {
		switch {
		case c.Type != html.ElementNode || never[c.Data] || isHidden(c):
		case isOneOf(c, []string{name}):
			out = append(out, c)
		default:
			out = append(out, outermost(c, name)...)
		}
	}
	return out
}

// pageTitle returns the title of the page. If the only heading of level 1 is part of it, beside the name of
// the site, the heading is the title.
func pageTitle(root *html.Node) string {
	title, heading, headings := "", "", 0
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == "title" && title == "" && within(n, "head") {
			title = document.Short(textOf(n))
		}
	}
	for _, n := range outermost(root, "h1") {
		if s := textOf(n); s != "" && len(s) <= maxHeading && !holdsBlocks(n) {
			heading = s
			headings++
		}
	}
	if headings > 0 && (title == "" || headings == 1 && strings.Contains(title, heading)) {
		return heading
	}
	return title
}

func htmlMeta(root *html.Node) map[string]string {
	meta := map[string]string{}
	put := func(key, value string) {
		if value = document.Short(value); value != "" && meta[key] == "" {
			meta[key] = value
		}
	}
	for n := range root.Descendants() {
		switch {
		case n.Type != html.ElementNode:
		case n.Data == "html":
			put("lang", attr(n, "lang"))
		case n.Data == "link" && document.HasWord(attr(n, "rel"), "canonical") && within(n, "head"): // the body may contain links of other authors
			put("canonical", attr(n, "href"))
		case n.Data == "meta" && document.HasWord("description keywords author", attr(n, "name")):
			put(strings.ToLower(attr(n, "name")), attr(n, "content"))
		}
	}
	if len(meta) == 0 {
		return nil
	}
	return meta
}
