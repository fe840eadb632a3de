package load

import (
	"cmp"
	"context"
	"fmt"
	"math"
	"strings"
	"unicode/utf8"

	"example.com/ragflow/internal/document"
	"example.com/ragflow/internal/pdf"
)

// adviceOCR ends what is said of pages that are pictures, as long as nothing tried to read them.
const adviceOCR = "recognise the text in them (OCR) "

// NeedsOCR reports whether the reason why a file was not read, or not wholly, is that it holds
// pages that are pictures, and OCR was not tried or may succeed when it is tried again.
func NeedsOCR(reason string) bool { return strings.Contains(reason, adviceOCR) }

// advice says what can be done about pages that are pictures.
func advice(f pdf.File, purpose string) string {
	switch {
	case f.Again:
		return adviceOCR + purpose + ": " + f.Fault
	case f.Fault != "":
		return "OCR could not read them: " + f.Fault
	case f.Tried:
		return "OCR recognised no text in them"
	}
	return adviceOCR + purpose
}

func (d *draft) readPDF(ctx context.Context, data []byte) error {
	d.Converted, d.Encoding = true, "pdf"
	f, err := pdf.Read(ctx, data, d.ocr)
	if err != nil {
		return err
	}
	pages := len(f.Pages)
	pictures := fmt.Sprintf("%s of %d that hold pictures", plural(f.Pictures, "page"), pages)
	if f.Pictures == pages {
		pictures = plural(pages, "page") + ", all of them pictures"
	}
	switch {
	case f.Text != "" && f.Pictures > 0:
		d.Warnings = append(d.Warnings, pictures+" without text; "+advice(f, "to have it found"))
	case f.Text != "":
	case pages == 0:
		return fmt.Errorf("%w: it has no pages", ErrNoText)
	case f.Pictures > 0:
		return fmt.Errorf("%w: %s; %s", ErrNoText, pictures, advice(f, "first"))
	default:
		return fmt.Errorf("%w: %s", ErrNoText, plural(pages, "empty page"))
	}
	if f.Recognised > 0 {
		d.Notes = append(d.Notes, fmt.Sprintf("the text of %s was recognised in pictures (OCR) and may hold mistakes", plural(f.Recognised, "page")))
	}
	w := d.builder()
	w.out.WriteString(f.Text)
	w.finish(d)
	d.Pages, d.Labels, d.Meta = f.Pages, f.Labels, f.Fields
	end := len(d.Text)
	if pages > 1 {
		end = f.Pages[1]
	}
	d.Title = cmp.Or(programTitle(f.Title), largestOf(d.Blocks, end))
	return nil
}

const maxHeadingRunes = 160 // runes of a heading that is a title

// largestOf returns the heading above all others if it stands on the first page, which ends at an offset; else
// one of three words or more that the document begins with. Shorter ones are those of chapters, such as "Preface".
func largestOf(blocks []document.Block, end int) string {
	best, alone := document.Block{Level: math.MaxInt}, false
	for _, b := range blocks {
		if b.Level > 0 && b.Level <= best.Level && b.Heading != "" {
			best, alone = b, b.Level < best.Level
		}
	}
	if !alone || best.Start >= end {
		best = document.Block{}
		if len(blocks) > 0 && strings.Count(blocks[0].Heading, " ") >= 2 {
			best = blocks[0]
		}
	}
	if numbered(best.Heading) || utf8.RuneCountInString(best.Heading) > maxHeadingRunes {
		return ""
	}
	return best.Heading
}

// plural formats a number of things.
func plural(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}
