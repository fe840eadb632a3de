package pdf

import (
	"cmp"
	"slices"

	"github.com/klippa-app/go-pdfium/enums"
	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

const (
	maxObjects = 4000 // of a page that are looked at
	thin       = 3.0  // points; a path that is not higher or wider is a line
	touching   = 3.0  // points between lines that meet
)

// ruling is a straight line on a page: a horizontal one at a height, or a vertical one at a distance from the
// left, with its ends.
type ruling struct{ at, from, to float64 }

// rulings are the straight lines of a page, turned like its text.
type rulings struct{ across, down []ruling }

// rulings reads the lines and frames of a page, for text of so many turns.
func (p *pageReader) rulings(turns int) rulings {
	var r rulings
	count, err := p.reader.FPDFPage_CountObjects(&requests.FPDFPage_CountObjects{Page: p.ref})
	if err != nil {
		return r
	}
	for i := range min(count.Count, maxObjects) {
		object, err := p.reader.FPDFPage_GetObject(&requests.FPDFPage_GetObject{Page: p.ref, Index: i})
		if err != nil || p.reader.ctx.Err() != nil {
			break
		}
		kind, err := p.reader.FPDFPageObj_GetType(&requests.FPDFPageObj_GetType{PageObject: object.PageObject})
		if err == nil && kind.Type == enums.FPDF_PAGEOBJ_PATH {
			r.add(p.reader, object.PageObject, turns)
		}
	}
	return rulings{joined(r.across), joined(r.down)}
}

// add adds a thin path as a line, and the sides of a rectangle.
func (r *rulings) add(reader *fileReader, path references.FPDF_PAGEOBJECT, turns int) {
	box, err := reader.FPDFPageObj_GetBounds(&requests.FPDFPageObj_GetBounds{PageObject: path})
	if err != nil {
		return
	}
	x1, y1 := turned(float64(box.Left), float64(box.Bottom), turns)
	x2, y2 := turned(float64(box.Right), float64(box.Top), turns)
	x1, x2, y1, y2 = min(x1, x2), max(x1, x2), min(y1, y2), max(y1, y2)
	switch width, height := x2-x1, y2-y1; {
	case height <= thin && width >= height:
		r.across = append(r.across, ruling{(y1 + y2) / 2, x1, x2})
		return
	case width <= thin:
		r.down = append(r.down, ruling{(x1 + x2) / 2, y1, y2})
		return
	}
	const corners = 5
	mode, err := reader.FPDFPath_GetDrawMode(&requests.FPDFPath_GetDrawMode{PageObject: path})
	count, err2 := reader.FPDFPath_CountSegments(&requests.FPDFPath_CountSegments{PageObject: path})
	if err == nil && err2 == nil && mode.Stroke && count.Count <= corners {
		r.across = append(r.across, ruling{y1, x1, x2}, ruling{y2, x1, x2})
		r.down = append(r.down, ruling{x1, y1, y2}, ruling{x2, y1, y2})
	}
}

// joined joins the pieces of dashed and of double lines.
func joined(lines []ruling) []ruling {
	slices.SortFunc(lines, func(a, b ruling) int { return cmp.Compare(a.at, b.at) })
	var all []ruling
	for from := 0; from < len(lines); {
		to := from + 1
		for to < len(lines) && lines[to].at-lines[to-1].at < 1 {
			to++
		}
		same := lines[from:to]
		slices.SortFunc(same, func(a, b ruling) int { return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(a.to, b.to)) })
		for i, l := range same {
			if last := len(all) - 1; i > 0 && l.from <= all[last].to+touching {
				all[last].to = max(all[last].to, l.to)
			} else {
				all = append(all, l)
			}
		}
		from = to
	}
	return all
}

// between reports whether a line stands between two rows, below half of the upper one.
func (r rulings) between(above, below wordRow) bool {
	left, right := above.words[0].left, above.words[len(above.words)-1].right
	return slices.ContainsFunc(r.across, func(l ruling) bool {
		return l.at < above.base+0.1*above.height && l.at > below.base+0.3*below.height && min(l.to, right)-max(l.from, left) > 0.8*(right-left)
	})
}
