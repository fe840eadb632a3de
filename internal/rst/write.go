package rst

import (
	"regexp"
	"strings"
)

// begin sets what is written next apart from what was.
func (r *reader) begin() {
	switch {
	case r.out.Len() == 0:
	case r.tight:
		r.out.WriteByte('\n')
	default:
		r.out.WriteString("\n\n")
	}
	r.tight, r.inList = false, false
}

// write writes a line of Markdown that comes from a line of the file.
func (r *reader) write(s string, line int) {
	lead := r.indent
	if r.bullet != "" {
		lead = lead[:len(lead)-len(r.bullet)] + r.bullet
		r.bullet = ""
	}
	if n := len(r.places); n == 0 || r.places[n-1].Line != line {
		r.places = append(r.places, Place{r.out.Len(), line})
	}
	if s != "" {
		r.out.WriteString(lead + s)
	}
}

// text writes a paragraph that begins at a line of the file. A line that Markdown
// would take for the beginning of something else goes on the one before.
func (r *reader) text(s string, line int) {
	s = r.inline(s)
	if strings.TrimSpace(s) == "" {
		return
	}
	r.begin()
	for i, l := range strings.Split(s, "\n") {
		marked := markedPattern.MatchString(l)
		switch {
		case i == 0 && marked && !bulletPattern.MatchString(l):
			l = "\\" + l
			fallthrough
		case i == 0:
			r.write(oneLine(l), line)
		case marked:
			r.out.WriteString(" " + oneLine(l))
		default:
			r.out.WriteByte('\n')
			r.write(oneLine(l), line)
		}
		line += 1 + strings.Count(l, "\v")
	}
}

// markedPattern is the beginning of a line that is no text to Markdown.
var markedPattern = regexp.MustCompile("^(?:#|>|[-+*] |\\d{1,9}[.)] |```|~~~|=+$|-+$|\\||:-)")

func oneLine(s string) string { return strings.NewReplacer("\n", " ", "\v", " ").Replace(s) }

// fenced writes lines as a fenced block.
func (r *reader) fenced(lines []sourceLine, language string) {
	lines = dedent(lines, longestLine)
	for len(lines) > 0 && lines[0].text == "" {
		lines = lines[1:]
	}
	for len(lines) > 0 && lines[len(lines)-1].text == "" {
		lines = lines[:len(lines)-1]
	}
	if len(lines) == 0 {
		return
	}
	fence := "```"
	for _, l := range lines {
		for strings.Contains(l.text, fence) && len(fence) < 64 {
			fence += "`"
		}
	}
	r.begin()
	r.write(fence+language, lines[0].line)
	for _, l := range lines {
		r.out.WriteByte('\n')
		r.write(l.text, l.line)
	}
	r.out.WriteByte('\n')
	r.write(fence, lines[len(lines)-1].line)
}
