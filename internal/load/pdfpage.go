package load

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// pdfLine is a line of text on a page, with the look of its first and last characters. Lengths are in points;
// the origin is the lower left corner of the page.
type pdfLine struct {
	text              string
	page              int  // from 0
	hyphen            bool // it ends within a word; the hyphen is not in text
	size              float64
	bold, fixed       bool
	left, right, base float64
}

// pdfPage reads the lines of a page in PDFium's order.
type pdfPage struct {
	reader      *pdfReader
	text        references.FPDF_TEXTPAGE
	page        int
	lines       []pdfLine
	line        strings.Builder
	first, last int // first and last character of the line; first is -1 before it begins
	space       bool
	second      int // first character of the second word; 0 before
}

func (p *pdfPage) read() error {
	const hyphen, hyphenInText = 0x02, 0xFFFE // PDFium's codes of a hyphen at the end of a line
	count, err := p.reader.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: p.text})
	if err != nil {
		return nil //nolint:nilerr // a damaged page
	}
	if count.Count > maxPageChars {
		return fmt.Errorf("%w: %d characters on page %d, the limit is %d", ErrTooLarge, count.Count, p.page+1, maxPageChars)
	}
	p.first = -1
	for i := range count.Count {
		if i%1000 == 0 && p.reader.ctx.Err() != nil {
			return p.reader.ctx.Err()
		}
		char, err := p.reader.FPDFText_GetUnicode(&requests.FPDFText_GetUnicode{TextPage: p.text, Index: i})
		if err != nil {
			return nil //nolint:nilerr // a damaged page
		}
		switch c := rune(char.Unicode & 0x1FFFFF); c {
		case '\r', '\n', hyphen, hyphenInText:
			p.end(c == hyphen || c == hyphenInText)
		default:
			p.add(visibleRune(c), i)
		}
	}
	p.end(false)
	return nil
}

func (p *pdfPage) add(c rune, i int) {
	switch {
	case c < 0:
		return
	case c == ' ':
		p.space = p.line.Len() > 0
		return
	case p.space:
		if p.line.WriteByte(' '); p.second == 0 {
			p.second = i
		}
	}
	if p.first < 0 {
		p.first = i
	}
	p.line.WriteRune(c)
	p.last, p.space = i, false
}

// end closes the line. PDFium ends a line at an index or an exponent; the following text at the same height
// belongs to the line.
func (p *pdfPage) end(hyphen bool) {
	if p.first >= 0 {
		l := pdfLine{text: p.line.String(), page: p.page, hyphen: hyphen}
		if text, ok := strings.CutSuffix(l.text, "‐"); ok { // U+2010, which PDFium takes for a letter
			l.text, l.hyphen = text, true
		}
		p.measure(&l)
		if n := len(p.lines); n > 0 && beside(p.lines[n-1], l) {
			a := &p.lines[n-1]
			if l.left-a.right > 0.15*l.size {
				a.text += " "
			}
			a.text, a.right, a.hyphen = a.text+l.text, l.right, l.hyphen
		} else {
			p.lines = append(p.lines, l)
		}
	}
	p.line.Reset()
	p.first, p.space, p.second = -1, false, 0
}

// beside reports whether b follows a at the same height, at most a table column away.
func beside(a, b pdfLine) bool {
	size := min(a.size, b.size)
	return !a.hyphen && size > 0 && math.Abs(a.base-b.base) < 0.35*size && b.left >= a.right-0.3*size && b.left-a.right < 12*size
}

// Names of bold and of monospaced fonts.
var (
	boldFont  = regexp.MustCompile(`(?i)bold|black|heavy|-medi|semibd|cmbx|sfbx`)
	fixedFont = regexp.MustCompile(`(?i)mono|courier|typewriter|cm(sl|it)?tt|sftt|ectt|consol|menlo|sourcecode|firacode|letter ?gothic|fixed`)
)

// measure reads the look of a line; unreadable values stay zero.
func (p *pdfPage) measure(l *pdfLine) {
	typical := p.first
	if isItem(l.text) && p.second > 0 {
		typical = p.second // a bullet often has another font
	}
	if size, err := p.reader.FPDFText_GetFontSize(&requests.FPDFText_GetFontSize{TextPage: p.text, Index: typical}); err == nil {
		l.size = size.FontSize
	}
	if m, err := p.reader.FPDFText_GetMatrix(&requests.FPDFText_GetMatrix{TextPage: p.text, Index: typical}); err == nil {
		if scale := math.Hypot(float64(m.Matrix.C), float64(m.Matrix.D)); scale > 0 {
			l.size *= scale
		}
	}
	l.bold, l.fixed = true, true
	for _, i := range []int{typical, (typical + p.last) / 2, p.last} {
		const fixedPitch, forceBold = 1 << 0, 1 << 18 // ISO 32000-1, table 123
		font, err := p.reader.FPDFText_GetFontInfo(&requests.FPDFText_GetFontInfo{TextPage: p.text, Index: i})
		if err != nil {
			continue // a space inserted by PDFium
		}
		l.bold = l.bold && (font.Flags&forceBold != 0 || boldFont.MatchString(font.FontName))
		l.fixed = l.fixed && (font.Flags&fixedPitch != 0 || fixedFont.MatchString(font.FontName))
	}
	if at, err := p.reader.FPDFText_GetCharOrigin(&requests.FPDFText_GetCharOrigin{TextPage: p.text, Index: p.first}); err == nil {
		l.left, l.base = at.X, at.Y
	}
	if box, err := p.reader.FPDFText_GetCharBox(&requests.FPDFText_GetCharBox{TextPage: p.text, Index: p.last}); err == nil {
		l.right = box.Right
	}
}
