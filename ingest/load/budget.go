package load

import (
	"fmt"
	"strings"
)

const (
	// maxBlocks bounds the blocks that are kept apart in one document: paragraphs,
	// headings, list items, table cells. Text behind them is one block more. Each
	// block costs about half a kilobyte while the document is cut.
	maxBlocks = 100_000
	// maxFine bounds the size in bytes of text that is split as finely as its
	// sentences and lines; longer text is split into coarser parts.
	maxFine = 4 << 20
	// maxSegment is the size in bytes of the segments of a block beyond maxFine.
	maxSegment = 256 << 10
)

// warnOfBudget adds a warning to a Markdown page that is read as plain text
// because it has too many blocks.
func (d *Document) warnOfBudget() {
	if d.Kind == Markdown && overBudget(d.Text[d.Body:]) {
		d.Warnings = append(d.Warnings, fmt.Sprintf("read as plain text: it has more than %d paragraphs, list items and table cells", maxBlocks))
	}
}

// overBudget reports whether an upper estimate of the blocks of a Markdown text
// exceeds maxBlocks.
func overBudget(s string) bool {
	if len(s) < maxBlocks {
		return false
	}
	blocks, blank := 0, true
	for line := range strings.Lines(s) {
		line = strings.TrimLeft(line, " \t")
		if isBlank(line) {
			blank = true
			continue
		}
		marks := len(line) - len(strings.TrimLeft(line, ">-*+#"))
		if blank || marks > 0 || line[0] >= '0' && line[0] <= '9' {
			blocks += 1 + 2*min(marks, maxMarks)
		}
		if blocks += strings.Count(line, "|"); blocks > maxBlocks {
			return true
		}
		blank = false
	}
	return false
}
