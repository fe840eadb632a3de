package corpus

import (
	"context"
	"errors"
	"fmt"
	"math"
	"strings"
	"time"
	"unicode/utf16"

	"github.com/klippa-app/go-pdfium"
	"github.com/klippa-app/go-pdfium/enums"
	pdferrors "github.com/klippa-app/go-pdfium/errors"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// Bounds of one PDF.
const (
	maxPDFPages   = 20_000
	maxPDFText    = 32 << 20  // bytes of text
	maxPageChars  = 1_000_000 // characters of a page
	maxBookmarks  = 5_000
	maxBookDepth  = 16
	maxPDFTime    = 2 * time.Minute
	picturesToSee = 200 // objects of a page that are looked at for pictures
)

// pdfLine is a line of text on a page, with what its first and last characters
// tell of it. Lengths are points; the origin is the page's lower left corner.
type pdfLine struct {
	text              string
	page              int  // from 0
	hyphen            bool // it ends within a word; the hyphen is not in text
	size              float64
	bold              bool
	row               bool    // of a table; set by rows
	gaps              []int   // wide spaces in text, as between the cells of a table
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
	err := withPDFium(ctx, limit, func(p pdfium.Pdfium) error {
		r := pdfReader{p: p}
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
	p   pdfium.Pdfium
	doc references.FPDF_DOCUMENT
}

func (r *pdfReader) open(data []byte) error {
	opened, err := r.p.OpenDocument(&requests.OpenDocument{File: &data})
	switch {
	case errors.Is(err, pdferrors.ErrPassword), errors.Is(err, pdferrors.ErrSecurity):
		return fmt.Errorf("%w: save a copy without a password", ErrEncrypted)
	case err != nil:
		return fmt.Errorf("%w: it is no PDF that can be read", ErrBroken)
	}
	r.doc = opened.Document
	return nil
}

func (r *pdfReader) read(file *pdfFile) error {
	count, err := r.p.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: r.doc})
	if err != nil {
		return fmt.Errorf("%w: its pages cannot be counted", ErrBroken)
	}
	if count.PageCount > maxPDFPages {
		return fmt.Errorf("%w: %d pages, the limit is %d", ErrTooLarge, count.PageCount, maxPDFPages)
	}
	file.pages = make([][]pdfLine, count.PageCount)
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
			return fmt.Errorf("%w: more than %d bytes of text in it", ErrTooLarge, maxPDFText)
		}
		file.pages[i] = lines
	}
	r.about(file)
	r.bookmarks(file, nil, 1)
	return nil
}

// page reads the lines of a page. A page that is damaged has none.
func (r *pdfReader) page(i int) (lines []pdfLine, pictures bool, err error) {
	loaded, err := r.p.FPDF_LoadPage(&requests.FPDF_LoadPage{Document: r.doc, Index: i})
	if err != nil {
		return nil, false, r.alive()
	}
	page := requests.Page{ByReference: &loaded.Page}
	defer func() { _, _ = r.p.FPDF_ClosePage(&requests.FPDF_ClosePage{Page: loaded.Page}) }() // the module goes away soon
	text, err := r.p.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: page})
	if err != nil {
		return nil, false, r.alive()
	}
	defer func() { _, _ = r.p.FPDFText_ClosePage(&requests.FPDFText_ClosePage{TextPage: text.TextPage}) }()
	lines, err = r.lines(text.TextPage, i)
	if len(lines) == 0 && err == nil {
		pictures = r.hasPictures(page)
	}
	return lines, pictures, err
}

// alive is an error once the module has come to its end, by time or by memory.
func (r *pdfReader) alive() error {
	if _, err := r.p.FPDF_GetPageCount(&requests.FPDF_GetPageCount{Document: r.doc}); err != nil {
		return fmt.Errorf("%w: the PDF reader gave up: %w", ErrBroken, err)
	}
	return nil
}

// hasPictures looks at the first objects of a page.
func (r *pdfReader) hasPictures(page requests.Page) bool {
	count, err := r.p.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: page})
	if err != nil {
		return false
	}
	for i := range min(count.Count, picturesToSee) {
		object, err := r.p.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: page, Index: i})
		if err != nil {
			return false
		}
		kind, err := r.p.FPDFPageObj_GetType(&requests.FPDFPageObj_GetType{PageObject: object.PageObject})
		if err == nil && (kind.Type == enums.FPDF_PAGEOBJ_IMAGE || kind.Type == enums.FPDF_PAGEOBJ_FORM) {
			return true
		}
	}
	return false
}

// hyphenMark is what PDFium writes in place of a hyphen at a line's end.
const hyphenMark = 0x02

// lines reads the characters of a page, in the reading order that PDFium finds,
// line by line.
func (r *pdfReader) lines(text references.FPDF_TEXTPAGE, page int) ([]pdfLine, error) {
	count, err := r.p.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: text})
	if err != nil {
		return nil, r.alive()
	}
	if count.Count > maxPageChars {
		return nil, fmt.Errorf("%w: %d characters on page %d, the limit is %d", ErrTooLarge, count.Count, page+1, maxPageChars)
	}
	var out []pdfLine
	b := lineBuilder{reader: r, page: text, first: -1}
	for i := range count.Count {
		got, err := r.p.FPDFText_GetUnicode(&requests.FPDFText_GetUnicode{TextPage: text, Index: i})
		if err != nil {
			return nil, r.alive()
		}
		switch c := rune(got.Unicode & 0x1FFFFF); c {
		case '\r', '\n', hyphenMark:
			out = b.end(out, page, c == hyphenMark)
		default:
			b.add(c, i)
		}
	}
	return together(b.end(out, page, false)), nil
}

// lineBuilder collects the characters of a line.
type lineBuilder struct {
	reader      *pdfReader
	page        references.FPDF_TEXTPAGE
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
func (r *pdfReader) measure(page references.FPDF_TEXTPAGE, first, typical, last int, l *pdfLine) {
	if size, err := r.p.FPDFText_GetFontSize(&requests.FPDFText_GetFontSize{TextPage: page, Index: typical}); err == nil {
		l.size = size.FontSize
	}
	if m, err := r.p.FPDFText_GetMatrix(&requests.FPDFText_GetMatrix{TextPage: page, Index: typical}); err == nil {
		if scale := math.Hypot(float64(m.Matrix.C), float64(m.Matrix.D)); scale > 0 {
			l.size *= scale
		}
	}
	l.bold = r.isBold(page, typical) && r.isBold(page, last)
	if at, err := r.p.FPDFText_GetCharOrigin(&requests.FPDFText_GetCharOrigin{TextPage: page, Index: first}); err == nil {
		l.left, l.right, l.base = at.X, at.X, at.Y
	}
	if box, err := r.p.FPDFText_GetCharBox(&requests.FPDFText_GetCharBox{TextPage: page, Index: last}); err == nil {
		l.right = box.Right
	}
}

// wideGap is how wide, in sizes of the type, a space is that parts the cells of a
// table: words of a justified line hardly ever lie so far apart.
const wideGap = 1.1

// gaps notes which spaces of a line are as wide as those between the cells of a
// table. The one behind the number of an item is none.
func (r *pdfReader) gaps(page references.FPDF_TEXTPAGE, spaces []wordGap, l *pdfLine) {
	if l.size <= 0 || len(spaces) == 0 || l.right-l.left < 4*l.size {
		return
	}
	if isItem(l.text) {
		spaces = spaces[1:]
	}
	for _, g := range spaces {
		before, err := r.p.FPDFText_GetCharBox(&requests.FPDFText_GetCharBox{TextPage: page, Index: g.before})
		if err != nil {
			continue
		}
		after, err := r.p.FPDFText_GetCharOrigin(&requests.FPDFText_GetCharOrigin{TextPage: page, Index: g.after})
		if err == nil && after.X-before.Right >= wideGap*l.size {
			l.gaps = append(l.gaps, g.at)
		}
	}
}

// isBold reads the weight of a character off its font's name and flags.
func (r *pdfReader) isBold(page references.FPDF_TEXTPAGE, i int) bool {
	const forceBold = 1 << 18 // ISO 32000-1, table 123
	font, err := r.p.FPDFText_GetFontInfo(&requests.FPDFText_GetFontInfo{TextPage: page, Index: i})
	if err != nil {
		return false
	}
	name := strings.ToLower(font.FontName)
	for _, s := range []string{"bold", "black", "heavy", "-medi", "semibd", "cmbx", "sfbx"} {
		if strings.Contains(name, s) {
			return true
		}
	}
	return font.Flags&forceBold != 0
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
