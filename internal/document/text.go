package document

import (
	"regexp"
	"strings"
	"unicode"
	"unicode/utf8"

	"example.com/ragflow/internal/text"
)

// Paragraphs returns the paragraphs of s[from:], each with the blank lines after it. There are
// at most MaxBlocks; the last one then holds the rest.
func Paragraphs(s string, from int) []Block {
	var out []Block
	gap := true // the line before was blank
	for at := from; at < len(s); {
		end := LineEnd(s, at)
		empty := IsBlank(s[at:end])
		if !empty && gap || len(out) == 0 {
			if len(out) == MaxBlocks {
				out[len(out)-1].End = len(s)
				return out
			}
			out = append(out, Block{Start: at, Kind: KindText})
		}
		out[len(out)-1].End = end
		gap = empty
		at = end
	}
	return out
}

// Blank is the white space that chunks do not begin or end with. Other white space of Unicode
// may carry meaning in a script or in code.
const Blank = " \t\r\n\v\f\u00a0\u0085"

// IsBlank reports whether s is blank.
func IsBlank(s string) bool { return strings.Trim(s, Blank) == "" }

// LineEnd returns the offset after the line of s[i].
func LineEnd(s string, i int) int {
	if j := strings.IndexByte(s[i:], '\n'); j >= 0 {
		return i + j + 1
	}
	return len(s)
}

// LineCounter counts the lines of offsets in a text. It is quick if they mostly ascend.
type LineCounter struct {
	Text       string
	at, before int // before is the number of line ends before the offset at
}

// At returns the line of an offset, from 1.
func (c *LineCounter) At(offset int) int {
	if offset = min(offset, len(c.Text)); offset < c.at {
		c.before -= strings.Count(c.Text[offset:c.at], "\n")
	} else {
		c.before += strings.Count(c.Text[c.at:offset], "\n")
	}
	c.at = offset
	return c.before + 1
}

// WithoutShortcodes returns s without Hugo shortcodes and HTML comments.
func WithoutShortcodes(s string) string {
	for _, pair := range [][2]string{{"{{<", ">}}"}, {"{{%", "%}}"}, {"<!--", "-->"}} {
		for {
			i := strings.Index(s, pair[0])
			if i < 0 {
				break
			}
			j := strings.Index(s[i:], pair[1])
			if j < 0 {
				break
			}
			s = s[:i] + " " + s[i+j+len(pair[1]):]
		}
	}
	return s
}

// MaxBlocks bounds the blocks of one document: paragraphs, headings, list items, table cells.
// The text after them is one more block. Each costs about half a kilobyte while the document
// is cut.
const MaxBlocks = 60_000

// Visible maps white space to a space and invisible characters to -1.
func Visible(c rune) rune {
	switch {
	case unicode.IsSpace(c):
		return ' '
	case c == 0xF0B7 || c == 0xF0A7 || c == 0xF076: // bullets of the Symbol and Wingdings fonts
		return '•'
	case text.Hidden(c), c >= 0xE000 && c <= 0xF8FF, c >= 0xFFF0 && c <= 0xFFFF, unicode.Is(unicode.Noncharacter_Code_Point, c):
		return -1
	}
	return c
}

// MaxShort is the maximum length of titles and metadata in runes.
const MaxShort = 1000

// Short returns a text on one line, cut at MaxShort.
func Short(s string) string {
	runes := []rune(strings.Join(strings.Fields(strings.Map(Visible, s)), " "))
	return string(runes[:min(len(runes), MaxShort)])
}

// Fenced returns a text as a block of code.
func Fenced(text, language string) string {
	const longest = 64
	mark := "```"
	for strings.Contains(text, mark) && len(mark) < longest {
		mark += "`"
	}
	return mark + language + "\n" + text + "\n" + mark
}

// Record returns a row of data as "name: value; …", so that it can be understood alone. The section of the rows, if any,
// stands before the values.
func Record(section string, names, values []string) string {
	var parts []string
	if section != "" {
		parts = append(parts, section)
	}
	for i, value := range values {
		if value == "" {
			continue
		}
		if i < len(names) && names[i] != "" {
			value = names[i] + ": " + value
		}
		parts = append(parts, value)
	}
	text := strings.Join(parts, "; ")
	if names == nil {
		text = strings.ReplaceAll(text, ":; ", ": ") // a form
	}
	return text
}

// EndsSentence reports whether a text ends as a sentence does.
func EndsSentence(s string) bool {
	r, _ := utf8.DecodeLastRuneInString(strings.TrimRight(s, `"'”’»)]`))
	return strings.ContainsRune(".!?:;。！？…", r)
}

var listItem = regexp.MustCompile(`^([•–—*◦▪■●○·►➢✓o-]|\[\d{1,3}\]|\(?(\d[\d.]{0,4}|[A-Za-z])[.)]) \S`)

// IsItem reports whether a line begins as an item of a list.
func IsItem(s string) bool { return listItem.MatchString(s) }
