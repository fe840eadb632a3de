package chat

import (
	"fmt"
	"io"
	"strings"
)

// region is the lines at the bottom of the screen that may still change. The
// cursor stands at the end of the last one.
type region struct {
	out   io.Writer
	size  func() (columns, rows int)
	shown []string
}

// show replaces the lines, and writes those that differ from what is there.
// Lines that have left the screen at the top stay as they were.
func (r *region) show(lines []string) {
	if len(lines) == 0 {
		return
	}
	_, rows := r.size()
	first := 0
	for first < min(len(lines), len(r.shown)) && lines[first] == r.shown[first] {
		first++
	}
	first = max(first, len(r.shown)-rows+1)
	if first >= len(lines) && len(lines) == len(r.shown) {
		return
	}
	first = min(first, len(lines)-1)
	var b strings.Builder
	switch up := len(r.shown) - 1 - first; {
	case len(r.shown) == 0:
	case up < 0:
		b.WriteString("\n")
	default:
		if up > 0 {
			fmt.Fprintf(&b, "\x1b[%dA", up)
		}
		b.WriteString("\r\x1b[J")
	}
	b.WriteString(strings.Join(lines[first:], "\n"))
	fmt.Fprint(r.out, b.String())
	r.shown = append(r.shown[:0:0], lines...)
}

// end leaves what is shown, without the line that says what goes on, and goes
// to the line below.
func (r *region) end() {
	if len(r.shown) == 0 {
		return
	}
	fmt.Fprint(r.out, "\r\x1b[J")
	r.shown = nil
}
