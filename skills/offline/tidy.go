package offline

import (
	"regexp"
	"strings"
	"unicode"

	"example.com/ragflow/search/text"
	"example.com/ragflow/skills/cite"
)

var (
	shortcode  = regexp.MustCompile(`\{\{[<%].*?[>%]\}\}`)
	attributes = regexp.MustCompile(`\{:[^}\n]*\}|\{\s*[#.][\w-]+[^}\n]*\}`)
	image      = regexp.MustCompile(`!\[[^\]]*\](?:\([^)]*\)|\[[^\]]*\])?`)
	link       = regexp.MustCompile(`\[((?:[^\[\]]|\[[^\[\]]*\])*)\](?:\([^()\s]*(?:\([^()]*\)[^()\s]*)*(?:\s+"[^"]*")?\)|\[[^\]]*\])`)
	footnote   = regexp.MustCompile(`\[\^[^\]]+\]`)
	alert      = regexp.MustCompile(`^\s*\[!\w+\]\s*`)
	autolink   = regexp.MustCompile(`<((?:https?|mailto):[^<>\s]*)>`)
	comment    = regexp.MustCompile(`(?s)<!--.*?(?:-->|$)`)
	tag        = regexp.MustCompile(`</?[a-zA-Z][a-zA-Z0-9-]*(?:\s[^<>]*)?/?>`)
	quoteMark  = regexp.MustCompile(`(?m)^[ \t]*(?:>[ \t]?)+`)
	span       = regexp.MustCompile("`+")
	less       = regexp.MustCompile(`\\*<`)
)

// tidy makes one readable line of a piece of Markdown: links and images show
// their text only, shortcodes, tags and comments go, marks of quotes and of
// sources in the document cite nothing. Inline code stays as it is. What
// comes out holds no HTML and no address that a viewer would load.
func tidy(s string) string {
	if !strings.ContainsAny(s, markup) {
		return cite.Escape(text.Clean(s)) // most sentences
	}
	s = strings.ReplaceAll(s, hole, "")
	if strings.Contains(s, ">") {
		s = quoteMark.ReplaceAllString(s, "")
	}
	s = alert.ReplaceAllString(s, "")
	s, codes := lift(s)
	s = prose(s)
	for _, c := range codes {
		s = strings.Replace(s, hole, c, 1)
	}
	return cite.Escape(text.Clean(s))
}

// markup is every character that what tidy looks for begins with.
const markup = "`<>[{" + hole

// hole stands where inline code was lifted out, so that a link around it is
// seen as one.
const hole = "\x00"

// lift takes inline code out of s and leaves holes.
func lift(s string) (string, []string) {
	var b strings.Builder
	var codes []string
	for s != "" {
		open := span.FindStringIndex(s)
		if open == nil {
			break
		}
		fence := s[open[0]:open[1]]
		n := closing(s[open[1]:], fence)
		if n < 0 {
			b.WriteString(s[:open[1]])
			s = s[open[1]:]
			continue
		}
		end := open[1] + n + len(fence)
		b.WriteString(s[:open[0]] + hole)
		codes = append(codes, text.Placeholders(s[open[0]:end]))
		s = s[end:]
	}
	return b.String() + s, codes
}

// closing is where a run of backticks exactly like fence stands in s, -1
// without one.
func closing(s, fence string) int {
	for _, m := range span.FindAllStringIndex(s, -1) {
		if m[1]-m[0] == len(fence) {
			return m[0]
		}
	}
	return -1
}

// prose tidies what stands outside inline code.
func prose(s string) string {
	s = dropWithHoles(s, shortcode)
	s = dropWithHoles(s, comment)
	s = dropWithHoles(s, image)
	s = footnote.ReplaceAllString(s, "")
	s = link.ReplaceAllString(s, "$1")
	s = autolink.ReplaceAllString(s, "$1")
	if strings.Contains(s, "{") {
		s = attributes.ReplaceAllString(s, "")
	}
	s = tag.ReplaceAllStringFunc(s, func(t string) string {
		if htmlTag(strings.ToLower(strings.Trim(t, "</> "))) {
			return " "
		}
		return t // <container>: a placeholder, not a tag
	})
	return less.ReplaceAllStringFunc(s, func(m string) string {
		if len(m)%2 == 0 { // an odd number of backslashes: it is escaped already
			return m
		}
		return m[:len(m)-1] + `\<`
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

// codeBlock is a fenced block as an answer shows it: without indentation,
// attributes and characters that steer a terminal.
func codeBlock(raw string) string {
	lines := strings.Split(strings.ReplaceAll(raw, "\r\n", "\n"), "\n")
	first := strings.TrimLeft(lines[0], "> \t")
	fence := first[:len(first)-len(strings.TrimLeft(first, first[:1]))]
	language, _, _ := strings.Cut(strings.TrimSpace(first[len(fence):]), " ")
	language, _, _ = strings.Cut(language, "{")
	body := lines[1:]
	if n := len(body); n > 0 && strings.Trim(body[n-1], "> \t"+fence[:1]) == "" {
		body = body[:n-1]
	}
	if strings.HasPrefix(strings.TrimLeft(lines[0], " \t"), ">") {
		for i := range body {
			body[i] = quoteMark.ReplaceAllString(body[i], "")
		}
	}
	for i := range body {
		body[i] = text.Placeholders(body[i])
	}
	return fence + language + "\n" + strings.Join(bodyOf(body), "\n") + "\n" + fence
}

// bareBlock is code that stands in no fence, in one.
func bareBlock(raw, language string) string {
	fence := "```"
	for strings.Contains(raw, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.Join(bodyOf(strings.Split(strings.ReplaceAll(raw, "\r\n", "\n"), "\n")), "\n") + "\n" + fence
}

// bodyOf is code without the indentation that all of it has, and without blank lines
// around it.
func bodyOf(body []string) []string {
	body = dedent(body)
	for len(body) > 0 && strings.TrimSpace(body[0]) == "" {
		body = body[1:]
	}
	for len(body) > 0 && strings.TrimSpace(body[len(body)-1]) == "" {
		body = body[:len(body)-1]
	}
	return body
}

// dedent drops the indentation that all lines share, and hidden characters.
func dedent(lines []string) []string {
	out := make([]string, len(lines))
	shared := -1
	for i, line := range lines {
		line = strings.Map(func(r rune) rune {
			if r != '\t' && (unicode.IsControl(r) || unicode.Is(unicode.Cf, r)) {
				return -1
			}
			return r
		}, strings.ToValidUTF8(line, "\uFFFD"))
		out[i] = strings.TrimRight(line, " \t")
		if out[i] == "" {
			continue
		}
		if n := len(out[i]) - len(strings.TrimLeft(out[i], " \t")); shared < 0 || n < shared {
			shared = n
		}
	}
	for i := range out {
		if shared > 0 && len(out[i]) >= shared {
			out[i] = out[i][shared:]
		}
	}
	return out
}
