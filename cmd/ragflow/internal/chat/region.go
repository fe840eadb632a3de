package chat

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/charmbracelet/x/ansi"
)

// region is the lines at the bottom of the screen that may still change. Only the last lines that
// fit are drawn, so that none leaves the screen before it is final. The cursor stands at the end
// of the last one.
type region struct {
	out   io.Writer
	size  func() (columns, rows int)
	lines []string
	drawn []string
	lost  bool // the screen has shrunk, so that drawn lines cannot be erased
}

// show replaces the lines.
func (r *region) show(lines []string) {
	columns, rows := r.look()
	r.lines = lines
	fit := slices.Clone(lines[max(0, len(lines)-max(rows, 1)):])
	for i, l := range fit {
		fit[i] = ansi.Truncate(l, columns-1, "")
	}
	r.draw(fit)
}

// finish replaces the region by lines, which stay, and moves to the line below.
func (r *region) finish(lines []string) {
	if r.look(); r.lost {
		lines = append([]string{"", "The window was resized. Only what is below counts."}, lines...)
	}
	r.draw(append(lines, ""))
	r.lines, r.drawn, r.lost = nil, nil, false
}

// end keeps the output and erases the status line.
func (r *region) end() {
	if n := len(r.lines); n > 0 {
		r.finish(r.lines[:n-1])
	}
}

// look returns the size of the screen, and notes whether drawn lines no longer fit.
func (r *region) look() (columns, rows int) {
	columns, rows = r.size()
	wide := func(l string) bool { return ansi.StringWidth(l) > columns }
	r.lost = r.lost || len(r.drawn) > rows || slices.ContainsFunc(r.drawn, wide)
	return columns, rows
}

// draw writes the lines that differ from the drawn ones. It erases line by line, for some
// terminals keep a screen that is erased as a whole.
func (r *region) draw(lines []string) {
	if slices.Equal(lines, r.drawn) {
		return
	}
	first := 0
	for first < min(len(lines), len(r.drawn))-1 && lines[first] == r.drawn[first] {
		first++
	}
	up := max(0, len(r.drawn)-1-first)
	fmt.Fprint(r.out, "\r"+strings.Repeat("\x1b[K\x1b[A", up)+"\x1b[K"+strings.Join(lines[first:], "\n"))
	r.drawn = lines
}
