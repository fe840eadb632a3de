package load

import "strings"

// about reads what a file says of itself.
func (r *pdfReader) about(file *pdfFile) {
	const keyAt = pdfRoom - 16 // behind the room for the value
	for _, tag := range []string{"Title", "Author", "Subject", "Keywords"} {
		r.write(r.room+keyAt, append([]byte(tag), 0))
		value := shortText(strings.Map(visibleRune, r.text(keyAt, "FPDF_GetMetaText", r.doc, r.room+keyAt)))
		switch {
		case value == "":
		case tag == "Title":
			file.title = programTitle(value)
		default:
			if file.fields == nil {
				file.fields = map[string]string{}
			}
			file.fields[strings.ToLower(tag)] = value
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

// bookmarks reads the outline below a bookmark, the top of it for 0. It may be
// made to go round in circles, so that it is cut.
func (r *pdfReader) bookmarks(file *pdfFile, parent uint64, level int) {
	at := r.call("FPDFBookmark_GetFirstChild", r.doc, parent)
	for at != 0 && len(file.outline) < maxBookmarks {
		title := strings.Join(strings.Fields(strings.Map(visibleRune, r.text(pdfRoom, "FPDFBookmark_GetTitle", at))), " ")
		file.outline = append(file.outline, bookmark{title, level})
		if level < maxBookDepth {
			r.bookmarks(file, at, level+1)
		}
		at = r.call("FPDFBookmark_GetNextSibling", r.doc, at)
	}
}
