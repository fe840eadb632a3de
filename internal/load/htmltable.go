package load

import "golang.org/x/net/html"

const (
	maxColumns = 64  // of a row, including spanned ones
	maxCarry   = 100 // bytes of a cell that are repeated in spanned rows
)

// table reads a table: rows of data line by line, or the content of its cells if it is only layout.
func (r *pageReader) table(n *html.Node) {
	r.end()
	rows := tableRows(n)
	if len(r.lists) > 0 || r.cell || arranges(n, rows) {
		r.children(n)
		r.end()
		return
	}
	for c := range n.ChildNodes() {
		if c.Data == "caption" {
			r.node(c)
		}
	}
	var above []carry
	for _, row := range rows {
		if !r.skips(row) {
			var cells []string
			cells, above = r.row(row, above)
			r.tableRow(cells)
		}
	}
	r.endTable()
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

// row returns the texts of the cells of a row, and what it carries to the next one. above was carried to it.
func (r *pageReader) row(n *html.Node, above []carry) (cells []string, below []carry) {
	put := func(text string, span carry) {
		if len(cells) < maxColumns {
			cells, below = append(cells, text), append(below, span)
		}
	}
	fill := func() {
		for len(cells) < min(len(above), maxColumns) && above[len(cells)].rows > 0 {
			over := above[len(cells)]
			put(over.text, carry{over.text, over.rows - 1})
		}
	}
	for c := range n.ChildNodes() {
		if c.Data != "td" && c.Data != "th" {
			continue
		}
		fill()
		in := &pageReader{loose: r.loose, cell: true}
		if !r.skips(c) {
			in.children(c)
		}
		text, span := in.line.String(), carry{rows: number(attr(c, "rowspan"), 50) - 1}
		if len(text) <= maxCarry {
			span.text = text
		}
		put(text, span)
		for range number(attr(c, "colspan"), 20) - 1 {
			put("", carry{})
		}
	}
	fill()
	return cells, below
}
