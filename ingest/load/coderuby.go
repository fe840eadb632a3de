package load

import (
	"regexp"
	"strings"
)

var (
	rubyHead   = regexp.MustCompile(`^(?:(?:private|protected|public|module_function|private_class_method|public_class_method|memoize) +)?(class|module|def)\b[ \t]*(.*)`)
	rubyStruct = regexp.MustCompile(`^([A-Z]\w*)[ \t]*=[ \t]*(?:Struct|Class|Module|Data)\.(?:new|define)\b.*\bdo\b`)
	rubyConst  = regexp.MustCompile(`^(?:::)?[A-Z][\w:]*`)
	rubyMethod = regexp.MustCompile(`^(?:[\w:]+\.)?(?:[\w\pL]+[?!=]?|\[\]=?|[-+!~]@?|\*\*?|<=>|===?|=~|![=~]|<<|>>|[<>]=?|[/%&|^` + "`" + `])`)
	rubyOpens  = regexp.MustCompile(`^(?:class|module|begin|case|if|unless|while|until|for)\b|^(?:\w+ +)?def\b|[=(][ \t]*(?:if|unless|case|begin|while|until)\b|\bdo(?:[ \t]*\|[^|]*\|)?$`)
	rubyCloses = regexp.MustCompile(`^end\b`)
	rubyInLine = regexp.MustCompile(`[\s;]end(?:$|[\s.)])`)
	rubyNoEnd  = regexp.MustCompile(`^[ \t]*(?:\(.*\))?[ \t]*=(?:[ \t]|$)`)
)

// deepestRuby bounds how deep classes within classes are looked at.
const deepestRuby = 16

// rubyDeclarations finds the classes, modules and methods of lines. Where one
// ends tells its indentation: of lines that stand deeper nothing has to be
// understood, and a line that is misread spoils no more than what it stands in.
func rubyDeclarations(lines []codeLine, member bool, depth int) []declaration {
	var out []declaration
	lead := -1 // first line of the comments above
	for i := 0; i < len(lines); i++ {
		l := lines[i]
		if l.comment {
			if lead < 0 {
				lead = i
			}
			continue
		}
		first := i
		if lead >= 0 {
			first = lead
		}
		lead = -1
		d := rubyDeclaration(l.text, member)
		if d.kind == "" {
			continue
		}
		last := blockEnd(lines, i, rubyEnds)
		d.start, d.end = lines[first].start, lines[last].end
		if holdsMembers(d.kind) && depth < deepestRuby && last > i+1 {
			d.members = rubyDeclarations(lines[i+1:last], true, depth+1)
		}
		out = append(out, d)
		i = last
	}
	return out
}

// rubyDeclaration tells what a line declares.
func rubyDeclaration(line string, member bool) declaration {
	if m := rubyStruct.FindStringSubmatch(line); m != nil {
		return declaration{kind: declClass, name: m[1], label: "class " + m[1]}
	}
	m := rubyHead.FindStringSubmatch(line)
	if m == nil {
		return declaration{}
	}
	word, rest := m[1], m[2]
	switch {
	case word == "def":
		name := rubyMethod.FindString(rest) // with what it belongs to: self.open
		if name == "" {
			return declaration{}
		}
		return declaration{kind: function(member), name: name, label: "def " + name}
	case word == "class" && strings.HasPrefix(rest, "<<"):
		name, _, _ := strings.Cut(strings.TrimSpace(rest[2:]), ";")
		return declaration{kind: declClass, name: name, label: "class << " + name}
	}
	name := rubyConst.FindString(rest)
	switch {
	case name == "":
		return declaration{}
	case word == "module":
		return declaration{kind: declModule, name: name, label: "module " + name}
	}
	return declaration{kind: declClass, name: name, label: "class " + name}
}

// rubyEnds tells of a line how many blocks it closes more than it opens. The
// first line of a declaration opens one; 0 says that it stands alone.
func rubyEnds(line string, first bool) int {
	switch {
	case rubyCloses.MatchString(line):
		return -1
	case rubyInLine.MatchString(line), first && rubyValue(line):
		return 0
	case first, rubyOpens.MatchString(line):
		return 1
	}
	return 0
}

// rubyValue tells whether a line defines a method by its value: def size = 1.
func rubyValue(line string) bool {
	m := rubyHead.FindStringSubmatch(line)
	return m != nil && m[1] == "def" && rubyNoEnd.MatchString(m[2][len(rubyMethod.FindString(m[2])):])
}

// blockEnd returns the last line of the block that a line opens. Lines that
// stand deeper belong to it; of those that stand no deeper, change tells how many
// blocks they open, less than 0 where they close some.
func blockEnd(lines []codeLine, first int, change func(line string, first bool) int) int {
	level, open, last := lines[first].indent, change(lines[first].text, true), first
	alone := open <= 0
	for i := first + 1; i < len(lines); i++ {
		l := lines[i]
		switch {
		case l.blank || l.comment:
			if alone {
				return last
			}
			continue
		case l.indent > level:
		case l.indent < level || alone:
			return last
		default:
			if open += change(l.text, false); open <= 0 {
				return i
			}
		}
		last = i
	}
	return last
}

// skipRuby is skip for Ruby. A quote that its line does not close is taken for
// none: what it begins is rarely more than a sentence.
func (x *scanner) skipRuby(at, to int) (end int, comment bool) {
	s := x.s[at:to]
	switch c := s[0]; {
	case c == '=' && strings.HasPrefix(s, "=begin") && (at == 0 || x.s[at-1] == '\n'):
		if i := x.closing("=end", at, false); i >= 0 && i < to {
			return i + len("=end"), true
		}
		return at + len(s), true
	case c == '#' && (at == 0 || x.s[at-1] != '?'):
		return at + length(s, strings.IndexByte(s, '\n')), true
	case c == '/' && x.operand(at):
		return at + regexLength(s[:length(s, strings.IndexByte(s, '\n'))]), false
	case c == '"', c == '\'', c == '`':
		return at + quoted(s[:length(s, strings.IndexByte(s, '\n'))], s[:1]), false
	}
	return at, false
}
