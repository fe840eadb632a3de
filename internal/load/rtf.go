package load

import (
	"bytes"
	"cmp"
	"fmt"
	"strconv"
	"strings"

	"golang.org/x/net/html/charset"
	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/charmap"

	"example.com/ragflow/internal/document"
)

const maxRTFGroups = 10_000 // open groups

// readRTF reads a Rich Text Format document: paragraphs, headings, lists, tables and footnotes. Headers,
// footers, comments, hidden text and pictures are left out. No maintained library reads other code pages than
// the Western one.
func (d *draft) readRTF(data []byte) error {
	d.Encoding = "rtf"
	if !bytes.HasPrefix(data, []byte(`{\rtf`)) {
		return fmt.Errorf("%w: it is no RTF", ErrBroken)
	}
	r := rtfReader{builder: d.builder(), rest: data, levels: map[int]int{}}
	r.encoding, r.shown = charmap.Windows1252, 1
	if err := r.read(); err != nil {
		return err
	}
	if len(r.groups) > 0 {
		d.Warnings = append(d.Warnings, "it was cut off: its end is missing")
	}
	if r.paragraphEnd(); r.out.Len() == 0 {
		return fmt.Errorf("%w: it is empty, or made of pictures", ErrNoText)
	}
	r.finish(d)
	if author := document.Short(r.to["author"].String()); author != "" {
		d.Meta = map[string]string{"author": author}
	}
	d.Title = cmp.Or(programTitle(document.Short(r.to["title"].String())), titleOf(d.Blocks))
	return nil
}

// rtfGroup is the state that a group inherits and its end restores.
type rtfGroup struct {
	into     string // destination of its text: "" for the document, "-" and "*" for none, else one of those below
	encoding encoding.Encoding
	style    int // number in the style sheet
	shown    int // characters after \u for readers without Unicode
	hidden   bool
}

type rtfReader struct {
	*builder
	rtfGroup
	rest   []byte
	groups []rtfGroup                  // around this one
	levels map[int]int                 // of headings, by style
	to     map[string]*strings.Builder // by destination

	pending []byte // undecoded text
	skip    int    // characters to skip
	level   int    // of the heading
	inTable bool
	cells   []string
}

// rtfDestinations are the groups whose text is not part of the document.
var rtfDestinations = map[string]string{
	"fonttbl": "-", "stylesheet": "styles", "title": "title", "author": "author", "footnote": "note", "listtext": "marker", "pntext": "marker",
	"colortbl": "-", "pict": "-", "object": "-", "header": "-", "headerl": "-", "headerr": "-", "headerf": "-", "footer": "-", "footerl": "-",
	"footerr": "-", "footerf": "-", "fldinst": "-", "annotation": "-", "xe": "-", "tc": "-", "subject": "-", "keywords": "-", "comment": "-",
	"doccomm": "-", "operator": "-", "company": "-", "generator": "-", "*": "*",
}

// rtfSigns are the control words for single characters.
var rtfSigns = map[string]string{
	"tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
	"bullet": "•", "~": " ", "_": "-", "emspace": " ", "enspace": " ", "qmspace": " ", "{": "{", "}": "}", "\\": "\\", "\n": "\n", "\r": "\n",
}

func (r *rtfReader) read() error {
	r.to = map[string]*strings.Builder{}
	for _, name := range []string{"", "title", "author", "note", "marker"} {
		r.to[name] = &strings.Builder{}
	}
	for len(r.rest) > 0 {
		c := r.rest[0]
		r.rest = r.rest[1:]
		switch c {
		case '{':
			r.decode()
			if r.groups = append(r.groups, r.rtfGroup); len(r.groups) > maxRTFGroups {
				return fmt.Errorf("%w: more than %d groups in one another", ErrTooLarge, maxRTFGroups)
			}
		case '}':
			r.decode()
			if n := len(r.groups); n > 0 {
				r.rtfGroup, r.groups = r.groups[n-1], r.groups[:n-1]
			}
			if len(r.groups) == 0 {
				return r.full() // the rest is not part of the document
			}
		case '\\':
			r.control()
		case '\r', '\n':
		default:
			r.pend(c)
		}
		if err := r.overfull(r.to[""].Len() + r.to["note"].Len() + 16*len(r.cells)); err != nil {
			return err
		}
	}
	return nil
}

// control reads a control word with its number and executes it.
func (r *rtfReader) control() {
	n := len(r.rest) - len(bytes.TrimLeft(r.rest, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"))
	if n == 0 { // a sign
		n = min(1, len(r.rest))
		sign := string(r.rest[:n])
		if r.rest = r.rest[n:]; sign == "'" && len(r.rest) >= 2 {
			if b, err := strconv.ParseUint(string(r.rest[:2]), 16, 8); err == nil {
				r.rest = r.rest[2:]
				r.pend(byte(b))
			}
			return
		}
		r.do(sign, 0, false)
		return
	}
	word := string(r.rest[:n])
	r.rest = r.rest[n:]
	digits := bytes.TrimLeft(bytes.TrimPrefix(r.rest, []byte("-")), "0123456789")
	value, err := strconv.Atoi(string(r.rest[:len(r.rest)-len(digits)]))
	r.rest = bytes.TrimPrefix(digits, []byte(" "))
	r.do(word, value, err == nil)
}

func (r *rtfReader) do(word string, n int, given bool) {
	r.decode()
	if into, ok := rtfDestinations[word]; ok {
		if r.into != "-" {
			r.into = into
		}
		return
	}
	switch word {
	case "bin":
		r.rest = r.rest[min(len(r.rest), max(n, 0)):]
	case "u":
		r.put(string(rune(uint16(n)))) //nolint:gosec // negative numbers are those above 32767
		r.skip = r.shown
	case "uc":
		r.shown = max(n, 0)
	case "ansicpg":
		if e, _ := charset.Lookup("windows-" + strconv.Itoa(n)); e != nil {
			r.encoding = e
		}
	case "v":
		r.hidden = !given || n != 0
	case "plain":
		r.hidden = false
	case "s":
		if r.style = n; r.into == "" {
			r.level = r.levels[n]
		}
	case "outlinelevel":
		if r.into == "styles" {
			r.levels[r.style] = n%9 + 1
		}
	case "par", "sect", "page", "pard", "intbl", "cell", "row":
		if r.into == "" {
			r.layout(word)
		} else {
			r.put(" ")
		}
	default:
		r.put(rtfSigns[word])
	}
}

// layout executes a control word about paragraphs and tables.
func (r *rtfReader) layout(word string) {
	switch word {
	case "pard":
		r.level, r.inTable = 0, false
		r.to["marker"].Reset()
	case "intbl":
		r.inTable = true
	case "cell":
		r.cells = append(r.cells, r.to[""].String())
		r.to[""].Reset()
	case "row":
		r.tableRow(r.cells)
		r.cells, r.inTable = nil, false
	default:
		if r.inTable {
			r.put(" ")
		} else {
			r.paragraphEnd()
		}
	}
}

// pend adds a byte of text.
func (r *rtfReader) pend(c byte) {
	if r.skip > 0 {
		r.skip--
	} else if r.into != "-" && !r.hidden {
		r.pending = append(r.pending, c)
	}
}

// decode adds the pending bytes to the text.
func (r *rtfReader) decode() {
	r.skip = 0
	if len(r.pending) == 0 {
		return
	}
	text, err := r.encoding.NewDecoder().Bytes(r.pending)
	if err != nil {
		text = bytes.ToValidUTF8(r.pending, []byte("?"))
	}
	r.pending = r.pending[:0]
	r.put(string(text))
}

// put adds text to the destination of the group.
func (r *rtfReader) put(s string) {
	if to := r.to[r.into]; to != nil && !r.hidden && (r.into == "" || r.into == "note" || to.Len() < 4*document.MaxShort) {
		to.WriteString(s)
	}
}

// paragraphEnd writes the paragraph, after a preceding table.
func (r *rtfReader) paragraphEnd() {
	r.endTable()
	var lines []string
	for line := range strings.SplitSeq(r.to[""].String(), "\n") {
		lines = append(lines, strings.Map(document.Visible, line))
	}
	text := strings.TrimSpace(strings.Join(lines, "\n"))
	switch {
	case text == "":
	case r.level > 0:
		r.heading(r.level, text)
	case r.to["marker"].Len() > 0:
		r.item(0, text)
	default:
		r.paragraph(text)
	}
	r.note(r.to["note"].String())
	r.writeNotes()
	for _, name := range []string{"", "note", "marker"} {
		r.to[name].Reset()
	}
}
