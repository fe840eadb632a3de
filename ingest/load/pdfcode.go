package load

import (
	"math"
	"strings"
	"unicode/utf8"

	"example.com/ragflow/ingest/document"
)

// maxCodeIndent is how many spaces a line of code may begin with.
const maxCodeIndent = 64

// markCode finds the lines of programs: typewritten ones, two or more, or one that is set off
// from the lines beside it. It restores their indentation.
func (w *layout) markCode(lines []pdfLine, levels []int) {
	for from := 0; from < len(lines); {
		to, left, width := from, map[int]float64{}, 0.0
		for ; to < len(lines) && lines[to].fixed && !w.fixed && levels[to] == 0; to++ {
			l := lines[to]
			if at, ok := left[l.page]; !ok || l.left < at {
				left[l.page] = l.left
			}
			width = max(width, (l.right-l.left)/float64(utf8.RuneCountInString(l.text)))
		}
		if to > from+1 || to > from && w.setOff(lines, from) {
			for i := range lines[from:to] {
				l := &lines[from+i]
				indent := 0
				if width > 0 {
					indent = int(math.Round((l.left - left[l.page]) / width))
				}
				l.code, l.text = true, strings.Repeat(" ", min(indent, maxCodeIndent))+typewritten.Replace(l.text)
			}
		}
		from = max(to, from+1)
	}
}

// setOff reports whether a line is indented, or far from the lines beside it.
func (w *layout) setOff(lines []pdfLine, i int) bool {
	l := lines[i]
	for _, k := range []int{i - 1, i + 1} {
		if k < 0 || k >= len(lines) || lines[k].page != l.page {
			continue
		}
		if math.Abs(lines[k].left-l.left) <= 0.7*l.size && math.Abs(lines[k].base-l.base) <= 1.2*w.lead {
			return false
		}
	}
	return true
}

// typewritten restores the quotes that TeX prints.
//
//nolint:gochecknoglobals // never changed
var typewritten = strings.NewReplacer("’", "'", "‘", "`", "“", `"`, "”", `"`, "−", "-")

// code writes a line of code; the first one opens a fence and the last one closes it.
func (w *layout) code(lines []pdfLine, i int) {
	l := lines[i]
	if i == 0 || !lines[i-1].code {
		w.begin(document.Block{Kind: document.KindCode})
		w.out.WriteString("```")
	} else if lines[i-1].page == l.page && lines[i-1].base-l.base > 1.9*l.size {
		w.out.WriteByte('\n') // an empty line
	}
	w.out.WriteByte('\n')
	w.page(l.page)
	w.out.WriteString(strings.ReplaceAll(l.text, "```", "'''"))
	if i+1 == len(lines) || !lines[i+1].code {
		w.out.WriteString("\n```")
	}
}
