package document

import "strings"

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
