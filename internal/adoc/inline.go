package adoc

import (
	"regexp"
	"strings"
)

var (
	attributeUse  = regexp.MustCompile(`\{([\w][\w-]*)\}`)
	crossPattern  = regexp.MustCompile(`<<([^<>,]{1,200})(?:,[ ]*([^<>]{1,500}))?>>`)
	anchorPattern = regexp.MustCompile(`\[\[[A-Za-z_:][\w:.-]{0,200}(?:,[^\[\]]{0,200})?\]\]|\[#[^\[\]]{1,200}\]|\[\.[\w.-]{1,100}\]`)
	urlPattern    = regexp.MustCompile(`(?:link:)?\b((?:https?|ftp|mailto):[^\s\[\]<>]{1,900})\[([^\[\]]{0,500})\]`)
	macroPattern  = regexp.MustCompile(`\b([a-z]{2,20}):([^\s\[\]:` + "`" + `]{0,500})\[([^\[\]]{0,500})\]`)
	passPattern   = regexp.MustCompile("`\\+([^`+]+)\\+`|\\+\\+\\+?([^+\n]+)\\+\\+\\+?")
	oldQuotes     = regexp.MustCompile("``([^`'\n]{1,500})''")
	rolePattern   = regexp.MustCompile(`(^|[\s(])#([^#\s][^#\n]*)#`)
)

//nolint:gochecknoglobals // a table
var plainSigns = strings.NewReplacer("\"`", "“", "`\"", "”", "'`", "‘", "`'", "’", "&#160;", " ")

// predefined are attributes that stand for signs.
//
//nolint:gochecknoglobals // a table
var predefined = map[string]string{
	"nbsp": " ", "sp": " ", "empty": "", "blank": "", "plus": "+", "asterisk": "*", "tilde": "~", "caret": "^", "backtick": "`", "startsb": "[", "endsb": "]",
	"vbar": "|", "lt": "<", "gt": ">", "amp": "&", "apos": "'", "quot": "\"", "litdd": "--", "cpp": "C++", "two-colons": "::", "zwsp": "",
}

// mostExpanded bounds what attributes stand for in one page, in bytes.
const mostExpanded = 1 << 20

// inline is a line as Markdown has it.
func (r *reader) inline(s string) string {
	s = strings.TrimSuffix(strings.TrimRight(s, " \t"), " +") // a break of the line
	if !strings.ContainsAny(s, "{[<+#\"'&") {
		return s
	}
	s = attributeUse.ReplaceAllStringFunc(s, func(use string) string {
		name := strings.ToLower(use[1 : len(use)-1])
		if v, ok := r.attributes[name]; ok && r.expanded+len(v) <= mostExpanded {
			r.expanded += len(v)
			return v
		}
		if v, ok := predefined[name]; ok {
			return v
		}
		return use
	})
	s = anchorPattern.ReplaceAllString(s, "")
	s = crossPattern.ReplaceAllStringFunc(s, func(use string) string {
		m := crossPattern.FindStringSubmatch(use)
		if m[2] != "" {
			return m[2]
		}
		return strings.ReplaceAll(strings.TrimPrefix(m[1], "_"), "_", " ")
	})
	s = urlPattern.ReplaceAllStringFunc(s, func(use string) string {
		m := urlPattern.FindStringSubmatch(use)
		said, _, _ := strings.Cut(m[2], ",")
		if said = strings.Trim(strings.TrimSuffix(said, "^"), `"`); said == "" {
			return m[1]
		}
		return "[" + said + "](" + m[1] + ")"
	})
	s = macroPattern.ReplaceAllStringFunc(s, macro)
	s = passPattern.ReplaceAllStringFunc(s, func(use string) string {
		m := passPattern.FindStringSubmatch(use)
		if m[1] != "" {
			return "`" + m[1] + "`"
		}
		return m[2]
	})
	s = oldQuotes.ReplaceAllString(s, "“$1”")
	return plainSigns.Replace(rolePattern.ReplaceAllString(s, "$1$2"))
}

// macro is what a macro within a line says to a reader.
func macro(use string) string {
	m := macroPattern.FindStringSubmatch(use)
	name, target, said := m[1], m[2], m[3]
	switch name {
	case "link", "xref":
		page, _, _ := strings.Cut(target, "#")
		page = strings.TrimSuffix(page, ".adoc")
		if said, _, _ = strings.Cut(strings.TrimSuffix(said, "^"), ",role"); said == "" {
			said = page
		}
		if page == "" {
			return said
		}
		return "[" + said + "](" + target + ")"
	case "image", "icon", "anchor", "indexterm":
		return ""
	case "footnote":
		return " (" + said + ")"
	case "kbd", "btn", "pass", "stem", "latexmath", "asciimath":
		return said
	case "menu":
		return strings.TrimSuffix(target+" > "+said, " > ")
	case "linkgit": // a page of a manual and its section
		return target + "(" + said + ")"
	}
	return use
}
