package chunk

import (
	"regexp"
	"slices"
	"strings"

	"example.com/ragflow/internal/document"
)

// declarationReader finds the declarations of a program by its indentation: one begins with a
// line at the margin, and holds the indented lines below it and the line that closes its
// brackets. A program whose lines are not indented has few.
type declarationReader struct {
	s        string
	language string
}

// annotations matches annotations, and the space after them.
const annotations = `((@[\w.]+|#!?\[[^\]]*\]|\[[^\]]*\])(\([^()]*(\([^()]*\)[^()]*)*\))?\s+)`

var (
	annotated   = regexp.MustCompile(`^` + annotations + `+\w`) // a declaration after its annotations
	notesBefore = regexp.MustCompile(`^` + annotations + `*`)
	comment     = regexp.MustCompile(`^(//|/\*|\*|#|@[A-Za-z_]|\[)`) // or an annotation
	goesOn      = regexp.MustCompile(`^([{})\]>]|else|catch|finally|extends|implements|where|elif|except|const_cast)`)
)

// declarations finds the declarations of a part that begins with a line, each with the comments
// and annotations right above it.
func (x declarationReader) declarations(part span) (out []declaration) {
	lead := -1 // the start of the comments above
	for at := part.start; at < part.end; {
		line := x.s[at:min(document.LineEnd(x.s, at), part.end)]
		text := strings.TrimSpace(line)
		switch {
		case text == "":
			lead = -1
		case comment.MatchString(text) && !annotated.MatchString(text):
			if lead < 0 {
				lead = at
			}
		case indented(line) || goesOn.MatchString(text):
			if lead >= 0 && !comment.MatchString(strings.TrimSpace(x.s[lead:at])) {
				lead = -1
			}
		default:
			end := x.end(at+len(line), part.end)
			if d := x.classify(x.s[at:end]); d.kind != "" {
				if d.start, d.end = at, end; lead >= 0 {
					d.start = lead
				}
				out = append(out, d)
			}
			lead, at = -1, end
			continue
		}
		at += len(line)
	}
	return out
}

func indented(line string) bool { return line[0] == ' ' || line[0] == '\t' }

// end returns the end of the statement whose first line ends at an offset.
func (x declarationReader) end(at, most int) int {
	end := at
	open := x.quote(x.s[:at]) // of a string of several lines
	for at < most {
		line := x.s[at:min(document.LineEnd(x.s, at), most)]
		at += len(line)
		switch text := strings.TrimSpace(line); {
		case open != "":
			end = at
			if unpaired(line, open) {
				open = ""
			}
			continue
		case text == "":
			continue
		case !indented(line) && !goesOn.MatchString(text):
			return end
		}
		end = at
		open = x.quote(line)
	}
	return end
}

// quote returns the mark of a string that the last line of s leaves open.
func (x declarationReader) quote(s string) string {
	line := s[strings.LastIndexByte(strings.TrimRight(s, "\n"), '\n')+1:]
	quotes := []string{`"""`, "'''"}
	if x.isScript() || x.language == langGo {
		quotes = []string{"`"}
	}
	for _, q := range quotes {
		if !strings.HasPrefix(strings.TrimSpace(line), "//") && unpaired(line, q) {
			return q
		}
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
	// headed matches a head with a keyword after its modifiers: the keyword, a receiver, and the
	// rest without type parameters.
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

// kinds maps keywords to kinds of declarations.
var kinds = map[string]string{
	"class": declClass, "record": declClass, "object": declClass, "actor": declClass, "struct": declClass, "union": declClass, "enum": declClass,
	"impl": declClass, "namespace": declModule, "module": declModule, "mod": declModule, "extension": declModule,
	"interface": declInterface, "@interface": declInterface, "trait": declInterface, "protocol": declInterface,
	"type": declAlias, "typealias": declAlias, "macro_rules!": declFunction,
	"fun": declFunction, "func": declFunction, "fn": declFunction, "function": declFunction, "def": declFunction,
}

// classify finds the declaration of a statement by its head, which ends before its body.
func (x declarationReader) classify(s string) declaration {
	const longest = 1000 // bytes of a head
	head, _, body := strings.Cut(s[:min(len(s), longest)], "{")
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
		return x.unnamed(head, body)
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
	}
	if name == "" && (kind == declFunction || kind == declClass) {
		name = "default"
	}
	return named(kind, m[1], strings.TrimSpace(name))
}

// named returns a declaration with a name; the zero declaration if the name is empty.
func named(kind, word, name string) declaration {
	if name == "" {
		return declaration{}
	}
	return declaration{kind: kind, name: name, label: strings.TrimSpace(strings.TrimSpace(word) + " " + name)}
}

// unnamed finds functions without a keyword, by the bracket after their name.
func (x declarationReader) unnamed(head string, body bool) declaration {
	call := called.FindStringSubmatchIndex(head)
	if call == nil || strings.Contains(head[:call[0]], "=") || !x.untyped() || !body {
		return declaration{}
	}
	name := strings.TrimRight(head[call[2]:call[3]], ":")
	switch {
	case control.MatchString(name):
		return declaration{}
	case strings.Contains(name, "::"):
		return named(declMethod, "", name)
	}
	return named(declFunction, "", name)
}
