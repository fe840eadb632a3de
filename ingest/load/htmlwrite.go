package load

import (
	"sort"
	"strings"
	"unicode"
	"unicode/utf8"
)

// linePlace is where the text of a line of the file begins.
type linePlace struct {
	offset int // in the text
	line   int // of the file, from 1
}

// lineOf returns the line of the file that the text at an offset stands in.
func lineOf(places []linePlace, offset int) int {
	i := sort.Search(len(places), func(i int) bool { return places[i].offset > offset })
	if i == 0 {
		return 1
	}
	return places[i-1].line
}

// maxIndentDepth bounds how far nested lists are indented.
const maxIndentDepth = 8

// pageWriter writes the text of a page, and keeps what it knows of it: the
// blocks and the lines they came from. White space is collapsed as a browser
// does.
type pageWriter struct {
	out    strings.Builder
	blocks []block
	places []linePlace
	line   int // of the file

	level  int // of the heading that is written, 0 outside
	kind   string
	lists  int    // nesting
	item   string // bullet of the item that begins with the next text
	inList bool   // a block of kind list is open
	quotes int
	open   bool     // a line of text is open
	space  bool     // white space came since
	breaks int      // line breaks came since
	last   rune     // written last
	hrefs  []string // that links of it lead to
}

func newPageWriter() *pageWriter { return &pageWriter{kind: kindText, line: 1} }

// text writes text with marks.
func (w *pageWriter) text(s string) {
	for s != "" {
		r, size := utf8.DecodeRuneInString(s)
		if r == markOpen {
			size = w.mark(s)
			s = s[size:]
			continue
		}
		s = s[size:]
		switch {
		case r == '\n':
			w.line++
			w.space = true
		case unicode.IsSpace(r):
			w.space = true
		case w.drops(r):
		default:
			w.rune(r)
		}
	}
}

// mark reads a mark and returns its size.
func (w *pageWriter) mark(s string) int {
	n := 0
	for i, r := range s[utf8.RuneLen(markOpen):] {
		switch {
		case r >= '0' && r <= '9':
			n = n*10 + int(r-'0')
		case r == markClose:
			w.line = n
			return utf8.RuneLen(markOpen) + i + utf8.RuneLen(markClose)
		}
	}
	return len(s) // not reached: marks are ours alone
}

// drops reports whether a rune cannot be seen and can mislead. The joiners
// decide about the shape of letters in some scripts, and of emoji; beside Latin
// letters they have no business.
func (w *pageWriter) drops(r rune) bool {
	switch {
	case r == '\u200C' || r == '\u200D':
		return w.last < 0x300
	case r == '\uFE0F' || unicode.Is(unicode.Prepended_Concatenation_Mark, r):
		return false
	case r == '\u034F', r == '\u115F', r == '\u1160', r == '\u17B4', r == '\u17B5', r == '\u3164', r == '\uFFA0':
		return true
	case unicode.Is(unicode.Cc, r), unicode.Is(unicode.Cf, r), r >= 0xE0000 && r <= 0xE0FFF:
		return true
	}
	return unicode.Is(unicode.Noncharacter_Code_Point, r)
}

func (w *pageWriter) rune(r rune) {
	switch {
	case w.breaks > 1:
		w.end()
	case w.open && w.breaks == 1:
		w.newLine()
	case w.open && w.space:
		w.out.WriteByte(' ')
	}
	w.space, w.breaks = false, 0
	w.begin()
	w.place()
	w.out.WriteRune(r)
	w.last = r
}

// place notes the line of what is written next.
func (w *pageWriter) place() {
	if n := len(w.places); n == 0 || w.places[n-1].line != w.line {
		w.places = append(w.places, linePlace{w.out.Len(), w.line})
	}
}

// begin opens a line of text, and a block where none is open.
func (w *pageWriter) begin() {
	if w.open {
		return
	}
	w.open = true
	if w.lists == 0 || !w.inList {
		w.gap("\n\n")
		b := block{start: w.out.Len(), kind: w.kind, level: w.level}
		if w.inList = w.lists > 0; w.inList {
			b.kind = kindList
		}
		if len(w.blocks) < maxBlocks { // the last one holds all that follows
			w.blocks = append(w.blocks, b)
		}
	} else {
		w.gap("\n")
	}
	w.place()
	if w.inList && (w.item != "" || len(w.blocks[len(w.blocks)-1].parts) == 0) {
		b := &w.blocks[len(w.blocks)-1]
		b.parts = append(b.parts, block{start: w.out.Len(), kind: kindList})
	}
	depth := w.lists
	if w.item != "" {
		depth--
	}
	w.out.WriteString(strings.Repeat("  ", min(max(depth, 0), maxIndentDepth)))
	w.out.WriteString(w.item)
	w.item = ""
	if w.quotes > 0 {
		w.out.WriteString("> ")
	}
	if w.level > 0 {
		w.out.WriteString(strings.Repeat("#", w.level) + " ")
	}
}

// gap writes line feeds between two texts.
func (w *pageWriter) gap(feeds string) {
	if w.out.Len() > 0 {
		w.out.WriteString(feeds)
	}
}

// newLine goes to the next line within a block.
func (w *pageWriter) newLine() {
	w.out.WriteByte('\n')
	w.place()
	w.out.WriteString(strings.Repeat("  ", min(w.lists, maxIndentDepth)))
	if w.quotes > 0 {
		w.out.WriteString("> ")
	}
}

// end closes the line of text.
func (w *pageWriter) end() { w.open, w.space, w.breaks, w.last = false, false, 0, 0 }

// literal writes text as it is, without marks, into the open line.
func (w *pageWriter) literal(s string) {
	w.begin()
	w.place()
	w.out.WriteString(s)
	w.last = 0
}

// code writes preformatted text with marks as a fenced block.
func (w *pageWriter) code(marked, language string) {
	w.end()
	bare := strings.TrimSpace(stripMarks(marked))
	if bare == "" {
		return
	}
	fence := "```"
	for strings.Contains(bare, fence) && len(fence) < 64 {
		fence += "`"
	}
	lines := strings.Split(marked, "\n")
	for strings.TrimSpace(stripMarks(lines[len(lines)-1])) == "" {
		lines = lines[:len(lines)-1]
	}
	w.kind = kindCode
	fenced := false
	for _, l := range lines {
		w.codeLine(l, &fenced, fence+language)
		w.line++
	}
	w.line = max(w.line-1, 1)
	w.newLine()
	w.out.WriteString(fence)
	w.kind = kindText
	w.end()
}

func (w *pageWriter) codeLine(marked string, fenced *bool, fence string) {
	var b strings.Builder
	for s := marked; s != ""; {
		r, size := utf8.DecodeRuneInString(s)
		if r == markOpen {
			size = w.mark(s)
		} else if r == '\t' || !w.drops(r) {
			b.WriteRune(r)
			w.last = r
		}
		s = s[size:]
	}
	l := strings.TrimRight(b.String(), " \t\r")
	if !*fenced && strings.TrimSpace(l) == "" {
		return // blank lines in front
	}
	if !*fenced {
		w.literal(fence)
		*fenced = true
	}
	w.newLine()
	w.place()
	w.out.WriteString(l)
}

// stripMarks returns text without its marks.
func stripMarks(s string) string {
	if !strings.ContainsRune(s, markOpen) {
		return s
	}
	var b strings.Builder
	inside := false
	for _, r := range s {
		switch {
		case r == markOpen:
			inside = true
		case r == markClose:
			inside = false
		case !inside:
			b.WriteRune(r)
		}
	}
	return b.String()
}

// plainText returns marked text as one line that a reader sees.
func plainText(marked string) string {
	w := newPageWriter()
	w.text(marked)
	return w.out.String()
}

// finish closes the last block and returns the text.
func (w *pageWriter) finish() string {
	w.end()
	s := w.out.String()
	if s != "" {
		s += "\n"
	}
	for i := range w.blocks {
		b := &w.blocks[i]
		b.end = len(s)
		if i+1 < len(w.blocks) {
			b.end = w.blocks[i+1].start
		}
		for j := range b.parts {
			b.parts[j].end = b.end
			if j+1 < len(b.parts) {
				b.parts[j].end = b.parts[j+1].start
			}
		}
		if len(b.parts) > 0 {
			b.parts[0].start = b.start
		}
		if len(b.parts) == 1 {
			b.parts = nil // it is the block; split by sentences
		}
	}
	return s
}
