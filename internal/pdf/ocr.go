package pdf

import (
	"cmp"
	"errors"
	"fmt"
	"image"
	"image/draw"
	"math"
	"slices"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/klippa-app/go-pdfium/requests"

	"example.com/ragflow/internal/ocr"
)

const (
	sharpest, coarsest = 200, 70 // dots an inch of a page that is recognised
	maxPixels          = 5 << 20 // of a page; larger ones are rendered with fewer dots
	spareTime          = 30 * time.Second
	// recognisedMark stands before the text of a page that was recognised.
	recognisedMark = "(recognised text)"
)

// recognise reads the pages that are pictures. The pages that the time does not suffice for stay
// as they are, and so do those after a failure of the PDF reader.
func (r *fileReader) recognise() {
	if r.ocr == nil || len(r.scans) == 0 {
		return
	}
	deadline, limited := r.ctx.Deadline()
	var body layout
	body.measure(slices.Concat(r.pages...))
	size := cmp.Or(body.size, 10)
	var left []int
	for n, i := range r.scans {
		if limited && time.Until(deadline) < spareTime || r.ctx.Err() != nil {
			left = append(left, r.scans[n:]...)
			r.found.Again, r.found.Fault = true, "the time for one file is over, and the next indexing continues"
			break
		}
		lines, err := r.recognisePage(i)
		r.found.Tried = true
		if err != nil {
			r.found.Fault = cmp.Or(r.found.Fault, err.Error())
			r.found.Again = r.found.Again || errors.Is(err, ocr.ErrFailed)
		}
		if len(lines) == 0 {
			left = append(left, i)
			continue
		}
		r.pages[i] = linesOf(lines, i, size)
		r.seen = append(r.seen, i)
	}
	r.scans = left
}

// recognisePage renders a page as it is shown, upright, and reads the picture.
func (r *fileReader) recognisePage(i int) ([]ocr.Line, error) {
	page := requests.Page{ByIndex: &requests.PageByIndex{Document: r.doc, Index: i}}
	shown, err := r.GetPageSize(&requests.GetPageSize{Page: page})
	if err != nil {
		return nil, fmt.Errorf("page %d cannot be drawn", i+1)
	}
	inches := shown.Width / pointsAnInch * shown.Height / pointsAnInch
	dpi := int(min(sharpest, math.Sqrt(maxPixels/max(inches, 1))))
	if dpi < coarsest {
		return nil, fmt.Errorf("page %d is too large", i+1)
	}
	drawn, err := r.RenderPageInDPI(&requests.RenderPageInDPI{Page: page, DPI: dpi})
	if err != nil {
		return nil, fmt.Errorf("page %d cannot be drawn", i+1)
	}
	picture := image.NewGray(drawn.Result.Image.Bounds())
	draw.Draw(picture, picture.Bounds(), image.White, image.Point{}, draw.Src)
	draw.Draw(picture, picture.Bounds(), drawn.Result.Image, drawn.Result.Image.Bounds().Min, draw.Over)
	drawn.Cleanup()
	lines, err := r.ocr.Read(r.ctx, picture, dpi)
	if err != nil {
		return nil, fmt.Errorf("page %d: %w", i+1, err)
	}
	return lines, nil
}

// linesOf returns recognised lines as if they had been set in the type of the body, one below
// the other, with a gap before each paragraph.
func linesOf(lines []ocr.Line, page int, size float64) []textLine {
	out := make([]textLine, 0, len(lines))
	base := 0.0
	for _, l := range lines {
		if base -= 1.2 * size; l.Begins {
			base -= 10 * size
		}
		const points = 72.0 / sharpest // nearly, on a large page: lengths are only compared with each other
		line := textLine{text: l.Text, page: page, size: size, left: points * float64(l.Left), right: points * float64(l.Right), base: base}
		if word, ok := strings.CutSuffix(l.Text, "-"); ok {
			if last, _ := utf8.DecodeLastRuneInString(word); unicode.IsLetter(last) {
				line.text, line.hyphen = word, true
			}
		}
		out = append(out, line)
	}
	return out
}

// markRecognised puts a mark before the text of each recognised page.
func (r *fileReader) markRecognised() {
	for _, i := range r.seen {
		if lines := r.pages[i]; len(lines) > 0 {
			mark := lines[0]
			mark.text, mark.hyphen = recognisedMark, false
			mark.base += 10 * mark.size
			r.pages[i] = slices.Insert(lines, 0, mark)
			r.found.Recognised++
		}
	}
}
