// Package readable makes text to read of the Markdown of documents: no HTML, no images, no
// addresses of links. It does not make text safe to show: [sanitize.Filter] does, for all of an answer.
//
// What a reader of the document sees as text stays. What only marks goes: marks of quotes, lists and
// headings, tags of HTML, closed comments, shortcodes and attributes, where links lead, marks of notes,
// and images with what they say instead. Documents of every format are read as Markdown, which is what the loaders write.
package readable

import (
	"regexp"
	"strings"

	"example.com/ragflow/internal/sanitize"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/search/text"
)

var (
	shortcode  = regexp.MustCompile(`\{\{[<%].*?[>%]\}\}`)
	attributes = regexp.MustCompile(`(\{\{.*?\}\})|\{:\s*[\w-]+\s*\}|\{(?::\s*` + attribute + `|\s*[#.][A-Za-z][\w-]*)(?:\s+` + attribute + `)*\s*\}`)
	image      = regexp.MustCompile(`!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?`)
	link       = regexp.MustCompile(`\[((?:[^\[\]]|\[[^\[\]]*\])*)\](?:\(\s*[^()\s]*(?:\([^()]*\)[^()\s]*)*(?:\s+(?:"[^"]*"|'[^']*'))?\s*\))`)
	reference  = regexp.MustCompile(`(^|[^\w\]])\[((?:[^\[\]]|\[[^\[\]]*\])*[\pL` + hole + `](?:[^\[\]]|\[[^\[\]]*\])*)\]\[[^\]]*\]`)
	footnote   = regexp.MustCompile(`(?m)^[ \t]*\[\^[^\]\s]+\]:[ \t]*|\[\^(?:\d+|[A-Za-z]\w*(?:-\w{2,})*)\]`)
	alert      = regexp.MustCompile(`^\s*\[!\w+\]\s*`)
	autolink   = regexp.MustCompile(`<((?:https?|mailto):[^<>\s]*)>`)
	comment    = regexp.MustCompile(`(?s)<!--.*?-->`)
	tag        = regexp.MustCompile(`</?[a-zA-Z][a-zA-Z0-9-]*(?:\s[^<>]*)?/?>`)
	quoteMark  = regexp.MustCompile(`(?m)^[ \t]*(?:>[ \t]?)+(?:[-+−±$€£]?\d)?`)
)

const attribute = `(?:[#.][A-Za-z][\w-]*|[\w-]+=(?:"[^"\n]*"|'[^'\n]*'|[^\s"'{}]+))`

// Line makes one readable line of a piece of Markdown. Links show their text only. Marks of sources in
// the document cite nothing, and a sign before a number is no mark of a quote. Inline code stays as it is.
// What it leaves of HTML is made harmless with the answer: see [sanitize.Filter].
func Line(s string) string {
	if !strings.ContainsAny(s, markup) {
		return cite.Escape(text.Clean(s)) // most sentences
	}
	s = strings.ReplaceAll(s, hole, "")
	if strings.Contains(s, ">") {
		s = quoteMark.ReplaceAllStringFunc(s, unquoted)
	}
	s = alert.ReplaceAllString(s, "")
	s, codes := lift(s)
	s = prose(s)
	var out strings.Builder
	for i, part := range strings.Split(s, hole) {
		if i > 0 && i <= len(codes) {
			out.WriteString(codes[i-1])
		}
		out.WriteString(part)
	}
	return cite.Escape(text.Clean(out.String()))
}

// unquoted takes the mark of a quote off the beginning of a line. More than a number is said with the same sign.
func unquoted(mark string) string {
	if rest := strings.TrimLeft(mark, "> \t"); rest != "" {
		return `\> ` + rest
	}
	return ""
}

// markup is every character that what Line looks for begins with.
const markup = "`<>[{" + hole

// hole stands where inline code was lifted out, so that a link around it is
// seen as one.
const hole = "\x00"

// lift takes inline code out of s and leaves holes.
func lift(s string) (string, []string) {
	var b strings.Builder
	var codes []string
	for i := 0; i < len(s); {
		end, open := text.PieceEnd(s, i)
		if s[i] == '`' && !open {
			codes = append(codes, text.Placeholders(s[i:end]))
			b.WriteString(hole)
		} else {
			b.WriteString(s[i:end])
		}
		i = end
	}
	return b.String(), codes
}

// prose tidies what stands outside inline code.
func prose(s string) string {
	s = dropWithHoles(s, shortcode)
	s = dropWithHoles(s, comment)
	s = dropWithHoles(s, image)
	s = footnote.ReplaceAllString(s, "")
	s = link.ReplaceAllString(s, "$1")
	s = reference.ReplaceAllString(s, "$1$2")
	s = autolink.ReplaceAllString(s, "$1")
	if strings.Contains(s, "{") {
		s = attributes.ReplaceAllString(s, "$1")
	}
	return tag.ReplaceAllStringFunc(s, func(t string) string {
		if htmlTag(strings.ToLower(strings.Trim(t, "</> "))) {
			return " "
		}
		return t // <container>: a placeholder, not a tag
	})
}

// dropWithHoles takes out what p matches but leaves the holes in it: a hole
// less would shift all code behind it.
func dropWithHoles(s string, p *regexp.Regexp) string {
	return p.ReplaceAllStringFunc(s, func(m string) string { return strings.Repeat(hole, strings.Count(m, hole)) })
}

// htmlTag reports whether the inside of a tag names an element of HTML.
func htmlTag(inside string) bool {
	name, _, _ := strings.Cut(inside, " ")
	switch strings.TrimRight(name, "/") {
	case "a", "abbr", "article", "aside", "audio", "b", "base", "blockquote", "body", "br", "button", "canvas", "center",
		"cite", "code", "col", "colgroup", "dd", "del", "details", "div", "dl", "dt", "em", "embed", "figcaption", "figure",
		"font", "footer", "form", "h1", "h2", "h3", "h4", "h5", "h6", "head", "header", "hr", "html", "i", "iframe", "img",
		"input", "ins", "kbd", "li", "link", "main", "mark", "math", "meta", "nav", "object", "ol", "p", "picture", "pre",
		"s", "samp", "script", "section", "small", "source", "span", "strong", "style", "sub", "summary", "sup", "svg",
		"table", "tbody", "td", "textarea", "tfoot", "th", "thead", "title", "tr", "track", "tt", "u", "ul", "video", "wbr":
		return true
	}
	return false
}

// Code returns the lines of a block of code, and the language that its fence names. They
// have no fence, no indentation that all of them share, no blank lines around them and
// no characters that steer a terminal.
func Code(raw string) (lines []string, language string) {
	raw = sanitize.Visible(raw)
	first, _, _ := strings.Cut(raw, "\n")
	if fence, ok := text.OpenFence(strings.TrimLeft(first, "> \t")); ok {
		if strings.HasPrefix(strings.TrimLeft(first, " \t"), ">") {
			raw = quoteMark.ReplaceAllStringFunc(raw, func(mark string) string { return strings.TrimLeft(mark, "> \t") })
		}
		language, _, _ = strings.Cut(strings.ReplaceAll(fence.Info, "{", " "), " ")
		_, raw, _ = strings.Cut(raw, "\n")
		if i := strings.LastIndex(raw, "\n"); fence.Closes(strings.TrimSpace(raw[i+1:])) {
			raw = raw[:max(i, 0)]
		}
	}
	shared := -1
	for line := range strings.Lines(raw) {
		line = strings.TrimRight(text.Placeholders(line), " \t\n")
		if n := len(line) - len(strings.TrimLeft(line, " \t")); line != "" && (shared < 0 || n < shared) {
			shared = n
		}
		lines = append(lines, line)
	}
	for i := range lines {
		lines[i] = lines[i][min(max(shared, 0), len(lines[i])):]
	}
	return strings.Split(strings.Trim(strings.Join(lines, "\n"), "\n"), "\n"), language
}
