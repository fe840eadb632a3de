package load

import (
	"net/url"
	"path"
	"regexp"
	"strings"

	"example.com/ragflow/ingest/document"
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
func (d *draft) findLinks() {
	l := links{}
	for _, k := range d.Links {
		l.add(k.Relation, k.Target)
	}
	switch d.Kind {
	case document.Markdown, document.Notebook:
		l.markdown(d.Text[d.Body:])
	}
	d.Links = l.list
}

// Links of a page of Markdown, of the HTML, the wiki links and the shortcodes in it. The
// target is the only group that matches.
var (
	linkForms = regexp.MustCompile(`(?im)\]\([ \t]*<([^>\n]+)>|\]\([ \t]*((?:[^\s()<>]|\([^\s()]*\))+)` + // [text](target)
		`|^ {0,3}\[[^\]^][^\]\n]*\]:\s*<?([^\s>]+)` + // [name]: target
		`|<a\s[^>]*?\bhref\s*=\s*["']?([^"'\s>]+)` +
		`|\[\[([^\[\]|#\n]+)(?:#[^\[\]|\n]*)?(?:\|[^\[\]\n]*)?\]\]`)
	shortcodeForms = regexp.MustCompile(`\b(?:url|link|href)\s*=\s*["']([^"']+)["']` +
		`|^\{\{[<%]\s*(?:rel)?ref\s+["']?([^"'\s>%]+)` +
		`|^\{\{[<%]\s*include\s+(?:file\s*=\s*)?["']([^"']+)["']`)
	shortcode   = regexp.MustCompile(`(?s)\{\{[<%].*?[>%]\}\}`)
	codeSpan    = regexp.MustCompile("``[^`]+``|`[^`]+`")
	htmlComment = regexp.MustCompile(`(?s)<!--.*?-->`)
)

// markdown finds the links of a page of Markdown. Code and comments are left out.
func (l *links) markdown(s string) {
	if strings.Contains(s, "<!--") {
		s = htmlComment.ReplaceAllString(s, "")
	}
	fence, pending := "", "" // the mark of an open block of code; a shortcode that is not closed
	for line := range strings.Lines(s) {
		if mark := fenceOf(line); mark != "" && (fence == "" || strings.HasPrefix(mark, fence)) {
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
		line = pending + line
		pending = ""
		if strings.LastIndex(line, "{{") > strings.LastIndex(line, "}}") && len(line) < maxShortcode {
			pending = line
			continue
		}
		if strings.ContainsAny(line, "]<{") {
			l.line(line)
		}
	}
	l.line(pending)
}

// fenceOf returns the marks of a line that opens or closes a block of code, "" of others.
func fenceOf(line string) string {
	line = strings.TrimLeft(line, " \t>")
	bare := strings.TrimLeft(line, "`")
	if n := len(line) - len(bare); n >= 3 && !strings.Contains(bare, "`") {
		return line[:n]
	}
	if strings.HasPrefix(line, "~~~") {
		return "~~~"
	}
	return ""
}

// maxShortcode is the length in bytes of a shortcode of several lines.
const maxShortcode = 8 << 10

func (l *links) line(line string) {
	if strings.Contains(line, "{{") { // before code spans go: its values may hold some
		for _, code := range shortcode.FindAllString(line, -1) {
			for _, m := range shortcodeForms.FindAllStringSubmatch(code, -1) {
				l.add(state.LinksTo, m[1]+m[2])
				l.add(state.Includes, m[3])
			}
		}
	}
	if strings.Contains(line, "`") {
		line = codeSpan.ReplaceAllString(line, "x")
	}
	for _, m := range linkForms.FindAllStringSubmatch(line, -1) {
		l.add(state.LinksTo, strings.Join(m[1:], "")) // all but one are empty
	}
}
