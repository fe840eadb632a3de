package load

import (
	"regexp"
	"strings"

	"golang.org/x/net/html"
)

// never are the elements whose content is not read: programs, controls,
// pictures and pages within the page.
//
//nolint:gochecknoglobals // a table
var never = set(`script style noscript template iframe object embed canvas audio video map svg math head
	button select input textarea datalist option optgroup progress meter dialog frameset frame noframes noembed applet`)

// furniture are the elements around what a page is about.
var furniture = set("nav footer aside") //nolint:gochecknoglobals // a table

// furnitureRoles are the same, by ARIA role.
var furnitureRoles = set("navigation banner contentinfo complementary search menu menubar toolbar tablist dialog alertdialog") //nolint:gochecknoglobals // a table

// furnitureClasses are the same, by classes and ids that are in wide use.
//
//nolint:gochecknoglobals // a table
var furnitureClasses = set(`nav navbar navigation navbox breadcrumb breadcrumbs sidebar toc table-of-contents footer
	site-footer site-header site-nav skip-link skip-to-content cookie-banner cookie-consent cookie-notice
	noprint mw-editsection mw-jump-link mw-references-wrap catlinks printfooter vector-dropdown vector-page-toolbar headerlink header-anchor anchor-link anchorjs-link
	advertisement ads social-share share-buttons related-posts newsletter-signup`)

func attr(n *html.Node, key string) string {
	for _, a := range n.Attr {
		if a.Key == key && a.Namespace == "" {
			return a.Val
		}
	}
	return ""
}

func has(n *html.Node, key string) bool {
	for _, a := range n.Attr {
		if a.Key == key && a.Namespace == "" {
			return true
		}
	}
	return false
}

// isHidden reports whether a browser would not show an element, as far as the
// element itself says so. A page that hides all of itself shows it by a program
// when it has loaded.
func isHidden(n *html.Node) bool {
	if n.Data == "html" || n.Data == "body" {
		return false
	}
	if has(n, "hidden") && !strings.EqualFold(attr(n, "hidden"), "until-found") {
		return true
	}
	if strings.EqualFold(attr(n, "aria-hidden"), "true") && n.Data != "img" {
		return true
	}
	return isHiddenStyle(attr(n, "style"))
}

// isHiddenBelow reports whether an element is hidden by itself or by one it lies
// in.
func isHiddenBelow(n *html.Node) bool {
	for ; n != nil; n = n.Parent {
		if n.Type == html.ElementNode && (never[n.Data] || isHidden(n)) {
			return true
		}
	}
	return false
}

// isHiddenStyle reports whether a style attribute makes text invisible. It knows
// the usual ways to do so, not all there are: a style sheet is not read, and text
// in the colour of its background is text.
func isHiddenStyle(style string) bool {
	if style == "" {
		return false
	}
	style = strings.ToLower(cssComment.ReplaceAllString(style, ""))
	for declaration := range strings.SplitSeq(style, ";") {
		property, value, _ := strings.Cut(declaration, ":")
		value = strings.TrimSpace(value)
		if i := strings.LastIndexByte(value, '!'); i >= 0 {
			value = strings.TrimSpace(value[:i])
		}
		if hides(strings.TrimSpace(property), value) {
			return true
		}
	}
	return false
}

var cssComment = regexp.MustCompile(`(?s)/\*.*?\*/`)

// hides reports whether a declaration of CSS, in lower case, makes text
// invisible.
func hides(property, value string) bool {
	switch property {
	case "display":
		return value == "none"
	case "visibility", "content-visibility":
		return value == "hidden" || value == "collapse"
	case "opacity", "font-size":
		return isZero(value)
	case "font":
		size, _, _ := strings.Cut(value, "/")
		size, _, _ = strings.Cut(size, " ")
		return isZero(size)
	case "color":
		return value == "transparent"
	case "text-indent", "left", "right", "top", "margin-left":
		return isFarOff(value)
	case "clip":
		return strings.HasPrefix(value, "rect(0") && strings.Trim(value[len("rect("):], "01px, )") == ""
	case "clip-path":
		return value == "inset(50%)" || value == "inset(100%)" || value == "circle(0)"
	case "transform":
		return strings.HasPrefix(value, "scale(") && isZero(strings.Trim(value[len("scale("):], " )"))
	}
	return false
}

// isFarOff reports whether a CSS length lies outside of any screen, to the left
// of it or above it.
func isFarOff(value string) bool {
	digits, negative := strings.CutPrefix(strings.TrimRight(value, "abcdefghijklmnopqrstuvwxyz%"), "-")
	whole, _, _ := strings.Cut(digits, ".")
	return negative && strings.Trim(whole, "0123456789") == "" && (len(whole) > 3 || whole == "999")
}

// isZero reports whether a CSS value is a number below a hundredth, with any
// unit.
func isZero(value string) bool {
	digits := strings.TrimRight(value, "abcdefghijklmnopqrstuvwxyz%")
	if digits == "" || strings.Trim(digits, "0.") != "" {
		return strings.HasPrefix(digits, "0.00") || strings.HasPrefix(digits, ".00")
	}
	return true
}

// isFurniture reports whether an element belongs to the site and not to the
// page's text. What holds the text cannot.
func isFurniture(n *html.Node) bool {
	if n.Data == "body" || n.Data == "html" || n.Data == "main" || n.Data == "article" {
		return false
	}
	switch {
	case n.Data == "footer" && within(n, "blockquote"):
		return false // who said it
	case furniture[n.Data], furnitureRoles[strings.ToLower(attr(n, "role"))]:
		return !holds(n, "main")
	case n.Data == "header":
		return !within(n, "article", "main", "section") && !holds(n, "main", "article")
	case n.Data == "form":
		return !holds(n, "main", "article", "h1", "h2", "p", "table", "pre")
	}
	for _, key := range []string{"class", "id"} {
		for name := range strings.FieldsSeq(attr(n, key)) {
			if furnitureClasses[strings.ToLower(name)] {
				return !holds(n, "main", "article", "h1")
			}
		}
	}
	return n.Data == "sup" && hasClass(n, "reference") || n.Data == "ul" && isLanguageMenu(n) || isContents(n)
}

// isContents reports whether an element is a table of contents: links to the
// sections of one page, four or more, with little else than a headline.
func isContents(n *html.Node) bool {
	const looked, headline = 5000, 60 // nodes, bytes
	switch n.Data {
	case "ul", "ol", "dl", "div", "p", "table", "section":
	default:
		return false
	}
	links, linked, other, seen := 0, 0, 0, 0
	page := ""
	for d := range n.Descendants() {
		if seen++; seen > looked || other > headline+linked/5 {
			return false
		}
		switch {
		case d.Type == html.TextNode && within(d, "a"):
			linked += len(strings.TrimSpace(d.Data))
		case d.Type == html.TextNode && !within(d, "script", "style"):
			other += len(strings.TrimSpace(d.Data))
		case d.Type == html.ElementNode && d.Data == "a" && has(d, "href"):
			to, section, _ := strings.Cut(attr(d, "href"), "#")
			switch {
			case section == "" && to == "" || strings.HasPrefix(to, "javascript:"): // it unfolds something
			case section == "" || links > 0 && to != page:
				return false
			default:
				page = to
				links++
			}
		}
	}
	return links >= 4
}

// isLanguageMenu reports whether a list leads to the page in other languages.
func isLanguageMenu(n *html.Node) bool {
	links, translated := 0, 0
	for d := range n.Descendants() {
		if d.Type == html.ElementNode && d.Data == "a" {
			links++
			if has(d, "hreflang") {
				translated++
			}
		}
	}
	return translated > 2 && translated == links
}

func hasClass(n *html.Node, name string) bool { return hasToken(attr(n, "class"), name) }

// hasToken reports whether one of the words of a list is token, whatever the
// case of its letters.
func hasToken(list, token string) bool {
	for c := range strings.FieldsSeq(list) {
		if strings.EqualFold(c, token) {
			return true
		}
	}
	return false
}

// within reports whether an element lies in one of these.
func within(n *html.Node, names ...string) bool {
	for p := n.Parent; p != nil; p = p.Parent {
		if isOneOf(p, names) {
			return true
		}
	}
	return false
}

// holds reports whether one of these lies in an element.
func holds(n *html.Node, names ...string) bool {
	for d := range n.Descendants() {
		if isOneOf(d, names) {
			return true
		}
	}
	return false
}

func isOneOf(n *html.Node, names []string) bool {
	if n.Type != html.ElementNode {
		return false
	}
	for _, name := range names {
		if n.Data == name || name == "main" && strings.EqualFold(attr(n, "role"), "main") {
			return true
		}
	}
	return false
}
