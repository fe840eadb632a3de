package rst

import (
	"net/url"
	"path"
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"
)

var (
	rolePattern   = regexp.MustCompile("^:([A-Za-z][\\w.+:-]{0,40}):`")
	suffixPattern = regexp.MustCompile(`^:([A-Za-z][\w.+:-]{0,40}):`)
	anglePattern  = regexp.MustCompile(`(?s)^(.*?)\s*<([^<>]*)>$`)
	footPattern   = regexp.MustCompile(`^\[(?:#[\w-]*|\d+|\*|[A-Za-z][\w-]*)\]_(?:$|[^\w])`)
	substitution  = regexp.MustCompile(`^\|([^|\s](?:[^|\n]*[^|\s])?)\|_{0,2}`)
	substitutes   = regexp.MustCompile(`^\s*\.\. \|([^|]+)\| +(?:replace|unicode):: *(.*)$`)
	labelPattern  = regexp.MustCompile("^\\s*\\.\\. _(?:`([^`]+)`|((?:[^:\\\\]|\\\\:)+)):(?:\\s+(.*))?$")
)

// collect notes what the text refers to: addresses, headings and substitutions.
func (r *reader) collect(lines []sourceLine) {
	r.targets, r.labels, r.words = map[string]string{}, map[string]string{}, map[string]string{}
	for i, l := range lines {
		if !strings.Contains(l.text, ".. ") {
			continue
		}
		if m := substitutes.FindStringSubmatch(l.text); m != nil {
			r.words[m[1]] = strings.TrimSpace(m[2])
		}
		m := labelPattern.FindStringSubmatch(l.text)
		if m == nil {
			continue
		}
		name := nameOf(m[1] + strings.ReplaceAll(m[2], `\:`, ":"))
		to := strings.TrimSpace(m[3])
		if next := lineAt(lines, i+1); to == "" && strings.Contains(next, "://") {
			to = strings.TrimSpace(next)
		}
		r.targets[name] = to
		r.labels[name] = headingBelow(lines[i+1 : min(len(lines), i+1+farthestHeading)])
	}
}

// nameOf is a name of a link as names are compared.
func nameOf(s string) string { return strings.ToLower(strings.Join(strings.Fields(s), " ")) }

// farthestHeading is how many lines below its first label a heading may stand.
const farthestHeading = 20

// headingBelow is the heading that a label stands in front of; empty without one.
func headingBelow(lines []sourceLine) string {
	for i, l := range lines {
		switch {
		case l.text == "" || strings.HasPrefix(l.text, ".. _") || adorns(l.text) && i+2 < len(lines) && lines[i+2].text == l.text:
		case adorns(lineAt(lines, i+1)):
			return strings.TrimSpace(l.text)
		default:
			return ""
		}
	}
	return ""
}

// inline makes Markdown of what stands in paragraphs. Where something goes over the
// end of a line, a vertical tab stands for that.
func (r *reader) inline(s string) string {
	if !strings.ContainsAny(s, "`|_\\") {
		return s
	}
	var b strings.Builder
	for i := 0; i < len(s); {
		n, out := r.markup(s, i)
		if n == 0 {
			_, n = utf8.DecodeRuneInString(s[i:])
			out = s[i : i+n]
		}
		b.WriteString(out)
		i += n
	}
	return b.String()
}

// markup is the Markdown of the markup at s[i:], and how long that is; 0 where there
// is none.
func (r *reader) markup(s string, i int) (int, string) {
	rest := s[i:]
	switch s[i] {
	case '\\':
		return escaped(s, i)
	case '`':
		if strings.HasPrefix(rest, "``") {
			return literalSpan(rest)
		}
		return r.quoted(rest)
	case ':':
		if m := rolePattern.FindStringSubmatch(rest); m != nil && !letterBefore(s, i) {
			if text, n := untilQuote(rest[len(m[0]):]); n > 0 {
				return len(m[0]) + n, r.role(m[1], text)
			}
		}
	case ' ': // a footnote goes with the space in front of it
		if m := footPattern.FindString(rest[1:]); m != "" {
			return strings.Index(m, "]_") + 3, ""
		}
	case '[':
		if m := footPattern.FindString(rest); m != "" {
			return strings.Index(m, "]_") + 2, ""
		}
	case '|':
		if m := substitution.FindStringSubmatch(rest); m != nil && !letterBefore(s, i) {
			if word, ok := r.words[m[1]]; ok {
				return len(m[0]), word
			}
			return len(m[0]), m[1]
		}
	case '_':
		return r.reference(s, i)
	}
	return 0, ""
}

func letterBefore(s string, i int) bool {
	c, _ := utf8.DecodeLastRuneInString(s[:i])
	return unicode.IsLetter(c) || unicode.IsDigit(c)
}

// escaped is what a backslash keeps from being markup; white space behind one is none.
func escaped(s string, i int) (int, string) {
	ends := i > 0 && strings.IndexByte("`*|_", s[i-1]) >= 0
	if s = s[i:]; len(s) < 2 {
		return 0, ""
	}
	switch c := s[1]; {
	case c == ' ' || c == '\n':
		return 2, ""
	case strings.IndexByte("*`_[]<", c) >= 0:
		return 2, s[:2]
	case ends: // letters right behind markup
		return 1, ""
	case c < utf8.RuneSelf && !unicode.IsLetter(rune(c)) && !unicode.IsDigit(rune(c)):
		return 2, s[1:2]
	}
	return 0, ""
}

// literalSpan is code between two pairs of backticks.
func literalSpan(s string) (int, string) {
	end := strings.Index(s[2:], "``")
	if end <= 0 {
		return 0, ""
	}
	for strings.HasPrefix(s[2+end+2:], "`") {
		end++
	}
	return end + 4, code(s[2 : 2+end])
}

// code is text as a code span of Markdown.
func code(s string) string {
	s = strings.ReplaceAll(s, "\n", "\v")
	if strings.Contains(s, "`") {
		return "`` " + s + " ``"
	}
	return "`" + s + "`"
}

// untilQuote is the text before the next backtick, and how far behind that it ends.
func untilQuote(s string) (string, int) {
	for i := 0; i < len(s); i++ {
		switch s[i] {
		case '\\':
			i++
		case '`':
			if i == 0 {
				return "", 0
			}
			return s[:i], i + 1
		}
	}
	return "", 0
}

// quoted is text between backticks: the name of a link, or what a role behind it
// says; code, where nobody says what it is.
func (r *reader) quoted(s string) (int, string) {
	text, n := untilQuote(s[1:])
	if n == 0 {
		return 0, ""
	}
	n++
	if m := suffixPattern.FindStringSubmatch(s[n:]); m != nil {
		return n + len(m[0]), r.role(m[1], text)
	}
	if !strings.HasPrefix(s[n:], "_") {
		return n, code(text)
	}
	n += len(s[n:]) - len(strings.TrimLeft(s[n:], "_"))
	if m := anglePattern.FindStringSubmatch(text); m != nil {
		to := strings.Join(strings.Fields(m[2]), "")
		if name, ok := strings.CutSuffix(m[2], "_"); ok {
			to = r.targets[nameOf(name)]
		}
		return n, link(m[1], to)
	}
	return n, link(text, r.targets[nameOf(text)])
}

// longestAddress is how long an address may be, in bytes, to be of use to a reader.
const longestAddress = 200

// address reports whether a link leads to the web, as a reader can follow it.
func address(to string) bool {
	if len(to) > longestAddress {
		return false
	}
	u, err := url.Parse(to)
	return err == nil && u.User == nil && u.Host != "" && (u.Scheme == "http" || u.Scheme == "https")
}

// link is a link of Markdown where it leads to the web; else its text.
func link(text, to string) string {
	bare := strings.ReplaceAll(text, "\n", "\v")
	if bare == "" {
		return to
	}
	if !address(to) || strings.ContainsAny(bare+to, "[]()") {
		return bare
	}
	return "[" + bare + "](" + to + ")"
}

// reference is a word with an underscore behind it that is the name of a link; its
// letters are written already, so that an address follows them.
func (r *reader) reference(s string, i int) (int, string) {
	if strings.HasPrefix(s[i:], "_`") { // a place that others refer to
		if text, n := untilQuote(s[i+2:]); n > 0 {
			return n + 2, text
		}
	}
	next, _ := utf8.DecodeRuneInString(s[i+1:])
	if !letterBefore(s, i) || unicode.IsLetter(next) || unicode.IsDigit(next) || next == '_' {
		return 0, ""
	}
	begin := strings.LastIndexFunc(s[:i], func(c rune) bool {
		return !unicode.IsLetter(c) && !unicode.IsDigit(c) && !strings.ContainsRune("-._+:", c)
	}) + 1
	to, ok := r.targets[nameOf(s[begin:i])]
	switch {
	case !ok:
		return 0, ""
	case address(to):
		return 1, " (" + to + ")"
	}
	return 1, ""
}

// Roles whose text is read as text and not as code.
//
//nolint:gochecknoglobals // a table
var textRoles = setOf(`ref doc term any numref download abbr guilabel menuselection sub sup subscript superscript math eq dfn
	strong emphasis title title-reference t bdg fa octicon cite citep citet footcite index`)

// role is what a role says to a reader.
func (r *reader) role(name, text string) string {
	name = name[strings.LastIndexByte(name, ':')+1:]
	label, to := text, text
	if m := anglePattern.FindStringSubmatch(text); m != nil && m[1] != "" {
		label, to = m[1], ""
	}
	label = strings.ReplaceAll(strings.ReplaceAll(label, `\`, ""), "\n", "\v")
	switch name {
	case "pep", "PEP":
		return counted("PEP ", label, to)
	case "rfc", "RFC":
		return counted("RFC ", label, to)
	case "ticket", "issue", "pr", "gh", "bug":
		return counted("#", label, to)
	case "abbr":
		return strings.TrimSpace(text)
	case "ref", "numref":
		if heading := r.labels[nameOf(to)]; to != "" && heading != "" {
			return r.inline(heading)
		}
		if to != "" {
			return strings.NewReplacer("-", " ", "_", " ").Replace(to)
		}
		return label
	case "doc":
		if to != "" {
			return strings.TrimPrefix(path.Clean(label), "/")
		}
		return label
	}
	if textRoles[name] {
		return label
	}
	label = strings.TrimPrefix(label, "!")
	if rest, ok := strings.CutPrefix(label, "~"); ok {
		label = rest[strings.LastIndexByte(rest, '.')+1:]
	}
	if label = strings.TrimPrefix(label, "."); to != "" && (name == "func" || name == "meth") && !strings.HasSuffix(label, ")") {
		label += "()"
	}
	return code(label)
}

// counted is a number with what it counts, or the words that stand for it.
func counted(kind, label, to string) string {
	if to == "" {
		return label
	}
	return kind + label
}
