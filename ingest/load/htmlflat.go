package load

import (
	"bytes"
	"strings"

	"golang.org/x/net/html"
)

// flatHTML reads a page that no tree can be made of, tag by tag: blocks end
// lines, and furniture is text. What elements hide is not: a page must not get its
// hidden text in by being too large.
func flatHTML(page string) *pageWriter {
	z := html.NewTokenizer(strings.NewReader(page))
	w := newPageWriter()
	mute := false
	var hidden hiding
	for {
		kind := z.Next()
		lines := bytes.Count(z.Raw(), []byte("\n"))
		switch kind {
		case html.ErrorToken:
			return w
		case html.TextToken:
			if !mute && hidden.depth == 0 {
				line := w.line
				w.text(strings.Map(dropMarks, string(z.Text())))
				w.line = line // entities can be line feeds
			}
			mute = false
		case html.StartTagToken, html.EndTagToken, html.SelfClosingTagToken:
			tag := z.Token()
			name := tag.Data
			hidden.meet(tag)
			mute = kind == html.StartTagToken && (raw[name] || name == "textarea" || name == "title")
			if blockElements[name] || name == "br" || name == "option" {
				w.end()
			}
		case html.CommentToken, html.DoctypeToken:
		}
		w.line += lines
	}
}

// hiding keeps account of a hidden element in a row of tags.
type hiding struct {
	name  string
	depth int // elements of that name that are open; 0: nothing is hidden
}

// void are the elements that hold nothing and have no end.
//
//nolint:gochecknoglobals // a table
var void = set("area base br col embed hr img input link meta param source track wbr")

// meet takes note of the next tag. A paragraph ends where any block begins or
// ends; other elements that may go without their end are taken to have one.
func (h *hiding) meet(t html.Token) {
	if h.name == "p" && blockElements[t.Data] {
		h.depth = 0
	}
	begins := t.Type == html.StartTagToken && !void[t.Data]
	switch {
	case h.depth > 0 && t.Data != h.name:
	case h.depth > 0 && t.Type == html.EndTagToken:
		h.depth--
	case h.depth > 0 && begins:
		h.depth++
	case begins && (t.Data == "template" || t.Data == "noscript" || isHidden(&html.Node{Data: t.Data, Attr: t.Attr})):
		*h = hiding{t.Data, 1}
	}
}
