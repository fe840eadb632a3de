package pdf

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"

	"example.com/ragflow/internal/document"
)

const (
	maxRects   = 400 // of a passage on a page
	shortCells = 4   // characters of a row that is found by its values alone
)

// Rect is a part of a page, in fractions of its width and height, from its top left corner as it is shown.
type Rect struct{ Left, Top, Width, Height float64 }

// Find returns the places of a passage on a page, counted from 1: a rectangle for each of its lines. text is what
// [Read] has of that page, and the passage is text[start:end]. It returns none unless the characters on the page
// are those of the passage, all of it, and it is certain which ones: a page that was recognised in a picture has no
// characters, and the values of a table may stand elsewhere than in its row. Errors are those of [Draw].
func Find(ctx context.Context, data []byte, page int, text string, start, end int) ([]Rect, error) {
	return onPage(ctx, data, page, func(r *fileReader, at requests.Page) ([]Rect, error) {
		loaded, err := r.FPDFText_LoadPage(&requests.FPDFText_LoadPage{Page: at})
		if err != nil {
			return nil, fmt.Errorf("%w: the text of page %d cannot be read", document.ErrBroken, page)
		}
		p := pageReader{reader: r, ref: at, text: loaded.TextPage, page: page - 1}
		count, err := r.FPDFText_CountChars(&requests.FPDFText_CountChars{TextPage: p.text})
		if err != nil || count.Count > maxPageChars {
			return nil, nil //nolint:nilerr // nothing is certain
		}
		var out []Rect
		for _, run := range runs(lettersOf(p.characters(count.Count)), text, start, end) {
			rects := r.rects(at, p.text, run.start, run.end)
			if rects == nil || len(out)+len(rects) > maxRects {
				return nil, ctx.Err()
			}
			out = append(out, rects...)
		}
		return out, ctx.Err()
	})
}

// letters are the characters that pages and texts are compared by: without space, hyphens and invisible ones.
type letters struct {
	text  string
	chars []int  // for each byte of text, the character on the page that it is of
	begin []bool // for each byte, whether space is before it
}

// lettersOf returns the letters of a page, or of a text.
func lettersOf(chars []rune) (l letters) {
	var b strings.Builder
	space := true
	for i, c := range chars {
		switch c = document.Visible(c); c {
		case ' ':
			space = true
		case -1, '-', '‐', '\u00ad', 0x02:
		default:
			for range b.Len() - len(l.chars) + utf8.RuneLen(c) {
				l.chars, l.begin = append(l.chars, i), append(l.begin, space)
				space = false
			}
			b.WriteRune(c)
		}
	}
	l.text = b.String()
	return l
}

// run is a part of the characters of a page.
type run struct{ start, end int }

// runs finds a passage among the letters of a page; nil if its place is not certain.
func runs(page letters, text string, start, end int) []run {
	if start < 0 || start >= end || end > len(text) {
		return nil
	}
	if r, ok := page.find(text, start, end); ok {
		return []run{r}
	}
	var out []run
	for at := start; at < end; {
		stop := min(document.LineEnd(text, at), end)
		r, ok := page.line(text, at, stop)
		switch {
		case ok:
			out = append(out, r)
		case lettersOf([]rune(marks.Replace(text[at:stop]))).text != "":
			return nil
		}
		at = stop
	}
	return out
}

// marks are what Read writes and no page has: fences of code.
//
//nolint:gochecknoglobals // a constant table
var marks = strings.NewReplacer("```", "")

// line finds a line of a passage: as it is, without the mark of a heading, or as a row by its values.
func (l letters) line(text string, start, end int) (run, bool) {
	s := text[start:end]
	if rest := strings.TrimLeft(s, "#"); len(rest) < len(s) && strings.HasPrefix(rest, " ") {
		start += len(s) - len(rest)
	}
	if r, ok := l.find(text, start, end); ok {
		return r, true
	}
	var values []string
	for part := range strings.SplitSeq(text[start:end], "; ") {
		if _, value, ok := strings.Cut(part, ": "); ok {
			values = append(values, value)
		}
	}
	key := lettersOf([]rune(strings.Join(values, " "))).text
	if utf8.RuneCountInString(key) < shortCells {
		return run{}, false
	}
	found := l.all(key)
	if len(found) != 1 || !l.begins(found[0]) || !l.begins(found[0]+len(key)) {
		return run{}, false
	}
	return l.run(found[0], len(key)), true
}

// find finds a part of a text that stands as often on the page as in the text, or once on the page.
func (l letters) find(text string, start, end int) (run, bool) {
	key := lettersOf([]rune(text[start:end])).text
	found := l.all(key)
	switch len(found) {
	case 0:
		return run{}, false
	case 1:
		return l.run(found[0], len(key)), true
	}
	before := len(lettersOf([]rune(text[:start])).text)
	whole := letters{text: lettersOf([]rune(text)).text}
	places := whole.all(key)
	n := slices.Index(places, before)
	if len(places) != len(found) || n < 0 {
		return run{}, false
	}
	return l.run(found[n], len(key)), true
}

// all returns the places of a key among the letters, none for an empty key.
func (l letters) all(key string) (out []int) {
	for at := 0; key != ""; {
		i := strings.Index(l.text[at:], key)
		if i < 0 {
			break
		}
		out = append(out, at+i)
		at += i + len(key)
	}
	return out
}

// begins reports whether a word begins at a byte of the letters, or they end there.
func (l letters) begins(at int) bool { return at == len(l.text) || l.begin[at] }

// run returns the characters of some letters.
func (l letters) run(at, length int) run { return run{l.chars[at], l.chars[at+length-1] + 1} }

// rects returns the rectangles of characters, line by line; nil if one is not on the page.
func (r *fileReader) rects(page requests.Page, text references.FPDF_TEXTPAGE, start, end int) (out []Rect) {
	count, err := r.FPDFText_CountRects(&requests.FPDFText_CountRects{TextPage: text, StartIndex: start, Count: end - start})
	if err != nil || count.Count > maxRects {
		return nil
	}
	for i := range count.Count {
		box, err := r.FPDFText_GetRect(&requests.FPDFText_GetRect{TextPage: text, Index: i})
		if err != nil {
			return nil
		}
		left, top, ok := r.shown(page, box.Left, box.Top)
		right, bottom, ok2 := r.shown(page, box.Right, box.Bottom)
		rect := Rect{min(left, right), min(top, bottom), max(left, right) - min(left, right), max(top, bottom) - min(top, bottom)}
		if !ok || !ok2 || rect.Width <= 0 || rect.Height <= 0 || rect.Left < 0 || rect.Top < 0 || rect.Left+rect.Width > 1 || rect.Top+rect.Height > 1 {
			return nil
		}
		out = append(out, rect)
	}
	return out
}

// shown returns where a point of a page is shown, in fractions of its width and height.
func (r *fileReader) shown(page requests.Page, x, y float64) (left, top float64, ok bool) {
	const fine = 1 << 20
	at, err := r.FPDF_PageToDevice(&requests.FPDF_PageToDevice{Page: page, SizeX: fine, SizeY: fine, PageX: x, PageY: y})
	if err != nil {
		return 0, 0, false
	}
	return float64(at.DeviceX) / fine, float64(at.DeviceY) / fine, true
}
