package load

import (
	"slices"
	"strconv"
	"strings"

	"golang.org/x/net/html"
)

const (
	maxColumns = 64  // of a row, with cells that span
	maxCarried = 100 // bytes of a cell that stand again in the rows it spans
)

// table reads a table: rows of data line by line, or, where it only arranges
// the page, what its cells hold.
func (r *pageReader) table(n *html.Node) {
	r.w.end()
	defer r.w.end()
	rows := tableRows(n)
	if arranges(n, rows) || r.w.lists > 0 {
		r.children(n)
		return
	}
	for c := range n.ChildNodes() {
		if c.Type == html.ElementNode && c.Data == "caption" {
			r.node(c)
		}
	}
	var carried []carry
	header := true // only the first row can be one
	r.w.kind, r.cells = kindTable, true
	defer func() { r.w.kind, r.cells = kindText, false }()
	for _, row := range rows {
		if r.skips(row) {
			continue
		}
		cells, heads := r.row(row, &carried)
		if !slices.ContainsFunc(cells, func(c string) bool { return plainText(c) != "" }) {
			continue
		}
		r.w.line = firstMark(cells, r.w.line)
		if r.w.open {
			r.w.newLine()
		}
		r.w.literal("|")
		for _, c := range cells {
			r.w.space = true
			r.w.text(strings.ReplaceAll(c, "|", "\\|"))
			r.w.literal(" |")
		}
		if header && heads {
			r.w.newLine()
			r.w.literal("|" + strings.Repeat(" --- |", len(cells)))
		}
		header = false
	}
}

// tableRows returns the rows of a table, not those of tables in it.
func tableRows(n *html.Node) (rows []*html.Node) {
	for c := range n.ChildNodes() {
		if c.Type != html.ElementNode || isHidden(c) {
			continue
		}
		switch c.Data {
		case "tr":
			rows = append(rows, c)
		case "thead", "tbody", "tfoot":
			for tr := range c.ChildNodes() {
				if tr.Type == html.ElementNode && tr.Data == "tr" {
					rows = append(rows, tr)
				}
			}
		}
	}
	return rows
}

// arranges reports whether a table is there for its look: it says so, holds
// what no cell of data does, or has nothing side by side.
func arranges(n *html.Node, rows []*html.Node) bool {
	role := attr(n, "role")
	if role == "presentation" || role == "none" {
		return true
	}
	if holds(n, "table", "pre", "h1", "h2", "h3", "h4", "h5", "h6", "main", "article", "section", "form") {
		return true
	}
	widest := 0
	for _, row := range rows {
		cells := 0
		for c := range row.ChildNodes() {
			if c.Type == html.ElementNode && (c.Data == "td" || c.Data == "th") {
				cells++
			}
		}
		widest = max(widest, cells)
	}
	return widest < 2
}

// carry is a cell that goes on in the rows below.
type carry struct {
	text string
	rows int
}

// row returns the cells of a row as marked texts, and whether all that stand in
// it are heads.
func (r *pageReader) row(n *html.Node, carried *[]carry) (cells []string, heads bool) {
	if !holds(n, "td", "th") {
		return nil, false
	}
	heads = true
	put := func(s string, rows int) {
		for len(*carried) <= len(cells) {
			*carried = append(*carried, carry{})
		}
		if rows > 1 && r.w.out.Len() < r.limit {
			(*carried)[len(cells)] = carry{s, rows - 1}
		}
		cells = append(cells, s)
	}
	above := func() {
		for len(cells) < len(*carried) && (*carried)[len(cells)].rows > 0 && len(cells) < maxColumns {
			c := &(*carried)[len(cells)]
			c.rows--
			if r.w.out.Len() >= r.limit {
				c.text = ""
			}
			cells = append(cells, c.text)
		}
	}
	for c := range n.ChildNodes() {
		if c.Type != html.ElementNode || c.Data != "td" && c.Data != "th" {
			continue
		}
		above()
		s := ""
		if !r.skips(c) {
			s = r.inlineChildren(c)
		}
		heads = heads && c.Data == "th"
		again := s
		if len(plainText(s)) > maxCarried {
			again = ""
		}
		rows := number(attr(c, "rowspan"), 1, 1000)
		put(s, 1)
		if rows > 1 && r.w.out.Len() < r.limit {
			(*carried)[len(cells)-1] = carry{plainText(again), rows - 1}
		}
		for range number(attr(c, "colspan"), 1, 20) - 1 {
			if len(cells) < maxColumns {
				put("", rows)
			}
		}
	}
	above()
	return cells, heads
}

// firstMark returns the line that the first mark of some texts tells.
func firstMark(cells []string, line int) int {
	for _, c := range cells {
		if _, rest, ok := strings.Cut(c, string(markOpen)); ok {
			digits, _, _ := strings.Cut(rest, string(markClose))
			return number(digits, line, 1<<40)
		}
	}
	return line
}

// number reads a whole number from 1 to a limit; what is none is the default.
func number(s string, preset, most int) int {
	n, err := strconv.Atoi(strings.TrimSpace(s))
	if err != nil || n < 1 {
		return preset
	}
	return min(n, most)
}

func itoa(n int) string { return strconv.Itoa(n) }
