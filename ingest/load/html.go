package load

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/net/html"
	"golang.org/x/net/html/charset"

	"example.com/ragflow/state"
)

// maxPage bounds HTML pages in bytes: a tree takes many times the memory of its
// page.
const maxPage = 32 << 20

// readHTML makes the text of a page: decodes it, takes the furniture off, and
// keeps where each line of the text stood. Nothing is run and nothing is
// fetched.
func (d *Document) readHTML(data []byte) error {
	if len(data) > maxPage {
		return fmt.Errorf("%w: an HTML page of %s, the limit is %s", ErrTooLarge, inBytes(int64(len(data))), inBytes(maxPage))
	}
	if err := d.decodeHTML(data); err != nil {
		return err
	}
	page := strings.TrimPrefix(d.Text, "\uFEFF")
	d.Body, d.Converted = 0, true
	root, err := parseHTML(page)
	if err != nil {
		d.Warnings = append(d.Warnings, fmt.Sprintf("read without its structure: %v", err))
		d.take(flatHTML(page), page)
		return nil
	}
	d.Meta = htmlMeta(root)
	d.take(mainText(root, 4*len(page)+1<<16), page)
	d.Title = htmlTitle(root)
	return nil
}

// take sets the text and what is known of it. A line feed written as an entity
// counts as one until the next mark, so lines are held within the page.
func (d *Document) take(w *pageWriter, page string) {
	d.Text = w.finish()
	d.blocks, d.places = w.blocks, w.places
	for _, to := range w.hrefs {
		d.Links = append(d.Links, state.Link{Relation: state.LinksTo, Target: to})
	}
	last := 1 + strings.Count(page, "\n")
	for i := range d.places {
		d.places[i].line = min(d.places[i].line, last)
	}
}

// decodeHTML sets Text and Encoding: by byte order mark, then UTF-8 where the
// bytes are, then as the page declares, then as other files are.
func (d *Document) decodeHTML(data []byte) error {
	marked := bytes.HasPrefix(data, []byte{0xFF, 0xFE}) || bytes.HasPrefix(data, []byte{0xFE, 0xFF})
	ascii := bytes.IndexFunc(data, func(r rune) bool { return r >= utf8.RuneSelf }) < 0
	if marked || bytes.IndexByte(data, 0) >= 0 || utf8.Valid(data) && !ascii {
		return d.decode(data)
	}
	encoding, name, _ := charset.DetermineEncoding(data, "")
	if name == "utf-8" || name == "windows-1252" || name == "replacement" {
		return d.decode(data)
	}
	out, err := encoding.NewDecoder().Bytes(data)
	if err != nil || bytes.IndexByte(out, 0) >= 0 {
		return d.decode(data)
	}
	if d.Encoding = name; ascii && string(out) == string(data) {
		d.Encoding = "utf-8"
	} else {
		d.Warnings = append(d.Warnings, "converted from "+name)
	}
	d.Text = string(out)
	return nil
}

// parseHTML returns the tree of a page with marks in its texts.
func parseHTML(page string) (root *html.Node, err error) {
	marked, ok := mark(page)
	if !ok {
		return nil, fmt.Errorf("more than %d tags and texts", maxTokens)
	}
	defer func() {
		// Pages come from anywhere and the parser is not ours; a page that breaks it
		// is still text.
		if p := recover(); p != nil {
			root, err = nil, fmt.Errorf("parser: %v", p)
		}
	}()
	root, err = html.Parse(strings.NewReader(marked))
	if err != nil {
		return nil, errors.New(strings.TrimPrefix(err.Error(), "html: "))
	}
	return root, nil
}

// leastText is how much text, in bytes, makes a part of a page worth taking for
// the whole.
const leastText = 200

// mainText returns the text of a page: of its main element or only article
// where they hold enough of it, else of the body without furniture, else of all
// of it.
func mainText(root *html.Node, limit int) *pageWriter {
	body := find(root, "body")
	if body == nil {
		body = root
	}
	whole := readPage([]*html.Node{body}, false, limit)
	for _, part := range [][]*html.Node{outermost(body, "main"), outermost(body, "article")} {
		if len(part) == 0 || part[0].Data == "article" && len(part) > 1 {
			continue
		}
		w := readPage(part, false, limit)
		if n := w.out.Len(); n >= leastText || n > 0 && 4*n >= whole.out.Len() {
			return w
		}
	}
	if whole.out.Len() >= leastText {
		return whole
	}
	if all := readPage([]*html.Node{body}, true, limit); all.out.Len() > 4*whole.out.Len() {
		return all // a page of links is made of what is furniture elsewhere
	}
	return whole
}

// outermost returns the visible elements of a name that lie in no other one.
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

// find returns the first element of a name.
func find(root *html.Node, name string) *html.Node {
	for n := range root.Descendants() {
		if n.Type == html.ElementNode && n.Data == name {
			return n
		}
	}
	return nil
}

// longestTitle bounds titles and metadata, in runes.
const longestTitle = 1000

func shortText(s string) string {
	runes := []rune(plainText(s))
	return string(runes[:min(len(runes), longestTitle)])
}

// htmlTitle returns the title of a page. Where the only heading of level 1
// stands in it, beside the name of the site, the heading is the title.
func htmlTitle(root *html.Node) string {
	title, heading, headings := "", "", 0
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch {
		case n.Data == "title" && title == "" && n.FirstChild != nil:
			title = shortText(n.FirstChild.Data)
		case n.Data == "h1" && !isHiddenBelow(n):
			r := &pageReader{w: newPageWriter()}
			if s := plainText(r.inlineChildren(n)); s != "" && len(s) <= longestHeading && !holdsBlocks(n) {
				heading = s
				headings++
			}
		}
	}
	if title == "" || headings == 1 && strings.Contains(title, heading) {
		if headings > 0 {
			return heading
		}
	}
	return title
}

// htmlMeta returns what a page says of itself.
func htmlMeta(root *html.Node) map[string]string {
	meta := map[string]string{}
	put := func(key, value string) {
		if value = shortText(strings.Map(dropMarks, value)); value != "" && meta[key] == "" {
			meta[key] = value
		}
	}
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			continue
		}
		switch n.Data {
		case "html":
			put("lang", attr(n, "lang"))
		case "link":
			// A page that holds what others wrote may hold links of theirs in its body.
			if hasToken(attr(n, "rel"), "canonical") && within(n, "head") {
				put("canonical", attr(n, "href"))
			}
		case "meta":
			switch name := strings.ToLower(attr(n, "name")); name {
			case "description", "keywords", "author":
				put(name, attr(n, "content"))
			}
		}
	}
	if len(meta) == 0 {
		return nil
	}
	return meta
}
