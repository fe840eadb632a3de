package lineedit

import (
	"strings"

	"github.com/rivo/uniseg"
)

// screen is a text broken into rows, and where the cursor stands in them.
type screen struct {
	rows        []string
	row, column int
}

// layout breaks the text into rows of at most width columns. The first row
// begins with first, each line after a newline with more, and a line that goes
// on in the next row with as many spaces as more is wide.
func layout(text string, at int, first, more string, width int) screen {
	width = max(width, 8)
	var s screen
	var row strings.Builder
	row.WriteString(first)
	column := visibleWidth(first)
	indent := visibleWidth(more)
	next := func(start string) {
		s.rows = append(s.rows, row.String())
		row.Reset()
		row.WriteString(start)
		column = indent
	}
	for i := 0; i <= len(text); {
		cluster, _, _, _ := uniseg.FirstGraphemeClusterInString(text[i:], -1)
		w := widthOf(cluster)
		if cluster != "\n" && column+w > width {
			next(strings.Repeat(" ", indent))
		}
		if i == at {
			s.row, s.column = len(s.rows), column
		}
		switch cluster {
		case "":
			i++ // the end
			continue
		case "\n":
			next(more)
		case "\t":
			row.WriteString(strings.Repeat(" ", tabWidth))
			column += w
		default:
			row.WriteString(cluster)
			column += w
		}
		i += len(cluster)
	}
	s.rows = append(s.rows, row.String())
	return s
}

// window keeps at most height rows, those around the cursor.
func (s screen) window(height int) screen {
	height = max(height, 1)
	if len(s.rows) <= height {
		return s
	}
	first := min(max(s.row-height+1, 0), len(s.rows)-height)
	return screen{s.rows[first : first+height], s.row - first, s.column}
}

// visibleWidth is how many columns a text takes whose style sequences take
// none.
func visibleWidth(s string) int {
	var b strings.Builder
	for s != "" {
		i := strings.IndexByte(s, 0x1b)
		if i < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:i])
		j := strings.IndexByte(s[i:], 'm')
		if j < 0 {
			break
		}
		s = s[i+j+1:]
	}
	return uniseg.StringWidth(b.String())
}
