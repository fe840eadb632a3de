package offline

import (
	"path"
	"slices"
	"strings"

	"example.com/ragflow/search/text"
	"example.com/ragflow/state"
)

// longestEntry is how long a line among others is at most, in bytes, to be quoted
// whole: an entry of a log, a message, a code with what it means.
const longestEntry = 240

// isPlainFile reports whether a passage is of a text file that has no marks of Markdown.
func isPlainFile(src state.Source) bool {
	switch strings.ToLower(path.Ext(src.Source)) {
	case ".txt", ".text":
	default:
		return false
	}
	for line := range strings.Lines(src.Text) {
		line = strings.TrimLeft(line, " ")
		if _, fenced := text.OpenFence(line); fenced || isHeading(line) || strings.HasPrefix(line, "|") {
			return false
		}
	}
	return true
}

// outlinePlain takes plain text apart by the lines that its writer meant: titles
// begin sections, and in a paragraph of lines each of them stands by itself.
func outlinePlain(s, name string) ([]unit, []string) {
	b := builder{s: s, lead: -1, head: -1, headings: []string{name}}
	for lines := text.Lines(s); len(lines) > 0; {
		below := strings.TrimPrefix(strings.TrimLeft(s[lines[0].End:], " \t\r"), "\n")
		below, _, _ = strings.Cut(below, "\n")
		if _, title := text.Title(s[lines[0].Start:lines[0].End], below); title != "" {
			b.heading(title)
			b.end = lines[0].End
			lines = lines[1:]
			continue
		}
		n := paragraph(s, lines)
		entries := n > 1 && !slices.ContainsFunc(lines[:n], func(l text.Span) bool {
			return strings.Contains(s[l.Start:l.End], "\n") || l.End-l.Start > longestEntry
		})
		for _, l := range lines[:n] {
			b.inItem = b.inItem && indentation(s, l.Start) > 0
			if entries {
				b.add(l)
			} else {
				b.prose(l.Start, l.End)
			}
		}
		lines = lines[n:]
	}
	return b.out, b.headings
}

// paragraph is how many lines stand together without a blank one.
func paragraph(s string, lines []text.Span) int {
	n := 1
	for n < len(lines) && strings.Count(s[lines[n-1].End:lines[n].Start], "\n") < 2 {
		n++
	}
	return n
}
