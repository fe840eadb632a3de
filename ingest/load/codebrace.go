package load

import (
	"regexp"
	"slices"
	"strings"
)

// statement is a statement of a language with braces, with the comments right
// above it.
type statement struct {
	start, end int
	begin      int // of its first word
	body       int // the last brace it opens itself, and where it closes; -1: none
	closes     int
}

// declarations finds the declarations among the statements of a part. member
// says that it is the body of a class.
func (x *scanner) declarations(part span, member bool) []declaration {
	var out []declaration
	for _, st := range x.statements(part) {
		head := st.end
		if st.body >= 0 {
			head = st.body
		}
		d := x.classify(x.plain(span{st.begin, head}), st, member)
		if d.kind == "" {
			continue
		}
		d.start, d.end = st.start, st.end
		if holdsMembers(d.kind) && st.body >= 0 && st.closes > st.body {
			d.members = x.declarations(span{st.body + 1, st.closes}, d.kind != declModule)
		}
		d.bare = st.body < 0
		if n := len(out); n > 0 && out[n-1].bare && out[n-1].name == d.name && out[n-1].kind == d.kind && isBlank(x.s[out[n-1].end:d.start]) {
			d.start, out = out[n-1].start, out[:n-1] // signatures of one function
		}
		out = append(out, d)
	}
	return out
}

// holdsMembers reports whether a declaration may be parted at those within.
func holdsMembers(kind string) bool {
	return slices.Contains([]string{declClass, declInterface, declStruct, declEnum, declImpl, declModule}, kind)
}

// plain is a part of the text without comments and line ends, strings empty.
func (x *scanner) plain(part span) string {
	var b strings.Builder
	for at := part.start; at < part.end && b.Len() < maxHead; {
		end, comment := x.skip(at, part.end)
		switch {
		case end > at && comment:
			b.WriteByte(' ')
		case end > at+1:
			b.WriteString(`""`)
		default:
			b.WriteByte(x.s[at])
			end = at + 1
		}
		at = end
	}
	return strings.Join(strings.Fields(b.String()), " ")
}

// maxHead bounds what is looked at to tell what a statement declares.
const maxHead = 2000

// scan is what is known of the statement under way.
type scan struct {
	statement
	depth int
	last  byte // of its code so far
	note  bool // the line begins with @: what follows belongs to it
}

// statements parts a part of the text.
func (x *scanner) statements(part span) []statement {
	var out []statement
	none := scan{statement: statement{begin: -1, body: -1, closes: -1}}
	st := none
	lead, fresh := -1, true // where comments above begin; nothing but blanks on the line so far
	finish := func(at int) int {
		st.end = min(restOfLine(x.s, at), part.end)
		st.start = max(lineStart(x.s, st.begin), part.start)
		if lead >= 0 {
			st.start = lead
		}
		at = max(st.end, at)
		out = append(out, st.statement)
		st, lead, fresh = none, -1, true
		return at
	}
	for at := part.start; at < part.end; {
		c := x.s[at]
		if c == '\n' {
			switch {
			case st.begin < 0 && fresh:
				lead = -1 // a blank line
			case st.begin >= 0 && st.depth == 0 && x.newlines && !st.note && x.ends(st.last, at, part.end):
				at = finish(at)
				continue
			}
			fresh, st.note = true, false
			at++
			continue
		}
		if n := blankLength(x.s[at:part.end]); n > 0 {
			at += n
			continue
		}
		if c == '#' && x.directive && fresh && st.begin < 0 {
			at, lead = x.directiveEnd(at, part.end), -1
			continue
		}
		if x.language == langPHP && strings.HasPrefix(x.s[at:part.end], "?>") {
			if st.begin >= 0 && st.depth == 0 {
				finish(at)
			}
			at, lead, fresh = x.markup(at, part.end), -1, true
			continue
		}
		end, comment := x.skip(at, part.end)
		if comment {
			if st.begin < 0 && fresh && lead < 0 {
				lead = max(lineStart(x.s, at), part.start)
			}
			fresh, at = false, end
			continue
		}
		if st.begin < 0 {
			st.begin = at
		}
		if fresh && c == '@' {
			st.note = true
		}
		fresh = false
		if end > at {
			st.last, at = '"', end
			continue
		}
		st.last = c
		at++
		switch c {
		case '{', '(', '[':
			if c == '{' && st.depth == 0 {
				st.body = at - 1
			}
			st.depth++
		case '}', ')', ']':
			st.depth = max(st.depth-1, 0)
			if c == '}' && st.depth == 0 {
				if st.closes = at - 1; !x.goesOn(at, part.end, x.s[st.begin:min(st.begin+16, at)]) {
					at = finish(at)
				}
			}
		case ';':
			if st.depth == 0 {
				at = finish(at)
			}
		}
	}
	if st.begin >= 0 {
		finish(part.end)
	}
	return out
}

// directiveEnd is the end of a line for the preprocessor, with those that
// backslashes add.
func (x *scanner) directiveEnd(at, to int) int {
	return at + length(x.s[at:to], lineBreak(x.s[at:to]))
}

// ends reports whether a line end ends a statement: neither what stands before
// it nor the next line says that it goes on.
func (x *scanner) ends(last byte, at, to int) bool {
	if strings.IndexByte(",=+-*/%&|<?:.([{\\", last) >= 0 && !strings.HasSuffix(x.s[:at], "++") && !strings.HasSuffix(x.s[:at], "--") ||
		strings.HasSuffix(strings.TrimRight(x.s[:at], blank), "=>") {
		return false
	}
	next := strings.TrimLeft(x.s[at+1:min(lineEnd(x.s, at+1), to)], blank)
	return next == "" || strings.IndexByte(".?:&|=+-*<>,)]}{", next[0]) < 0 && !goesOnWord.MatchString(next) || strings.HasPrefix(next, "*/")
}

var (
	goesOnWord = regexp.MustCompile(`^(else|catch|finally|extends|implements|where|from|as|satisfies|with)\b`)
	cTypes     = regexp.MustCompile(`^(typedef|struct|union|enum|class|static|const|extern)\b`)
)

// goesOn reports whether a statement goes on behind a closing brace. begins is
// how it begins.
func (x *scanner) goesOn(at, to int, begins string) bool {
	line := strings.TrimLeft(x.s[at:min(lineEnd(x.s, at), to)], " \t\r")
	if line == "" || line[0] == '\n' {
		next := strings.TrimLeft(x.s[at:min(to, at+200)], blank)
		return goesOnWord.MatchString(next) && !strings.HasPrefix(next, "from ") || next != "" && x.newlines && (next[0] == '.' || next[0] == '?')
	}
	if strings.HasPrefix(line, "//") || strings.HasPrefix(line, "/*") {
		return false
	}
	if strings.IndexByte(";,.=([?:&|+-*<>){`", line[0]) >= 0 || goesOnWord.MatchString(line) {
		return true
	}
	return (x.language == langC || x.language == langCPP) && isWord(line[0]) && cTypes.MatchString(begins)
}

var (
	notesBefore = regexp.MustCompile(`^(@[\w.]+(\([^()]*(\([^()]*\)[^()]*)*\))?|#!?\[[^\]]*\]|\[[^\]]*\]) *`)
	modifier    = regexp.MustCompile(`^(export|default|declare|abstract|public|private|protected|internal|static|final|sealed|open|override|async|readonly|pub(\([^)]*\))?|unsafe|extern( "")?|partial|virtual|inline|constexpr|synchronized|native|data|inner|suspend|operator|infix|tailrec|fileprivate|mutating|convenience|required|indirect|get|set|typedef|annotation|companion|template *<[^>]*>) +`)
	keyword     = regexp.MustCompile(`^(class|record|object|actor|struct|enum|union|namespace|module|mod|extension|interface|@interface|trait|protocol|impl|type|typealias|func|fun|fn|function\*?|macro_rules!|const|let|var|val|static|using|package|import|use|return|if|for|while|switch|match|throw|new|init|deinit|constructor)\b *`)
	firstName   = regexp.MustCompile(`^[^\w$~]*([\w$~][\w$.:~\\]*)`)
	called      = regexp.MustCompile(`([\w$~#:]+) *(<[^()]*>)? *\(`)
	arrow       = regexp.MustCompile(`^([\w$#]+)[^=]*= *(async +)?(\(|<|[\w$]+ *=>)`)
	assigned    = regexp.MustCompile(`^([\w$#]+)[^=]*= *(async +)?(function|class)\b`)
	genericHead = regexp.MustCompile(`^<[^>]*> *`)
)

// classify tells what a statement declares by its head, which is all that stands
// in front of its body.
func (x *scanner) classify(head string, st statement, member bool) declaration {
	for {
		rest := notesBefore.ReplaceAllString(head, "")
		if m := modifier.FindString(rest); m != "" {
			rest = rest[len(m):]
		}
		if rest == head || rest == "" {
			break
		}
		head = rest
	}
	word, rest := "", head
	if m := keyword.FindStringSubmatch(head); m != nil && !strings.HasPrefix(head[len(m[0]):], "=") && !strings.HasPrefix(head[len(m[0]):], ":") {
		word, rest = m[1], head[len(m[0]):]
	}
	switch word {
	case "fun", "func", "fn", "function", "function*":
		rest = strings.TrimSpace(genericHead.ReplaceAllString(rest, ""))
		if x.language == langGo && strings.HasPrefix(rest, "(") { // of a file that does not parse
			rest = rest[length(rest, strings.IndexByte(rest, ')')):]
		}
		return declare(function(member), strings.TrimRight(word, "*"), nameOf(rest))
	case "init", "deinit", "constructor":
		if member && (st.body >= 0 || strings.Contains(head, "(")) {
			return declaration{kind: declMethod, name: word, label: word}
		}
	case "impl":
		rest = strings.TrimSpace(genericHead.ReplaceAllString(rest, ""))
		name := strings.TrimSpace(strings.Split(rest, " where ")[0])
		return declaration{kind: declImpl, name: name, label: "impl " + name}
	case "enum":
		rest = strings.TrimPrefix(strings.TrimPrefix(rest, "class "), "struct ")
		return declare(declEnum, word, nameOf(rest))
	case "const", "let", "var", "val", "static":
		return x.variable(word, rest, st, member)
	case "":
		return x.unnamed(head, st, member)
	}
	kind, ok := map[string]string{
		"class": declClass, "record": declClass, "object": declClass, "actor": declClass, "struct": declStruct, "union": declUnion,
		"namespace": declModule, "module": declModule, "mod": declModule, "extension": declModule,
		"interface": declInterface, "@interface": declInterface, "trait": declInterface, "protocol": declInterface,
		"type": declAlias, "typealias": declAlias, "macro_rules!": declMacro,
	}[word]
	switch {
	case !ok, st.body < 0 && kind != declAlias && (x.prototype || x.language == langPHP) && word != "record": // a forward declaration
		return declaration{}
	case kind != declAlias && x.prototype && strings.Contains(rest, "(") && word == "struct": // a function that returns one
		return x.unnamed(rest, st, member)
	}
	return declare(kind, word, nameOf(rest))
}

// function is what a function is called, in a class or not.
func function(member bool) string {
	if member {
		return declMethod
	}
	return declFunction
}

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

// variable tells functions that are values from other values. Those that take a
// line stay with what is around them.
func (x *scanner) variable(word, rest string, st statement, member bool) declaration {
	if x.pattern {
		if d := x.value(word+" ", rest, st); d.kind != "" {
			return d
		}
	}
	if strings.HasPrefix(rest, "fn ") { // const fn
		return declare(function(member), "fn", nameOf(rest[3:]))
	}
	rest = strings.TrimPrefix(rest, "mut ")
	if member || strings.Count(x.s[st.begin:st.end], "\n") < 2 {
		return declaration{}
	}
	return declare(declVariable, word, nameOf(rest))
}

// value tells what kind of function a name stands for in JavaScript.
func (x *scanner) value(label, rest string, st statement) declaration {
	if m := assigned.FindStringSubmatch(rest); m != nil {
		kind := map[string]string{"function": declFunction, "class": declClass}[m[3]]
		return declaration{kind: kind, name: m[1], label: label + m[1]}
	}
	if m := arrow.FindStringSubmatch(rest); m != nil && strings.Contains(x.plain(span{st.begin, st.end}), "=>") {
		return declaration{kind: declArrow, name: m[1], label: label + m[1]}
	}
	return declaration{}
}

// control are words that stand in front of a bracket and are no functions.
//
//nolint:gochecknoglobals // a table
var control = set(`if for while switch catch return sizeof do else match with foreach lock using fixed assert super this throw new typeof await yield`)

// unnamed finds functions that no keyword announces.
func (x *scanner) unnamed(head string, st statement, member bool) declaration {
	if x.pattern && member {
		if d := x.value("", head, st); d.kind != "" {
			return d
		}
	}
	if !x.prototype && (!member || !x.pattern) {
		return declaration{}
	}
	m := called.FindStringSubmatchIndex(head)
	if m == nil || strings.Contains(head[:m[0]], "=") {
		return declaration{}
	}
	name := strings.TrimRight(head[m[2]:m[3]], ":")
	if control[name] || st.body < 0 && (!member || x.language == langCPP) {
		return declaration{}
	}
	return declaration{kind: function(member || strings.Contains(name, "::")), name: name, label: name}
}
