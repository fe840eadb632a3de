package load

import (
	"path"
	"strings"
	"unicode/utf8"

	"example.com/ragflow/search/text"
)

// plainBlocks returns the paragraphs of s[from:], blank lines with the
// paragraph before them. The last of maxBlocks holds all that follows.
func plainBlocks(s string, from int) []block {
	var out []block
	gap := true // the line before was blank
	for at := from; at < len(s); {
		end := lineEnd(s, at)
		empty := isBlank(s[at:end])
		if !empty && gap || len(out) == 0 {
			if len(out) == maxBlocks {
				out[len(out)-1].end = len(s)
				return out
			}
			out = append(out, block{start: at, kind: kindText})
		}
		out[len(out)-1].end = end
		gap = empty
		at = end
	}
	return out
}

// titledBlocks returns the paragraphs of a text file, and the titles of its parts.
func titledBlocks(s string, from int) []block {
	paragraphs := plainBlocks(s, from)
	out := make([]block, 0, len(paragraphs)+len(paragraphs)/4)
	for _, b := range paragraphs {
		first := lineEnd(s, b.start)
		next := lineEnd(s, first)
		if over := lineEnd(s, next); strings.Trim(s[b.start:first], underlines+blank) == "" && underlined(s[first:next], s[next:over]) != "" {
			line, below := s[first:next], s[next:over] // a title between two lines of marks
			out = append(out, block{start: b.start, end: min(over, b.end), kind: kindText, level: 1, heading: underlined(line, below)})
			if b.start = over; b.start >= b.end || isBlank(s[b.start:b.end]) {
				out[len(out)-1].end = b.end
				continue
			}
			out = append(out, b)
			continue
		}
		level, title := text.Title(s[b.start:first], s[first:next])
		if l, t := markedTitle(s[b.start:first], s[first:next]); l > 0 {
			level, title = l, t
			if t == underlined(s[b.start:first], s[first:next]) {
				first = next
			}
		}
		if level == 0 {
			out = append(out, b)
			continue
		}
		head := block{start: b.start, end: b.end, kind: kindText, level: min(level, maxTitle), heading: title}
		if !isBlank(s[first:b.end]) {
			head.end = first
			b.start = first
			out = append(out, head, b)
			continue
		}
		out = append(out, head)
	}
	return out
}

// isMarkup reports whether a file is reStructuredText or AsciiDoc, which are read as
// plain text with headings.
func isMarkup(source string) bool {
	switch strings.ToLower(path.Ext(source)) {
	case ".rst", ".adoc", ".asciidoc":
		return true
	}
	return false
}

// markedTitle returns a title that is underlined, as in reStructuredText, or follows
// "=" marks, as in AsciiDoc; level 0 without one.
func markedTitle(line, next string) (level int, title string) {
	if title = underlined(line, next); title != "" {
		return 1 + strings.IndexByte(underlines, next[0]), title
	}
	title = strings.TrimSpace(line)
	marks := len(title) - len(strings.TrimLeft(title, "="))
	if marks == 0 || marks > maxTitle || marks == len(title) || title[marks] != ' ' {
		return 0, ""
	}
	return marks, strings.TrimSpace(title[marks:])
}

// underlines are the characters that underline titles, from the highest level down
// as most pages use them.
const underlines = "=-~^*+"

// underlined returns the line where the next one underlines it, else "".
func underlined(line, next string) string {
	line, next = strings.TrimSpace(line), strings.TrimRight(next, " \t\r\n")
	if line == "" || len(next) < 4 || strings.IndexByte(underlines, next[0]) < 0 || strings.Trim(next, next[:1]) != "" || utf8.RuneCountInString(line) > len(next)+1 {
		return ""
	}
	return line
}

// maxTitle is the deepest level of a heading.
const maxTitle = 6
