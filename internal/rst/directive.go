package rst

import (
	"regexp"
	"strings"
)

var (
	directivePattern = regexp.MustCompile(`^(?:\|[^|]+\| +)?([A-Za-z][\w.+-]*(?::[\w.+-]+)?) ?::(?: +(.*))?$`)
	settingPattern   = regexp.MustCompile(`^:[\w-]+:(?: |$)`)
)

// given is what a directive is given.
type given struct {
	first   string       // what follows its name
	names   []sourceLine // further lines of that
	options map[string]string
	content []sourceLine
	line    int // of the file
}

// directiveOf takes the lines of a directive apart.
func directiveOf(first string, lines []sourceLine) given {
	b := given{first: strings.TrimSpace(first), options: map[string]string{}, line: lines[0].line}
	rest := dedent(lines[1:], longestLine)
	i := 0
	for i < len(rest) && rest[i].text != "" && !settingPattern.MatchString(rest[i].text) {
		i++
	}
	b.names = rest[:i]
	for i < len(rest) && rest[i].text != "" {
		if name, value, ok := strings.Cut(strings.TrimPrefix(rest[i].text, ":"), ":"); ok {
			b.options[name] = strings.TrimSpace(value)
		}
		i++
	}
	b.content = rest[i:]
	return b
}

// all is everything that stands in a directive, as if it were its content.
func (b given) all() []sourceLine {
	var out []sourceLine
	if b.first != "" {
		out = append(out, sourceLine{b.first, b.line})
	}
	return append(append(out, b.names...), b.content...)
}

// What directives are to a reader.
//
//nolint:gochecknoglobals // tables
var (
	labelled = map[string]string{
		"note": "Note", "tip": "Tip", "hint": "Hint", "important": "Important", "warning": "Warning", "caution": "Caution",
		"danger": "Danger", "error": "Error", "attention": "Attention", "seealso": "See also",
		"versionadded": "New in version", "versionchanged": "Changed in version", "deprecated": "Deprecated since version",
		"versionremoved": "Removed in version", "deprecated-removed": "Deprecated since version",
	}
	listing = setOf("code code-block sourcecode console prompt snippet parsed-literal doctest testcode testoutput productionlist ipython shell literal math")
	unseen  = setOf(`toctree contents index include literalinclude raw meta module currentmodule default-role role sectnum
		target-notes rst-class class-style default-domain tabularcolumns automodule autoclass autofunction automethod autoattribute
		autodata autoexception autosummary cssclass image graphviz digraph graph uml inheritance-diagram todo todolist date
		unicode replace highlightlang program restructuredtext-test-directive sphinx ifconfig plot bibliography`)
	objects = setOf(`function method class classmethod staticmethod attribute property data exception decorator decoratormethod
		describe object option cmdoption envvar confval func macro struct union enum enumerator type member var opcode
		directive role js node`)
)

// directive writes what a directive says.
func (r *reader) directive(name string, b given) {
	name = strings.ToLower(name)
	_, of, inDomain := strings.Cut(name, ":")
	if !inDomain {
		of = name
	}
	label, says := labelled[name]
	switch {
	case unseen[name] || inDomain && unseen[of]:
	case name == "highlight":
		r.language = codeName(b.first)
	case listing[name]:
		r.listing(name, b)
	case says:
		r.admonition(label, b)
	case name == "figure":
		r.blocks(b.content)
	case name == "table":
		r.caption(b.first, b.line)
		r.blocks(b.content)
	case name == "list-table":
		r.caption(b.first, b.line)
		r.listTable(b.content)
	case name == "csv-table":
		r.caption(b.first, b.line)
		r.csvTable(b)
	case objects[of]:
		r.object(b)
	default:
		r.titled(b)
	}
}

// listing writes a block of code, below its caption.
func (r *reader) listing(name string, b given) {
	language := codeName(b.first)
	content := append(append([]sourceLine{}, b.names...), b.content...)
	switch name {
	case "console", "prompt", "shell":
		language = "console"
	case "doctest", "testcode":
		language = "python"
	case "parsed-literal", "testoutput", "productionlist", "math", "literal":
		language = ""
		if b.first != "" {
			content = b.all()
		}
	}
	r.caption(b.options["caption"], b.line)
	r.fenced(content, language)
}

// codeName is a programming language as a fence names it; empty for what is none.
func codeName(s string) string {
	s = strings.ToLower(strings.TrimSpace(s))
	if len(s) > 20 || strings.Trim(s, "abcdefghijklmnopqrstuvwxyz0123456789+#-") != "" || s == "none" || s == "text" || s == "default" {
		return ""
	}
	return s
}

// caption writes the title of a table or of a block of code.
func (r *reader) caption(s string, line int) {
	if s == "" {
		return
	}
	if !strings.ContainsAny(s[len(s)-1:], ":.?!") {
		s += ":"
	}
	r.text(s, line)
}

// admonition writes a note with what kind of note it is in front.
func (r *reader) admonition(label string, b given) {
	content := b.all()
	if strings.HasSuffix(label, "version") {
		version, text, _ := strings.Cut(b.first, " ")
		label += " " + version
		content = b.content
		if text != "" || len(b.names) > 0 {
			content = append(append([]sourceLine{{text, b.line}}, b.names...), b.content...)
		}
		if len(content) == 0 {
			r.text(label+".", b.line)
			return
		}
	}
	r.blocks(withTerm(label, content, b.line))
}

// object writes the description of a function, a class or an option below its name
// as a heading, where there is more to say than the name.
func (r *reader) object(b given) {
	names := append([]sourceLine{{b.first, b.line}}, b.names...)
	for i := range names {
		names[i].text = strings.TrimSpace(strings.ReplaceAll(names[i].text, `\`, ""))
	}
	if r.indent != "" || len(b.content) == 0 && !r.inObject {
		for _, n := range names {
			r.item("- ", []sourceLine{{"``" + n.text + "``", n.line}})
		}
		r.blocks(b.content)
		return
	}
	level, inObject := r.level, r.inObject
	r.inObject = true
	r.level = min(level+1, 6)
	for _, n := range names {
		r.begin()
		r.write(strings.Repeat("#", r.level)+" "+code(n.text), n.line)
	}
	r.blocks(b.content)
	r.level, r.inObject = level, inObject
}

// titled writes the content of a directive that nobody here knows, below what it is
// given where that says something: a tab, a drop-down, an admonition with a title.
func (r *reader) titled(b given) {
	content := append(append([]sourceLine{}, b.names...), b.content...)
	if strings.TrimSpace(joined(content)) == "" {
		return
	}
	r.caption(b.first, b.line)
	r.blocks(content)
}

func setOf(names string) map[string]bool {
	out := map[string]bool{}
	for n := range strings.FieldsSeq(names) {
		out[n] = true
	}
	return out
}
