package load

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"

	"example.com/ragflow/internal/quote"
)

// Signs in the text of an HTML page, of the private use that pages do not have.
const (
	quoteBegins = "\U000F0001"
	quoteEnds   = "\U000F0002"
	quoteRest   = "\U000F0003" // all that follows is quoted
)

// quoteNames are the classes and ids of elements that hold a quote, as mail programs write them.
var (
	quoteNames = regexp.MustCompile(`(?:^|\s)(?:gmail_quote|gmail_extra|yahoo_quoted|moz-cite-prefix|OLK_SRC_BODY_SECTION)(?:\s|$)`)
	restNames  = regexp.MustCompile(`^(?:divRplyFwdMsg|appendonsend|stopSpelling|zwchr)$`)
)

// htmlMail returns the text of a mail that is an HTML page, in Markdown.
func htmlMail(data []byte) (string, error) {
	page := draft{size: len(data)}
	root, err := page.parsePage(data)
	if err != nil {
		return "", err
	}
	signQuotes(root, false)
	return unsigned(mainText(root).out.String()), nil
}

// signQuotes puts signs around the quotes of a page. held: inside an element that holds a quote, whose own
// blockquote is the same quote.
func signQuotes(n *html.Node, held bool) {
	var next *html.Node
	for c := n.FirstChild; c != nil; c = next {
		next = c.NextSibling
		if c.Type != html.ElementNode {
			continue
		}
		names := attr(c, "class") + " " + attr(c, "id")
		isQuote := c.Data == "blockquote"
		holds := !isQuote && quoteNames.MatchString(names)
		if isQuote {
			c.Data = "div"
		}
		switch {
		case isQuote && !held, holds && !held:
			c.InsertBefore(sign(quoteBegins), c.FirstChild)
			c.AppendChild(sign(quoteEnds))
		case restNames.MatchString(attr(c, "id")):
			n.InsertBefore(sign(quoteRest), c)
		}
		signQuotes(c, held && !isQuote || holds)
	}
}

func sign(s string) *html.Node {
	p := &html.Node{Type: html.ElementNode, Data: "p"}
	p.AppendChild(&html.Node{Type: html.TextNode, Data: s})
	return p
}

// unsigned replaces the signs in a text by marks of quotes, and a sign with the blank line after it by nothing.
func unsigned(s string) string {
	var b strings.Builder
	depth, rest, signed := 0, 0, false
	plain := strings.NewReplacer(quoteBegins, "", quoteEnds, "", quoteRest, "")
	for line := range strings.SplitSeq(s, "\n") {
		before := depth + rest
		depth = max(0, depth+strings.Count(line, quoteBegins)-strings.Count(line, quoteEnds))
		if strings.Contains(line, quoteRest) {
			rest = 1
		}
		text := plain.Replace(line)
		isBlank := strings.Trim(text, " -*") == ""
		if isBlank && (text != line || signed) {
			signed = text != line
			continue
		}
		signed = false
		b.WriteString(quote.Line(max(before, depth+rest), text) + "\n")
	}
	return b.String()
}
