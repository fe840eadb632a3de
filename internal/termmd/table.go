package termmd

import (
	"strings"

	east "github.com/yuin/goldmark/extension/ast"
)

// columnGap stands between the columns of a table.
const columnGap = "  "

// table renders a table in columns, or row by row where it is too wide.
func (r renderer) table(n *east.Table, width int) []string {
	rows := r.cells(n)
	if len(rows) == 0 {
		return nil
	}
	widths := make([]int, len(rows[0]))
	total := 0
	for i := range widths {
		for _, row := range rows {
			if i < len(row) {
				widths[i] = max(widths[i], row[i].width)
			}
		}
		total += widths[i]
	}
	if total+len(columnGap)*(len(widths)-1) > width {
		return r.records(n, width)
	}
	var out []string
	for i, row := range rows {
		var b, rule strings.Builder
		for j, c := range row {
			if j > 0 {
				b.WriteString(columnGap)
				rule.WriteString(columnGap)
			}
			space := strings.Repeat(" ", widths[j]-c.width)
			if j < len(n.Alignments) && n.Alignments[j] == east.AlignRight {
				b.WriteString(space + c.text)
			} else {
				b.WriteString(c.text + space)
			}
			rule.WriteString(strings.Repeat("─", widths[j]))
		}
		out = append(out, strings.TrimRight(b.String(), " "))
		if i == 0 {
			out = append(out, r.sgr(rule.String(), format{dim: true}))
		}
	}
	return out
}

// cell is the rendered text of a cell, on one line.
type cell struct {
	text  string
	width int
}

// cells renders all cells of a table, the header's first.
func (r renderer) cells(n *east.Table) [][]cell {
	const oneLine = 1 << 20
	var out [][]cell
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		_, header := row.(*east.TableHeader)
		var cells []cell
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			spans := r.inline(c, format{bold: header})
			width := 0
			if plain := (renderer{source: r.source, Options: Options{Cite: r.Cite}}).wrap(spans, oneLine); len(plain) > 0 {
				width = visibleWidth(plain[0])
			}
			cells = append(cells, cell{strings.Join(r.wrap(spans, oneLine), " "), width})
		}
		out = append(out, cells)
	}
	return out
}

// records renders each row of a wide table as a list of "header: value".
func (r renderer) records(n *east.Table, width int) []string {
	var headers [][]span
	var out []string
	for row := n.FirstChild(); row != nil; row = row.NextSibling() {
		_, header := row.(*east.TableHeader)
		if !header && len(out) > 0 {
			out = append(out, "")
		}
		i := 0
		for c := row.FirstChild(); c != nil; c = c.NextSibling() {
			if header {
				headers = append(headers, append(r.inline(c, format{bold: true}), span{text: ": "}))
				continue
			}
			var spans []span
			if i < len(headers) {
				spans = append(spans, headers[i]...)
			}
			out = append(out, r.wrap(append(spans, r.inline(c, format{})...), width)...)
			i++
		}
	}
	return out
}

// visibleWidth is the width of a text without the sequences that Cite may have
// put in.
func visibleWidth(s string) int {
	var b strings.Builder
	for s != "" {
		i := strings.IndexByte(s, 0x1b)
		if i < 0 {
			b.WriteString(s)
			break
		}
		b.WriteString(s[:i])
		rest := s[i+1:]
		end := strings.IndexByte(rest, 'm') + 1
		if strings.HasPrefix(rest, "]") { // a hyperlink, up to its terminator
			end = strings.Index(rest, "\x1b\\") + 2
		}
		if end < 2 {
			break
		}
		s = rest[end:]
	}
	return widthOf(b.String())
}
