package source

import (
	"sort"
	"strings"
	"unicode/utf8"

	"example.com/ragflow/internal/sanitize"
)

const (
	around    = 60       // lines shown before and after a passage
	maxWhole  = 200      // lines of a document that is shown whole
	maxLines  = 400      // lines shown at a time
	maxLine   = 4 << 10  // bytes shown of a line beside its mark
	maxMarked = 64 << 10 // bytes shown of a mark in a line
)

// Lines are consecutive lines of a document's text.
type Lines struct {
	First  int // line of the text, from 1, that Lines begins with
	Total  int // lines of the text; more before are First-1
	Lines  []Line
	Before int // lines of the text before these
	After  int // lines of the text behind these
}

// Line is a line of the text. Its segments together are the line, without its end.
type Line struct {
	Number   int // of the line in the file, from 1; 0 if the file has no lines
	Segments []Segment
	Cut      bool // the line is long: text is left out before or behind its segments
}

// Segment is a part of a line.
type Segment struct {
	Text   string
	Marked bool // it belongs to the passage
}

// window returns the lines to show, from 0, last excluded.
func (t *text) window(p Passage, m span) span {
	n := len(t.starts)
	if p.From > 0 {
		from := min(p.From-1, n)
		to := min(max(p.To, p.From), n)
		return span{from, min(to, from+maxLines)}
	}
	if n <= maxWhole {
		return span{0, n}
	}
	first, last := t.lineAt(m.start), t.lineAt(max(m.start, m.end-1))
	from := max(0, first-around)
	return span{from, min(n, last+around+1, from+maxLines)}
}

// lineAt returns the line of the text at an offset, from 0.
func (t *text) lineAt(offset int) int {
	return max(0, sort.Search(len(t.starts), func(i int) bool { return t.starts[i] > offset })-1)
}

// bounds returns the place of a line of the text, from 0, without its end.
func (t *text) bounds(line int) span {
	end := len(t.Text.Text)
	if line+1 < len(t.starts) {
		end = t.starts[line+1]
	}
	trimmed := strings.TrimRight(t.Text.Text[t.starts[line]:end], "\r\n")
	return span{t.starts[line], t.starts[line] + len(trimmed)}
}

// lines returns some lines of the text, with a part of it marked.
func (t *text) lines(window, m span) *Lines {
	out := &Lines{First: window.start + 1, Total: len(t.starts), Before: window.start, After: len(t.starts) - window.end, Lines: []Line{}}
	for i := window.start; i < window.end; i++ {
		shown, cut := t.shorten(t.bounds(i), m)
		line := Line{Segments: t.segments(shown, m), Cut: cut}
		if t.Lines != nil {
			line.Number = t.Lines[i]
		}
		out.Lines = append(out.Lines, line)
	}
	return out
}

// shorten returns the part of a long line that is shown: around its mark, or its beginning.
func (t *text) shorten(line, m span) (shown span, cut bool) {
	if line.end-line.start <= maxLine {
		return line, false
	}
	marked := span{max(line.start, m.start), min(line.end, m.end)}
	if marked.empty() {
		marked = span{line.start, line.start}
	}
	marked.end = min(marked.end, marked.start+maxMarked)
	shown = t.whole(span{max(line.start, marked.start-maxLine/4), min(line.end, marked.end+maxLine/2)})
	return shown, shown != line
}

// segments cuts a part of the text at the edges of a mark.
func (t *text) segments(s, m span) []Segment {
	out := []Segment{}
	add := func(from, to int, marked bool) {
		from, to = max(from, s.start), min(to, s.end)
		if from < to {
			out = append(out, Segment{Text: visible(t.Text.Text[from:to]), Marked: marked})
		}
	}
	if m.empty() {
		m = span{s.end, s.end}
	}
	add(s.start, m.start, false)
	add(m.start, m.end, true)
	add(m.end, s.end, false)
	return out
}

// visible returns a text that is safe to show on one line.
func visible(s string) string {
	if utf8.ValidString(s) && !strings.ContainsFunc(s, func(r rune) bool { return r < ' ' || r > '~' }) {
		return s
	}
	return strings.ReplaceAll(sanitize.Visible(s), "\n", " ")
}
