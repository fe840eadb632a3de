package load

import (
	"net/url"
	"path"
	"regexp"
	"strings"

	"example.com/ragflow/state"
)

// Bounds of links: what is longer or more is not kept.
const (
	longestTarget = 500  // bytes
	mostLinks     = 5000 // of a document
)

// links collects the links of a document: each once, in the order they come.
type links struct {
	list []state.Link
	seen map[state.Link]bool
}

// add keeps a link whose target may be a document.
func (l *links) add(relation, target string) {
	link := state.Link{Relation: relation, Target: linkTarget(target)}
	if link.Target == "" || l.seen[link] || len(l.list) == mostLinks {
		return
	}
	if l.seen == nil {
		l.seen = map[state.Link]bool{}
	}
	l.seen[link] = true
	l.list = append(l.list, link)
}

// linkTarget returns what a link leads to without fragment and query; "" where
// that is no document: this page, a picture, a mailbox.
func linkTarget(s string) string {
	s = strings.TrimSpace(s)
	if i := strings.IndexAny(s, "#?"); i >= 0 {
		s = s[:i]
	}
	if s == "" || len(s) > longestTarget || strings.ContainsAny(s, "\n\r\x00{}<>\"") {
		return ""
	}
	if scheme, _, ok := strings.Cut(s, ":"); ok && !strings.ContainsAny(scheme, "/. ") && scheme != "http" && scheme != "https" {
		return ""
	}
	if strings.Contains(s, "%") {
		if plain, err := url.PathUnescape(s); err == nil && !strings.ContainsAny(plain, "\n\r\x00") {
			s = plain
		}
	}
	if notDocuments[strings.ToLower(path.Ext(s))] {
		return ""
	}
	return s
}

// notDocuments are the extensions of what pages show or run.
//
//nolint:gochecknoglobals // a table
var notDocuments = set(".png .jpg .jpeg .gif .svg .webp .avif .ico .bmp .mp4 .webm .mov .mp3 .css .js .woff .woff2 .zip .gz .tgz .dmg .exe")

// findLinks sets the links of a document that is not HTML: those of its text, and
// those that front matter noted.
func (d *Document) findLinks() {
	l := links{}
	for _, k := range d.Links {
		l.add(k.Relation, k.Target)
	}
	switch d.Kind {
	case Markdown, Notebook:
		l.markdown(d.Text[d.Body:])
	}
	d.Links = l.list
}

var (
	linkDefinition = regexp.MustCompile(`^ {0,3}\[[^\]^][^\]]*\]:\s*<?([^\s>]+)`)
	htmlHref       = regexp.MustCompile(`(?i)<a\s[^>]*?\bhref\s*=\s*["']?([^"'\s>]+)`)
	wikiLink       = regexp.MustCompile(`\[\[([^\[\]|#]+)(?:#[^\[\]|]*)?(?:\|[^\[\]]*)?\]\]`)
	shortcodeStart = regexp.MustCompile(`\{\{[<%]\s*([\w-]+)`)
	shortcodeLink  = regexp.MustCompile(`\b(?:url|link|href)\s*=\s*["']([^"']+)["']`)
	shortcodePage  = regexp.MustCompile(`\{\{[<%]\s*(?:rel)?ref\s+["']?([^"'\s>%]+)`)
	shortcodePart  = regexp.MustCompile(`\{\{[<%]\s*include\s+(?:file\s*=\s*)?["']([^"']+)["']`)
	codeSpan       = regexp.MustCompile("``[^`]+``|`[^`]+`")
	htmlComment    = regexp.MustCompile(`(?s)<!--.*?-->`)
)

// markdown finds the links of a page of Markdown, with those of shortcodes, HTML
// and wikis in it. Code and comments are left out.
func (l *links) markdown(s string) {
	s = htmlComment.ReplaceAllStringFunc(s, func(c string) string { return strings.Repeat("\n", strings.Count(c, "\n")) })
	fence, shortcode := "", false
	for line := range strings.Lines(s) {
		text := strings.TrimLeft(line, " \t>")
		if mark := fenceOf(text); mark != "" && (fence == "" || strings.HasPrefix(mark, fence) && strings.Trim(text, mark[:1]+" \t\r\n") == "") {
			if fence == "" {
				fence = mark
			} else {
				fence = ""
			}
			continue
		}
		if fence != "" {
			continue
		}
		begins := shortcodeStart.MatchString(line)
		if begins || shortcode { // before code spans go: its values may hold some
			for _, m := range shortcodeLink.FindAllStringSubmatch(line, -1) {
				l.add(state.LinksTo, m[1])
			}
			for _, m := range shortcodePart.FindAllStringSubmatch(line, -1) {
				l.add(state.Includes, m[1])
			}
			for _, m := range shortcodePage.FindAllStringSubmatch(line, -1) {
				l.add(state.LinksTo, m[1])
			}
		}
		open, end := strings.LastIndex(line, "{{"), strings.LastIndex(line, "}}")
		shortcode = open > end || shortcode && end < 0
		l.markdownLine(codeSpan.ReplaceAllStringFunc(line, func(c string) string { return strings.Repeat("x", len(c)) }))
	}
}

// fenceOf returns the marks that a line opens or closes a block of code with.
func fenceOf(line string) string {
	for _, mark := range []string{"`", "~"} {
		if n := len(line) - len(strings.TrimLeft(line, mark)); n >= 3 && (mark == "~" || !strings.Contains(line[n:], "`")) {
			return line[:n]
		}
	}
	return ""
}

func (l *links) markdownLine(line string) {
	if m := linkDefinition.FindStringSubmatch(line); m != nil {
		l.add(state.LinksTo, m[1])
		return
	}
	for rest := line; ; {
		i := strings.Index(rest, "](")
		if i < 0 {
			break
		}
		rest = rest[i+2:]
		l.add(state.LinksTo, destination(rest))
	}
	for _, m := range htmlHref.FindAllStringSubmatch(line, -1) {
		l.add(state.LinksTo, m[1])
	}
	for _, m := range wikiLink.FindAllStringSubmatch(line, -1) {
		l.add(state.LinksTo, m[1])
	}
}

// destination returns what stands behind "](" up to the blank or parenthesis that
// ends it.
func destination(s string) string {
	s = strings.TrimLeft(s, " ")
	s = s[:min(len(s), longestTarget+2)]
	if rest, ok := strings.CutPrefix(s, "<"); ok {
		to, _, _ := strings.Cut(rest, ">")
		return to
	}
	if strings.HasPrefix(s, "{{") { // [text]({{< ref "page.md" >}}): the shortcode was read
		return ""
	}
	depth := 0
	for i, r := range s {
		switch {
		case r == '(':
			depth++
		case r == ')' && depth > 0:
			depth--
		case r == ')' || r == ' ' || r == '\t' || r == '\n':
			return s[:i]
		}
	}
	return ""
}
