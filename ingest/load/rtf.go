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
)

// maxRTFGroups bounds the groups that are open at a time.
const maxRTFGroups = 10_000

// readRTF makes the text of a document in the Rich Text Format: paragraphs, headings, lists,
// tables and footnotes. Headers, footers, comments, hidden text and pictures are left out.
// There is a reader of its own because the libraries for it read one code page only.
func (d *draft) readRTF(data []byte) error {
	d.Encoding = "rtf"
	if !bytes.HasPrefix(data, []byte(`{\rtf`)) {
		return fmt.Errorf("%w: it is no RTF", ErrBroken)
	}
	r := rtfReader{builder: d.builder(), data: data, encodings: map[int]encoding.Encoding{}, levels: map[int]int{}, about: map[string]string{}}
	r.group = rtfGroup{encoding: charmap.Windows1252, skipAfterUnicode: 1}
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
	for key, value := range r.about {
		if value = shortText(value); value != "" && key != "title" {
			if d.Meta == nil {
				d.Meta = map[string]string{}
			}
			d.Meta[key] = value
		}
	}
	d.Title = cmp.Or(programTitle(shortText(r.about["title"])), titleOf(d.Blocks))
	return nil
}

// rtfGroup is what a group inherits and its end restores.
type rtfGroup struct {
	into             string // where its text goes: "" to the document, "-" and "*" nowhere, else a destination below
	encoding         encoding.Encoding
	font             int // that the font table defines
	style            int // that the style sheet defines
	skipAfterUnicode int // characters that a reader without \u shows instead; they are skipped
	hidden           bool
}

func (g rtfGroup) unread() bool { return g.into == "-" || g.into == "*" }

// rtfReader reads a document.
type rtfReader struct {
	builder
	data      []byte
	at        int
	group     rtfGroup
	groups    []rtfGroup // around group
	encodings map[int]encoding.Encoding
	levels    map[int]int // of headings, by style
	about     map[string]string

	text     strings.Builder // of the paragraph
	noteText strings.Builder // of its footnote
	pending  []byte          // of text, not decoded yet
	skip     int             // characters to leave out
	level    int             // of the heading
	marker   bool            // the paragraph is an item of a list
	inTable  bool
	cells    []string
}

// rtfDestinations are the groups whose text is not that of the document: "-" where it is not
// read at all, "*" where groups in it may be.
var rtfDestinations = map[string]string{
	"fonttbl": "fonts", "stylesheet": "styles", "title": "title", "author": "author", "subject": "subject", "keywords": "keywords",
	"footnote": "note", "listtext": "marker", "pntext": "marker",
	"colortbl": "-", "info": "*", "pict": "-", "object": "-", "header": "-", "headerl": "-", "headerr": "-", "headerf": "-",
	"footer": "-", "footerl": "-", "footerr": "-", "footerf": "-", "fldinst": "-", "annotation": "-", "xe": "-", "tc": "-",
}

// rtfCharsets are the encodings of fonts, by the numbers that Windows gives them.
var rtfCharsets = map[int]string{
	0: "windows-1252", 128: "shift_jis", 129: "euc-kr", 134: "gbk", 136: "big5", 161: "windows-1253", 162: "windows-1254", 163: "windows-1258",
	177: "windows-1255", 178: "windows-1256", 186: "windows-1257", 204: "windows-1251", 222: "windows-874", 238: "windows-1250",
}

// rtfSigns are the control words that mean one character.
var rtfSigns = map[string]string{
	"tab": "\t", "line": "\n", "emdash": "—", "endash": "–", "lquote": "‘", "rquote": "’", "ldblquote": "“", "rdblquote": "”",
	"bullet": "•", "~": " ", "_": "-", "emspace": " ", "enspace": " ", "qmspace": " ", "{": "{", "}": "}", "\\": "\\", "\n": "\n", "\r": "\n",
}

func (r *rtfReader) read() error {
	for r.at < len(r.data) {
		c := r.data[r.at]
		r.at++
		switch c {
		case '{':
			r.decode()
			if r.groups = append(r.groups, r.group); len(r.groups) > maxRTFGroups {
				return fmt.Errorf("%w: more than %d groups in one another", ErrTooLarge, maxRTFGroups)
			}
		case '}':
			r.decode()
			if n := len(r.groups); n > 0 {
				r.group, r.groups = r.groups[n-1], r.groups[:n-1]
			}
			if len(r.groups) == 0 {
				return r.full() // what follows is no part of it
			}
		case '\\':
			word, n, given := r.control()
			r.do(word, n, given)
		case '\r', '\n':
		default:
			r.write(c)
		}
		if err := r.overfull(r.text.Len() + r.noteText.Len() + 16*len(r.cells)); err != nil {
			return err
		}
	}
	return nil
}

// control reads a control word with its number.
func (r *rtfReader) control() (word string, n int, given bool) {
	from := r.at
	for r.at < len(r.data) && (r.data[r.at]|0x20 >= 'a' && r.data[r.at]|0x20 <= 'z') {
		r.at++
	}
	if r.at == from { // a sign
		r.at = min(from+1, len(r.data))
		return string(r.data[from:r.at]), 0, false
	}
	word, from = string(r.data[from:r.at]), r.at
	for r.at < len(r.data) && (r.data[r.at] >= '0' && r.data[r.at] <= '9' || r.at == from && r.data[r.at] == '-') {
		r.at++
	}
	n, err := strconv.Atoi(string(r.data[from:r.at]))
	if r.at < len(r.data) && r.data[r.at] == ' ' {
		r.at++
	}
	return word, n, err == nil
}

// do acts on a control word.
func (r *rtfReader) do(word string, n int, given bool) {
	if word == "'" {
		if r.at+2 <= len(r.data) {
			if b, err := strconv.ParseUint(string(r.data[r.at:r.at+2]), 16, 8); err == nil {
				r.at += 2
				r.write(byte(b))
			}
		}
		return
	}
	r.decode()
	if into, ok := rtfDestinations[word]; ok {
		if r.group.into != "-" {
			r.group.into = into
		}
		return
	}
	switch word {
	case "*": // a destination that readers may not know
		r.group.into = "*"
	case "bin":
		r.at = min(len(r.data), r.at+max(n, 0))
	case "u":
		r.put(string(rune(uint16(n)))) //nolint:gosec // negative numbers are those above 32767
		r.skip = r.group.skipAfterUnicode
	case "uc":
		r.group.skipAfterUnicode = max(n, 0)
	case "ansicpg":
		if e, _ := charset.Lookup("windows-" + strconv.Itoa(n)); e != nil {
			r.group.encoding = e
		}
	case "f":
		if r.group.font = n; r.group.into != "fonts" && r.encodings[n] != nil {
			r.group.encoding = r.encodings[n]
		}
	case "fcharset":
		if e, _ := charset.Lookup(rtfCharsets[n]); e != nil {
			r.encodings[r.group.font] = e
		}
	case "v":
		r.group.hidden = !given || n != 0
	case "plain":
		r.group.hidden = false
	default:
		if !r.group.unread() {
			r.layout(word, n)
		}
	}
}

// layout acts on a control word about paragraphs and tables.
func (r *rtfReader) layout(word string, n int) {
	switch word {
	case "s":
		if r.group.style = n; r.group.into == "" {
			r.level = r.levels[n]
		}
	case "outlinelevel":
		switch r.group.into {
		case "styles":
			r.levels[r.group.style] = n%9 + 1
		case "":
			r.level = n%9 + 1
		}
	case "pard":
		if r.group.into == "" {
			r.level, r.marker, r.inTable = 0, false, false
		}
	case "intbl":
		r.inTable = true
	case "par", "sect", "page":
		if r.group.into == "" && r.inTable {
			r.put(" ")
		} else if r.group.into == "" {
			r.paragraphEnd()
		} else {
			r.put(" ")
		}
	case "cell":
		r.cells = append(r.cells, r.text.String())
		r.text.Reset()
	case "row":
		r.tableRow(r.cells)
		r.cells, r.inTable = nil, false
	default:
		r.put(rtfSigns[word])
	}
}

// write takes a byte of text.
func (r *rtfReader) write(c byte) {
	if r.skip > 0 {
		r.skip--
		return
	}
	if r.group.unread() || r.group.hidden {
		return
	}
	r.pending = append(r.pending, c)
}

// decode puts the pending bytes into the text.
func (r *rtfReader) decode() {
	r.skip = 0
	if len(r.pending) == 0 {
		return
	}
	text, err := r.group.encoding.NewDecoder().Bytes(r.pending)
	if err != nil {
		text = bytes.ToValidUTF8(r.pending, []byte("?"))
	}
	r.pending = r.pending[:0]
	r.put(string(text))
}

// put adds text where that of the group goes.
func (r *rtfReader) put(s string) {
	switch into := r.group.into; {
	case s == "" || r.group.unread() || into == "fonts" || into == "styles" || r.group.hidden:
	case into == "marker":
		r.marker = true
	case into == "note":
		r.noteText.WriteString(s)
	case into != "":
		if len(r.about[into]) < 4*longestTitle {
			r.about[into] += s
		}
	default:
		r.text.WriteString(s)
	}
}

// paragraphEnd writes the paragraph, after the table before it.
func (r *rtfReader) paragraphEnd() {
	r.endTable()
	text := strings.TrimSpace(strings.Map(func(c rune) rune {
		if c == '\n' {
			return c
		}
		return visibleRune(c)
	}, r.text.String()))
	r.text.Reset()
	switch {
	case text == "":
	case r.level > 0:
		r.heading(r.level, text)
	case r.marker:
		r.item(0, "-", text)
	default:
		r.paragraph(text)
	}
	r.note(r.noteText.String())
	r.noteText.Reset()
	r.writeNotes()
	r.marker = false
}
