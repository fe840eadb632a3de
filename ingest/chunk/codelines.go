package chunk

import (
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/ingest/document"
)

// codeLine is a line of a program.
type codeLine struct {
	span
	indent  int // columns; a tab leads to the next multiple of eight
	text    string
	comment bool // or an annotation, which belongs to what follows like a comment
	inside  bool // of a comment or string that began above
}

// declarationReader finds the declarations of a program by its indentation: a declaration
// begins with a line at the indentation of its neighbours, and holds the deeper lines below
// it and the line that closes its brackets. A program whose lines are not indented has few.
type declarationReader struct {
	s        string
	language string
}

// declarations finds those of a part that begins with a line; member says that it is the body
// of a class.
func (x declarationReader) declarations(part span, member bool) []declaration {
	lines := x.lines(part)
	level := -1
	var out []declaration
	lead := -1 // first line of the comments and annotations above
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		switch {
		case l.text == "":
			lead = -1
			continue
		case l.comment && l.inside:
			continue
		case l.comment && (level < 0 || l.indent == level):
			if lead < 0 {
				lead = i
			}
			continue
		case lead >= 0 && (l.indent > lines[lead].indent || closesBracket(l.text)) && annotation.MatchString(lines[lead].text):
			continue // an annotation of several lines
		}
		if access.MatchString(l.text) {
			continue
		}
		if level < 0 {
			level = l.indent
		}
		last := lastLine(lines, i)
		d := x.classify(lines[i:last+1], member)
		if l.indent != level || l.inside || d.kind == "" {
			lead = -1
			continue
		}
		first := i
		if lead >= 0 {
			first = lead
		}
		lead, i = -1, last
		d.start, d.end = lines[first].start, lines[last].end
		if x.language != langGo && slices.Contains([]string{declClass, declInterface, declModule}, d.kind) {
			body := span{l.end, lines[last].end}
			if closesBracket(lines[last].text) {
				body.end = lines[last].start
			}
			if body.start < body.end {
				d.members = x.declarations(body, d.kind != declModule)
			}
		}
		out = append(out, d)
	}
	return out
}

var (
	annotation = regexp.MustCompile(`^(@[A-Za-z_]|#!?\[|\[)`)
	access     = regexp.MustCompile(`^(public|private|protected)\s*:`) // of C++
	goesOn     = regexp.MustCompile(`^(else|catch|finally|extends|implements|where|elif|except)\b`)
)

// closesBracket reports whether a line closes what a line above opened.
func closesBracket(text string) bool { return strings.IndexByte("})]>", text[0]) >= 0 }

// lastLine returns the last line of the statement that lines[i] begins.
func lastLine(lines []codeLine, i int) int {
	last, level := i, lines[i].indent
	for next := i + 1; next < len(lines); next++ {
		l := lines[next]
		switch {
		case l.text == "":
			continue
		case !l.comment && (l.inside || l.indent > level):
			last = next
			continue
		case l.comment:
			continue // it counts where more follows
		case l.text[0] == '{' && next == last+1, l.indent == level && goesOn.MatchString(l.text) && next == last+1:
			last = next
			continue
		case l.indent < level || !closesBracket(l.text):
			return last
		}
		last = next
		if strings.IndexByte("{([:,", l.text[len(l.text)-1]) < 0 && !strings.HasSuffix(l.text, "=>") {
			return last
		}
	}
	return last
}

// lines parts a part of the program.
func (x declarationReader) lines(part span) []codeLine {
	var out []codeLine
	until := "" // closes the comment or string that is open
	for at := part.start; at < part.end; {
		l := codeLine{span: span{at, min(document.LineEnd(x.s, at), part.end)}}
		raw := x.s[l.start:l.end]
		l.text = strings.TrimSpace(raw)
		for _, c := range raw[:len(raw)-len(strings.TrimLeft(raw, " \t\f"))] {
			if l.indent++; c == '\t' {
				l.indent = (l.indent + 7) / 8 * 8
			}
		}
		at = l.end
		if until != "" {
			l.comment, l.inside = until == "*/", true
			if until == "*/" && strings.Contains(l.text, until) || until != "*/" && unpaired(l.text, until) {
				until = ""
			}
			if l.text == "" {
				l.text = " " // it parts nothing
			}
			out = append(out, l)
			continue
		}
		hash := (x.language == langPython || x.language == langPHP) && strings.HasPrefix(l.text, "#")
		l.comment = annotation.MatchString(l.text) && !annotated.MatchString(l.text) ||
			strings.HasPrefix(l.text, "//") || strings.HasPrefix(l.text, "/*") || hash
		if until = x.opens(l.text); until != "" && !strings.Contains(x.s[at:part.end], until) {
			until = ""
		}
		out = append(out, l)
	}
	return out
}

// annotations matches an annotation, and the space behind it.
const annotations = `((@[\w.]+|#!?\[[^\]]*\]|\[[^\]]*\])(\([^()]*(\([^()]*\)[^()]*)*\))?\s+)`

var (
	annotated   = regexp.MustCompile(`^` + annotations + `+\w`) // a declaration behind its annotations
	notesBefore = regexp.MustCompile(`^` + annotations + `*`)
)

var blockComment = regexp.MustCompile(`(^|\s)/\*(.*?\*/)?`)

// opens returns what closes the comment or string that a line leaves open.
func (x declarationReader) opens(line string) string {
	if strings.HasPrefix(line, "//") {
		return ""
	}
	quotes := []string{`"""`, "'''"}
	if x.isScript() || x.language == langGo {
		quotes = []string{"`"}
	}
	for _, q := range quotes {
		if unpaired(line, q) {
			return q
		}
	}
	if m := blockComment.FindAllString(line, -1); x.language != langPython && len(m) > 0 && !strings.HasSuffix(m[len(m)-1], "*/") {
		return "*/"
	}
	return ""
}

// unpaired reports whether a line opens or closes a string. A quote within other quotes does not.
func unpaired(line, quote string) bool {
	alone := strings.Count(line, "'"+quote+"'") + strings.Count(line, `"`+quote+`"`)
	return (strings.Count(line, quote)-alone)%2 == 1
}

func (x declarationReader) isScript() bool {
	return x.language == langJavaScript || x.language == langTypeScript
}

// untyped reports whether the functions of a language have no keyword.
func (x declarationReader) untyped() bool {
	return slices.Contains([]string{langC, langCPP, langJava, langCSharp}, x.language)
}

var (
	// headed matches a head with a keyword behind its modifiers: the keyword, a receiver, and what
	// follows them but for type parameters.
	headed = regexp.MustCompile(`^(?:(?:\w+(?:\([^)]*\))?|"\w*"|template *<[^>]*>) +)*?` +
		`(class|record|object|actor|struct|union|enum|namespace|module|mod|extension|interface|@interface|trait|protocol|` +
		`impl|type|typealias|macro_rules!|fun|func|fn|function|def)\b[*!]? *(\([^)]*\)|<[^>]*>)? *(.*)`)
	// assigned matches a function or a class that gets its name from a variable or a field.
	assigned = regexp.MustCompile(`^(?:(?:export|default|public|private|static|readonly) +)*((?:const|let|var) +)?([\w$#]+)[^=]*= *` +
		`(?:async +)?(function|class|\(|<|[\w$]+ *=>)`)
	firstName = regexp.MustCompile(`^[^\w$~]*([\w$~][\w$.:~\\]*)`)
	receiver  = regexp.MustCompile(`(\w+)(?:\[[^\]]*\])?\)$`)
	goType    = regexp.MustCompile(`^\w+(?:\[[^\]]*\])? +(struct|interface)\b`)
	called    = regexp.MustCompile(`([\w$~#:]+) *(<[^()]*>)? *\(`)
	// control matches words before a bracket, or before a keyword, that declare nothing.
	control = regexp.MustCompile(`^(if|for|while|switch|catch|return|sizeof|do|else|match|with|foreach|lock|` +
		`using|fixed|assert|super|this|throw|new|typeof|await|yield|import|package|use)$`)
)

// kinds are the kinds of declarations by their keyword.
var kinds = map[string]string{
	"class": declClass, "record": declClass, "object": declClass, "actor": declClass, "struct": declClass, "union": declClass, "enum": declClass,
	"impl": declClass, "namespace": declModule, "module": declModule, "mod": declModule, "extension": declModule,
	"interface": declInterface, "@interface": declInterface, "trait": declInterface, "protocol": declInterface,
	"type": declAlias, "typealias": declAlias, "macro_rules!": declFunction,
	"fun": declFunction, "func": declFunction, "fn": declFunction, "function": declFunction, "def": declFunction,
}

// classify finds what a statement declares by its head, which ends before its body.
func (x declarationReader) classify(lines []codeLine, member bool) declaration {
	const longest = 12 // lines of a head
	all := x.s[lines[0].start:lines[min(len(lines), longest)-1].end]
	head, _, body := strings.Cut(all, "{")
	head = strings.Join(strings.Fields(head), " ")
	head = head[len(notesBefore.FindString(head)):]
	if first, _, _ := strings.Cut(head, " "); control.MatchString(first) {
		return declaration{}
	}
	if m := assigned.FindStringSubmatch(head); m != nil && x.isScript() {
		if m[3] == "class" {
			return named(declClass, m[1], m[2])
		}
		return named(declArrow, m[1], m[2])
	}
	m := headed.FindStringSubmatch(head)
	if m == nil || x.untyped() && (m[1] == "struct" || m[1] == "union" || m[1] == "enum") && called.MatchString(head) {
		return x.unnamed(head, body, member)
	}
	kind := kinds[m[1]]
	if kind != declFunction && !body && x.untyped() && m[1] != "record" {
		return declaration{} // a forward declaration
	}
	name := ""
	if n := firstName.FindStringSubmatch(strings.TrimPrefix(m[3], "class ")); n != nil {
		name = strings.TrimRight(n[1], ".:")
	}
	switch of := receiver.FindStringSubmatch(m[2]); {
	case m[1] == "impl":
		name, _, _ = strings.Cut(m[3], " where ")
	case x.language == langGo && of != nil:
		kind, name = declMethod, of[1]+"."+name
	case x.language == langGo && kind == declAlias:
		if t := goType.FindStringSubmatch(m[3]); t != nil {
			kind = kinds[t[1]]
		}
	case kind == declFunction && member:
		kind = declMethod
	}
	if name == "" && (kind == declFunction || kind == declClass) {
		name = "default"
	}
	return named(kind, m[1], strings.TrimSpace(name))
}

// named is a declaration by its name; without one it is none.
func named(kind, word, name string) declaration {
	if name == "" {
		return declaration{}
	}
	return declaration{kind: kind, name: name, label: strings.TrimSpace(strings.TrimSpace(word) + " " + name)}
}

// unnamed finds functions that no keyword announces, by the bracket behind their name.
func (x declarationReader) unnamed(head string, body, member bool) declaration {
	call := called.FindStringSubmatchIndex(head)
	if call == nil || strings.Contains(head[:call[0]], "=") || !x.untyped() && (!member || !x.isScript()) {
		return declaration{}
	}
	name := strings.TrimRight(head[call[2]:call[3]], ":")
	if control.MatchString(name) || !body && (!member || x.language == langCPP) {
		return declaration{}
	}
	if member || strings.Contains(name, "::") {
		return named(declMethod, "", name)
	}
	return named(declFunction, "", name)
}
