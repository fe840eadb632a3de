package load

import (
	"fmt"
	"strings"

	"example.com/ragflow/ingest/document"
)

// warnOfBudget adds a warning to a Markdown page that is read as plain text
// because it has too many blocks.
func (d *draft) warnOfBudget() {
	if d.Kind == document.Markdown && overBudget(d.Text[d.Body:]) {
		d.Warnings = append(d.Warnings,
			fmt.Sprintf("read as plain text: it has more than %d paragraphs, list items and table cells", document.MaxBlocks))
	}
}

// overBudget reports whether an upper estimate of the blocks of a Markdown text
// exceeds document.MaxBlocks.
func overBudget(s string) bool {
	if len(s) < document.MaxBlocks {
		return false
	}
	blocks, blank := 0, true
	for line := range strings.Lines(s) {
		line = strings.TrimLeft(line, " \t")
		if document.IsBlank(line) {
			blank = true
			continue
		}
		marks := len(line) - len(strings.TrimLeft(line, ">-*+#"))
		if blank || marks > 0 || line[0] >= '0' && line[0] <= '9' {
			blocks += 1 + 2*min(marks, maxMarks)
		}
		if blocks += strings.Count(line, "|"); blocks > document.MaxBlocks {
			return true
		}
		blank = false
	}
	return false
}
