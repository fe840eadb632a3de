package load

import (
	"strings"

	"golang.org/x/net/html"
)

const (
	maxColumns = 64  // of a row, including spanned ones
	maxCarry   = 100 // bytes of a cell that are repeated in spanned rows
)

// table reads a table: rows of data line by line, or the content of its cells if it is only layout.
func (r *pageReader) table(n *html.Node) {
	r.end()
	defer r.end()
	rows := tableRows(n)
	if len(r.lists) > 0 || r.cell || arranges(n, rows) {
		r.children(n)
		return
	}
	for c := range n.ChildNodes() {
		if c.Data == "caption" {
			r.node(c)
		}
	}
	var above []carry
	for _, row := range rows {
		if r.skips(row) {
			continue
		}
		cells := r.row(row, &above)
		if strings.Join(cells, "") == "" {
			continue
		}
		head := !r.open
		if !head {
			r.newLine()
		}
		r.beginLine()
		r.out.WriteString("|")
		for _, c := range cells {
			r.out.WriteString(" " + strings.ReplaceAll(c, "|", `\|`) + " |")
		}
		if head {
			r.newLine()
			r.out.WriteString("|" + strings.Repeat(" --- |", len(cells)))
		}
	}
}

// tableRows returns the rows of a table without those of nested tables.
func tableRows(n *html.Node) (rows []*html.Node) {
	for c := range n.ChildNodes() {
		switch c.Data {
		case "tr":
			rows = append(rows, c)
		case "thead", "tbody", "tfoot":
			if !isHidden(c) {
				rows = append(rows, tableRows(c)...)
			}
		}
	}
	return rows
}

// arranges reports whether a table is only layout: it says so, has content that data cells never have, or has
// a single column.
func arranges(n *html.Node, rows []*html.Node) bool {
	role := attr(n, "role")
	if role == "presentation" || role == "none" ||
		holds(n, "table", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "main", "article", "section", "form") {
		return true
	}
	widest := 0
	for _, row := range rows {
		cells := 0
		for c := range row.ChildNodes() {
			if c.Data == "td" || c.Data == "th" {
				cells++
			}
		}
		widest = max(widest, cells)
	}
	return widest < 2
}

// carry is a cell that spans the next rows; a short one is repeated in them.
type carry struct {
	text string
	rows int
}

// row returns the texts of the cells of a row; above are those of the previous row.
func (r *pageReader) row(n *html.Node, above *[]carry) (cells []string) {
	var spans []carry
	put := func(text string, span carry) {
		if len(cells) < maxColumns {
			cells, spans = append(cells, text), append(spans, span)
		}
		for at := len(cells); at < min(len(*above), maxColumns) && (*above)[at].rows > 0; at++ {
			over := (*above)[at]
			cells, spans = append(cells, over.text), append(spans, carry{over.text, over.rows - 1})
		}
	}
	if len(*above) > 0 && (*above)[0].rows > 0 {
		put((*above)[0].text, carry{(*above)[0].text, (*above)[0].rows - 1})
	}
	for c := range n.ChildNodes() {
		if c.Data != "td" && c.Data != "th" {
			continue
		}
		in := &pageReader{loose: r.loose, cell: true}
		if !r.skips(c) {
			in.children(c)
		}
		span := carry{rows: number(attr(c, "rowspan"), 50) - 1}
		if in.out.Len() <= maxCarry {
			span.text = in.out.String()
		}
		put(in.out.String(), span)
		for range number(attr(c, "colspan"), 20) - 1 {
			put("", carry{})
		}
	}
	*above = spans
	return cells
}
