// Package readable converts Markdown of documents into readable text: no HTML, images or link addresses. It
// does not make text safe to show; [sanitize.Filter] does that for the whole answer.
//
// Text that a reader of the document sees is kept. Markup is removed: marks of quotes, lists and headings,
// HTML tags, closed comments, shortcodes and attributes, link targets, footnote marks, and images with their
// alternative text. All formats are read as Markdown, because the loaders write Markdown.
package readable

import (
	"regexp"
	"strings"
	"unicode"

	"example.com/ragflow/internal/sanitize"
	"example.com/ragflow/internal/skills/cite"
	"example.com/ragflow/internal/text"
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

// Line converts a piece of Markdown into one readable line. Links keep only their text. Source markers in the
// document are escaped, and a ">" before a number stays. Inline code is unchanged. [sanitize.Filter] makes
// remaining HTML harmless later.
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

// Blank reports whether nothing of a piece of Markdown is readable.
func Blank(s string) bool {
	kept, _, _ := strings.Cut(strings.TrimLeft(s, " \t"), " ")
	if !strings.ContainsAny(kept, markup+"!\\") && strings.ContainsFunc(kept, func(r rune) bool { return unicode.IsLetter(r) && !text.Hidden(r) }) { // most lines begin with a word
		return false
	}
	return Line(s) == ""
}

// unquoted removes the quote mark at the beginning of a line. Before a number it may mean "more than" and is
// escaped.
func unquoted(mark string) string {
	if rest := strings.TrimLeft(mark, "> \t"); rest != "" {
		return `\> ` + rest
	}
	return ""
}

// markup lists the first characters of everything that Line converts.
const markup = "`<>[{" + hole

// hole replaces inline code, so that a link around it is still found.
const hole = "\x00"

// lift replaces the inline code of s by holes.
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

// prose cleans the text outside inline code.
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

// dropWithHoles removes the matches of p but keeps their holes, because each hole stands for one piece of
// code.
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

// Code returns the lines of a code block and the language named by its fence. The fence, common indentation,
// surrounding blank lines and terminal control characters are removed.
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
