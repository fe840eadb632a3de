package load

import (
	"regexp"
	"slices"
	"strings"

	"golang.org/x/net/html"

	"example.com/ragflow/internal/document"
)

func set(names string) map[string]bool {
	out := map[string]bool{}
	for n := range strings.FieldsSeq(names) {
		out[n] = true
	}
	return out
}

// never are the elements whose content is not read: programs, controls, pictures and embedded pages.
//
//nolint:gochecknoglobals // a table
var never = set(`script style noscript template iframe object embed canvas audio video map svg math head
	button select input textarea datalist option optgroup progress meter dialog frameset frame noframes noembed applet`)

// furniture are the elements, ARIA roles, classes and ids around the content.
//
//nolint:gochecknoglobals // tables
var (
	furniture        = set("nav footer aside")
	furnitureRoles   = set("navigation banner contentinfo complementary search menu menubar toolbar tablist dialog alertdialog")
	furnitureClasses = set(`nav navbar navigation navbox navheader navfooter breadcrumb breadcrumbs sidebar toc table-of-contents footer
		site-footer site-header site-nav skip-link skip-to-content cookie-banner cookie-consent cookie-notice
		noprint mw-editsection mw-jump-link mw-references-wrap catlinks printfooter vector-dropdown vector-page-toolbar
		headerlink header-anchor anchor-link anchorjs-link advertisement ads social-share share-buttons related-posts
		newsletter-signup`)
	// bookIndex matches the classes of a book's index in DocBook, Sphinx and Texinfo.
	bookIndex = regexp.MustCompile(`(^| )(indexdiv|(gen|mod)?indextable|index-[a-z]{2}|[a-z]{2}-(entries|letters)-printindex)($| )`)
)

// hiddenStyle matches the usual style attributes that hide text, in lower case and without spaces. Style
// sheets are not read.
var hiddenStyle = regexp.MustCompile(`(^|;)(display:none|(content-)?visibility:(hidden|collapse)` +
	`|(opacity|font-size|font):(0+(\.0*)?|0*\.0+)([a-z%]|!|;|/|$)|color:transparent` +
	`|(text-indent|left|right|top|margin-left):-(999|\d{4,})|clip:rect\([01px,]*\)|clip-path:(inset\((50|100)%\)|circle\(0)` +
	`|transform:scale\(0\))`)

var cssNoise = regexp.MustCompile(`(?s)/\*.*?\*/|\s`)

// isHidden reports whether an element is hidden by its own attributes. A page that hides its whole body shows
// it by a program.
func isHidden(n *html.Node) bool {
	switch {
	case n.Data == "html" || n.Data == "body":
		return false
	case has(n, "hidden") && !strings.EqualFold(attr(n, "hidden"), "until-found"):
		return true
	case strings.EqualFold(attr(n, "aria-hidden"), "true") && n.Data != "img":
		return true
	}
	style := attr(n, "style")
	return style != "" && hiddenStyle.MatchString(cssNoise.ReplaceAllString(strings.ToLower(style), ""))
}

// isFurniture reports whether an element belongs to the site, not to the text of the page.
func isFurniture(n *html.Node) bool {
	switch {
	case n.Data == "body" || n.Data == "html" || n.Data == "main" || n.Data == "article":
		return false
	case n.Data == "footer" && within(n, "blockquote"):
		return false // the author
	case furniture[n.Data], furnitureRoles[strings.ToLower(attr(n, "role"))]:
		return !holds(n, "main")
	case n.Data == "header":
		return !within(n, "article", "main", "section") && !holds(n, "main", "article")
	case n.Data == "form":
		return !holds(n, "main", "article", "h1", "h2", "p", "table", "pre")
	}
	for name := range strings.FieldsSeq(attr(n, "class") + " " + attr(n, "id")) {
		if furnitureClasses[strings.ToLower(name)] {
			return !holds(n, "main", "article", "h1")
		}
	}
	return n.Data == "sup" && document.HasWord(attr(n, "class"), "reference") ||
		blockElements[n.Data] && isNeighbours(n)
}

// Links from a page to its neighbours.
var neighbour = regexp.MustCompile(`(?i)^[<>«»←→↑\s]*(prev(ious)?|next|up|home|start|top|index|(table of )?contents)[<>«»←→↑\s]*$`)

// isNeighbours reports whether an element is a line of links to the pages before and after: Prev, Up and
// Next, and their titles.
func isNeighbours(n *html.Node) bool {
	const looked, longest = 200, 200 // nodes, bytes beside links
	links, near, other, seen := 0, 0, 0, 0
	for d := range n.Descendants() {
		if seen++; seen > looked || other > longest {
			return false
		}
		switch {
		case d.Type == html.TextNode && !within(d, "a", "script", "style"):
			other += len(strings.TrimSpace(d.Data))
		case d.Data == "a" && has(d, "href"):
			links++
			if neighbour.MatchString(attr(d, "rel")) || neighbour.MatchString(textOf(d)) {
				near++
			}
		}
	}
	return near >= 2 && links <= 2*near+2
}

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, key string) bool {
	return slices.ContainsFunc(n.Attr, func(a html.Attribute) bool { return a.Key == key })
}

// within reports whether an element is inside one of the named ones.
func within(n *html.Node, names ...string) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if isOneOf(p, names) {
			return true
		}
	}
	return false
}

// holds reports whether one of the named elements is inside an element.
func holds(n *html.Node, names ...string) bool {
	for d := range n.Descendants() {
		if isOneOf(d, names) {
			return true
		}
	}
	return false
}

func isOneOf(n *html.Node, names []string) bool {
	return n.Type == html.ElementNode && (slices.Contains(names, n.Data) || strings.EqualFold(attr(n, "role"), "main") && slices.Contains(names, "main"))
}
