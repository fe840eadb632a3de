package rst

import (
	"strconv"
	"strings"
)

// list writes the item of a list that lines begin with, and returns how many lines
// it has; 0 where there is none.
func (r *reader) list(lines []sourceLine) int {
	line := lines[0].text
	if mark := bulletPattern.FindString(line); mark != "" {
		return r.listItem(lines, "- ", len(mark))
	}
	if m := numberPattern.FindStringSubmatch(line); m != nil && continues(lines, len(m[0])) {
		return r.listItem(lines, r.number(m[1]), len(m[0]))
	}
	if m := fieldPattern.FindStringSubmatch(line); m != nil {
		return r.field(lines, m[1], len(m[0]))
	}
	if m := optionPattern.FindStringSubmatch(line); m != nil && (m[2] != "" || indented(lineAt(lines, 1))) {
		n := 1 + below(lines[1:], 1)
		body := dedent(lines[1:n], longestLine)
		if m[2] != "" {
			body = append([]sourceLine{{m[2], lines[0].line}}, body...)
		}
		r.item("- ", withTerm("``"+m[1]+"``", body, lines[0].line))
		return n
	}
	if strings.HasPrefix(line, "| ") {
		n := untilBlank(lines)
		for i, l := range lines[:n] {
			r.tight = i > 0
			r.text(strings.TrimSpace(strings.TrimPrefix(l.text, "|")), l.line)
		}
		return n
	}
	return 0
}

// continues reports whether what begins like a numbered item is one: what follows
// is blank, indented as far as its text, or numbered too.
func continues(lines []sourceLine, width int) bool {
	next := lineAt(lines, 1)
	return next == "" || indentOf(next) >= width || numberPattern.MatchString(next)
}

// number is how Markdown numbers an item; letters and Roman numbers count on.
func (r *reader) number(s string) string {
	if !r.inList {
		r.count = 0
	}
	r.count++
	if n, err := strconv.Atoi(s); err == nil {
		r.count = n
	} else if len(s) == 1 && s != "#" && romans[strings.ToLower(s)] != r.count {
		r.count = int(strings.ToLower(s)[0]-'a') + 1
	}
	return strconv.Itoa(r.count) + ". "
}

// romans are the Roman numbers that could be letters.
//
//nolint:gochecknoglobals // a table
var romans = map[string]int{"i": 1, "v": 5, "x": 10, "l": 50, "c": 100}

// listItem writes an item whose text begins after its mark.
func (r *reader) listItem(lines []sourceLine, bullet string, width int) int {
	n := 1 + below(lines[1:], min(width, 2))
	body := dedent(lines[1:n], width)
	first := sourceLine{lines[0].text[width:], lines[0].line}
	r.item(bullet, append([]sourceLine{first}, body...))
	return n
}

// item writes an item of a list.
func (r *reader) item(bullet string, body []sourceLine) {
	outer, count := r.indent, r.count
	r.bullet, r.tight, r.count = bullet, r.inList, 0
	r.indent += strings.Repeat(" ", len(bullet))
	r.inList = false
	r.blocks(body)
	r.indent, r.bullet, r.inList, r.count = outer, "", true, count
}

// Fields of a page that say how it is shown and not what it is about.
//
//nolint:gochecknoglobals // a table
var settings = setOf("orphan tocdepth nocomments nosearch no-search")

// field writes what a field says; those in front of all text are kept as metadata.
func (r *reader) field(lines []sourceLine, name string, width int) int {
	n := 1 + below(lines[1:], 1)
	value := strings.TrimSpace(lines[0].text[min(width, len(lines[0].text)):])
	body := dedent(lines[1:n], longestLine)
	if r.depth == 1 && strings.Count(r.out.String(), "\n\n") == 0 && len(r.fields) < 100 {
		key := strings.ToLower(name)
		if value != "" && !settings[key] {
			if r.fields == nil {
				r.fields = map[string]string{}
			}
			r.fields[key] = strings.ReplaceAll(r.inline(strings.TrimSpace(value+"\n"+joined(body))), "\n", " ")
		}
		return n
	}
	if value != "" {
		body = append([]sourceLine{{value, lines[0].line}}, body...)
	}
	r.item("- ", withTerm(fieldName(name), body, lines[0].line))
	return n
}

// fieldName is what a field of Sphinx says to a reader.
func fieldName(name string) string {
	kind, of, _ := strings.Cut(name, " ")
	of = strings.TrimSpace(of)
	switch kind {
	case "param", "parameter", "arg", "argument", "key", "keyword", "var", "ivar", "cvar":
		if at := strings.LastIndexByte(of, ' '); at >= 0 {
			of = of[at+1:] + " (" + of[:at] + ")"
		}
		return of
	case "type", "vartype":
		return "Type of " + of
	case "returns", "return":
		return "Returns"
	case "rtype":
		return "Return type"
	case "raises", "raise", "except", "exception":
		return strings.TrimSpace("Raises " + of)
	}
	return name
}
