package markup

import (
	"strings"
	"unicode/utf8"

	"example.com/ragflow/internal/document"
)

// Plain returns the paragraphs of a text file, and the titles of its parts.
func Plain(s string, from int) []document.Block {
	var out []document.Block
	body := 0 // indentation of the text before
	for _, b := range document.Paragraphs(s, from) {
		level, title, size := leadingTitle(s[b.Start:b.End])
		if level > 0 {
			head := document.Block{Start: b.Start, End: b.Start + size, Kind: document.KindText, Level: level, Heading: title}
			if document.IsBlank(s[head.End:b.End]) {
				head.End = b.End
			}
			out = append(out, head)
			if b.Start = head.End; b.Start == b.End {
				continue
			}
		}
		if n := len(out); level == 0 && n > 0 && isIndented(s[out[n-1].Start:out[n-1].End], s[b.Start:b.End], out[n-1].Kind, body) {
			if b.Kind = document.KindCode; out[n-1].Kind == document.KindCode {
				out[n-1].End = b.End
				continue
			}
		} else {
			body = indentation(lastLine(s[b.Start:b.End]))
		}
		out = append(out, b)
	}
	return out
}

// leadingTitle returns the title at the beginning of a paragraph, and its size in bytes: a line underlined as
// in reStructuredText, perhaps overlined too, or after "=" marks as in AsciiDoc. The level is 0 without a
// title.
func leadingTitle(s string) (level int, title string, size int) {
	first := document.LineEnd(s, 0)
	next := document.LineEnd(s, first)
	if marks := strings.TrimSpace(s[:first]); marks != "" && strings.Trim(marks, underlines) == "" {
		over := document.LineEnd(s, next)
		if title = underlined(s[first:next], s[next:over]); title != "" {
			return 1, title, over
		}
	}
	if title = underlined(s[:first], s[first:next]); title != "" {
		return 1 + strings.IndexByte(underlines, s[first]), title, next
	}
	line := strings.TrimSpace(s[:first])
	text := strings.TrimLeft(line, "=")
	if marks := len(line) - len(text); marks > 0 && marks <= maxTitle && strings.HasPrefix(text, " ") {
		return marks, strings.TrimSpace(text), first
	}
	return 0, "", 0
}

// isIndented reports whether a paragraph is code: each line is indented by four columns from the text before,
// or by two if that ends in a colon or is code itself, and it is neither a list item nor a sentence.
func isIndented(before, s, kind string, body int) bool {
	least := body + 4
	if kind == document.KindCode || strings.HasPrefix(before, "..") || strings.HasSuffix(strings.TrimRight(before, document.Blank), ":") {
		least = body + 2
	}
	for line := range strings.Lines(s) {
		if !document.IsBlank(line) && indentation(line) < least {
			return false
		}
	}
	s = strings.TrimSpace(s)
	return !document.IsItem(s) && (!document.EndsSentence(s) || strings.HasSuffix(s, ";"))
}

// indentation returns the column at which a line begins; tab stops are multiples of eight.
func indentation(line string) (column int) {
	for _, c := range line {
		switch c {
		case ' ':
			column++
		case '\t':
			column = column/8*8 + 8
		default:
			return column
		}
	}
	return column
}

func lastLine(s string) string {
	s = strings.TrimRight(s, document.Blank)
	return s[strings.LastIndexByte(s, '\n')+1:]
}

// underlines are the characters that underline titles, highest level first as in most pages.
const underlines = "=-~^*+"

// underlined returns the line if the next one underlines it, else "".
func underlined(line, next string) string {
	line, next = strings.TrimSpace(line), strings.TrimRight(next, " \t\r\n")
	if line == "" || len(next) < 4 || utf8.RuneCountInString(line) > len(next)+1 ||
		strings.IndexByte(underlines, next[0]) < 0 || strings.Trim(next, next[:1]) != "" {
		return ""
	}
	return line
}

// maxTitle is the deepest level of a heading.
const maxTitle = 6
