package corpus

import (
	"strings"

	"github.com/klippa-app/go-pdfium/references"
	"github.com/klippa-app/go-pdfium/requests"
)

// about reads what a file says of itself.
func (r *pdfReader) about(file *pdfFile) {
	tags := []string{"Title", "Author", "Subject", "Keywords"}
	got, err := r.p.GetMetaData(&requests.GetMetaData{Document: r.doc, Tags: &tags})
	if err != nil {
		return
	}
	for _, tag := range got.Tags {
		value := shortText(strings.Map(visibleRune, tag.Value))
		switch {
		case value == "":
		case tag.Tag == "Title":
			file.title = programTitle(value)
		default:
			if file.fields == nil {
				file.fields = map[string]string{}
			}
			file.fields[strings.ToLower(tag.Tag)] = value
		}
	}
}

// programTitle is a title, or "" where a program wrote the name of a file there.
func programTitle(title string) string {
	lower := strings.ToLower(title)
	for _, mark := range []string{"microsoft word - ", "microsoft powerpoint - ", "untitled", "powerpoint presentation", "powerpoint-präsentation"} {
		if strings.HasPrefix(lower, mark) {
			return ""
		}
	}
	for _, end := range []string{".doc", ".docx", ".dvi", ".tex", ".pdf", ".odt", ".rtf", ".indd", ".qxd", ".ppt", ".pptx", ".xls", ".xlsx", ".txt", ".htm", ".html"} {
		if strings.HasSuffix(lower, end) {
			return ""
		}
	}
	return title
}

// bookmarks reads the outline below a bookmark, the top of it for nil. It may be
// made to go round in circles, so that it is cut.
func (r *pdfReader) bookmarks(file *pdfFile, parent *references.FPDF_BOOKMARK, level int) {
	first, err := r.p.FPDFBookmark_GetFirstChild(&requests.FPDFBookmark_GetFirstChild{Document: r.doc, Bookmark: parent})
	if err != nil {
		return
	}
	for at := first.Bookmark; at != nil && len(file.outline) < maxBookmarks; {
		title := ""
		if got, err := r.p.FPDFBookmark_GetTitle(&requests.FPDFBookmark_GetTitle{Bookmark: *at}); err == nil {
			title = strings.Join(strings.Fields(strings.Map(visibleRune, got.Title)), " ")
		}
		file.outline = append(file.outline, bookmark{title, level})
		if level < maxBookDepth {
			r.bookmarks(file, at, level+1)
		}
		next, err := r.p.FPDFBookmark_GetNextSibling(&requests.FPDFBookmark_GetNextSibling{Document: r.doc, Bookmark: *at})
		if err != nil {
			return
		}
		at = next.Bookmark
	}
}
