package load

import (
	"slices"
	"strings"
)

// gridTable is a table of a sheet.
type gridTable struct {
	tableWriter
	from, to int // columns of the sheet, to excluded; 0: to its end
	hidden   func(column int) bool
	unvalued bool // as in grid

	width   int      // columns with a text, in the first rows
	labels  int      // columns before the first one with numbers
	numbers bool     // half of the texts of some row are numbers
	repeats []bool   // labels that stand only in the first of their rows
	carried []string // these, of the rows above
	title   string   // a row of one cell, which may belong to the rows below
	titleAt int
}

// own returns the cells of a row that belong to the table.
func (t *gridTable) own(cells []cell) []cell {
	end := len(cells)
	if t.to > 0 {
		end = min(end, t.to)
	}
	return cells[min(t.from, end):end]
}

// begin names the columns by the first rows of the table, and writes the others. Without names of its own,
// the table has those of a table above in the same columns.
func (t *gridTable) begin(rows []gridRow, before []*gridTable) error {
	for _, row := range rows {
		texts, _, _ := count(row.cells)
		t.width = max(t.width, texts)
	}
	first, end := t.names(rows)
	t.measure(rows[end:])
	if above := t.above(rows, before); above != nil && (first == end || !t.numbers) {
		if first < end && slices.Equal(t.joined(rows[first:end]), above.head) {
			rows = slices.Delete(rows, first, end) // the names once more
		}
		t.head, t.headAt, first, end = above.head, above.headAt, 0, 0
		above.head = nil
		t.measure(rows)
	}
	if first < end {
		for _, row := range rows[:first] {
			if err := t.row(values(row), row.line); err != nil {
				return err
			}
		}
		t.rows, t.head, t.headAt = 0, t.joined(rows[first:end]), rows[first].line
	}
	for _, row := range rows[first:end] {
		for _, c := range row.cells {
			if c.note != "" {
				t.part(c.withNote(c.text), row.line)
			}
		}
	}
	for _, row := range rows[end:] {
		if err := t.data(row); err != nil {
			return err
		}
	}
	return nil
}

// names returns the rows that name the columns, none if first == end. Titles stand above.
func (t *gridTable) names(rows []gridRow) (first, end int) {
	data := len(rows)
	if i := slices.IndexFunc(rows, func(r gridRow) bool { return isData(r.cells) }); i >= 0 {
		data = i
	}
	for first < data && t.isTitle(rows[first].cells) {
		first++
	}
	if t.width < 2 || first == data || !nameColumns(rows[first].cells, data < len(rows)) {
		return 0, 0
	}
	end = first + 1
	for end < data && end-first < maxHeads && goesOn(rows[end-1].cells, rows[end].cells, data < len(rows)) {
		end++
	}
	return first, end
}

// isTitle reports whether a row above the names of columns is no such row: it has one text, which does not
// stand over some of the columns, or fills less than half of them.
func (t *gridTable) isTitle(cells []cell) bool {
	texts, shown, _ := count(cells)
	if texts == 1 {
		return cells[0].shown() != "" || shown == 1
	}
	return 2*shown < t.width
}

// nameColumns reports whether a row can name columns. Above rows of numbers they may be years, and equal.
func nameColumns(cells []cell, numbersFollow bool) bool {
	var texts []string
	for _, c := range cells {
		if strings.HasSuffix(c.text, ":") || c.number && (!numbersFollow || !isCalendar(cells)) {
			return false
		}
		texts = append(texts, c.text)
	}
	return numbersFollow || isHead(texts)
}

// goesOn reports whether the row below one that names columns names them too: the upper one has cells over
// several columns, or the lower one leaves the first column free.
func goesOn(upper, lower []cell, numbersFollow bool) bool {
	if first := lower[0]; first.text == "" && (first.over != "" || numbersFollow) {
		return true
	}
	for i, c := range upper {
		if c.wide || numbersFollow && i > 0 && c.text != "" && c.text == upper[i-1].text {
			return true
		}
	}
	return false
}

// joined returns the names of columns over several rows, from top to bottom.
func (t *gridTable) joined(rows []gridRow) []string {
	var head []string
	for _, row := range rows {
		for i, c := range row.cells {
			if i == len(head) {
				head = append(head, "")
			}
			if name := oneLine(c.shown()); name != "" && name != head[i] && !strings.HasSuffix(head[i], " "+name) {
				head[i] = strings.TrimSpace(head[i] + " " + name)
			}
		}
	}
	for i, name := range head {
		head[i] += hiddenMark(name != "" && t.hidden(t.from+i), "column")
	}
	return head
}

// measure finds the columns with labels and those with numbers.
func (t *gridTable) measure(rows []gridRow) {
	var numbers, texts, blanks []int
	for _, row := range rows {
		for i, c := range row.cells {
			if i == len(numbers) {
				numbers, texts, blanks = append(numbers, 0), append(texts, 0), append(blanks, 0)
			}
			switch {
			case c.number && !c.tall:
				numbers[i]++
			case c.shown() != "":
				texts[i]++
			default:
				blanks[i]++
			}
		}
	}
	t.numbers = slices.ContainsFunc(rows, func(r gridRow) bool { return isData(r.cells) })
	t.labels = 0
	for t.labels < len(numbers) && numbers[t.labels] <= texts[t.labels] {
		t.labels++
	}
	t.repeats = make([]bool, t.labels)
	for i := range t.labels - 1 {
		t.repeats[i] = t.numbers && i < len(rows[0].cells) && rows[0].cells[i].text != "" && 2*blanks[i] >= len(rows)
	}
	t.carried = make([]string, t.labels)
}

// above returns the table whose names hold for these rows too: it has the same columns, and the same kind or
// no rows.
func (t *gridTable) above(rows []gridRow, before []*gridTable) *gridTable {
	if t.width < 2 {
		return nil
	}
	for _, other := range before {
		if other.from == t.from && other.head != nil && (other.numbers == t.numbers || other.rows == 0) &&
			!slices.ContainsFunc(rows, func(r gridRow) bool { return len(r.cells) > len(other.head) }) {
			return other
		}
	}
	return nil
}

// data writes a row of values, or keeps a row of one text for those below.
func (t *gridTable) data(row gridRow) error {
	texts, shown, _ := count(row.cells)
	if texts == 0 {
		return nil
	}
	first := slices.IndexFunc(row.cells, cell.filled)
	if c := row.cells[first]; texts == 1 && t.width > 1 && !t.unvalued && !c.number && len(c.text) <= maxSection &&
		(t.numbers && first < max(t.labels, 1) || c.wide && 2*shown > t.width) {
		t.endSection()
		t.title, t.titleAt = values(row)[first], row.line
		return nil
	}
	if t.title != "" {
		t.section, t.title = t.title, ""
	}
	for i := range row.cells {
		c := &row.cells[i]
		c.text = t.label(i, c)
		c.text += hiddenMark(c.text != "" && t.hidden(t.from+i) && (i >= len(t.head) || t.head[i] == ""), "column")
	}
	return t.row(values(row), row.line)
}

// label returns the text of a cell. A merged cell, or a row above, may hold the label.
func (t *gridTable) label(i int, c *cell) string {
	if i >= t.labels {
		return c.text
	}
	if t.repeats[i] {
		if c.text == "" {
			return t.carried[i]
		}
		clear(t.carried[i:])
		t.carried[i] = c.text
	}
	return c.shown()
}

// endSection writes a row of one text that no row followed.
func (t *gridTable) endSection() {
	t.part(t.title, t.titleAt)
	t.title = ""
}

// values returns the texts of a row with their comments, and says so if it is hidden.
func values(row gridRow) []string {
	out, last := make([]string, len(row.cells)), 0
	for i, c := range row.cells {
		if out[i] = c.withNote(c.text); out[i] != "" {
			last = i
		}
	}
	if len(out) > 0 {
		out[last] += row.hidden
	}
	return out
}

// withNote returns a text with the comment of the cell.
func (c cell) withNote(text string) string {
	if c.note == "" {
		return text
	}
	return strings.TrimSpace(text + " (comment: " + c.note + ")")
}
