package load

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/tetratelabs/wazero/api"
)

// Bounds of one PDF.
const (
	maxPDFPages   = 20_000
	maxPDFText    = 32 << 20  // bytes of text
	maxPageChars  = 1_000_000 // characters of a page
	maxBookmarks  = 5_000
	maxBookDepth  = 16
	maxPDFTime    = 5 * time.Minute // a page takes some 10 ms
	picturesToSee = 200             // objects of a page that are looked at for pictures
)

// pdfLine is a line of text on a page, with what its first and last characters
// tell of it. Lengths are points; the origin is the page's lower left corner.
type pdfLine struct {
	text              string
	page              int  // from 0
	hyphen            bool // it ends within a word; the hyphen is not in text
	size              float64
	bold              bool
	fixed             bool // in a type whose letters are all as wide as each other
	row               bool // of a table; set by rows
	code              bool // of a program or of what one prints; set by codeLines
	gaps              []cellGap
	left, right, base float64 // base is the line that the letters stand on
}

// bookmark is an entry of a PDF's outline.
type bookmark struct {
	title string
	level int // from 1
}

// pdfFile is what is read of a PDF.
type pdfFile struct {
	pages    [][]pdfLine
	pictures int   // pages without text that hold pictures
	empty    []int // pages without text, from 1
	outline  []bookmark
	title    string
	fields   map[string]string // what the file says of itself
}

// readPDF makes the text of a PDF. Nothing in it is run and nothing is fetched.
func (d *Document) readPDF(ctx context.Context, data []byte, limit time.Duration) error {
	d.Converted, d.Encoding = true, "pdf"
	var file pdfFile
	err := withPDFium(ctx, limit, func(calls *pdfCalls) error {
		r := pdfReader{pdfCalls: calls}
		if err := r.open(data); err != nil {
			return err
		}
		return r.read(&file)
	})
	if err != nil {
		return err
	}
	return d.takePDF(&file)
}

// pdfReader reads one document.
type pdfReader struct {
	*pdfCalls
	doc uint64
}

func (r *pdfReader) open(data []byte) error {
	const wrongPassword, unknownSecurity = 4, 5 // FPDF_ERR_PASSWORD, FPDF_ERR_SECURITY
	at := r.alloc(len(data))
	r.write(at, data)
	r.doc = r.call("FPDF_LoadMemDocument", at, uint64(len(data)), 0)
	switch reason := r.call("FPDF_GetLastError"); {
	case r.err != nil:
		return r.gaveUp()
	case r.doc != 0:
		return nil
	case reason == wrongPassword || reason == unknownSecurity:
		return fmt.Errorf("%w: save a copy without a password", ErrEncrypted)
	}
	return fmt.Errorf("%w: it is no PDF that can be read", ErrBroken)
}

// gaveUp is the error once the module has come to its end, by time or by memory.
func (r *pdfReader) gaveUp() error {
	return fmt.Errorf("%w: the PDF reader gave up: %w", ErrBroken, r.err)
}

func (r *pdfReader) read(file *pdfFile) error {
	count := r.integer("FPDF_GetPageCount", r.doc)
	switch {
	case r.err != nil || count < 0:
		return fmt.Errorf("%w: its pages cannot be counted", ErrBroken)
	case count > maxPDFPages:
		return fmt.Errorf("%w: %d pages, the limit is %d", ErrTooLarge, count, maxPDFPages)
	}
	file.pages = make([][]pdfLine, count)
	size := 0
	for i := range file.pages {
		lines, pictures, err := r.page(i)
		if err != nil {
			return err
		}
		if len(lines) == 0 {
			file.empty = append(file.empty, i+1)
			if pictures {
				file.pictures++
			}
		}
		for _, l := range lines {
			size += len(l.text)
		}
		if size > maxPDFText {
			return fmt.Errorf("%w: more than %s of text in it", ErrTooLarge, inBytes(maxPDFText))
		}
		file.pages[i] = lines
	}
	r.about(file)
	r.bookmarks(file, 0, 1)
	return nil
}

// page reads the lines of a page. A page that is damaged has none.
func (r *pdfReader) page(i int) (lines []pdfLine, pictures bool, err error) {
	if page := r.call("FPDF_LoadPage", r.doc, uint64(i)); page != 0 { //nolint:gosec // i is not negative
		if text := r.call("FPDFText_LoadPage", page); text != 0 {
			lines, err = r.lines(text, i)
			r.call("FPDFText_ClosePage", text)
		}
		if len(lines) == 0 && err == nil {
			pictures = r.hasPictures(page)
		}
		r.call("FPDF_ClosePage", page)
	}
	if r.err != nil { // the page may have failed alone
		r.err = nil
		if r.call("FPDF_GetPageCount", r.doc); r.err != nil {
			return nil, false, r.gaveUp()
		}
	}
	return lines, pictures, err
}

// hasPictures looks at the first objects of a page.
func (r *pdfReader) hasPictures(page uint64) bool {
	const image, form = 3, 5 // FPDF_PAGEOBJ_IMAGE, FPDF_PAGEOBJ_FORM
	for i := range min(r.integer("FPDFPage_CountObjects", page), picturesToSee) {
		object := r.call("FPDFPage_GetObject", page, uint64(i)) //nolint:gosec // i is not negative
		if object == 0 {
			return false
		}
		if kind := r.integer("FPDFPageObj_GetType", object); kind == image || kind == form {
			return true
		}
	}
	return false
}

// What PDFium writes in place of a hyphen at a line's end: as a character, and
// in the text of a page.
const (
	hyphenMark   = 0x02
	hyphenInText = 0xFFFE
)

// lines reads the characters of a page, in the reading order that PDFium finds,
// line by line.
func (r *pdfReader) lines(text uint64, page int) ([]pdfLine, error) {
	count := r.integer("FPDFText_CountChars", text)
	if count > maxPageChars {
		return nil, fmt.Errorf("%w: %d characters on page %d, the limit is %d", ErrTooLarge, count, page+1, maxPageChars)
	}
	var out []pdfLine
	b := lineBuilder{reader: r, page: text, first: -1}
	for i, c := range r.characters(text, count) {
		switch c {
		case '\r', '\n', hyphenMark, hyphenInText:
			out = b.end(out, page, c != '\r' && c != '\n')
		default:
			b.add(c, i)
		}
	}
	return together(b.end(out, page, false)), nil
}

// characters are all of a page, in UTF-16 as a rule. The text in one piece
// leaves out characters whose meaning the file does not tell; where it does, they
// are read one by one, so that each stands at its index.
func (r *pdfReader) characters(text uint64, count int) []rune {
	if count <= 0 {
		return nil
	}
	out := make([]rune, count)
	at := r.alloc(2*count + 2)
	defer r.call("free", at)
	if r.integer("FPDFText_GetText", text, 0, uint64(count), at) == count+1 {
		units, _ := r.module.Memory().Read(api.DecodeU32(at), uint32(2*count)) //nolint:gosec // at most maxPageChars
		for i := range out {
			out[i] = rune(binary.LittleEndian.Uint16(units[2*i:]))
		}
		return out
	}
	for i := range out {
		out[i] = rune(r.call("FPDFText_GetUnicode", text, uint64(i)) & 0x1FFFFF) //nolint:gosec // 21 bits
	}
	return out
}

// lineBuilder collects the characters of a line.
type lineBuilder struct {
	reader      *pdfReader
	page        uint64
	out         strings.Builder
	first, last int // indexes of the first and last visible characters; first is -1 before there is one
	high        rune
	space       bool
	gaps        []wordGap
}

// wordGap is a space between two words.
type wordGap struct {
	at            int // in the text
	before, after int // indexes of the characters beside it
}

func (b *lineBuilder) add(c rune, i int) {
	switch {
	case utf16.IsSurrogate(c) && b.high == 0:
		b.high = c
		return
	case utf16.IsSurrogate(c):
		c = utf16.DecodeRune(b.high, c)
		b.high = 0
	}
	c = visibleRune(c)
	switch {
	case c < 0:
		return
	case c == ' ':
		b.space = b.out.Len() > 0
		return
	}
	if b.space {
		b.gaps = append(b.gaps, wordGap{b.out.Len(), b.last, i})
		b.out.WriteByte(' ')
		b.space = false
	}
	b.out.WriteRune(c)
	if b.first < 0 {
		b.first = i
	}
	b.last = i
}

// end appends the line, where there is one.
func (b *lineBuilder) end(lines []pdfLine, page int, hyphen bool) []pdfLine {
	if b.first >= 0 {
		l := pdfLine{text: b.out.String(), page: page, hyphen: hyphen}
		typical := b.first
		if isItem(l.text) && len(b.gaps) > 0 {
			typical = b.gaps[0].after // a bullet is often of another type
		}
		b.reader.measure(b.page, b.first, typical, b.last, &l)
		b.reader.gaps(b.page, b.gaps, &l)
		lines = append(lines, l)
	}
	b.out.Reset()
	b.first, b.high, b.space, b.gaps = -1, 0, false, b.gaps[:0]
	return lines
}

// measure fills in the looks of a line by its first and last characters and one
// of the type of most of it; what cannot be told stays zero.
func (r *pdfReader) measure(page uint64, first, typical, last int, l *pdfLine) {
	l.size = api.DecodeF64(r.call("FPDFText_GetFontSize", page, uint64(typical)))
	if r.call("FPDFText_GetMatrix", page, uint64(typical), r.room) != 0 {
		if scale := math.Hypot(float64(r.single(2)), float64(r.single(3))); scale > 0 {
			l.size *= scale
		}
	}
	one, other := r.font(page, typical), r.font(page, last)
	l.bold = one.bold && other.bold
	if l.fixed = one.fixed && other.fixed; l.fixed {
		middle := r.font(page, (first+last)/2)
		l.fixed = middle.fixed || middle.unknown
	}
	if x, y, ok := r.origin(page, first); ok {
		l.left, l.right, l.base = x, x, y
	}
	if right, ok := r.rightEdge(page, last); ok {
		l.right = right
	}
}

// origin is where a character begins, on the line that the letters stand on.
func (r *pdfReader) origin(page uint64, i int) (x, y float64, ok bool) {
	ok = r.call("FPDFText_GetCharOrigin", page, uint64(i), r.room, r.room+8) != 0
	return r.double(0), r.double(1), ok
}

// rightEdge is where a character ends.
func (r *pdfReader) rightEdge(page uint64, i int) (x float64, ok bool) {
	ok = r.call("FPDFText_GetCharBox", page, uint64(i), r.room, r.room+8, r.room+16, r.room+24) != 0
	return r.double(1), ok
}

// wideGap is how wide, in sizes of the type, a space is that parts the cells of a
// table: words of a justified line hardly ever lie so far apart.
const wideGap = 1.1

// gaps notes which spaces of a line are as wide as those between the cells of a
// table. The one behind the number of an item is none.
func (r *pdfReader) gaps(page uint64, spaces []wordGap, l *pdfLine) {
	if l.size <= 0 || len(spaces) == 0 || l.right-l.left < 4*l.size {
		return
	}
	if isItem(l.text) {
		spaces = spaces[1:]
	}
	for _, g := range spaces {
		before, ok := r.rightEdge(page, g.before)
		if !ok {
			continue
		}
		if after, _, ok := r.origin(page, g.after); ok && after-before >= wideGap*l.size {
			l.gaps = append(l.gaps, cellGap{g.at, before, after})
		}
	}
}

// pdfFont is what is told of a type.
type pdfFont struct{ bold, fixed, unknown bool }

// Parts of the names of bold types, and of those with letters of one width:
// Courier, Computer Modern Typewriter and its like.
//
//nolint:gochecknoglobals // never changed
var (
	boldNames  = []string{"bold", "black", "heavy", "-medi", "semibd", "cmbx", "sfbx"}
	fixedNames = []string{"mono", "courier", "typewriter", "cmtt", "cmsltt", "cmitt", "sftt", "ectt", "consol", "menlo", "monaco", "sourcecode", "firacode", "letter gothic", "lettergothic", "fixed"}
)

// font reads the type of a character off its name and flags. A space that
// PDFium has put in has none.
func (r *pdfReader) font(page uint64, i int) pdfFont {
	const fixedPitch, forceBold = 1 << 0, 1 << 18 // ISO 32000-1, table 123
	const flagsAt = pdfRoom - 4
	name := strings.ToLower(string(r.bytes(r.integer("FPDFText_GetFontInfo", page, uint64(i), r.room, flagsAt, r.room+flagsAt))))
	if strings.Trim(name, "\x00") == "" {
		return pdfFont{unknown: true}
	}
	flags, _ := r.module.Memory().ReadUint32Le(api.DecodeU32(r.room) + flagsAt)
	has := func(part string) bool { return strings.Contains(name, part) }
	return pdfFont{
		bold:  flags&forceBold != 0 || slices.ContainsFunc(boldNames, has),
		fixed: flags&fixedPitch != 0 || slices.ContainsFunc(fixedNames, has),
	}
}

// visibleRune is a character as it goes into the text: white space as a space,
// and -1 for what cannot be seen.
func visibleRune(c rune) rune {
	switch {
	case c == '\t' || c == 0xA0 || c == ' ' || c >= 0x2000 && c <= 0x200A || c == 0x202F || c == 0x3000:
		return ' '
	case c == 0xF0B7 || c == 0xF0A7 || c == 0xF076: // bullets of the Symbol and Wingdings fonts
		return '•'
	case c < ' ' || c >= 0x7F && c < 0xA0 || c == 0xAD || c >= 0xE000 && c <= 0xF8FF || c >= 0xFFF0 || c == 0x200B || c >= 0x202A && c <= 0x202E:
		if c > 0xFFFF && c <= 0x10FFFF && c < 0xE0000 {
			return c
		}
		return -1
	}
	return c
}
