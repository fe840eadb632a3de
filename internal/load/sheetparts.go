package load

import (
	"encoding/xml"
	"regexp"
	"strings"

	"github.com/xuri/excelize/v2"
)

// sheetParts returns the parts of the sheets of a workbook, by their names.
func (a *archive) sheetParts() map[string]string {
	const main = "xl/workbook.xml"
	var book struct {
		Sheets []struct {
			Name  string     `xml:"name,attr"`
			Attrs []xml.Attr `xml:",any,attr"`
		} `xml:"sheets>sheet"`
	}
	_ = a.decode(main, &book) // without it, excelize says what is wrong
	relations, out := a.relations(main), map[string]string{}
	for _, sheet := range book.Sheets {
		out[sheet.Name] = relations[relationID(sheet.Attrs)].target
	}
	return out
}

type sheetNote struct {
	column int // from 0
	text   string
}

// comments returns the comments of a sheet by row.
func (a *archive) comments(part string) (map[int][]sheetNote, error) {
	out := map[int][]sheetNote{}
	for _, r := range a.relations(part) {
		if !strings.HasSuffix(r.kind, "/comments") {
			continue
		}
		var all struct {
			Comments []struct {
				Ref  string   `xml:"ref,attr"`
				Text []string `xml:"text>t"`
				Runs []string `xml:"text>r>t"`
			} `xml:"commentList>comment"`
		}
		if err := a.decode(r.target, &all); err != nil {
			return nil, err
		}
		for _, c := range all.Comments {
			text := strings.Join(c.Text, "") + strings.Join(c.Runs, "")
			if strings.HasPrefix(text, "[Threaded comment]") { // written for programs that do not know it, below a hint
				_, text, _ = strings.Cut(text, "Comment:")
			}
			column, row, err := excelize.CellNameToCoordinates(c.Ref)
			if text = oneLine(text); err == nil && text != "" {
				out[row] = append(out[row], sheetNote{column - 1, text})
			}
		}
	}
	return out, nil
}

// withNotes adds comments to the cells of a row.
func withNotes(cells []cell, notes []sheetNote) []cell {
	for _, n := range notes {
		if n.column >= len(cells) {
			cells = append(cells, make([]cell, n.column+1-len(cells))...)
		}
		cells[n.column].note = n.text
	}
	return cells
}

// dateMark stands between a date as the sheet shows it, if that names the month or the day of the week, and the
// date as in 2006-01-02.
const dateMark = "\u241F"

// isoDates changes the formats of dates in a workbook, so that its cells have them in the form for withDates.
func isoDates(book *excelize.File) {
	styles := book.Styles
	if styles == nil || styles.CellXfs == nil {
		return
	}
	if styles.NumFmts == nil {
		styles.NumFmts = newLike(styles.NumFmts)
	}
	list, builtIn := styles.NumFmts.NumFmt, map[int]string{14: "m/d/yy", 15: "d-mmm-yy", 16: "d-mmm", 17: "mmm-yy", 22: "m/d/yy h:mm"}
	for _, f := range list {
		f.FormatCode, f.FormatCode16 = isoFormat(f.FormatCode), isoFormat(f.FormatCode16)
		delete(builtIn, f.NumFmtID)
	}
	for id, code := range builtIn {
		list = append(list, nil)
		f := newLike(list[len(list)-1])
		f.NumFmtID, f.FormatCode = id, isoFormat(code)
		list[len(list)-1] = f
	}
	styles.NumFmts.NumFmt = list
}

// newLike returns a new value of a type that excelize does not export.
func newLike[T any](*T) *T { return new(T) }

// notDate are the parts of a format that are shown as they are, and its colours and languages.
var notDate = regexp.MustCompile(`"[^"]*"|\[[^\]]*\]|[\\_*].`)

// isoFormat returns the format of a number, changed if it shows a date.
func isoFormat(code string) string {
	section, _, _ := strings.Cut(code, ";")
	bare := strings.ToLower(notDate.ReplaceAllString(section, ""))
	hasName := strings.Contains(bare, "mmm") || strings.Contains(bare, "ddd")
	hasTime := strings.Contains(bare, "h")
	const iso = `"` + dateMark + `"yyyy-mm-dd`
	switch {
	case hasName:
		return section + iso
	case !strings.Contains(bare, "y") && (hasTime || !strings.Contains(bare, "d") || !strings.Contains(bare, "m")):
		return code
	case hasTime:
		return iso + " hh:mm"
	}
	return iso
}

// withDates writes the dates of cells as in 2006-01-02, with their own form behind if that names the month or
// the day of the week.
func withDates(cells []cell) []cell {
	for i := range cells {
		c := &cells[i]
		own, date, isDate := strings.Cut(c.text, dateMark)
		if !isDate {
			continue
		}
		c.number, c.text = true, strings.TrimSuffix(date, " 00:00")
		if own != "" {
			c.text += " (" + own + ")"
		}
	}
	return cells
}
