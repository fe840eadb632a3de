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
		case access.MatchString(l.text):
			continue
		}
		if level < 0 {
			level = l.indent
		}
		last := x.lastLine(lines, i)
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
		if slices.Contains([]string{declClass, declInterface, declStruct, declEnum, declImpl, declModule}, d.kind) {
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
	access     = regexp.MustCompile(`^(public|private|protected|signals|public slots)\s*:`) // of C++
	goesOn     = regexp.MustCompile(`^(else|catch|finally|extends|implements|where|elif|except|and|or)\b`)
)

// closesBracket reports whether a line closes what a line above opened.
func closesBracket(text string) bool { return strings.IndexByte("})]>", text[0]) >= 0 || text == "end" }

// lastLine returns the last line of the statement that lines[i] begins.
func (declarationReader) lastLine(lines []codeLine, i int) int {
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
		hash := x.language == langPython || x.language == langPHP && !strings.HasPrefix(l.text, "#[")
		l.comment = annotation.MatchString(l.text) && !annotated.MatchString(l.text) ||
			strings.HasPrefix(l.text, "//") || strings.HasPrefix(l.text, "/*") || hash && strings.HasPrefix(l.text, "#")
		if until = x.opens(l.text); until != "" && !strings.Contains(x.s[at:part.end], until) {
			until = ""
		}
		out = append(out, l)
	}
	return out
}

// annotated matches a line that holds a declaration behind its annotations.
var annotated = regexp.MustCompile(`^((@[\w.]+|#\[[^\]]*\]|\[[^\]]*\])(\([^()]*(\([^()]*\)[^()]*)*\))?\s+)+\w`)

var blockComment = regexp.MustCompile(`(^|\s)/\*(.*?\*/)?`)

// opens returns what closes the comment or string that a line leaves open.
func (x declarationReader) opens(line string) string {
	if strings.HasPrefix(line, "//") {
		return ""
	}
	quotes := []string{`"""`}
	switch x.language {
	case langPython:
		quotes = []string{`"""`, "'''"}
	case langJavaScript, langTypeScript, langGo:
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

var (
	notesBefore = regexp.MustCompile(`^(@[\w.]+(\([^()]*(\([^()]*\)[^()]*)*\))?|#!?\[[^\]]*\]|\[[^\]]*\]) *`)
	modifier    = regexp.MustCompile(`^(export|default|declare|abstract|public|private|protected|internal|static|final|sealed|open|` +
		`override|async|readonly|pub(\([^)]*\))?|unsafe|extern( "\w*")?|partial|virtual|inline|constexpr|` +
		`synchronized|native|data|inner|suspend|operator|infix|tailrec|fileprivate|mutating|` +
		`convenience|required|indirect|get|set|typedef|annotation|companion|template *<[^>]*>) +`)
	keyword = regexp.MustCompile(`^(class|record|object|actor|struct|enum|union|namespace|module|mod|extension|interface|@interface|` +
		`trait|protocol|impl|type|typealias|func|fun|fn|function\*?|def|macro_rules!|const|let|var|val|static|` +
		`using|package|import|use|return|if|for|while|switch|match|throw|new|init|deinit|constructor)\b *`)
	firstName   = regexp.MustCompile(`^[^\w$~]*([\w$~][\w$.:~\\]*)`)
	called      = regexp.MustCompile(`([\w$~#:]+) *(<[^()]*>)? *\(`)
	functional  = regexp.MustCompile(`^([\w$#]+)[^=]*= *(async +)?(function|class|\(|<|[\w$]+ *=>)`)
	genericHead = regexp.MustCompile(`^(<[^>]*>|\([^)]*\)) *`)
)

// kinds are the kinds of declarations by their keyword.
var kinds = map[string]string{
	"class": declClass, "record": declClass, "object": declClass, "actor": declClass, "struct": declStruct, "union": declUnion,
	"namespace": declModule, "module": declModule, "mod": declModule, "extension": declModule, "enum": declEnum,
	"interface": declInterface, "@interface": declInterface, "trait": declInterface, "protocol": declInterface,
	"type": declAlias, "typealias": declAlias, "macro_rules!": declMacro, "impl": declImpl,
	"fun": declFunction, "func": declFunction, "fn": declFunction, "function": declFunction, "function*": declFunction, "def": declFunction,
}

// control matches a word before a bracket that is no function.
var control = regexp.MustCompile(`^(if|for|while|switch|catch|return|sizeof|do|else|match|with|foreach|lock|` +
	`using|fixed|assert|super|this|throw|new|typeof|await|yield)$`)

// classify finds what a statement declares by its head, which ends before its body.
func (x declarationReader) classify(lines []codeLine, member bool) declaration {
	const longest = 12 // lines of a head
	all := x.s[lines[0].start:lines[min(len(lines), longest)-1].end]
	head, _, body := strings.Cut(all, "{")
	head = strings.Join(strings.Fields(head), " ")
	for {
		rest := notesBefore.ReplaceAllString(head, "")
		rest = rest[len(modifier.FindString(rest)):]
		if rest == head || rest == "" {
			break
		}
		head = rest
	}
	family := x.language == langC || x.language == langCPP || x.language == langJava || x.language == langCSharp
	script := x.language == langJavaScript || x.language == langTypeScript
	word, rest := "", head
	if m := keyword.FindStringSubmatch(head); m != nil {
		if after := head[len(m[0]):]; !strings.HasPrefix(after, "=") && !strings.HasPrefix(after, ":") {
			word, rest = m[1], after
		}
	}
	kind := kinds[word]
	switch {
	case word == "init" || word == "deinit" || word == "constructor":
		if member && (body || strings.Contains(head, "(")) {
			return declaration{kind: declMethod, name: word, label: word}
		}
	case word == "const" || word == "let" || word == "var" || word == "val" || word == "static":
		return x.variable(word, rest, all, len(lines), member)
	case kind == declFunction:
		if member {
			kind = declMethod
		}
		rest = genericHead.ReplaceAllString(rest, "")
		return declare(kind, strings.TrimRight(word, "*"), nameOf(rest))
	case kind == declImpl:
		name := strings.TrimSpace(strings.Split(genericHead.ReplaceAllString(rest, ""), " where ")[0])
		return declare(kind, word, name)
	case kind != "" && family && !body && word != "record", kind == declModule && x.language == langPHP && !body:
		return declaration{} // a forward declaration
	case kind == declStruct && family && strings.Contains(rest, "("), word == "" && (family || member && script):
		return x.unnamed(rest, body, member, script)
	case kind != "":
		for _, also := range []string{"class ", "struct "} {
			rest = strings.TrimPrefix(rest, also)
		}
		return declare(kind, word, nameOf(rest))
	}
	return declaration{}
}

// unpaired reports whether a line opens or closes a string.
func unpaired(line, quote string) bool { return strings.Count(line, quote)%2 == 1 }

// declare is a declaration by its name; without one it is none.
func declare(kind, word, name string) declaration {
	if name == "" {
		if kind != declFunction && kind != declClass {
			return declaration{}
		}
		name = "default"
	}
	return declaration{kind: kind, name: name, label: word + " " + name}
}

func nameOf(s string) string {
	if m := firstName.FindStringSubmatch(s); m != nil {
		return strings.TrimRight(m[1], ".:")
	}
	return ""
}

// variable recognises functions that are values. Other values are declarations where they have
// several lines.
func (x declarationReader) variable(word, rest, all string, lines int, member bool) declaration {
	if m := functional.FindStringSubmatch(rest); m != nil && (x.language == langJavaScript || x.language == langTypeScript) {
		switch kind := kinds[m[3]]; {
		case kind != "":
			return declaration{kind: kind, name: m[1], label: strings.TrimSpace(word + " " + m[1])}
		case strings.Contains(all, "=>"):
			return declaration{kind: declArrow, name: m[1], label: strings.TrimSpace(word + " " + m[1])}
		}
	}
	if f, ok := strings.CutPrefix(rest, "fn "); ok { // const fn
		return declare(kinds["fn"], "fn", nameOf(f))
	}
	if member || lines < 3 || word == "" {
		return declaration{}
	}
	return declare(declVariable, word, nameOf(strings.TrimPrefix(rest, "mut ")))
}

// unnamed finds functions that no keyword announces.
func (x declarationReader) unnamed(head string, body, member, script bool) declaration {
	if script {
		if d := x.variable("", head, head, 1, true); d.kind != "" {
			return d
		}
	}
	m := called.FindStringSubmatchIndex(head)
	if m == nil || strings.Contains(head[:m[0]], "=") {
		return declaration{}
	}
	name := strings.TrimRight(head[m[2]:m[3]], ":")
	if control.MatchString(name) || !body && (!member || x.language == langCPP) {
		return declaration{}
	}
	kind := declFunction
	if member || strings.Contains(name, "::") {
		kind = declMethod
	}
	return declaration{kind: kind, name: name, label: name}
}
