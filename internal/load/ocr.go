package load

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
	// adviceOCR ends what is said of pages that are pictures, as long as nothing tried to read
	// them.
	adviceOCR = "recognise the text in them (OCR) "
	// recognisedMark stands before the text of a page that was recognised.
	recognisedMark = "(recognised text)"
)

// NeedsOCR reports whether the reason why a file was not read, or not wholly, is that it holds
// pages that are pictures, and OCR was not tried or may succeed when it is tried again.
func NeedsOCR(reason string) bool { return strings.Contains(reason, adviceOCR) }

// recognised says what OCR found in a PDF.
type recognised struct {
	pages []int // with text, from 0
	tried bool
	again bool   // another try may help
	fault string // of the first page that could not be recognised
}

// advice says what can be done about pages that are pictures.
func (r recognised) advice(purpose string) string {
	switch {
	case r.again:
		return adviceOCR + purpose + ": " + r.fault
	case r.fault != "":
		return "OCR could not read them: " + r.fault
	case r.tried:
		return "OCR recognised no text in them"
	}
	return adviceOCR + purpose
}

// recognise reads the pages that are pictures. The pages that the time does not suffice for stay
// as they are, and so do those after a failure of the PDF reader.
func (r *pdfReader) recognise() {
	if r.ocr == nil || len(r.file.scans) == 0 {
		return
	}
	deadline, limited := r.ctx.Deadline()
	var body layout
	body.measure(slices.Concat(r.file.pages...))
	size := cmp.Or(body.size, 10)
	var left []int
	for n, i := range r.file.scans {
		if limited && time.Until(deadline) < spareTime || r.ctx.Err() != nil {
			left = append(left, r.file.scans[n:]...)
			r.file.ocr.again, r.file.ocr.fault = true, "the time for one file is over, and the next indexing continues"
			break
		}
		lines, err := r.recognisePage(i)
		r.file.ocr.tried = true
		if err != nil {
			r.file.ocr.fault = cmp.Or(r.file.ocr.fault, err.Error())
			r.file.ocr.again = r.file.ocr.again || errors.Is(err, ocr.ErrFailed)
		}
		if len(lines) == 0 {
			left = append(left, i)
			continue
		}
		r.file.pages[i] = linesOf(lines, i, size)
		r.file.ocr.pages = append(r.file.ocr.pages, i)
	}
	r.file.scans = left
}

// recognisePage renders a page as it is shown, upright, and reads the picture.
func (r *pdfReader) recognisePage(i int) ([]ocr.Line, error) {
	page := requests.Page{ByIndex: &requests.PageByIndex{Document: r.doc, Index: i}}
	shown, err := r.GetPageSize(&requests.GetPageSize{Page: page})
	if err != nil {
		return nil, fmt.Errorf("page %d cannot be drawn", i+1)
	}
	const pointsAnInch = 72
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
func linesOf(lines []ocr.Line, page int, size float64) []pdfLine {
	out := make([]pdfLine, 0, len(lines))
	base := 0.0
	for _, l := range lines {
		if base -= 1.2 * size; l.Begins {
			base -= 10 * size
		}
		const points = 72.0 / sharpest // nearly, on a large page: lengths are only compared with each other
		line := pdfLine{text: l.Text, page: page, size: size, left: points * float64(l.Left), right: points * float64(l.Right), base: base}
		if word, ok := strings.CutSuffix(l.Text, "-"); ok {
			if last, _ := utf8.DecodeLastRuneInString(word); unicode.IsLetter(last) {
				line.text, line.hyphen = word, true
			}
		}
		out = append(out, line)
	}
	return out
}

// markRecognised puts a mark before the text of each recognised page, and returns notes about it.
func (f *pdfFile) markRecognised() (notes []string) {
	n := 0
	for _, i := range f.ocr.pages {
		if lines := f.pages[i]; len(lines) > 0 {
			mark := lines[0]
			mark.text, mark.hyphen = recognisedMark, false
			mark.base += 10 * mark.size
			f.pages[i] = slices.Insert(lines, 0, mark)
			n++
		}
	}
	if n > 0 {
		notes = []string{fmt.Sprintf("the text of %s was recognised in pictures (OCR) and may hold mistakes", plural(n, "page"))}
	}
	return notes
}
