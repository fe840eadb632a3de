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
	spanned := map[[2]int]string{}
	for i, row := range rows {
		if !r.skips(row) {
			r.tableRow(r.row(row, i, spanned))
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

// row returns the texts of the cells of a row. spanned holds the cells of rows above that reach into others, by row and
// column; a short one is repeated.
func (r *pageReader) row(n *html.Node, i int, spanned map[[2]int]string) (cells []string) {
	fill := func() {
		for text, ok := spanned[[2]int{i, len(cells)}]; ok; text, ok = spanned[[2]int{i, len(cells)}] {
			cells = append(cells, text)
		}
	}
	for c := range n.ChildNodes() {
		if fill(); c.Data != "td" && c.Data != "th" || len(cells) >= maxColumns {
			continue
		}
		in := &pageReader{loose: r.loose, cell: true}
		if !r.skips(c) {
			in.children(c)
		}
		text := in.line.String()
		cells = append(cells, text)
		if len(text) > maxCarry {
			text = ""
		}
		for k := range number(attr(c, "rowspan"), 50) - 1 {
			spanned[[2]int{i + k + 1, len(cells) - 1}] = text
		}
		for range min(number(attr(c, "colspan"), 20)-1, maxColumns-len(cells)) {
			cells = append(cells, "")
		}
	}
	fill()
	return cells
}
