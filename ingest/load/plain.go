package load

import (
	"path"
	"strings"
	"unicode/utf8"

	"example.com/ragflow/ingest/document"
)

// titledBlocks returns the paragraphs of a text file, and the titles of its parts.
func titledBlocks(s string, from int) []document.Block {
	paragraphs := document.Paragraphs(s, from)
	out := make([]document.Block, 0, len(paragraphs)+len(paragraphs)/4)
	literal := false // what is indented below is code, as reStructuredText has it
	body := 0        // indentation of the text before
	for _, b := range paragraphs {
		if text := s[b.Start:b.End]; literal && (text[0] == ' ' || text[0] == '\t') {
			b.Kind = document.KindCode
			out = append(out, b)
			continue
		} else if literal = strings.HasPrefix(text, ".. code"); !strings.HasPrefix(text, "..") {
			literal = strings.HasSuffix(strings.TrimRight(text, document.Blank), "::")
		}
		first := document.LineEnd(s, b.Start)
		next := document.LineEnd(s, first)
		over := document.LineEnd(s, next)
		between := underlined(s[first:next], s[next:over]) // a title between two lines of marks
		if between != "" && strings.Trim(s[b.Start:first], underlines+document.Blank) == "" {
			out = append(out, document.Block{Start: b.Start, End: min(over, b.End), Kind: document.KindText, Level: 1, Heading: between})
			if b.Start = over; b.Start >= b.End || document.IsBlank(s[b.Start:b.End]) {
				out[len(out)-1].End = b.End
				continue
			}
			out = append(out, b)
			continue
		}
		level, title := markedTitle(s[b.Start:first], s[first:next])
		if title != "" && title == underlined(s[b.Start:first], s[first:next]) {
			first = next
		}
		if level == 0 {
			if n := len(out); n > 0 && isIndented(s[out[n-1].Start:out[n-1].End], s[b.Start:b.End], out[n-1].Kind, body) {
				if b.Kind = document.KindCode; out[n-1].Kind == document.KindCode {
					out[n-1].End = b.End
					continue
				}
			} else {
				body = indentation(lastLine(s[b.Start:b.End]))
			}
			out = append(out, b)
			continue
		}
		head := document.Block{Start: b.Start, End: b.End, Kind: document.KindText, Level: min(level, maxTitle), Heading: title}
		if !document.IsBlank(s[first:b.End]) {
			head.End = first
			b.Start = first
			body = indentation(lastLine(s[b.Start:b.End]))
			out = append(out, head, b)
			continue
		}
		out = append(out, head)
	}
	return out
}

// isIndented reports whether a paragraph is code: each line is set in by four columns from
// the text before, or by two where that announces it with a colon or is code itself, and it
// is neither an item of a list nor a sentence.
func isIndented(before, s, kind string, body int) bool {
	least := body + 4
	if kind == document.KindCode || strings.HasSuffix(strings.TrimRight(before, document.Blank), ":") {
		least = body + 2
	}
	for line := range strings.Lines(s) {
		if !document.IsBlank(line) && indentation(line) < least {
			return false
		}
	}
	s = strings.TrimSpace(s)
	return !isItem(s) && (!endsSentence(s) || strings.HasSuffix(s, ";"))
}

// indentation is the column where a line begins; a tab leads to the next multiple of eight.
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

// isText reports whether the name of a file says that it is text and no more.
func isText(source string) bool {
	switch strings.ToLower(path.Ext(source)) {
	case ".txt", ".text":
		return true
	case "":
		return readByPeople[strings.ToLower(path.Base(source))]
	}
	return false
}

// readByPeople are the files without an extension that are no programs.
//
//nolint:gochecknoglobals // a table
var readByPeople = set("readme changelog changes news todo install contributing")

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
	if line == "" || len(next) < 4 || utf8.RuneCountInString(line) > len(next)+1 ||
		strings.IndexByte(underlines, next[0]) < 0 || strings.Trim(next, next[:1]) != "" {
		return ""
	}
	return line
}

// maxTitle is the deepest level of a heading.
const maxTitle = 6
