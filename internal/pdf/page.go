package pdf

import (
	"fmt"
	"math"
	"regexp"
	"strings"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"

	"example.com/ragflow/internal/document"
)

// textLine is a line of text on a page, with the look of its first and last characters. Lengths are in points,
// in the coordinates of its page turned so that the text runs from left to right.
type textLine struct {
	text              string
	page              int  // from 0
	hyphen            bool // it ends within a word; the hyphen is not in text
	size              float64
	bold, fixed       bool
	left, right, base float64
	turns             int // quarter turns to the left that the text has on the unrotated page
	height            float64
	words             []word // while the page is read
	table             *table // in place of the line; nil for text
}

// word is a word of a line. The top of its page is up.
type word struct {
	text                      string
	left, right, base, height float64
	bold                      bool
	line                      int // among the lines of the page
	used                      bool
}

// pageReader reads the lines of a page in PDFium's order.
type pageReader struct {
	reader      *fileReader
	ref         requests.Page
	text        references.FPDF_TEXTPAGE
	page        int
	lines       []textLine
	line        strings.Builder
	words       []word
	turns       int              // of the current line
	first, last int              // first and last character of the line; first is -1 before it begins
	begun       int              // first character of the current word; -1 between words
	start       int              // of the current word in line
	second      int              // first character of the second word; 0 before
	tables      map[int][]*table // by the first of the lines that they hold
}

func (p *pageReader) read() error {
	const hyphen, hyphenInText = 0x02, 0xFFFE // PDFium's codes of a hyphen at the end of a line
	count, err := p.reader.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: p.text})
	if err != nil {
		return nil //nolint:nilerr // a damaged page
	}
	if count.Count > maxPageChars {
		return fmt.Errorf("%w: %d characters on page %d, the limit is %d", document.ErrTooLarge, count.Count, p.page+1, maxPageChars)
	}
	p.first, p.begun = -1, -1
	for i, c := range p.characters(count.Count) {
		if i%1000 == 0 && p.reader.ctx.Err() != nil {
			return p.reader.ctx.Err()
		}
		switch c {
		case '\r', '\n', hyphen, hyphenInText:
			p.end(c == hyphen || c == hyphenInText)
		default:
			p.add(document.Visible(c), i)
		}
	}
	p.end(false)
	return nil
}

// characters returns the characters of the page; fewer if it is damaged. One call returns them all, unless some have no
// Unicode value: they are missing in its result.
func (p *pageReader) characters(n int) []rune {
	// Twice the room, for characters of two UTF-16 units.
	all, err := p.reader.FPDFText_GetText(&requests.FPDFText_GetText{TextPage: p.text, Count: 2 * n})
	if err == nil {
		if chars := []rune(strings.TrimSuffix(all.Text, "\x00")); len(chars) == n {
			return chars
		}
	}
	chars := make([]rune, 0, n)
	for i := range n {
		char, err := p.reader.FPDFText_GetUnicode(&requests.FPDFText_GetUnicode{TextPage: p.text, Index: i})
		if err != nil || p.reader.ctx.Err() != nil {
			break
		}
		chars = append(chars, rune(char.Unicode&0x1FFFFF))
	}
	return chars
}

func (p *pageReader) add(c rune, i int) {
	switch {
	case c < 0:
		return
	case c == ' ':
		p.endWord()
		return
	case p.begun >= 0:
	default:
		if p.line.Len() > 0 {
			if p.line.WriteByte(' '); p.second == 0 {
				p.second = i
			}
		}
		p.begun, p.start = i, p.line.Len()
	}
	if p.first < 0 {
		p.first = i
		p.turns = 0
		if angle, err := p.reader.FPDFText_GetCharAngle(&requests.FPDFText_GetCharAngle{TextPage: p.text, Index: i}); err == nil {
			p.turns = (4 - int(math.Round(float64(angle.CharAngle)*2/math.Pi))&3) & 3 // PDFium counts to the right
		}
	}
	p.line.WriteRune(c)
	p.last = i
}

// endWord closes the current word, if any.
func (p *pageReader) endWord() {
	if p.begun < 0 {
		return
	}
	w := word{text: p.line.String()[p.start:]}
	if at, err := p.reader.FPDFText_GetCharOrigin(&requests.FPDFText_GetCharOrigin{TextPage: p.text, Index: p.begun}); err == nil {
		w.left, w.base = turned(at.X, at.Y, p.turns)
		w.right = w.left
	}
	if box, err := p.reader.FPDFText_GetCharBox(&requests.FPDFText_GetCharBox{TextPage: p.text, Index: p.last}); err == nil {
		a, _ := turned(box.Left, box.Bottom, p.turns)
		b, _ := turned(box.Right, box.Top, p.turns)
		w.right = max(a, b)
	}
	p.words = append(p.words, w)
	p.begun = -1
}

// turned turns a point by quarter turns to the right.
func turned(x, y float64, turns int) (tx, ty float64) {
	for range turns {
		x, y = y, -x
	}
	return x, y
}

// end closes the line. PDFium ends a line at an index or an exponent; the following text at the same height
// belongs to the line.
func (p *pageReader) end(hyphen bool) {
	p.endWord()
	if p.first >= 0 {
		l := textLine{text: p.line.String(), page: p.page, hyphen: hyphen, turns: p.turns, words: p.words}
		if text, ok := strings.CutSuffix(l.text, "‐"); ok { // U+2010, which PDFium takes for a letter
			l.text, l.hyphen = text, true
		}
		p.measure(&l)
		if n := len(p.lines); n > 0 && beside(p.lines[n-1], l) {
			p.lines[n-1].join(l)
		} else {
			p.lines = append(p.lines, l)
		}
	}
	p.line.Reset()
	p.words = nil
	p.first, p.second = -1, 0
}

// join appends the text beside a line.
func (l *textLine) join(b textLine) {
	words := b.words
	if b.left-l.right > 0.15*b.size {
		l.text += " "
	} else {
		last := &l.words[len(l.words)-1]
		last.text, last.right = last.text+words[0].text, words[0].right
		words = words[1:]
	}
	l.text, l.right, l.hyphen, l.words = l.text+b.text, b.right, b.hyphen, append(l.words, words...)
}

// beside reports whether b follows a at the same height, at most a table column away.
func beside(a, b textLine) bool {
	size := min(a.size, b.size)
	return !a.hyphen && size > 0 && a.turns == b.turns && math.Abs(a.base-b.base) < 0.35*size && b.left >= a.right-0.3*size && b.left-a.right < 12*size
}

// Names of bold and of monospaced fonts.
var (
	boldFont  = regexp.MustCompile(`(?i)bold|black|heavy|-medi|semibd|cmbx|sfbx`)
	fixedFont = regexp.MustCompile(`(?i)mono|courier|typewriter|cm(sl|it)?tt|sftt|ectt|consol|menlo|sourcecode|firacode|letter ?gothic|fixed`)
)

// measure reads the look of a line; unreadable values stay zero.
func (p *pageReader) measure(l *textLine) {
	typical := p.first
	if document.IsItem(l.text) && p.second > 0 {
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
	l.height = 1.2 * l.size
	if box, err := p.reader.FPDFText_GetLooseCharBox(&requests.FPDFText_GetLooseCharBox{TextPage: p.text, Index: typical}); err == nil {
		_, a := turned(float64(box.Rect.Left), float64(box.Rect.Bottom), l.turns)
		_, b := turned(float64(box.Rect.Right), float64(box.Rect.Top), l.turns)
		if h := math.Abs(b - a); h > 0 {
			l.height = h
		}
	}
	l.left, l.base, l.right = l.words[0].left, l.words[0].base, l.words[len(l.words)-1].right
	for i := range l.words {
		l.words[i].height, l.words[i].bold = l.height, l.bold
	}
}
