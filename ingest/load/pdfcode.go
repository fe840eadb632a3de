package load

import (
	"math"
	"strings"
	"unicode/utf8"
)

// codeLines finds the lines that programs and their output are set in: in a type
// of one width, where most of the document is not, and not a name in typewriter
// that fills a line of a paragraph.
func codeLines(lines []pdfLine, levels []int, lk look) {
	if lk.fixed {
		return
	}
	for from := 0; from < len(lines); {
		to := from
		for to < len(lines) && lines[to].fixed && levels[to] == 0 {
			to++
		}
		if to-from > 1 || to > from && setOff(lines, from, lk) {
			markCode(lines[from:to])
		}
		from = max(to, from+1)
	}
}

// setOff reports whether a line does not stand in a paragraph: it is indented, or
// further from the lines beside it than they are from each other.
func setOff(lines []pdfLine, i int, lk look) bool {
	l := lines[i]
	off := func(k int) bool {
		if k < 0 || k >= len(lines) || lines[k].page != l.page {
			return true
		}
		return math.Abs(lines[k].left-l.left) > 0.7*l.size || math.Abs(lines[k].base-l.base) > 1.2*lk.lead
	}
	return off(i-1) && off(i+1)
}

// markCode marks the lines of a piece of code, and gives back what the page says
// by where a line begins: its indentation.
func markCode(lines []pdfLine) {
	width, longest := 0.0, 0
	left := map[int]float64{} // of each page
	for _, l := range lines {
		if n := utf8.RuneCountInString(l.text); n > longest && l.right > l.left {
			longest, width = n, (l.right-l.left)/float64(n)
		}
		if at, ok := left[l.page]; !ok || l.left < at {
			left[l.page] = l.left
		}
	}
	for i := range lines {
		l := &lines[i]
		indent := 0
		if width > 0 {
			indent = int(math.Round((l.left - left[l.page]) / width))
		}
		l.code, l.row = true, false
		l.text = strings.Repeat(" ", min(indent, maxCodeIndent)) + typewritten.Replace(l.text)
	}
}

// maxCodeIndent is how many spaces a line of code may begin with.
const maxCodeIndent = 64

// typewritten gives the quotes back that TeX sets in typewriter as printed ones.
//
//nolint:gochecknoglobals // never changed
var typewritten = strings.NewReplacer("’", "'", "‘", "`", "“", `"`, "”", `"`, "−", "-")

// code writes the piece of code that lines begin with, in a fence as in Markdown,
// and returns how many lines it has.
func (w *layout) code(lines []pdfLine) (n int) {
	fence := "```"
	for n < len(lines) && lines[n].code {
		for strings.Contains(lines[n].text, fence) && len(fence) < 64 {
			fence += "`"
		}
		n++
	}
	w.begin(apart, lines[0].page, block{kind: kindCode})
	w.out.WriteString(fence)
	for i, l := range lines[:n] {
		w.out.WriteByte('\n')
		if i > 0 && lines[i-1].page == l.page && lines[i-1].base-l.base > 1.6*l.lead() {
			w.out.WriteByte('\n')
		}
		w.page(l.page)
		w.out.WriteString(l.text)
	}
	w.out.WriteString("\n" + fence)
	return n
}

// lead is how far apart lines of a type stand as a rule.
func (l pdfLine) lead() float64 { return 1.2 * l.size }
